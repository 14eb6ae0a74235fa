"""Masks of blocks from the .npy file to the report: plan, run, records, store, export, resume, programs.

Usage: masks_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import json
import math
import random
import sys
import unittest

from plain_attention import keys_of_mask
from program import Program, Store, npy, read_npy

LENGTH, BLOCK, BLOCKS, EMPTY = 300, 32, 10, 3  # the last block is short; block 3 of the queries sees nothing
SWEEP = f"""
name: masks
cases:
  - {{mask: near.npy, mask_block: {BLOCK}, sequence_length: {LENGTH}, heads: 2, head_dim: 16, threads: 1, device: cpu}}
  - {{mask: near.npy, mask_block: {BLOCK}, grid: [15, 20], causal: true, heads: 2, head_dim: 16, device: cpu}}
variants:
  - {{kernel: dilated, order: [linear, hilbert], order_tensors: qkv}}
  - {{kernel: dilated, order: boxes.4.8, order_tensors: qkv, tiles: aligned}}
  - {{kernel: dilated, order: hilbert, order_scope: tokens}}
external:
  masks: {{command: [{sys.executable}, rival.py, masks]}}
  windows: {{command: [{sys.executable}, rival.py, windows]}}
baselines: [gemm, peak, masks, windows]
measure: {{budget_s: 0.1, min_rounds: 3}}
"""


def mask_file(rows):
    return npy((len(rows), len(rows[0])), "|b1", bytes(sum(rows, [])))


def random_rows(seed):
    rng = random.Random(seed)
    return [[int(q != EMPTY and (q == k or rng.random() < 0.3)) for k in range(BLOCKS)] for q in range(BLOCKS)]


def params(causal):
    return {"mask": ROWS, "mask_block": BLOCK, "causal": causal, "sequence_length": LENGTH}


ROWS = random_rows(1)


class MasksTest(unittest.TestCase):
    def test_packed_documents_see_themselves_alone(self):
        """As docs/sweeps.md says: no pair of two documents is needed."""
        lengths, heads = [128, 64, 256], 2
        document = [number for number, length in enumerate(lengths) for _ in range(length // 64)]
        (self.program.folder / "documents.npy").write_bytes(mask_file([[int(a == b) for b in document] for a in document]))
        (self.program.folder / "packed.yaml").write_text(f"""
name: packed
cases: [{{mask: documents.npy, causal: true, heads: {heads}, head_dim: 16, threads: 1, device: cpu}}]
variants: [{{kernel: dilated, order: linear}}]
measure: {{budget_s: 0.05, min_rounds: 3}}
""")
        self.program.run("run", "packed.yaml", "-o", "packed")
        record = self.program.records("packed")[0]
        self.assertEqual(record["status"], "ok", record["reason"])
        self.assertEqual(record["pairs"]["needed"], heads * sum(length * (length + 1) // 2 for length in lengths))

    @classmethod
    def setUpClass(cls):
        cls.program = Program(sys.argv[1])
        (cls.program.folder / "near.npy").write_bytes(mask_file(ROWS))
        cls.program.add_rival()
        cls.program.sweep(SWEEP)
        cls.plan, _ = cls.program.run("plan", "sweep.yaml")
        cls.program.run("run", "sweep.yaml", "-o", "out", "--dump", "dump", "--allow-external")
        cls.records = cls.program.records("out")

    @classmethod
    def tearDownClass(cls):
        cls.program.close()

    def by_variant(self, causal, variant):
        found, = [each for each in self.records if each["params"]["causal"] == causal and each["variant"] == variant]
        return found

    def test_every_record_is_right_or_says_why_not(self):
        self.assertEqual(len(self.records), 2 * 8)
        for record in self.records:
            name = f"{record['case']}/{record['variant']}: {record['reason']}"
            if record["variant"] == "gemm":
                self.assertEqual(record["reason"], "windows: not on gemm")
            elif record["variant"] == "windows":
                self.assertEqual(record["reason"], "mask: not on windows")
            elif "boxes" in record["variant"] and not record["params"]["grid"]:
                self.assertEqual(record["reason"], "order boxes is for grids alone; this sequence has no grid")
            else:
                self.assertEqual(record["status"], "ok", name)
                if record["verify"]:
                    self.assertEqual(record["verify"]["rows"], 2 * LENGTH, name)
                    self.assertLessEqual(record["verify"]["worst"], 1, name)
                if record["kind"] == "kernel":
                    self.assertEqual(record["verify"]["probed_rows"], 2 * LENGTH, name)

    def test_keys_of_records(self):
        record = self.by_variant(True, "dilated/linear.qkv")
        self.assertRegex(record["case"], r"^g15x20-m32\.[0-9a-f]{8}-h2-d16-fp32-p1-cpu-causal\.true$")
        self.assertEqual(record["params"]["grid"], [15, 20])
        self.assertEqual(record["params"]["mask_block"], BLOCK)
        self.assertTrue(record["case"].startswith(f"g15x20-m32.{record['params']['mask'][:8]}"))
        for key in ("window", "window_causal", "edges", "segments", "dilations", "queries"):
            self.assertIsNone(record["params"][key], key)
        record = self.by_variant(False, "dilated/linear.qkv")
        self.assertIsNone(record["params"]["grid"])
        self.assertRegex(record["case"], r"^n300-m32\.")

    def test_pairs_and_flops(self):
        for causal in (False, True):
            needed = 2 * sum(len(keys_of_mask(params(causal), t)) for t in range(LENGTH))
            for variant in ("dilated/linear.qkv", "dilated/hilbert.qkv", "masks"):
                record = self.by_variant(causal, variant)
                self.assertEqual(record["flops"], 4 * 16 * needed)
                if variant != "masks":
                    self.assertEqual(record["pairs"]["needed"], needed)
                    self.assertGreaterEqual(record["pairs"]["computed"], needed)

    def test_output_is_masked_attention(self):
        for causal in (False, True):
            case = self.by_variant(causal, "dilated/hilbert.qkv")["case"]
            folder = self.program.folder / "dump" / case / "dilated_hilbert.qkv"
            q, k, v, o, lse = (read_npy(folder / f"{name}.npy")[1] for name in ("q", "k", "v", "o", "lse"))
            for t in range(0, LENGTH, 7):
                keys = keys_of_mask(params(causal), t)
                self.assertEqual(keys == [], t // BLOCK == EMPTY)
                for head in range(2):
                    row = lambda tensor, s: tensor[(s * 2 + head) * 16:(s * 2 + head + 1) * 16]
                    if not keys:
                        self.assertEqual((list(row(o, t)), lse[t * 2 + head]), ([0] * 16, -math.inf))
                        continue
                    scores = [sum(a * b for a, b in zip(row(q, t), row(k, key))) / 4 for key in keys]
                    weights = [math.exp(score - max(scores)) for score in scores]
                    for d in range(16):
                        mean = sum(w * row(v, key)[d] for w, key in zip(weights, keys)) / sum(weights)
                        self.assertAlmostEqual(row(o, t)[d], mean, delta=1e-4 * max(1, abs(mean)))

    def test_a_program_is_told_of_the_mask(self):
        asked = self.by_variant(True, "masks")["environment"]["library"]["asked"]
        self.assertEqual((asked["mask_block"], asked["grid"]), (BLOCK, [15, 20]))
        self.assertFalse({"window", "edges", "segments", "queries"} & set(asked))
        self.assertGreaterEqual(asked["threads"], 1)  # resolved, though the sweep does not say
        self.assertNotIn("grid", self.by_variant(False, "masks")["environment"]["library"]["asked"])

    def test_the_store_keeps_the_mask(self):
        meta = Store(self.program.folder / "out").meta
        (key, text), = [(key, value) for key, value in meta.items() if key.startswith("mask.")]
        self.assertEqual(key, "mask." + self.records[0]["params"]["mask"])
        kept = json.loads(text)
        data = bytes.fromhex(kept["bits"])
        width = len(data) // kept["blocks"]
        blocks = range(kept["blocks"])
        self.assertEqual([[data[q * width + k // 8] >> 7 - k % 8 & 1 for k in blocks] for q in blocks], ROWS)

    def test_plan_report_and_check(self):
        self.assertRegex(self.plan, r"pairs: \S+ needed, \S+ computed")
        (self.program.folder / "near.npy").rename(self.program.folder / "away.npy")  # the records do not need it
        try:
            self.program.run("report", "out", "-o", "report")
            self.program.run("show", "out")
        finally:
            (self.program.folder / "away.npy").rename(self.program.folder / "near.npy")
        tables = self.program.folder / "report/tables"
        header, *lines = (tables / "windows.csv").read_text().splitlines()
        self.assertTrue(header.startswith("case,variant,needed_share,computed_over_needed"), header)
        self.assertEqual(sum("nan" in line for line in lines), 0)
        self.assertEqual(len((tables / "window_pairs.csv").read_text().splitlines()), 1 + 3 + 4)

    def test_resumes_unless_the_file_changed(self):
        self.program.run("run", "sweep.yaml", "-o", "out", "--allow-external")
        again = self.program.records("out")
        self.assertEqual([each["time_ns"] for each in again], [each["time_ns"] for each in self.records])
        other = Program(sys.argv[1])
        self.addCleanup(other.close)
        other.sweep(SWEEP)
        (other.folder / "near.npy").write_bytes(mask_file(random_rows(2)))
        plan, _ = other.run("plan", "sweep.yaml")
        self.assertNotIn(self.records[0]["case"], plan)

    def test_bad_files_are_one_line(self):
        for data, words in ((b"", "not a .npy file"), (mask_file(ROWS)[:-1], "truncated"),
                            (mask_file(ROWS[:9]), "mask of shape"),
                            (mask_file(ROWS).replace(b"|b1", b"|u1"), "where booleans are wanted"),
                            (mask_file([row[:5] for row in ROWS[:5]]), "300 positions in blocks of 32 have 10"),
                            (mask_file([[0] * 10] * 10), "leaves every query without a key"), (None, "no such file")):
            with self.subTest(words=words):
                file = self.program.folder / "bad.npy"
                file.unlink(missing_ok=True)
                if data is not None:
                    file.write_bytes(data)
                _, err = self.program.run("plan", "sweep.yaml", "--axis", "mask=bad.npy", status=2)
                self.assertIn(words, err)
                self.assertEqual(err.count("\n"), 1, err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
