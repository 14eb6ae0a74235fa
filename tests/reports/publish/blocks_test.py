"""The blocks of a findings page say what the records show."""

import gzip
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
import cells  # noqa: E402
from blocks import (calibration, counts, kernels, machine, orders, picture, rates, runs, two_folders,  # noqa: E402
                    windows)
from blocks.pairs import pairs_of  # noqa: E402
from published import Folder  # noqa: E402

HOST = {"cpu": "Example(R) Processor 9 CPU @ 2.00GHz", "cores": 2, "data_tlb_entries": 3072,
        "caches": [{"level": 1, "bytes": 1 << 15, "shared_by": 1}, {"level": 2, "bytes": 1 << 20, "shared_by": 1},
                   {"level": 3, "bytes": 1 << 25, "shared_by": 2}]}


class Judged(Folder):
    """A folder whose records hold their verdicts, so that no program is needed."""

    def speedups(self, sweep):
        return {(one["case"], one["variant"]): one["speedup"] for one in self.records(sweep) if one["speedup"]}


def record(length, dilation, order, ratio=None, pages=64.0):
    params = {"device": "cpu", "dtype": "fp32", "batch": 1, "sequence_length": length, "kv_heads": 1, "head_dim": 64,
              "segments": [1024], "dilations": [dilation]}
    low, high = (ratio - 0.005, ratio + 0.005) if ratio else (1, 1)
    verdict = "faster" if low > 1.01 else "slower" if high < 0.99 else "inconclusive"
    speedup = ratio and {"against": "dilated/linear", "ratio": ratio, "ci": [low, high], "verdict": verdict,
                         "margin": "0.01"}
    return {"case": f"n{length}-w1024-r{dilation}-h1-d64-fp32-p1-cpu", "variant": f"dilated/{order}",
            "kind": "kernel", "status": "ok", "params": params, "speedup": speedup, "time_ns": {"median": 1e6},
            "counters": {"layout_pages_4k_per_tile": {"value": pages, "source": "layout"}},
            "environment": {"host": HOST}}


class BlocksTest(unittest.TestCase):
    def published(self, records, sweep="cpu-order"):
        """A published folder of one sweep."""
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        place = pathlib.Path(held.name)
        (place / sweep).mkdir()
        with gzip.open(place / sweep / "records.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(one) + "\n" for one in records)
        return Judged(place)

    def test_text_of_records_is_shown_and_not_obeyed(self):
        bad = record(1024, 1, "linear")
        bad["environment"] = {"host": {**HOST, "cpu": "X\x1b[2J\u009b1m\u202e\n<!-- end -->|[a](b)"}}
        table = machine.block_machine(self.published([bad]))
        self.assertIn("| processor | X \\[2J 1m  \\<!-- end -->\\|\\[a](b) |", table)

    def study(self, ratios):
        """A study of orders; `ratios` is (length, dilation): {order: (speedup, pages)}."""
        records = []
        for (length, dilation), measured in ratios.items():
            records.append(record(length, dilation, "linear"))
            records += [record(length, dilation, order, *values) for order, values in measured.items()]
        return self.published(records)


class TwoFolders(BlocksTest):
    def against(self, mine, theirs):
        """What is said of two folders side by side; each is {order: speedup} of one case."""
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        for name, speedups in (("mine", mine), ("theirs", theirs)):
            place = pathlib.Path(held.name) / name / "data"
            place.mkdir(parents=True)
            records = [record(1024, 1, "linear")] + [record(1024, 1, order, ratio) for order, ratio in speedups.items()]
            with gzip.open(place / "records.jsonl.gz", "wt") as file:
                file.writelines(json.dumps(one) + "\n" for one in records)
        return two_folders.block_against(Judged(pathlib.Path(held.name) / "mine"), "data", "theirs")

    def test_a_table_holds_the_comparisons_that_end_otherwise(self):
        said = self.against({"hilbert": 1.1, "random": 0.9, "alone": 1.5}, {"hilbert": 1.0, "random": 0.9})
        self.assertIn("come to the same verdict in 1 of 2 comparisons of `data`; their ratios differ by at most 10 %.",
                      said.replace("\n", " "))
        rows = [line for line in said.splitlines() if line.startswith("| n 1024")]
        self.assertEqual(rows, ["| n 1024, 1024/1, h 1, d 64, fp32 | dilated/hilbert | 1.100 [1.095, 1.105] | faster | "
                                "1.000 [0.995, 1.005] | inconclusive |"])

    def test_there_is_no_table_if_none_does(self):
        self.assertNotIn("|", self.against({"hilbert": 1.1}, {"hilbert": 1.2}))

    def test_what_the_other_folder_lacks_is_said(self):
        self.assertEqual(self.against({"hilbert": 1.1}, {"random": 1.1}), "No comparison of `data` stands in `theirs` too.")
        folder = self.study({(1024, 1): {"hilbert": (1.1, 64)}})
        self.assertEqual(two_folders.block_against(folder, "cpu-order", "none"),
                         "`cpu-order` of `none` has not been published yet.")


class Calibration(BlocksTest):
    def twin(self, ratio, low, high, verdict):
        one = record(1024, 1, "linear@twin")
        return {**one, "twin": True,
                "speedup": {"ratio": ratio, "ci": [low, high], "verdict": verdict, "processes": 5}}

    def twins(self, twins):
        lines = "".join(json.dumps(one) + "\n" for one in [{**record(1024, 1, "linear"), "twin": False}, *twins])
        with unittest.mock.patch.object(calibration.render, "hilbench", lambda *_: lines):
            return calibration.block_twins(self.published([], "calibration"))

    def test_twins_whose_interval_excludes_1_are_counted(self):
        equal = self.twin(1.001, 0.999, 1.003, "equivalent")
        said = self.twins([equal] * 19 + [self.twin(1.02, 1.015, 1.025, "faster")])
        self.assertIn("20 twins, each measured by 5 processes.", said.replace("\n", " "))
        self.assertIn("interval of 1 of 20 (5.00 %; 0.13 % to 25 %)", said.replace("\n", " "))
        self.assertIn("19 are equivalent, 0 inconclusive, 1 faster and 0 slower", said.replace("\n", " "))

    def test_gates_are_counted_by_what_was_compared(self):
        folder = self.published([], "calibration")
        rows = ["kind,gate,status,seconds,case,variant,verdict"]
        rows += [f"equal,{gate},{0 if gate < 3 else 3},60,n1,{variant},{'undecided' if gate == 3 else 'ok'}"
                 for gate in (1, 2, 3) for variant in "ab"]
        rows += ["injected-5,1,1,120,n1,a,slower", "injected-5,1,1,120,n1,b,slower"]
        with gzip.open(folder.path / "calibration/gates.csv.gz", "wt") as file:
            file.write("\n".join(rows) + "\n")
        table = calibration.block_gates(folder).splitlines()
        self.assertIn("| a build and itself | 2.5 % | 3 | 0 of 3 (0 %; 0 % to 71 %) | 6 | 4 of 6 ", table[2])
        self.assertIn(" | 0: 2, 3: 1 | 60, 60 |", table[2])
        self.assertIn("| a build and itself with 5 % more work | 2.5 % | 1 | 1 of 1 (100 %; 2.5 % to 100 %) | 2 |", table[3])

    def test_compared_runs_are_counted_by_pairs(self):
        folder = self.published([], "calibration")
        rows = ["kind,first,second,status,case,variant,verdict,processes",
                "quiet,1,2,0,n1,a,ok,30", "quiet,1,2,0,n1,b,ok,30",
                "quiet,1,2,0,n1,linear,\"reference, not judged\",9", "quiet,1,3,3,n1,a,undecided,30",
                "quiet,1,3,3,n1,b,ok,30", "quiet,2,3,1,n1,a,slower,30", "quiet,2,3,1,n1,b,ok,30",
                "equal,1,2,3,n1,a,undecided,6", "equal,1,2,3,n1,b,ok,12"]
        with gzip.open(folder.path / "calibration/pairs.csv.gz", "wt") as file:
            file.write("\n".join(rows) + "\n")
        table = calibration.block_compared(folder).splitlines()
        self.assertIn("| of one build | 3 | 30 | 3 | 1 of 3 (33.3 %) | 6 | 4 of 6 (66.7 %) | 1 of 6 (16.7 %) |",
                      table[2])
        self.assertIn(" | 0: 1, 1: 1, 3: 1 |", table[2])
        self.assertIn("| of one build, left by its gates | 2 | 6 to 12 | 1 |", table[3])

    def test_the_exact_interval(self):
        for count, of, low, high in ((0, 50, 0, 0.0711), (3, 200, 0.0031, 0.0432), (50, 50, 0.9289, 1)):
            found = calibration.exact_interval(count, of)
            self.assertAlmostEqual(found[0], low, 4)
            self.assertAlmostEqual(found[1], high, 4)


class Orders(BlocksTest):
    def test_effects_within_one_per_cent_are_none(self):
        folder = self.study({(4096, 1): {"residue": (1.012, 64), "random": (0.99, 64)}})
        said = orders.block_order_said(folder, "cpu-order")
        self.assertIn("No order was shown to be more than 1 % faster or slower than linear order in any of 1 case.", said)

    def test_gains_are_listed_with_those_that_the_control_reaches(self):
        folder = self.study({(4096, 4): {"residue": (1.2, 16), "random": (1.21, 64)},
                             (8192, 4): {"residue": (1.3, 16), "random": (0.8, 64)}})
        said = orders.block_order_said(folder, "cpu-order")
        self.assertIn("Of 2 cases, those in which", said)
        self.assertIn("| `residue` | 2 | 1.200 to 1.300 | 4 | 0 |  |  |", said)
        self.assertIn("| `random` | 1 | 1.210 | 4 | 1 | 0.800 | 4 |", said)
        self.assertIn("Random order, the control, reaches 1 of the 2 gains of other orders.", said)

    def test_windows_and_masks_are_listed_beside_branches(self):
        records = [record(4096, 4, "linear"), record(4096, 4, "residue", 1.2), windows_record("linear"),
                   windows_record("residue", 1.2), masked_record("linear"), masked_record("residue", 1.2)]
        folder = self.published(records)
        table = orders.block_orders(folder, "cpu-order").split("\n")
        self.assertIn("| n 8192, mask a7f5f064 of 64, h 4, d 64, fp32, threads 1 | 4 MiB | 129 | 1 | 1.200 [1.195, 1.205] |",
                      table)
        said = orders.block_order_said(folder, "cpu-order")
        self.assertIn("| `residue` | 3 | 1.200 | 4 | 0 |  |  |", said)

    def test_working_sets_are_placed_by_the_cache_that_holds_them(self):
        places = {1 << 20: "within L2 of a core", 2 << 20: "within the reach of a core's data TLB",
                  1 << 25: "within L3", 1 << 26: "beyond L3"}
        for size, place in places.items():
            self.assertTrue(machine.place_of(size, HOST).startswith(place), machine.place_of(size, HOST))


class Counts(BlocksTest):
    def test_a_count_that_the_speedup_follows_is_named(self):
        speedups = [0.8 + 0.02 * i for i in range(16)]
        falling = {(1024 << i, 4): {"residue": (ratio, 200 - i)} for i, ratio in enumerate(speedups)}
        said = counts.block_counts_said(self.study(falling))
        self.assertIn("follows the count `layout_pages_4k_per_tile` (layout): rank correlation -1.00", said)
        mixed = {(1024 << i, 4): {"residue": (ratio, 100 + i % 2)} for i, ratio in enumerate(speedups)}
        self.assertIn("the speedup follows no count", counts.block_counts_said(self.study(mixed)))

    def test_equal_values_share_a_rank(self):
        self.assertEqual(counts.ranks([3, 1, 3]), [1.5, 0, 1.5])
        self.assertIsNone(counts.rank_correlation([1, 1, 1], [1, 2, 3]))


class Rates(BlocksTest):
    def test_rates_stand_against_dense_cases_with_as_many_keys(self):
        measured = {("fp32", 2048, 2048, 1): 0.1, ("bf16", 2048, 2048, 1): 0.25, ("fp32", 4096, 512, 1): 0.09,
                    ("fp32", 8192, 8192, 16): 0.081}
        records = []
        for (dtype, length, segment, dilation), rate in measured.items():
            one = record(length, dilation, "linear")
            one["params"].update(dtype=dtype, segments=[segment], threads=1, heads=1)
            records.append({**one, "tflops": rate})
        table = rates.block_rates(self.published(records), "cpu-order").split("\n")
        self.assertIn("| n 8192, 8192/16, h 1, d 64, threads 1 | 512 | 0.081 |  |  | 90.0 % |  | 81.0 % |  |", table)
        self.assertIn("| n 2048, 2048/1, h 1, d 64, threads 1 | 2048 | 0.1 | 0.25 | 2.50 | 100.0 % | 100.0 % | 100.0 % "
                      "| 100.0 % |", table)

    def test_windows_stand_in_their_own_words(self):
        records = []
        for dtype, rate in (("fp32", 0.08), ("bf16", 0.2)):
            one = windows_record("hilbert", dtype=dtype)
            records.append({**one, "tflops": rate})
        table = rates.block_rates(self.published(records), "cpu-order").split("\n")
        self.assertIn("| grid 16x32x32, window 4x8x8, h 1, d 64, threads 1 | 256 | 0.08 | 0.2 | 2.50 |  |  |  |  |", table)

    def test_masks_have_the_mean_of_their_keys(self):
        records = [{**masked_record("linear", grid=grid), "tflops": rate}
                   for grid, rate in ((None, 0.08), ([64, 128], 0.06))]
        table = rates.block_rates(self.published(records), "cpu-order").split("\n")
        self.assertIn("| n 8192, mask a7f5f064 of 64, h 4, d 64, threads 1 | 129 | 0.08 |  |  |  |", table)
        self.assertIn("| grid 64x128, mask a7f5f064 of 64, h 4, d 64, threads 1 | 129 | 0.06 |  |  |  |", table)


def masked_record(order, ratio=None, grid=None):
    """A record of a mask of blocks, with 128.6 keys a query on average."""
    one = record(8192, 1, order, ratio)
    one["params"].update(threads=1, heads=4, grid=grid, window=None, mask="a7f5f0640123abcd", mask_block=64,
                         segments=None, dilations=None)
    place = "n8192" if grid is None else "g64x128"
    return {**one, "case": f"{place}-m64.a7f5f064-h4-d64-fp32-p1-cpu-threads.1",
            "pairs": {"needed": 128.6 * 4 * 8192, "computed": 140 * 4 * 8192}}


def windows_record(order, ratio=None, dtype="fp32"):
    """A record of windows, whose branches are null."""
    one = record(16384, 1, order, ratio)
    one["params"].update(dtype=dtype, threads=1, heads=1, grid=[16, 32, 32], window=[4, 8, 8], segments=None,
                         dilations=None)
    return {**one, "case": f"g16x32x32-win4x8x8-h1-d64-{dtype}-p1-cpu-threads.1-edges.cut"}


class TablesOfWindows:
    """A folder with one sweep whose tables have these rows."""

    sweeps = ["images"]

    def __init__(self, rows):
        self.known = rows

    def rows(self, table, sweep=None):
        return self.known


class Kernels(BlocksTest):
    def timed(self, variant, median, energy=None, **params):
        case = "n1024-w1024-r1-h1-d64-bf16-p1-cuda" + "".join(f"-{key}.{value}" for key, value in params.items())
        one = record(1024, 1, "linear")
        one["params"].update(data="normal", score_scale=1.0)
        one["params"].update(params)
        return {**one, "case": case, "variant": variant, "time_ns": {"median": median}, "verify": {"max_abs": 0},
                "twin": False, "energy_j": energy and {"median": energy}}

    def test_times_by_kind_of_data_are_over_those_of_normal_data(self):
        folder = self.published([self.timed("dilated/linear", 100), self.timed("cudnn", 200),
                                 self.timed("dilated/linear", 110, score_scale=20),
                                 self.timed("cudnn", 190, score_scale=20), self.timed("cudnn", 180, data="equal_rows"),
                                 {**self.timed("dilated/linear", 999, score_scale=20), "twin": True},
                                 self.timed("fa3", 50, data="equal_rows")])  # without normal data
        self.assertEqual(kernels.block_data(folder, "cpu-order").split("\n"),
                         ["| case (segment/dilation) | dilated/linear | cudnn |", "|---|---|---|",
                          "| n 1024, 1024/1, h 1, d 64, bf16, score_scale 20 | 1.100 | 0.950 |",
                          "| n 1024, 1024/1, h 1, d 64, bf16, data equal_rows |  | 0.900 |"])

    def test_joules_stand_by_variant(self):
        folder = self.published([self.timed("dilated/linear", 100, 2.5), self.timed("cudnn", 100, 3.25),
                                 self.timed("fa3", 100)])
        self.assertEqual(kernels.block_energy(folder, "cpu-order").split("\n")[0::2],
                         ["| case (segment/dilation) | dilated/linear | cudnn |",
                          "| n 1024, 1024/1, h 1, d 64, bf16 | 2.5 | 3.25 |"])
        self.assertEqual(kernels.block_energy(self.published([self.timed("fa3", 100)]), "cpu-order"),
                         "Nothing was measured.")

    def test_the_spread_of_misses_names_its_worst_case(self):
        counts = {("L2", record(1024, 2, "linear")["case"], "dilated/linear", None): [100, 110],
                  ("L2", record(2048, 2, "linear")["case"], "dilated/random", None): [100, 150, 120]}
        self.assertEqual(runs.spread_text("L2", counts), "by 30.0 % (median) and by 50.0 % at most at the L2 "
                                                         "(`dilated/random`, n 2048, 1024/2, h 1, d 64, fp32)")
        self.assertEqual(runs.spread_text("L1", {}), "at the L1 nowhere, as none was counted twice")

    def test_empty_columns_may_be_left_out(self):
        rows = [["a", "", 0], ["b", "", ""]]
        self.assertEqual(cells.markdown(["x", "y", "z"], rows, without_empty=True),
                         "| x | z |\n|---|---|\n| a | 0 |\n| b |  |")
        self.assertEqual(cells.markdown(["x", "y"], [], without_empty=True), "| x | y |\n|---|---|")


class Windows(BlocksTest):
    def test_a_table_of_orders_has_them(self):
        folder = self.published([windows_record("linear"), windows_record("hilbert", 1.5)])
        self.assertEqual(orders.block_orders(folder, "cpu-order").split("\n")[2:],
                         ["| grid 16x32x32, window 4x8x8, h 1, d 64, fp32, threads 1, edges cut | 8 MiB | 256 | 1 | "
                          "1.500 [1.495, 1.505] |"])

    def test_orders_and_rivals_stand_beside_each_other(self):
        case = "g64x64-win13x13-h4-d64-bf16-p1-cuda"
        plain = {"case": case, "needed_share": "4.1 %", "ratio_low": "", "ratio_high": "", "ratio": "", "remark": "",
                 "over_fastest": ""}
        folder = TablesOfWindows([
            {**plain, "variant": "dilated/linear", "computed_over_needed": "6.00"},
            {**plain, "variant": "dilated/hilbert.qkv", "computed_over_needed": "3.00", "ratio": "1.9", "ratio_low": "1.8",
             "ratio_high": "2", "remark": "faster"},
            {**plain, "variant": "dilated/linear (all pairs)", "computed_over_needed": "24", "ratio": "0.25",
             "ratio_low": "0.2", "ratio_high": "0.3", "remark": "all pairs: a different function",
             "over_fastest": "7.6"},
            {**plain, "variant": "torch_windows", "computed_over_needed": "", "ratio": "0.5", "ratio_low": "0.4",
             "ratio_high": "0.6", "remark": "slower", "over_fastest": "3.8"}])
        table = windows.block_windows(folder, "images").split("\n")
        self.assertEqual(table[0], "| case | needed, of all pairs | raster, computed / needed | dilated/hilbert.qkv | "
                                   "torch_windows | dilated/linear (all pairs) |")
        self.assertEqual(table[2], "| grid 64x64, window 13x13, h 4, d 64, bf16 | 4.1 % | 6.00 | 1.900 [1.800, 2.000]; 3.00 | "
                                   "0.500 [0.400, 0.600] | 0.250 [0.200, 0.300]; 24.0 |")
        said = windows.block_windows_said(folder, "images").replace("\n", " ")
        self.assertEqual(said, "1 case with windows, against the kernel in raster order. `dilated/hilbert.qkv` is faster in "
                               "1 of 1, slower in 0: 1.900 times as fast. `torch_windows` is faster in 0 of 1, slower in 1: "
                               "0.500 times as fast.")
        said = windows.block_window_rivals_said(folder, "images").replace("\n", " ")
        self.assertEqual(said, "In 1 case with windows the strongest rival is `torch_windows` in 1 (3.80): in brackets its time "
                               "over that of this program's kernel in its fastest order. Dense attention on the same tokens "
                               "takes 7.6 times as long.")
        self.assertEqual(windows.block_windows(folder, "videos"), "Nothing was measured.")
        self.assertEqual(windows.block_window_rivals_said(folder, "videos"), "No rival was measured.")

    def test_the_strongest_rival_is_that_of_each_case(self):
        def row(case, variant, over_fastest):
            return {"case": case, "variant": variant, "over_fastest": over_fastest}

        rows = [row("a", "dilated/linear", ""), row("a", "flex", "2"), row("a", "masked", "2.5"),
                row("b", "dilated/linear", ""), row("b", "dilated/hilbert.qkv", ""), row("b", "flex", "3"),
                row("b", "masked", "2"), row("c", "dilated/linear", ""), row("c", "flex", "4"),
                row("d", "dilated/linear", ""), row("d", "dilated/linear (all pairs)", "5")]
        said = windows.block_window_rivals_said(TablesOfWindows(rows), "images").replace("\n", " ")
        self.assertEqual(said, "In 3 cases with windows the strongest rival is `flex` in 2 (2.00 to 4.00), `masked` in 1 "
                               "(2.00): in brackets its time over that of this program's kernel in its fastest order.")

    def test_too_few_processes_are_said_in_place_of_counts(self):
        plain = {"case": "g64x64-win13x13-h4-d64-bf16-p1-cuda", "ratio": "1.9"}
        rows = [{**plain, "variant": "dilated/boxes", "remark": "inconclusive, too few processes"},
                {**plain, "variant": "dilated/hilbert", "remark": "faster"},
                {**plain, "variant": "dilated/hilbert", "remark": "inconclusive"},
                {**plain, "variant": "dilated/hilbert", "remark": "equivalent"},
                {**plain, "variant": "dilated/hilbert", "remark": "inconclusive, too few processes"}]
        said = windows.block_windows_said(TablesOfWindows(rows), "images").replace("\n", " ")
        self.assertIn("`dilated/boxes` has too few processes for a verdict: 1.900 times as fast.", said)
        self.assertIn("`dilated/hilbert` is faster in 1 of 4, slower in 0, equivalent in 1, inconclusive in 1, and has too few "
                      "processes for a verdict in 1: 1.900",
                      said)

    def test_time_by_pairs_in_a_sentence(self):
        case = "g64x64-win13x13-h4-d64-bf16-p1-cuda"
        folder = TablesOfWindows([
            {"case": case, "variant": f"dilated/{order}", "time_ns": time_ns, "predicted_ns": "100000", "residual": ""}
            for order, time_ns in (("linear", "101041"), ("hilbert.qkv", "97500"), ("random.qkv", "100500"),
                                   ("boxes.qkv", "98949"))])
        said = windows.block_window_times(folder, "images").replace("\n", " ")
        self.assertEqual(said, "In 1 case, 4 measured times were compared with the line a + b x computed pairs that fits the "
                               "case best. A time differs from its line by 1.0 % in the median, and by 2.5 % at most "
                               "(`dilated/hilbert.qkv`, grid 64x64, window 13x13, h 4, d 64, bf16).")

    def test_the_text_of_a_case(self):
        case = "g64x64-win13x13-h4-d64-bf16-p1-cuda"
        self.assertEqual(cells.work(case), "grid 64x64, window 13x13, h 4, d 64, bf16")
        self.assertEqual(cells.work("n4096-w2048.4096-r1.2-h8-d64-fp32-p1-cpu-causal.true"),
                         "n 4096, 2048/1 + 4096/2, h 8, d 64, fp32, causal true")
        self.assertEqual([cells.dtype_of(each) for each in (case, "n4096-w4096-r1-h8-d64-fp16-p1-cuda")],
                         ["bf16", "fp16"])
        self.assertEqual(picture.case_text(case), "grid 64x64, window 13x13")
        self.assertEqual(cells.work("n8192-m64.a7f5f064-h4-d64-bf16-p1-cuda-causal.true"),
                         "n 8192, mask a7f5f064 of 64, h 4, d 64, bf16, causal true")
        self.assertEqual(picture.case_text("g64x128-m16.a7f5f064-h4-d64-fp32-p1-cpu"),
                         "grid 64x128, mask a7f5f064 of 16")
        params = {"mask": "a7f5f0640123abcd", "mask_block": 64, "grid": None, "sequence_length": 8192, "segments": None}
        self.assertEqual(cells.parameters_text(params), "n 8192, mask a7f5f064 of 64")
        self.assertFalse(rates.is_dense(params))
        self.assertEqual(picture.case_text("n4096-w2048.4096-r1.2-h8-d64-fp32-p1-cpu"),
                         "4096 positions, 2048/1 + 4096/2")


class Twins(BlocksTest):
    def test_the_twin_of_a_reference_is_no_variant(self):
        known = record(4096, 4, "linear")
        twin = {**record(4096, 4, "linear@twin", 1.5), "twin": True, "tflops": 9.0}
        folder = self.published([{**known, "tflops": 1.0}, twin, {**record(4096, 4, "residue", 1.2), "tflops": 1.2}])
        self.assertEqual([one["variant"] for one in folder.records("cpu-order")], ["dilated/linear", "dilated/residue"])
        self.assertEqual([pair.variant for pair in pairs_of(folder, ["cpu-order"])], ["residue"])


if __name__ == "__main__":
    unittest.main()
