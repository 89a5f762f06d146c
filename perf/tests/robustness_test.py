#!/usr/bin/env python3
"""How answers are judged by robustness.py and robustness_systems.py, and what was recorded.

    perf/tests/robustness_test.py [unittest's arguments]"""

import collections
import contextlib
import io
import pathlib
import sys
import unittest
from unittest import mock

from support import InFolder, PERF, main, read
import robustness

try:
    import numpy as np
    import scipy.io
    import robustness_systems
    from systems import judge, matrices, right_hand_sides
except ImportError as missing:
    SYSTEMS_MISSING = str(missing)
else:
    SYSTEMS_MISSING = None


RECORDS = PERF / "results" / "judged"


class Robustness(unittest.TestCase):
    problem = {"problem": "std:p", "which": "smallest", "rows": 9, "mass": None, "norm1_A": 4.0,
               "eigenvalues": [1.0, 2.0], "attainable_relative_accuracy": None}

    def verdict(self, **changes):
        report = {"eigenvalues": [1.0, 2.0], "residuals": [1e-9, 1e-9], "path": "iterative",
                  "relative_residuals": [1e-9, 1e-9], "iterations": 5, "converged": True,
                  "seconds": {"solve": 1.0}}
        report.update(changes)
        return robustness.judge(self.problem, 1, 0, report)["verdict"]

    def test_claims_are_judged(self):
        self.assertEqual(self.verdict(), "passed")
        self.assertEqual(self.verdict(residuals=[1e-9, 2e-8]), "FALSE")
        self.assertEqual(self.verdict(eigenvalues=[1.0, 2.1]), "FALSE")  # one was missed
        self.assertEqual(self.verdict(eigenvalues=[1.0, None]), "FALSE")
        self.assertEqual(self.verdict(converged=False), "not converged")
        self.assertEqual(robustness.judge(self.problem, 1, 2, None)["verdict"], "no report")

    def test_formulas(self):
        for found, exact in ((robustness.path(3), [0, 1, 3]),
                             (robustness.line(2), [1, 3]),
                             (robustness.smallest_sums([[5, 1, 2], [10, 20]]),
                              [11, 12, 15, 21, 22, 25])):
            self.assertEqual(len(found), len(exact))
            for a, b in zip(found, exact):
                self.assertAlmostEqual(a, b)

    def test_all_recorded_runs_passed(self):
        for name in ("robustness.json", "robustness_large.json"):
            runs = read(RECORDS / name)["runs"]
            self.assertGreater(len(runs), 100)
            self.assertEqual({run["verdict"] for run in runs}, {"passed"})


@unittest.skipIf(SYSTEMS_MISSING, f"{SYSTEMS_MISSING}: the judge of systems needs NumPy and SciPy")
class ClaimsOfSystems(InFolder):
    """A solution with one zero right-hand side, solved by a direct solver, then spoilt."""

    def setUp(self):
        super().setUp()
        self.A = matrices.load("laplace5:40x30", "")
        self.B = right_hand_sides.make("zero", self.A, 3, 1)
        self.X = np.linalg.solve(self.A.toarray(), self.B)
        self.X[:, 0] = 0
        self.statuses = ["zero_rhs", "converged", "converged"]

    def verdict(self, status=0, said=None, converged=None):
        residuals = judge.Residuals(self.A, self.B, self.X).relative if said is None else said
        columns = [{"status": s, "true_residual": r} for s, r in zip(self.statuses, residuals)]
        if converged is None:
            converged = set(self.statuses) <= set(judge.SUCCESS)
        report = {"converged": converged, "columns": columns}
        return judge.judge(self.A, self.B, self.X, status, report, 1e-8)["verdict"]

    def spoil(self, column, relative):
        """Moves x by a vector of A^-1's choice, so that the residual is `relative`."""
        other = self.B[:, 3 - column] if column else self.B[:, 1]
        other = other / np.linalg.norm(other) * max(np.linalg.norm(self.B[:, column]), 1)
        self.X[:, column] += relative * np.linalg.solve(self.A.toarray(), other)

    def test_a_right_answer_is_solved(self):
        self.assertEqual(self.verdict(), "solved")

    def test_a_residual_above_the_tolerance_is_found(self):
        self.spoil(2, 0.999e-8)
        self.assertEqual(self.verdict(), "solved")
        self.spoil(2, 0.002e-8)
        self.assertEqual(self.verdict(), "FALSE")
        self.assertEqual(self.verdict(said=[0, 1e-12, 1e-12]), "FALSE")
        self.statuses[2] = "max_iterations"
        self.assertEqual(self.verdict(status=1), "not solved")

    def test_a_wrong_report_is_found(self):
        self.statuses[1] = "attainable_limit"
        self.assertEqual(self.verdict(status=1), "not solved")
        self.assertEqual(self.verdict(status=0), "FALSE")
        self.assertEqual(self.verdict(status=1, converged=True), "FALSE")
        self.spoil(1, 0.1)
        self.assertEqual(self.verdict(status=1), "not solved")
        self.assertEqual(self.verdict(status=1, said=[0, 0.05, 0]), "FALSE")
        self.statuses.pop()
        self.assertEqual(self.verdict(status=1), "FALSE")

    def test_zero_is_exact(self):
        self.X[5, 0] = 1e-300
        self.assertEqual(self.verdict(), "FALSE")
        self.X[5, 0] = 0
        self.statuses[0] = "converged"
        self.assertEqual(self.verdict(), "FALSE")
        self.statuses[:2] = ["zero_rhs", "zero_rhs"]
        self.assertEqual(self.verdict(), "FALSE")

    def test_nan_is_no_success(self):
        self.X[7, 1] = np.nan
        self.assertEqual(self.verdict(said=[0, None, 0]), "FALSE")

    def test_scales_do_not_matter(self):
        self.spoil(1, 2e-8)
        before = judge.Residuals(self.A, self.B, self.X)
        scales = np.exp2([0, -960, 960])
        after = judge.Residuals(self.A, self.B * scales, self.X * scales)
        for name in ("relative", "slack", "slack_of_doubles"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))

    def run_with(self, spoilt):
        """Exit status and verdicts of a run whose solver is a direct one, that multiplies by
        1 + `spoilt` what is asked of method block."""
        def solve(args, system, method, folder):
            B = scipy.io.mmread(pathlib.Path(folder).parent / "rhs.mtx")
            X = np.linalg.solve(self.A.toarray(), B) * (1 + spoilt * (method == "block"))
            columns = [{"status": "converged" if b.any() else "zero_rhs", "true_residual": None}
                       for b in B.T]
            return 0, {"converged": True, "columns": columns, "method": "direct", "iterations": 0,
                       "seconds": {"solve": 0}, "versions": {}, "backend": "", "device": {}}, X

        out = self.folder / "out.json"
        command = ["", "--app", "", "--matrices", "-", "--matrix", "laplace5:40x30",
                   "--out", str(out)]
        with mock.patch.object(robustness_systems, "solve", solve), \
                mock.patch.object(sys, "argv", command), \
                contextlib.redirect_stdout(io.StringIO()):
            status = robustness_systems.main()
        return status, collections.Counter(run["verdict"] for run in read(out)["runs"])

    def test_a_false_claim_fails_the_run(self):
        self.assertEqual(self.run_with(0), (0, {"solved": 12}))
        self.assertEqual(self.run_with(2e-8), (1, {"solved": 8, "FALSE": 4}))

    def test_every_kind_meets_every_width_and_preconditioner(self):
        chosen = list(robustness_systems.systems(matrices.names()))
        self.assertEqual(len(chosen), 188)
        for one, other in (("kind", "columns"), ("kind", "preconditioner"),
                           ("columns", "preconditioner")):
            pairs = {(system[one], system[other]) for system in chosen}
            self.assertEqual(len(pairs), len({p[0] for p in pairs}) * len({p[1] for p in pairs}))


class RecordsOfSystems(unittest.TestCase):
    def verdicts(self, name):
        return [run["verdict"] for run in read(RECORDS / name)["runs"]]

    def test_nothing_false_was_claimed(self):
        for name, solves in (("systems.json", 3 * 188),
                             ("systems_large.json", 3 * 20)):
            found = self.verdicts(name)
            self.assertEqual(len(found), solves)
            self.assertLessEqual(set(found), {"solved", "not solved"})
            self.assertGreater(found.count("solved"), 0.9 * solves)

    def test_the_judge_finds_what_scipy_claims_falsely(self):
        found = self.verdicts("systems_scipy.json")
        self.assertEqual(len(found), 188)
        self.assertIn("FALSE", found)


if __name__ == "__main__":
    main()
