#!/usr/bin/env python3
"""What report.py and compact.py make of results.

    perf/tests/pages_test.py [unittest's arguments]"""

import itertools
import unittest

from support import InFolder, PERF, main, read, write
import compact
import profile_ncu
from pages import drawing, figures, palette, ranks, results, study, summaries, values

RECORDS = [path for folder in ("h200", "host", "judged", "tests")
           for path in sorted((PERF / "results" / folder).glob("*.json"))]


class Pages(InFolder):
    def fill(self, fill, own, dense):
        kernels = [{"id": name, "family": "blockspan", "right": True, "ms": {"median": ms}}
                   for name, ms in (("auto", own), ("dense", dense))]
        return {"group": "fill", "matrix": "m", "scalar": "f64", "columns": 1, "fill": fill,
                "kernels": kernels}

    def test_a_speed_up_is_the_ratio_of_medians(self):
        case = self.fill(0.1, 2, 5)
        self.assertEqual(values.written({}, case, "speedup:auto:dense"), "2.50")
        self.assertEqual(values.written({}, case, "speedup:auto:cusparse"), "-")

    def test_a_share_is_the_floor_in_the_time(self):
        case = dict(self.fill(0.1, 4, 5), floor_ms=1)
        self.assertEqual(values.written({}, case, "share:auto"), "0.25")

    def test_summaries_by_width_and_of_extremes_name_their_cases(self):
        cases = [dict(self.fill(0.1, own, dense), columns=n, matrix=f"m{own}")
                 for own, dense, n in ((2, 1, 1), (4, 1, 1), (1, 3, 8), (5, 5, 8))]
        cases.append({"matrix": "lost", "scalar": "f64", "columns": 8, "error": "no memory"})
        document = {"cases": cases}
        # sqrt(1/2 * 1/4) and sqrt(3 * 1)
        self.assertEqual(summaries.summarize(document, "by_width:geomean:auto:dense"),
                         "n = 1: 0.35 (2 cases); n = 8: 1.73 (2 cases)")
        self.assertEqual(summaries.summarize(document, "behind:auto:dense"),
                         "2 of 4 cases: `m4` f64 n = 1 0.25; `m2` f64 n = 1 0.50")
        self.assertEqual(summaries.summarize(document, "worst:auto:dense"),
                         "4 of 4 cases: `m1` f64 n = 8 3.00; `m5` f64 n = 8 1.00; "
                         "`m2` f64 n = 1 0.50; `m4` f64 n = 1 0.25")
        self.assertEqual(summaries.summarize({"cases": cases[2:]}, "behind:auto:dense"), "0 of 2 cases")

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


class Records(InFolder):
    def document(self):
        """Results as blockspan-perf writes them: one case, with a wrong and a refused kernel."""
        document = read(PERF / "results" / "h200" / "coalescing.json")
        del document["refusals"]
        time = {"median": 0.123456, "min": 0.1, "max": 0.2, "mean": 0.13, "spread": 0.00123}
        kernel = {"right": True, "ms": time, "error": 1.234e-16, "setup_ms": 0.3, "setup_products": 3}
        document["cases"] = [{
            "group": "g", "matrix": "m", "source": "m", "scalar": "f64", "columns": 8, "rows": 10,
            "nonzeros": 70, "mean": 7.0, "longest": 9, "floor_bytes": 1234567.0, "floor_ms": 0.01,
            "density": 0.5, "kernels": [
                {"id": "auto", "family": "blockspan", "ran": "single_columns", **kernel},
                {"id": "thread_per_row", "family": "blockspan", "right": False, "error": 1.0},
                {"id": "single_columns", "family": "blockspan", "refused": "no (columns: 8 of 8 bytes)"},
                {"id": "cusparse/a", "family": "cusparse", **kernel},
                {"id": "cusparse/b", "family": "cusparse", **kernel, "ms": dict(time, median=1.0)}]}]
        return document

    def test_the_page_of_a_record_is_that_of_its_results(self):
        whole = write(self.folder / "whole.json", self.document())
        short = self.folder / "short.json"
        short.write_text(compact.record(results.read(whole)), encoding="utf-8")
        pages = [study.page(results.read(path), self.folder) for path in (whole, short)]
        self.assertEqual(pages[0].replace(" (columns: 8 of 8 bytes)", ""), pages[1])
        self.assertIn("WRONG", pages[1])
        ids = [kernel["id"] for kernel in read(short)["cases"][0]["kernels"]]
        self.assertIn("cusparse/a", ids)
        self.assertNotIn("cusparse/b", ids)  # slower than the other, and no column asks for it

    def test_what_is_kept_is_compact(self):
        for path in RECORDS:
            document = results.read(path)
            if "cases" in document and "schema" in document:
                with self.subTest(path.stem):
                    self.assertEqual(compact.record(document), path.read_text(encoding="utf-8"))
        sizes = [path.stat().st_size for path in (PERF / "results").rglob("*") if path.is_file()]
        self.assertLess(sum(sizes), 3e6)

    def test_every_page_names_its_origin_first(self):
        for path in RECORDS:
            page = path.with_suffix(".md")
            if page.exists():
                first = page.read_text(encoding="utf-8").split("\n")[2]
                with self.subTest(page.name):
                    self.assertRegex(first, r"(NVIDIA|host).*20\d\d-\d\d-\d\d: .*\d\.\d")

    def test_every_study_but_those_of_tables_alone_has_its_figure(self):
        for path in RECORDS:
            if "study" in read(path) and path.stem != "regrets":
                file = figures.path(path.parent, path.stem)
                self.assertIn(f"figures/{file.name}", path.with_suffix(".md").read_text("utf-8"))
                self.assertTrue(file.exists())


class Model(InFolder):
    """The model of the study `ranks`, on measurements made by its own formula."""

    LATENCY, BYTE, PACK, LAUNCH, FOLD = 0.02, 1e-6 / 100, 0.004, 0.002, 0.02

    def document(self):
        def kernel(who, ms):
            return {"id": who, "family": "blockspan", "right": True, "ms": {"median": ms}}
        cases = [{"group": "sums over ranks", "matrix": "m", "columns": n,
                  "kernels": [kernel("fold", self.FOLD * n / 100)]} for n in (100, 1000)]
        for columns, alone in ((1, 0.06), (8, 0.16), (32, 0.4)):
            messages = self.LATENCY + self.BYTE * 8 * 10000 * columns
            cases.append({
                "group": "products, laplace7:100", "matrix": "laplace7:100x100x200", "scalar": "f64",
                "columns": columns, "one": "laplace7:100", "rows": 2000000, "halo_rows": 10000,
                "neighbours": 1, "end_rows": 10000, "block": columns, "kernels": [
                    kernel("alone", alone), kernel("pack", self.PACK),
                    kernel("exchange", self.PACK + messages),
                    kernel("auto", self.PACK + max(0.99 * alone, messages) + 0.01 * alone
                           + 2 * self.LAUNCH)]})
        cases.append(dict(cases[-1], group="solvers, laplace7:100", columns=8, method="steps",
                          products=2, width=20, folds=2, folds_on_device=True, kernels=[
                              kernel("alone", 1.0), kernel("auto", 1.0 + 2 * 0.008 + 2 * self.FOLD)]))
        return dict(read(PERF / "results" / "h200" / "casper.json"), study="ranks", ranks=2,
                    transport="mpi", devices=["a", "b"], launch_ms=self.LAUNCH, cases=cases)

    def test_it_finds_its_parameters_and_what_was_measured(self):
        document = self.document()
        p = ranks.parameters(document)
        for key, value in (("latency", self.LATENCY), ("byte", self.BYTE), ("pack", self.PACK),
                           ("device_fold", self.FOLD), ("fold", 10 * self.FOLD)):
            self.assertAlmostEqual(p[key] / value, 1, 6, key)
        cases = ranks.of_kind(document, "products") + ranks.of_kind(document, "solvers")
        for row in ranks.check_rows(document, p, cases):
            self.assertEqual(row[-1], "1.00", row)
        document["cases"][2]["kernels"][-1]["ms"]["median"] *= 2
        self.assertEqual(ranks.check_rows(document, p, cases)[0][-1], "0.50")

    def test_packing_costs_nothing_beside_a_longer_interior(self):
        document = self.document()
        by_mpi = ranks.parameters(document)
        by_nccl = ranks.parameters(dict(document, transport="mpi and nccl"))
        halo = (10000, 1, 0.01)
        for alone, saved in ((1.0, self.PACK), (0.001, 0.0)):
            self.assertAlmostEqual(ranks.product(by_mpi, alone, halo, 8)
                                   - ranks.product(by_nccl, alone, halo, 8), saved)

    def test_more_ranks_are_for_devices_and_cost_more(self):
        document = self.document()
        p = ranks.parameters(document)
        case = ranks.of_kind(document, "solvers")[0]
        times = [ranks.expected(document, ranks.over_network(p, n), case, ranks.brick("laplace7:100", n))
                 for n in ranks.RANKS]
        self.assertEqual(times, sorted(times))
        levels = [round((ranks.over_network(p, n)["fold"] / (p["fold"] + (0.005 if n > 8 else 0))))
                  for n in (2, 8, 64, 256, 1000)]
        self.assertEqual(levels, [1, 1, 2, 2, 3])
        page = study.page(document, self.folder)
        self.assertIn("Not measured.", page)
        page = study.page(dict(document, backend="openmp"), self.folder)
        self.assertIn("## Model", page)
        self.assertNotIn("Not measured.", page)

    def test_a_brick_has_the_halo_that_is_counted(self):
        edge = 5
        for spec, reach, unknowns in (("laplace7:5", 1, 1), ("laplace27:5", 3, 1), ("elasticity:5", 3, 3)):
            steps = [s for s in itertools.product((-1, 0, 1), repeat=3) if 0 < sum(map(abs, s)) <= reach]
            for parts in (2, 3):  # the first brick has neighbours on one side, the middle one on both
                low = 0 if parts == 2 else edge
                inside = set(itertools.product(range(low, low + edge), repeat=3))
                whole = range(parts * edge)
                halo, ends = set(), 0
                for point in inside:
                    others = {tuple(map(sum, zip(point, s))) for s in steps} - inside
                    others = {o for o in others if all(x in whole for x in o)}
                    halo |= others
                    ends += bool(others)
                owners = {tuple(x // edge for x in o) for o in halo}
                found = ranks.brick(spec, parts**3)
                self.assertEqual(found[:2], (unknowns * len(halo), len(owners)), spec)
                self.assertAlmostEqual(found[2], ends / len(inside))


class Figures(InFolder):
    def test_a_system_has_one_colour(self):
        for words in (("ms:auto", "gflops:auto", "auto", "ms:auto/column"),
                      ("cusparse", "ms:cusparse/spmm/default/row", "gflops:cusparse"),
                      ("kokkos-kernels", "ms:kokkos-kernels")):
            self.assertEqual(len({palette.style(word)[1] for word in words}), 1)
        peers = ("auto", "cusparse", "kokkos-kernels", "torch", "cupy", "scipy", "petsc", "slepc")
        self.assertEqual(len({palette.style(who)[1] for who in peers}), len(peers))

    def test_ticks_are_few_and_within(self):
        for low, high in ((0.11, 0.9), (0.03, 0.06), (1e-6, 3e6), (143, 3400), (1, 9.9e9)):
            ticks = drawing.series(low, high)
            self.assertTrue(2 <= len(ticks) <= 5, ticks)
            self.assertTrue(low * 0.99 <= min(ticks) and max(ticks) <= high * 1.01)

    def test_names_do_not_touch(self):
        for heights in ([0, 0, 0], [0.2, 0.21, 0.5, 0.99, 1.0], [0.5], []):
            places = drawing.spread(heights, 0.1)
            self.assertTrue(all(b - a > 0.099 for a, b in zip(places, places[1:])), places)

    @unittest.skipIf(drawing.pyplot is None, "no matplotlib")
    def test_a_figure_is_the_same_every_time(self):
        document = results.read(PERF / "results" / "h200" / "casper.json")
        for stem in ("a", "b"):
            figures.draw(self.folder, stem, document)
        texts = [figures.path(self.folder, stem).read_text("utf-8") for stem in ("a", "b")]
        self.assertEqual(*texts)
        self.assertIn(">Blockspan<", texts[0])


if __name__ == "__main__":
    main()
