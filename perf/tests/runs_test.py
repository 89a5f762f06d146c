#!/usr/bin/env python3
"""What blockspan-perf does when a run ends early, a result is wrong, or a kernel became slower.

    perf/tests/runs_test.py BLOCKSPAN_PERF [unittest's arguments]"""

import os
import pty
import signal
import subprocess
import unittest

from support import InFolder, PERF, Program, keys, main, read, run, write
from pages import study, summaries, values


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
        with subprocess.Popen([Program.path, "casper", "--quick", "--out", self.folder], stderr=end):
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
        command = [Program.path, "laplace7:40", "--quick", "--out", self.folder]
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
        for name in ("casper", "spmv", "coalescing", "variants", "roofline", "widths", "forms",
                     "scaling", "solvers", "multigrid", "families", "regrets", "collection", "cases"):
            self.assertIn("\n" + name + " ", "\n" + said)


class Faults(InFolder):
    def test_a_wrong_product_has_no_speed_and_says_so(self):
        for spoilt in ("auto", "single_columns"):
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
        run("coalescing", "--quick", "--inject-fault", "single_columns", "--out", self.folder)
        document = read(self.folder / "coalescing.json")
        for case in document["cases"]:
            cell = values.written(document, case, "speedup:single_columns:thread_per_row")
            self.assertEqual(cell, "single_columns WRONG")
        text = summaries.summarize(document, "geomean:single_columns:thread_per_row")
        self.assertEqual(text, "no case (2 without a right result)")

    def test_alpha_and_beta_are_checked(self):
        status, _ = run("variants", "--quick", "--inject-fault", "rows", "--out",
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


class Hierarchies(InFolder):
    def test_a_hierarchy_has_levels_phases_and_cycles(self):
        status, said = run("multigrid", "--quick", "--matrix", "laplace7:16", "--out", self.folder)
        self.assertEqual(status, 0, said)
        document = read(self.folder / "multigrid.json")
        case = document["cases"][0]
        levels = case["multigrid"]["levels"]
        self.assertEqual([levels[0]["rows"], levels[0]["nonzeros"]], [case["rows"], case["nonzeros"]])
        self.assertEqual(levels[0]["aggregates"], levels[1]["rows"])
        kernels = {kernel["id"]: kernel for kernel in case["kernels"]}
        self.assertEqual(list(kernels), ["setup", "refresh", "cycle/1", "cycle/8", "cycle/32"])
        for what in ("setup", "refresh"):
            whole = kernels[what]["ms"]["max"]
            self.assertLess(sum(kernels[what]["solver"]["phases"].values()), 1.05 * whole)
        # by hand: four products and 15 passes over a block a level, P and its adjoint, the inverse
        first, last = levels
        for columns in (1, 8, 32):
            more = kernels[f"cycle/{columns}"]["solver"]
            words = 4 * columns * (18 * first["rows"] + 4 * last["rows"])
            entries = 8 * (4 * first["nonzeros"] + 2 * first["prolongator_nonzeros"])
            bytes_ = words + entries + 4 * last["rows"] ** 2
            self.assertAlmostEqual(more["floor_ms"] * document["copy_gbytes"] * 1e6 / bytes_, 1, 6)
            self.assertAlmostEqual(more["model_ms"], 1.5 * more["floor_ms"] + 8 * more["launch_ms"])
        solved = [k for c in document["cases"][1:] for k in c["kernels"] if k["id"] == "multigrid"]
        self.assertEqual([kernel["right"] for kernel in solved], 3 * [True])
        page = study.page(document, self.folder)
        for heading in ("Levels", "Setup and refresh by phase", "A cycle", "Growth"):
            self.assertIn("\n## " + heading, page)

    def test_a_cycle_that_is_not_hermitian_has_no_time(self):
        status, said = run("multigrid", "--quick", "--at-most", 1, "--inject-fault", "cycle/8",
                           "--out", self.folder)
        self.assertEqual(status, 1, said)
        document = read(self.folder / "multigrid.json")
        wrong = [k["id"] for k in document["cases"][0]["kernels"] if not k["right"] or "ms" not in k]
        self.assertEqual(wrong, ["cycle/8"])
        self.assertIn("| `laplace7:16` | 8 | WRONG |", study.page(document, self.folder))


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
        """They have no spread: half of the distance from least to most is their noise."""
        old, new = (self.record(name, median) for name, median in (("a.json", 1.0), ("b.json", 1.3)))
        for path, median in ((old, 1.0), (new, 1.3)):
            document = read(path)
            document["schema"] = "blockspan-perf-spmm/1"
            document["cases"][0]["kernels"][0]["ms"] = {
                "median": median, "min": median - 0.2, "max": median + 0.2}
            write(path, document)
        status, said = self.status(old, new)
        self.assertEqual(status, 0, said)
        self.assertIn("1 of 1 cases", said)

    def test_methods_are_cases_of_their_own(self):
        def record(name, first, second):
            path = self.record(name, first)
            cases = [dict(read(path)["cases"][0], method=method) for method in ("one", "two")]
            cases[1]["kernels"] = read(self.record("second.json", second))["cases"][0]["kernels"]
            return write(path, {"cases": cases})
        old = record("old.json", 1.0, 3.0)
        self.assertEqual(self.status(old, old)[0], 0)
        status, said = self.status(old, record("new.json", 1.0, 4.0))
        self.assertEqual(status, 1, said)
        self.assertIn("worse: g m f64 n = 1 two, auto", said)
        self.assertIn("1 became worse", said)

    def test_a_record_is_compared_as_results_are(self):
        folder = PERF / "results" / "h200"
        status, said = self.status(folder, folder)
        self.assertEqual(status, 0, said)
        self.assertIn("108 of 108 cases", said)


if __name__ == "__main__":
    main()
