"""One small sweep over everything that a sweep can ask of the CPU: its records against what docs/formats.md promises,
its outputs against attention computed here.

Usage: run_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import io
import json
import pathlib
import shutil
import sys
import unittest

from plain_attention import attention
from program import SANITIZED, Program, largest_difference, read_npy, write_npy

LENGTH = 64
ORDERS = ["linear", "snake", "morton", "gray", "hilbert", "moore", "residue", "bitrev_residue", "random", "auto",
          "seed_d2xy", "seed_list"]
TRAVERSALS = ["head_major", "head_minor", "sawtooth", "sawtooth.3", "sawtooth_tile", "grouped.2", "hilbert", "morton", "longest_first"]
POINT = f"sequence_length: {LENGTH}, segments: [32, 64], dilations: [1, 2], heads: 4, head_dim: 16, threads: 1"
POINTS = ["", "causal: true", "queries: dense", "queries: dense, causal: true", "head_offset: contiguous",
          "head_offset: none", "head_offset: branch", "branch_heads: partition", "kv_heads: 2", "dtype: bf16, kv_heads: 1", "batch: 2",
          "score_scale: 2.5", "score_scale: 4, data: heavy_tails", "data: dominating_key, causal: true", "data: equal_rows"]
if SANITIZED:
    POINTS = ["", "queries: dense, causal: true", "head_offset: contiguous", "head_offset: none", "branch_heads: partition",
              "dtype: bf16, kv_heads: 1", "batch: 2", "score_scale: 4, data: heavy_tails"]
SWEEP = """
name: everything
title: every option
cases:
""" + "".join(f"  - {{{POINT}{', ' if point else ''}{point}}}\n" for point in POINTS) + f"""
variants:
  - {{kernel: dilated, order: [{', '.join(ORDERS)}]}}
  - {{kernel: dilated, order: [hilbert.16, random.7, residue.4]}}
  - {{kernel: dilated, order: file, order_file: slots.npy}}
  - {{kernel: dilated, order: linear, traversal: [{', '.join(TRAVERSALS)}]}}
  - {{kernel: dilated, order: hilbert, key_visit: slot}}
  - {{kernel: dilated, order: hilbert, order_tensors: qkv}}
  - {{kernel: dilated, order: linear, buffers: fresh}}
  - {{kernel: dilated, order: hilbert, index: computed}}
  - {{kernel: dilated, order: hilbert, order_scope: [tokens, keys]}}
baselines: [gemm, peak]
measure: {{budget_s: 0.02, min_rounds: 3}}
counters: [default]
"""
CASE_ID = r"^n\d+-w\d+(\.\d+)*-r\d+(\.\d+)*-h\d+-d\d+-(fp32|bf16|fp16)-p1-cpu(-[a-z_]+\.[a-z0-9_]+(\.\d+)?)*$"
VARIANT_ID = (r"^(gemm|peak|dilated/[a-z_0-9]+(\.[a-z0-9]+)*(@tokens|@keys)?"
              r"(/(head_major|head_minor|sawtooth(\.\d+)?|sawtooth_tile|grouped\.\d+|hilbert|morton|longest_first))?)$")

# The reason holds the counts.
WRONG_MAPS = {"seed_d2xy": rf"30 of {LENGTH} positions have a slot in range, 29 slots are distinct", "seed_list": r"of 60 steps 0 .* 4 diagonal"}

NUMBER, TEXT = (int, float), str
NULL = type(None)
# Key -> types of its value, or the same for the object there.
CONTRACT = {
    "schema": int, "sweep": TEXT, "case": TEXT, "variant": TEXT,
    "params": {
        "sequence_length": int, "batch": int, "heads": int, "kv_heads": int, "head_dim": int, "dtype": TEXT,
        "causal": bool, "pass": TEXT, "segments": list, "dilations": list, "queries": TEXT, "head_offset": TEXT,
        "branch_heads": TEXT, "kernel": TEXT, "order": (TEXT, NULL), "order_scope": (TEXT, NULL),
        "order_tensors": (TEXT, NULL), "order_chunk": (int, NULL), "order_span": NULL, "key_visit": (TEXT, NULL),
        "rows": (TEXT, NULL),
        "traversal": (TEXT, NULL), "traversals": (list, NULL), "buffers": (TEXT, NULL), "index": (TEXT, NULL), "ring_size": int,
        "ring_algorithm": NULL, "ring_groups": NULL, "sharding": NULL, "transport": NULL, "device": TEXT, "threads": int, "cache": TEXT,
        "score_scale": NUMBER, "data": TEXT, "pages": TEXT, "dropout": NUMBER, "dropout_seed": int,
        "saved": (TEXT, NULL),
        "steady_s": (*NUMBER, NULL)},
    "kind": TEXT, "status": TEXT, "reason": (TEXT, NULL), "verify": (dict, NULL), "time_ns": (dict, NULL),
    "requests": (dict, NULL), "energy_j": (dict, NULL), "permute_ns": (dict, NULL), "flops": (*NUMBER, NULL), "min_bytes": (*NUMBER, NULL), "tflops": (*NUMBER, NULL), "judging_peak": (*NUMBER, NULL),
    "memory_bytes": (*NUMBER, NULL), "held_bytes": (*NUMBER, NULL), "peak_bytes": (*NUMBER, NULL), "comm_bytes": (*NUMBER, NULL), "comm_bytes_inside": NULL,
    "comm_bytes_between": NULL, "counters": dict, "speedup": (dict, NULL),
    "environment": {"host": dict, "device": (dict, NULL), "build": dict, "time": TEXT},
}
OPTIONAL_OBJECTS = {
    "verify": {"max_abs": NUMBER, "rel_l2": NUMBER, "rows": int, "tolerance": NUMBER, "worst": NUMBER,
               "probed_rows": (int, NULL), "poisoned_rounds": int, "once": bool, "entropy": list, "other_function": (TEXT, NULL),
               "after": {"max_abs": NUMBER, "rel_l2": NUMBER, "rows": int, "tolerance": NUMBER, "worst": NUMBER}},
    "time_ns": {"median": NUMBER, "ci": list, "samples": list, "timer": TEXT},
    "energy_j": {"median": (*NUMBER, NULL), "samples": list, "source": (TEXT, NULL), "reason": (TEXT, NULL)},
    "permute_ns": {"median": NUMBER},
    "speedup": {"against": TEXT, "ratio": NUMBER, "ci": list, "verdict": TEXT},
}


def fault_of(value, contract, place="record"):
    """Where `value` departs from `contract`, or None."""
    if not isinstance(contract, dict):
        types = contract if isinstance(contract, tuple) else (contract,)
        fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
        return None if fits else f"{place} is {value!r}"
    if not isinstance(value, dict):
        return f"{place} is {value!r}"
    for key, inner in contract.items():
        if key not in value:
            return f"{place}.{key} is missing"
        fault = fault_of(value[key], inner, f"{place}.{key}")
        if fault:
            return fault
    return None


class EverythingTest(unittest.TestCase):
    """Measured once; each test looks at one side of it."""

    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        # 5 t mod 64 is a permutation.
        write_npy(cls.program.folder / "slots.npy", [LENGTH], [5 * t % LENGTH for t in range(LENGTH)])
        cls.program.run("run", cls.program.sweep(SWEEP), "-o", "out", "--dump", "dump")
        cls.records = cls.program.records("out")

    def test_every_case_holds_every_variant(self):
        cases = {record["case"] for record in self.records}
        variants = {record["variant"] for record in self.records}
        self.assertEqual(len(cases), len(POINTS))
        self.assertEqual(len(variants), len(ORDERS) + 4 + len(TRAVERSALS) + 6 + 2)
        self.assertEqual(len(self.records), len(cases) * len(variants))

    def test_all_is_ok_but_the_wrong_seed_maps(self):
        for record in self.records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                if record["params"]["order"] in WRONG_MAPS:
                    self.assertEqual(record["status"], "invalid")
                    self.assertRegex(record["reason"], WRONG_MAPS[record["params"]["order"]])
                    self.assertIsNone(record["time_ns"])
                else:
                    self.assertEqual((record["status"], record["reason"]), ("ok", None))

    def test_records_keep_the_contract(self):
        for record in self.records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                self.assertIsNone(fault_of(record, CONTRACT))
                for key, contract in OPTIONAL_OBJECTS.items():
                    if record[key] is not None:
                        self.assertIsNone(fault_of(record[key], contract, key))
                self.assertEqual(record["schema"], 3)
                self.assertRegex(record["case"], CASE_ID)
                self.assertRegex(record["variant"], VARIANT_ID)
                self.assertIn(record["kind"], ("kernel", "baseline"))
                self.assertRegex(record["environment"]["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                for name, counter in record["counters"].items():
                    self.assertIsInstance(counter["value"], (*NUMBER, NULL), name)
                    self.assertTrue(counter["reason"] if counter["value"] is None else counter["unit"], name)
                self.check_measured(record)

    def check_measured(self, record):
        if record["status"] != "ok":
            return
        time = record["time_ns"]
        self.assertEqual(len(time["samples"]), 1)
        self.assertGreaterEqual(len(time["samples"][0]), 3)
        self.assertLessEqual(time["ci"][0], time["median"])
        self.assertLessEqual(time["median"], time["ci"][1])
        self.assertEqual(time["timer"], "steady_clock")
        self.assertAlmostEqual(record["tflops"], record["flops"] / time["median"] / 1e3, delta=record["tflops"] * 1e-6)
        if record["variant"] == "peak":
            self.assertIsNone(record["verify"])
        else:
            self.assertLessEqual(record["verify"]["worst"], 1)
            self.assertGreater(record["verify"]["rows"], 0)
        if record["variant"] in ("peak", "dilated/linear"):
            self.assertIsNone(record["speedup"])
            return
        speedup = record["speedup"]
        self.assertEqual(speedup["against"], "dilated/linear")
        low, high = speedup["ci"]
        self.assertTrue(low <= speedup["ratio"] <= high)
        self.assertEqual((speedup["processes"], speedup["margin"]), (1, 0.01))
        if "@" in record["variant"]:
            self.assertEqual(speedup["verdict"], "different function")
            return
        allowed = ["inconclusive"] + ["faster"] * (low > 1) + ["slower"] * (high < 1)
        self.assertIn(speedup["verdict"], allowed, "one process shows no equivalence")

    def test_ids_name_what_differs_from_the_defaults(self):
        base = f"n{LENGTH}-w32.64-r1.2-h4-d16-fp32-p1-cpu"
        cases = {record["case"] for record in self.records}
        self.assertIn(f"{base}-threads.1", cases)
        self.assertIn(f"{base}-batch.2-threads.1", cases)
        self.assertIn(f"{base}-causal.true-queries.dense-threads.1", cases)
        self.assertIn(f"n{LENGTH}-w32.64-r1.2-h4-d16-bf16-p1-cpu-kv_heads.1-threads.1", cases)
        variants = {record["variant"] for record in self.records}
        for variant in ("dilated/linear", "dilated/hilbert.16", "dilated/linear/grouped.2", "dilated/hilbert@tokens",
                        "dilated/hilbert@keys", "dilated/hilbert.slot", "dilated/hilbert.qkv", "dilated/linear.fresh",
                        "dilated/hilbert.computed", "gemm", "peak"):
            self.assertIn(variant, variants)

    def test_dumps_hold_the_tensors_and_the_right_output(self):
        by_case = {}
        for record in self.records:
            if record["status"] == "ok" and record["variant"] != "peak":
                by_case.setdefault(record["case"], []).append(record)
        self.assertEqual(len(by_case), len(POINTS))
        for case, records in by_case.items():
            params = records[0]["params"]
            shape = [params["batch"], LENGTH, params["heads"], params["head_dim"]]
            kv_shape = [params["batch"], LENGTH, params["kv_heads"], params["head_dim"]]
            first = self.program.folder / "dump" / case / "dilated_linear"
            inputs = []
            for name in "qkv":
                got_shape, values = read_npy(first / f"{name}.npy")
                self.assertEqual(list(got_shape), shape if name == "q" else kv_shape)
                inputs.append(values)
            o, lse = attention(params, *inputs)
            # Outputs are rounded to the storage type; LSE stays fp32.
            tolerance = (2.0**-7 if params["dtype"] == "bf16" else 1e-5) * max(map(abs, o))
            for record in records:
                with self.subTest(case=case, variant=record["variant"]):
                    folder = self.program.folder / "dump" / case / record["variant"].replace("/", "_")
                    self.assertEqual(sorted(file.name for file in folder.iterdir()),
                                     ["k.npy", "lse.npy", "o.npy", "q.npy", "v.npy"])
                    o_shape, got_o = read_npy(folder / "o.npy")
                    lse_shape, got_lse = read_npy(folder / "lse.npy")
                    self.assertEqual((list(o_shape), list(lse_shape)), (shape, shape[:3]))
                    self.assertEqual(read_npy(folder / "q.npy")[1], inputs[0])
                    if record["params"]["order_scope"] in ("tokens", "keys"):
                        self.assertGreater(largest_difference(got_o, o), tolerance, "it is another function")
                    else:
                        self.assertLessEqual(largest_difference(got_o, o), tolerance)
                        self.assertLess(largest_difference(got_lse, lse), 0.02)

    def test_export_formats(self):
        for format in ("csv", "gbench"):
            out, _ = self.program.run("export", "out", "--format", format)
            self.program.run("export", "out", "--format", format, "-o", f"export.{format}")
            self.assertEqual((self.program.folder / f"export.{format}").read_bytes(), out_bytes(out, format))
            if format == "csv":
                rows = [row for row in csv.DictReader(io.StringIO(out)) if not row["variant"].endswith("@twin")]
                self.assertEqual(len(rows), len(self.records))
                self.assertEqual([row["variant"] for row in rows], [record["variant"] for record in self.records])
            else:
                self.assertTrue(json.loads(out)["benchmarks"])
        _, err = self.program.run("export", "out", "--format", "jsn", status=2)
        self.assertRegex(err, r"^hilbench: error: .*jsonl")

    def test_report_writes_everything(self):
        self.program.run("report", "out", "-o", "report")
        report = self.program.folder / "report"
        for name in ("report.html", "report.md"):
            self.assertIn("every option", (report / name).read_text())
        self.assertTrue(list((report / "tables").glob("*.csv")))
        if shutil.which("node") and pathlib.Path("/usr/share/javascript/vega").is_dir():
            self.assertTrue(list((report / "figures").glob("*.svg")))
            if shutil.which("rsvg-convert"):
                self.assertTrue(list((report / "figures").glob("*.png")))


def out_bytes(text, format):
    # Python reads the line ends of CSV (RFC 4180) as its own.
    return text.replace("\n", "\r\n").encode() if format == "csv" else text.encode()


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
