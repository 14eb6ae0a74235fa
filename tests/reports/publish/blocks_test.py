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
from blocks import calibration, findings, machine, runs, two_folders  # noqa: E402
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
    def test_the_answer_and_what_does_not_replicate_are_taken(self):
        folder = self.published([record(1024, 1, "linear")])
        said = ("# Title\n\nQuestion?\n\nMachine: **M**\n\n1 of 2 replicate.\n\n\n## By published run\n\nSame.\n\n| a |\n|---|\n"
                "| b |\n\n## Verdicts that do not replicate\n\n| they are |\n|---|\n| open |\n")
        self.assertEqual(two_folders.block_against(folder, "cpu-order", "none"),
                         "`cpu-order` of `none` has not been published yet.")
        with unittest.mock.patch.object(two_folders.render, "hilbench", return_value=said):
            self.assertEqual(two_folders.block_against(folder, "cpu-order", folder.path.name),
                             "1 of 2 replicate.\n\n| they are |\n|---|\n| open |")


class Calibration(BlocksTest):
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
    def test_working_sets_are_placed_by_the_cache_that_holds_them(self):
        places = {1 << 20: "within L2 of a core", 2 << 20: "within the reach of a core's data TLB",
                  1 << 25: "within L3", 1 << 26: "beyond L3"}
        for size, place in places.items():
            self.assertTrue(machine.place_of(size, HOST).startswith(place), machine.place_of(size, HOST))


class Findings(BlocksTest):
    """What the program says is wrapped, and not changed."""

    def said(self, text, block=findings.block_finding):
        with unittest.mock.patch.object(findings.render, "hilbench", return_value=text) as asked:
            made = block(self.published([]), "cpu-order", "rivals", "/linear$")
        self.assertEqual(asked.call_args.args[2:], ("--finding", "rivals", "--filter", "/linear$"))
        return made

    def test_sentences_and_tables_may_stand_apart(self):
        text = "It is \\| faster.\n\n" + 20 * "Many words. " + "\n\n| a |\n|---|\n| b |\n"
        wrapped = "It is \\| faster.\n\n" + cells.wrapped(20 * "Many words. ")
        self.assertEqual(self.said(text), wrapped + "\n\n| a |\n|---|\n| b |")
        self.assertEqual(self.said(text, findings.block_said), wrapped)
        self.assertEqual(self.said(text, findings.block_table), "| a |\n|---|\n| b |")
        self.assertEqual(self.said("| a |\n|---|\n| b |\n"), "| a |\n|---|\n| b |")

    def test_a_finding_that_the_records_lack_is_said_and_other_errors_are_not_hidden(self):
        for message, kept in (("these records have no finding 'rings': they have records", True), ("no such file", False)):
            with unittest.mock.patch.object(findings.render, "hilbench", side_effect=findings.render.RenderError(message)):
                if kept:
                    self.assertEqual(findings.block_table(self.published([]), "cpu-order", "rings"), "Nothing was measured.")
                else:
                    self.assertRaises(findings.render.RenderError, findings.block_said, self.published([]), "cpu-order", "rings")


class Kernels(BlocksTest):
    def test_the_spread_of_misses_names_its_worst_case(self):
        counts = {("L2", record(1024, 2, "linear")["case"], "dilated/linear", None): [100, 110],
                  ("L2", record(2048, 2, "linear")["case"], "dilated/random", None): [100, 150, 120]}
        self.assertEqual(runs.spread_text("L2", counts), "by 30.0 % (median) and by 50.0 % at most at the L2 "
                                                         "(`dilated/random`, n 2048, 1024/2, h 1, d 64, fp32)")
        self.assertEqual(runs.spread_text("L1", {}), "at the L1 nowhere, as none was counted twice")

class Windows(BlocksTest):
    def test_the_text_of_a_case(self):
        case = "g64x64-win13x13-h4-d64-bf16-p1-cuda"
        self.assertEqual(cells.work(case), "grid 64x64, window 13x13, h 4, d 64, bf16")
        self.assertEqual(cells.work("n4096-w2048.4096-r1.2-h8-d64-fp32-p1-cpu-causal.true"),
                         "n 4096, 2048/1 + 4096/2, h 8, d 64, fp32, causal true")
        self.assertEqual([cells.dtype_of(each) for each in (case, "n4096-w4096-r1-h8-d64-fp16-p1-cuda")],
                         ["bf16", "fp16"])
        self.assertEqual(cells.work("n8192-m64.a7f5f064-h4-d64-bf16-p1-cuda-causal.true"),
                         "n 8192, mask a7f5f064 of 64, h 4, d 64, bf16, causal true")


class Twins(BlocksTest):
    def test_the_twin_of_a_reference_is_no_variant(self):
        known = record(4096, 4, "linear")
        twin = {**record(4096, 4, "linear@twin", 1.5), "twin": True, "tflops": 9.0}
        folder = self.published([{**known, "tflops": 1.0}, twin, {**record(4096, 4, "residue", 1.2), "tflops": 1.2}])
        self.assertEqual([one["variant"] for one in folder.records("cpu-order")], ["dilated/linear", "dilated/residue"])
        self.assertEqual([pair.variant for pair in pairs_of(folder, ["cpu-order"])], ["residue"])


if __name__ == "__main__":
    unittest.main()
