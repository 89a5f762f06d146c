#!/usr/bin/env python3
"""What blockspan-perf and report.py do when a run ends early, a result is wrong, or a kernel became
slower, and what the pages then say.

    perf/tests/suite_test.py BLOCKSPAN_PERF [unittest's arguments]"""

import collections
import contextlib
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

PERF = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path()  # set in main
sys.path.insert(0, str(PERF))
sys.path.insert(0, str(PERF / "peers"))

from pages import study, summaries, values  # noqa: E402
import profile_ncu  # noqa: E402
import robustness  # noqa: E402

try:
    import numpy as np
    import scipy.io
    import robustness_systems
    from systems import judge, matrices, right_hand_sides
except ImportError as missing:
    SYSTEMS_MISSING = str(missing)
else:
    SYSTEMS_MISSING = None


def run(*arguments):
    """Exit status and all that was said."""
    command = [PROGRAM, *map(str, arguments), "--python", sys.executable]
    if "compare" in arguments:
        command = command[:-2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def keys(document):
    return [(c["group"], c["matrix"], c["scalar"], c["columns"]) for c in document["cases"]]


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)


class Runs(InFolder):
    def quick(self, *arguments):
        return run("casper", "--quick", "--out", self.folder, *arguments)

    def results(self):
        return read(self.folder / "casper.json")

    def test_one_that_ended_early_goes_on_to_the_same_cases(self):
        status, said = self.quick("--at-most", 1)
        self.assertEqual(status, 1, said)
        self.assertIn("cases are left", said)
        first = self.results()
        self.assertEqual([c.get("error") for c in first["cases"]], [None] + 2 * ["did not run"])
        self.assertEqual(self.quick()[0], 0)
        resumed = self.results()
        self.assertEqual(resumed["cases"][0], first["cases"][0], "measured again")
        self.assertFalse(any("error" in case for case in resumed["cases"]))
        self.assertEqual(self.quick("--fresh")[0], 0)
        self.assertEqual(keys(resumed), keys(self.results()))

    def test_a_complete_one_is_not_repeated(self):
        self.quick()
        before = (self.folder / "casper.json").read_bytes()
        self.assertEqual(self.quick()[0], 0)
        self.assertEqual((self.folder / "casper.json").read_bytes(), before)

    def test_a_case_that_ended_two_runs_is_left_out(self):
        self.quick("--at-most", 0)
        document = self.results()
        document["cases"][1].update({"error": "did not finish", "attempts": 2})
        write(self.folder / "casper.json", document)
        self.assertEqual(self.quick()[0], 1)
        self.assertEqual([c.get("error") for c in self.results()["cases"]],
                         [None, "did not finish", None])

    def test_results_of_other_settings_are_not_mixed(self):
        self.quick("--at-most", 1)
        status, said = self.quick("--flush")
        self.assertEqual(status, 2)
        self.assertIn("flush", said)
        document = self.results()
        document["linked"] = "1999-12-31T23:59:59Z"
        write(self.folder / "casper.json", document)
        status, said = self.quick()
        self.assertEqual(status, 2)
        self.assertIn("linked", said)

    def test_matrices_choose_cases(self):
        named = self.quick("--matrix", "nothing")
        self.assertEqual(named[0], 2)
        self.assertIn("--matrix nothing", named[1])
        self.quick()
        every = self.results()["cases"]
        chosen = every[1]["matrix"]
        self.assertEqual(self.quick("--fresh", "--matrix", chosen)[0], 0)
        self.assertEqual(keys(self.results()),
                         [k for k, c in zip(keys({"cases": every}), every)
                          if c["matrix"] == chosen])

    def test_a_case_too_large_is_a_line_and_the_others_go_on(self):
        status, said = run("uniform:2000000x2000000:30", "fixed:50x50:3", "--quick", "--out",
                           self.folder)
        self.assertEqual(status, 0, said)
        cases = read(self.folder / "given.json")["cases"]
        self.assertIn("GiB", cases[0]["refused"])
        self.assertTrue(all("kernels" in case for case in cases[6:]))

    def test_a_terminal_shows_a_bar_with_the_time_left(self):
        terminal, end = pty.openpty()
        with subprocess.Popen([PROGRAM, "casper", "--quick", "--out", self.folder], stderr=end):
            os.close(end)
            said = b""
            try:
                while some := os.read(terminal, 4096):
                    said += some
            except OSError:  # how Linux says that the other end is closed
                pass
        os.close(terminal)
        self.assertIn(b"[....................] 0/3, casper", said)
        self.assertRegex(said, rb"#+\.+\] 2/3, about [0-9]+ s left, casper")

    def test_an_interrupt_ends_it_in_good_order(self):
        command = [PROGRAM, "laplace7:40", "--quick", "--out", self.folder]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            process.stderr.readline()  # the first case has ended
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
        self.assertEqual(process.returncode, 1)
        self.assertIn("cases are left", said)
        errors = [case.get("error") for case in read(self.folder / "given.json")["cases"]]
        self.assertIsNone(errors[0])
        self.assertEqual(errors[-1], "did not run")

    def test_wrong_usage(self):
        for arguments in (["nothing"], ["--backend", "none"], ["laplace7:x"], ["compare", "a"]):
            with self.subTest(arguments):
                self.assertEqual(run(*arguments)[0], 2)

    def test_times_come_from_enough_batches(self):
        run("laplace7:8", "--at-most", 1, "--out", self.folder)
        case = read(self.folder / "given.json")["cases"][0]
        timed = [kernel for kernel in case["kernels"] if "ms" in kernel]
        self.assertTrue(timed)
        for kernel in timed:
            ms, batches = kernel["ms"], kernel["batches"]
            self.assertLessEqual(batches, 40)
            total = ms["mean"] * kernel["products"] * batches
            self.assertTrue(batches >= 20 or (batches >= 3 and total >= 450), kernel)
            self.assertLessEqual(ms["min"], ms["median"])
            self.assertLessEqual(ms["median"], ms["max"])
            self.assertTrue(ms["min"] <= ms["mean"] <= ms["max"] * 1.0001, kernel)
            self.assertLessEqual(ms["spread"], (ms["max"] - ms["min"]) * 1.0001 + 1e-9)

    def test_list_names_all_studies(self):
        status, said = run("--list")
        self.assertEqual(status, 0)
        for name in ("casper", "spmv", "coalescing", "row_split_vs_merge", "variants", "roofline",
                     "widths", "forms", "scaling", "solvers", "collection", "cases"):
            self.assertIn("\n" + name + " ", "\n" + said)


class Faults(InFolder):
    def test_a_wrong_product_has_no_speed_and_says_so(self):
        for spoilt in ("auto", "warp_per_row"):
            with self.subTest(spoilt):
                status, said = run("coalescing", "--quick", "--fresh", "--inject-fault", spoilt,
                                   "--out", self.folder)
                self.assertEqual(status, 1)
                self.assertIn("WRONG", said)
                document = read(self.folder / "coalescing.json")
                for case in document["cases"]:
                    for kernel in case["kernels"]:
                        wrong = kernel["id"] == spoilt
                        self.assertEqual(kernel.get("right"), None if "refused" in kernel
                                         else not wrong)
                        self.assertFalse(wrong and "ms" in kernel)
                page = study.page(document, self.folder)
                self.assertIn("WRONG", page)
                self.assertIn("SPOILT ON PURPOSE", page)

    def test_a_wrong_kernel_has_no_speed_up(self):
        run("coalescing", "--quick", "--inject-fault", "warp_per_row", "--out", self.folder)
        document = read(self.folder / "coalescing.json")
        for case in document["cases"]:
            cell = values.written(document, case, "speedup:warp_per_row:thread_per_row")
            self.assertEqual(cell, "warp_per_row WRONG")
        text = summaries.summarize(document, "geomean:warp_per_row:thread_per_row")
        self.assertEqual(text, "no case (2 without a right result)")

    def test_alpha_and_beta_are_checked(self):
        status, _ = run("variants", "--quick", "--inject-fault", "warp_per_row_packs", "--out",
                        self.folder)
        self.assertEqual(status, 1)

    def test_a_solver_that_did_not_converge_has_no_time(self):
        status, said = run("solvers", "--quick", "--inject-fault", "auto", "--out", self.folder)
        self.assertEqual(status, 1, said)
        document = read(self.folder / "solvers.json")
        for case in document["cases"]:
            own = case["kernels"][0]
            self.assertIn("residual", own["unconverged"])
            self.assertNotIn("ms", own)
            for kernel in case["kernels"][1:]:
                if "ms" in kernel:
                    cell = values.written(document, case, "speedup:auto:this", kernel)
                    self.assertEqual(cell, "auto NOT CONVERGED")
        self.assertIn("NOT CONVERGED", study.page(document, self.folder))


class Solvers(InFolder):
    def test_every_peer_has_an_answer_or_a_reason(self):
        status, said = run("solvers", "--quick", "--out", self.folder)
        self.assertEqual(status, 0, said)
        for case in read(self.folder / "solvers.json")["cases"]:
            by_family = {kernel["family"]: kernel for kernel in case["kernels"]}
            for peer in ("scipy", "cupy", "torch", "slepc", "slepc_default", "petsc", "primme",
                         "primme_default"):
                kernel = by_family[peer]
                self.assertTrue("refused" in kernel or "solver" in kernel)
                self.assertEqual("ms" in kernel, kernel.get("right", False))
                if "mass" in case:
                    self.assertIn("no mass matrix", kernel["refused"])
            own = case["kernels"][0]
            self.assertTrue(own["right"], own)
            self.assertGreater(own["solver"]["iterations"], 0)
            self.assertGreater(own["solver"]["iteration_floor_ms"], 0)
            self.assertGreater(sum(own["solver"]["phases"].values()), 0)
        self.assertFalse((self.folder / ".problem").exists())


class Compare(InFolder):
    def record(self, name, median, spread=0.01, **members):
        kernel = {"id": "auto", "family": "blockspan", "right": True,
                  "ms": {"median": median, "min": median, "max": median, "spread": spread}}
        kernel.update(members)
        if not kernel["right"]:
            del kernel["ms"]
        case = {"group": "g", "matrix": "m", "scalar": "f64", "columns": 1, "kernels": [kernel]}
        return write(self.folder / name, {"cases": [case]})

    def status(self, old, new):
        return run("compare", old, new)

    def test_slower_by_more_than_the_noise(self):
        old = self.record("old.json", 1.0)
        for median, worse in ((1.0, 0), (1.04, 0), (1.06, 1), (0.5, 0), (3.0, 1)):
            status, said = self.status(old, self.record("new.json", median))
            self.assertEqual(status, worse, said)
            self.assertEqual("worse: g m f64 n = 1 auto" in said, bool(worse))

    def test_the_spread_is_noise(self):
        old = self.record("old.json", 1.0, spread=0.1)
        self.assertEqual(self.status(old, self.record("new.json", 1.15, spread=0.1))[0], 0)
        self.assertEqual(self.status(old, self.record("new.json", 1.25, spread=0.1))[0], 1)

    def test_wrong_or_gone_is_worse(self):
        old = self.record("old.json", 1.0)
        for members in ({"right": False}, {"id": "other"}, {"refused": "no", "right": False}):
            self.assertEqual(self.status(old, self.record("new.json", 1.0, **members))[0], 1)

    def test_folders_and_bad_files(self):
        for name in ("a", "b"):
            (self.folder / name).mkdir()
            self.record(name + "/x.json", 1.0)
        self.assertEqual(self.status(self.folder / "a", self.folder / "b")[0], 0)
        bad = self.folder / "bad.json"
        bad.write_text("{", encoding="utf-8")
        self.assertEqual(self.status(bad, bad)[0], 2)

    def test_records_of_the_first_schema(self):
        old = PERF / "results" / "spmm_d3731c9_h200.json"
        status, said = self.status(old, PERF / "results" / "spmm_h200.json")
        self.assertIn(status, (0, 1))
        self.assertIn("110 of 110 cases", said)


class Pages(InFolder):
    def fill(self, fill, own, dense):
        kernels = [{"id": name, "family": "blockspan", "right": True, "ms": {"median": ms}}
                   for name, ms in (("auto", own), ("dense", dense))]
        return {"group": "fill", "matrix": "m", "scalar": "f64", "columns": 1, "fill": fill,
                "kernels": kernels}

    def test_crossover_lies_between_the_fills(self):
        document = {"cases": [self.fill(0.01, 1, 5), self.fill(0.03, 3, 5), self.fill(0.1, 9, 5)]}
        self.assertEqual(summaries.summarize(document, "crossover:auto:dense"),
                         "between 3 and 10 %")
        document["cases"].pop()
        self.assertIn("above 3 %", summaries.summarize(document, "crossover:auto:dense"))

    def test_a_speed_up_is_the_ratio_of_medians(self):
        case = self.fill(0.1, 2, 5)
        self.assertEqual(values.written({}, case, "speedup:auto:dense"), "2.50")
        self.assertEqual(values.written({}, case, "speedup:auto:cusparse"), "-")

    def test_metrics_of_nsight_compute_are_read(self):
        heading = ['"ID"', '"Kernel Name"', *(f'"{key}"' for key in profile_ncu.METRICS)]
        units = ['""'] * len(heading)
        numbers = ['"0"', '"kernel"', *(f'"{1000 + i},0"'.replace(",0", ".5")
                                        for i in range(len(profile_ncu.METRICS)))]
        text = "==PROF== Connected\n" + "\n".join(",".join(r) for r in (heading, units, numbers))
        metrics = profile_ncu.parse(text)
        self.assertEqual(list(metrics), list(profile_ncu.METRICS.values()))
        self.assertEqual(metrics["memory throughput %"], 1000.5)
        self.assertEqual(profile_ncu.parse("==ERROR== no counters"), {})


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
        for name in ("robustness_host.json", "robustness_large_host.json"):
            runs = read(PERF / "results" / name)["runs"]
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
        return [run["verdict"] for run in read(PERF / "results" / name)["runs"]]

    def test_nothing_false_was_claimed(self):
        for name, solves in (("robustness_systems_host.json", 3 * 188),
                             ("robustness_systems_large_host.json", 3 * 20)):
            found = self.verdicts(name)
            self.assertEqual(len(found), solves)
            self.assertLessEqual(set(found), {"solved", "not solved"})
            self.assertGreater(found.count("solved"), 0.9 * solves)

    def test_the_judge_finds_what_scipy_claims_falsely(self):
        found = self.verdicts("robustness_systems_scipy_host.json")
        self.assertEqual(len(found), 188)
        self.assertIn("FALSE", found)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
