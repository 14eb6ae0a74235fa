"""Windows on grids from the sweep file to the report: plan, run, records, export, resume, order.

Usage: windows_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import itertools
import json
import math
import sys
import unittest

from program import Program, read_npy

GRID = (6, 8, 10)
WINDOW = (3, 5, 4)
SWEEP = f"""
name: windows
axes: {{grid: {list(GRID)}, window: {list(WINDOW)}, edges: [shift, cut], heads: 2, head_dim: 16, threads: 1, device: cpu}}
variants:
  - {{kernel: dilated, order: [linear, hilbert, boxes.2.4.4, bitrev_residue, residue_hilbert], order_tensors: qkv}}
  - {{kernel: dilated, order: morton, order_tensors: qkv, tiles: aligned}}
  - {{kernel: dilated, order: hilbert, order_scope: tokens}}
baselines: [gemm, peak]
measure: {{budget_s: 0.1, min_rounds: 3}}
"""


def selected(extent, window, at, cut):
    """Coordinates that one dimension selects (docs/definitions.md), without dilation, stride or mask."""
    start = at - window // 2
    if not cut:
        start = min(max(start, 0), extent - window)
    return [key for key in range(start, start + window) if 0 <= key < extent]


def mask_of(cut):
    """Keys of every position, by position."""
    seen = []
    for query in itertools.product(*map(range, GRID)):
        lines = [selected(n, w, c, cut) for n, w, c in zip(GRID, WINDOW, query)]
        seen.append([(a * GRID[1] + b) * GRID[2] + c for a, b, c in itertools.product(*lines)])
    return seen


class WindowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(sys.argv[1])
        cls.program.sweep(SWEEP)
        cls.plan, _ = cls.program.run("plan", "sweep.yaml")
        cls.program.run("run", "sweep.yaml", "-o", "out", "--dump", "dump")
        text, _ = cls.program.run("export", "out", "--format", "jsonl")
        cls.records = [json.loads(line) for line in text.splitlines()]

    @classmethod
    def tearDownClass(cls):
        cls.program.close()

    def by_variant(self, edges, variant):
        found, = [each for each in self.records if each["params"]["edges"] == edges and each["variant"] == variant]
        return found

    def test_every_record_is_right_or_says_why_not(self):
        for record in self.records:
            name = f"{record['case']}/{record['variant']}: {record['reason']}"
            if record["variant"] == "gemm":
                self.assertEqual(record["reason"], "windows: not on gemm")
            elif record["variant"] == "dilated/bitrev_residue.qkv":
                self.assertEqual(record["reason"], "order bitrev_residue has no form on grids")
            else:
                self.assertEqual(record["status"], "ok", name)
                if record["verify"]:
                    self.assertEqual(record["verify"]["rows"], 2 * math.prod(GRID), name)
                    self.assertEqual(record["verify"]["probed_rows"], 2 * math.prod(GRID), name)

    def test_keys_of_records(self):
        record = self.by_variant("cut", "dilated/hilbert.qkv")
        params = record["params"]
        self.assertEqual(record["case"], "g6x8x10-win3x5x4-h2-d16-fp32-p1-cpu-threads.1-edges.cut")
        self.assertEqual(params["sequence_length"], 480)
        self.assertEqual((params["grid"], params["window"]), (list(GRID), list(WINDOW)))
        self.assertEqual(params["window_dilation"], [1, 1, 1])
        self.assertEqual(params["window_stride"], [1, 1, 1])
        self.assertEqual(params["window_causal"], [False, False, False])
        for key in ("segments", "dilations", "queries", "head_offset", "branch_heads", "order_chunk"):
            self.assertIsNone(params[key], key)
        self.assertEqual(self.by_variant("cut", "dilated/boxes.2.4.4.qkv")["params"]["order_box"], [2, 4, 4])

    def test_pairs_and_flops(self):
        for edges in ("shift", "cut"):
            needed = 2 * sum(map(len, mask_of(edges == "cut")))
            for record in self.records:
                if record["params"]["edges"] != edges or record["kind"] != "kernel" or record["status"] != "ok":
                    continue
                self.assertEqual(record["flops"], 4 * 16 * needed)
                pairs = record["pairs"]
                self.assertEqual(pairs["needed"], needed)
                self.assertGreaterEqual(pairs["computed"], needed)
                self.assertAlmostEqual(pairs["ratio"], pairs["computed"] / needed)
                self.assertAlmostEqual(pairs["density"], pairs["computed"] / (2 * 480 * 480))
            self.assertIsNone(self.by_variant(edges, "peak")["pairs"])

    def test_output_is_windowed_attention(self):
        for edges in ("shift", "cut"):
            case = "g6x8x10-win3x5x4-h2-d16-fp32-p1-cpu-threads.1" + ("-edges.cut" if edges == "cut" else "")
            folder = self.program.folder / "dump" / case / "dilated_hilbert.qkv"
            q, k, v, o = (read_npy(folder / f"{name}.npy")[1] for name in "qkvo")
            for position, keys in enumerate(mask_of(edges == "cut")):
                if position % 13:
                    continue
                for head in range(2):
                    row = lambda tensor, t: tensor[(t * 2 + head) * 16:(t * 2 + head + 1) * 16]
                    scores = [sum(a * b for a, b in zip(row(q, position), row(k, key))) / 4 for key in keys]
                    weights = [math.exp(score - max(scores)) for score in scores]
                    for d in range(16):
                        mean = sum(w * row(v, key)[d] for w, key in zip(weights, keys)) / sum(weights)
                        self.assertAlmostEqual(row(o, position)[d], mean, delta=1e-4 * max(1, abs(mean)))

    def test_plan_and_report_show_the_pairs(self):
        self.assertRegex(self.plan, r"pairs: 5\.76e\+04 needed")
        self.program.run("report", "out", "-o", "report")
        header, *lines = (self.program.folder / "report/tables/window_pairs.csv").read_text().splitlines()
        self.assertTrue(header.startswith("case,variant,needed,computed,computed_over_needed"))
        self.assertEqual(len(lines), 2 * 6)
        self.assertIn("Pairs of windows", (self.program.folder / "report/report.md").read_text())

    def test_a_second_run_resumes(self):
        _, err = self.program.run("run", "sweep.yaml", "-o", "out")
        text, _ = self.program.run("export", "out", "--format", "jsonl")
        again = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([each["time_ns"] for each in again], [each["time_ns"] for each in self.records])


class OrderOnGridTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(sys.argv[1])

    def tearDown(self):
        self.program.close()

    def slots(self, *arguments):
        out, err = self.program.run("order", *arguments)
        return [int(line) for line in out.split()], err

    def test_prints_a_map_of_the_grid(self):
        slots, err = self.slots("hilbert", "--grid", "4x6x8")
        self.assertEqual(sorted(slots), list(range(192)))
        self.assertIn("order hilbert, 192 positions of a grid of 4 x 6 x 8", err)
        self.assertIn("unit steps: yes (191 steps examined", err)
        self.assertEqual(self.slots("boxes.2.2", "--grid", "2x4")[0], [0, 1, 4, 5, 2, 3, 6, 7])
        self.assertEqual(self.slots("residue", "--grid", "2x4", "--dilation", "1x2")[0], [0, 4, 1, 5, 2, 6, 3, 7])

    def test_refuses_what_is_no_grid(self):
        for arguments, words in [(["hilbert", "--grid", "4"], "grid of 1 dimensions"),
                                 (["hilbert", "--grid", "4x0"], "extents are 1"),
                                 (["hilbert", "--grid", "4xx4"], "bad parameter"),
                                 (["hilbert", "--grid", "4x4", "--length", "15"], "the grid has 16 positions"),
                                 (["hilbert", "--grid", "4x4", "--chunk", "8"], "order_chunk does not apply"),
                                 (["moore", "--grid", "4x4x4"], "no form on grids of three dimensions"),
                                 (["bitrev_residue", "--grid", "4x4"], "no form on grids"),
                                 (["residue.2", "--grid", "4x4"], "the dilations of the window decide"),
                                 (["residue", "--length", "16", "--dilation", "2"], "--dilation without --grid"),
                                 (["residue", "--grid", "4x4", "--dilation", "2"], "the grid has 2 dimensions"),
                                 (["residue", "--grid", "4x4", "--dilation", "2x5"], "here it is 1..4, the extent"),
                                 (["residue", "--grid", "4x4", "--dilation", "2xa"], "bad parameter"),
                                 (["hilbert", "--grid", "4x4", "--dilation", "2x2"], "--dilation does not apply"),
                                 (["residue_boxes.2", "--grid", "4x4"], "write residue_boxes.8.16"),
                                 (["boxes.2", "--grid", "4x4"], "write boxes.8.16"),
                                 (["boxes.2.2", "--length", "16"], "order boxes is for grids alone"),
                                 (["residue_hilbert", "--length", "16"], "order residue_hilbert is for grids alone"),
                                 (["boxes.0.2", "--grid", "4x4"], "an extent of a box is 0")]:
            _, err = self.program.run("order", *arguments, status=2)
            self.assertIn(words, err, arguments)
            self.assertEqual(err.count("\n"), 1, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
