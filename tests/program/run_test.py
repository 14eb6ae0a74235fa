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
from program import Program, read_npy, refuse_constant, write_npy

LENGTH = 64
ORDERS = ["linear", "snake", "morton", "gray", "hilbert", "moore", "residue", "bitrev_residue", "random", "auto",
          "seed_d2xy", "seed_list"]
TRAVERSALS = ["head_major", "head_minor", "sawtooth", "sawtooth.3", "sawtooth_tile", "grouped.2", "hilbert", "morton", "longest_first"]
POINT = f"sequence_length: {LENGTH}, segments: [32, 64], dilations: [1, 2], heads: 4, head_dim: 16, threads: 1"
POINTS = ["", "causal: true", "queries: dense", "queries: dense, causal: true", "head_offset: contiguous",
          "head_offset: none", "branch_heads: partition", "kv_heads: 2", "dtype: bf16, kv_heads: 1", "batch: 2",
          "score_scale: 2.5", "score_scale: 4, data: heavy_tails", "data: dominating_key, causal: true", "data: equal_rows"]
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
  - {{kernel: dilated, order: hilbert, order_scope: tokens}}
baselines: [gemm, peak]
measure: {{budget_s: 0.1, min_rounds: 3}}
counters: [default]
"""
SMALL = """
name: small
axes: {sequence_length: 64, segments: [[32]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants:
  - {kernel: dilated, order: [linear, hilbert, random]}
baselines: [gemm]
measure: {budget_s: 0.1, min_rounds: 3}
"""
CASE_ID = r"^n\d+-w\d+(\.\d+)*-r\d+(\.\d+)*-h\d+-d\d+-(fp32|bf16|fp16)-p1-cpu(-[a-z_]+\.[a-z0-9_]+(\.\d+)?)*$"
VARIANT_ID = (r"^(gemm|peak|dilated/[a-z_0-9]+(\.[a-z0-9]+)*(@tokens)?"
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
        "score_scale": NUMBER, "data": TEXT, "pages": TEXT,
        "steady_s": (*NUMBER, NULL)},
    "kind": TEXT, "status": TEXT, "reason": (TEXT, NULL), "verify": (dict, NULL), "time_ns": (dict, NULL),
    "energy_j": (dict, NULL), "permute_ns": (dict, NULL), "flops": (*NUMBER, NULL), "min_bytes": (*NUMBER, NULL), "tflops": (*NUMBER, NULL),
    "memory_bytes": (*NUMBER, NULL), "comm_bytes": (*NUMBER, NULL), "comm_bytes_inside": NULL,
    "comm_bytes_between": NULL, "counters": dict, "speedup": (dict, NULL),
    "environment": {"host": dict, "device": (dict, NULL), "build": dict, "time": TEXT},
}
OPTIONAL_OBJECTS = {
    "verify": {"max_abs": NUMBER, "rel_l2": NUMBER, "rows": int, "tolerance": NUMBER, "worst": NUMBER,
               "probed_rows": (int, NULL)},
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


def largest_difference(a, b):
    return max(0 if x == y else abs(x - y) for x, y in zip(a, b))


RING = """
name: ring
axes: {sequence_length: [66, 37], segments: [[64]], dilations: [[4]], heads: 4, head_dim: 16, threads: 2,
       causal: [false, true], ring_size: [1, 2, 4]}
variants:
  - {kernel: dilated, ring_algorithm: [auto, allgather, ring_packed, allgather_packed], sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: allgather_packed, sharding: contiguous}
  - {kernel: dilated, ring_algorithm: [hierarchical, hierarchical_packed, ulysses], ring_groups: 2,
     sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: [ring, hierarchical], ring_groups: 2, outer_link: emulated_host}
  - {kernel: dilated, ring_algorithm: ring_packed, order: hilbert}
  - {kernel: dilated, order: hilbert, order_span: global}
  - {kernel: dilated, order: seed_d2xy}
baselines: [gemm, longnet_allgather]
counters: [default, software]
measure: {budget_s: 0.05, min_rounds: 3}
"""


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
        self.assertEqual(len(variants), len(ORDERS) + 4 + len(TRAVERSALS) + 5 + 2)
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
                self.assertEqual(record["schema"], 2)
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
        if "@tokens" in record["variant"]:
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
                        "dilated/hilbert.slot", "dilated/hilbert.qkv", "dilated/linear.fresh",
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
                    if record["params"]["order_scope"] == "tokens":
                        self.assertGreater(largest_difference(got_o, o), tolerance, "tokens is another function")
                    else:
                        self.assertLessEqual(largest_difference(got_o, o), tolerance)
                        self.assertLess(largest_difference(got_lse, lse), 0.02)

    def test_export_formats(self):
        for format in ("csv", "gbench", "gbench-summary"):
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


class OptionsTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.sweep = self.program.sweep(SMALL)

    def test_plan_and_dry_run_write_nothing(self):
        before = sorted(self.program.folder.rglob("*"))
        planned, _ = self.program.run("plan", self.sweep)
        dry, _ = self.program.run("run", self.sweep, "--dry-run")
        self.assertEqual(planned, dry)
        for text in ("n64-w32-r2-h2-d16-fp32-p1-cpu-threads.1", "dilated/hilbert", "gemm", "4 variants to measure"):
            self.assertIn(text, planned)
        self.assertEqual(sorted(self.program.folder.rglob("*")), before)

    def test_results_go_to_the_folder_of_the_sweep_by_default(self):
        self.program.run("run", self.sweep)
        self.assertTrue((self.program.folder / "results" / "small" / "results.sqlite").exists())

    def test_filter_keeps_the_reference(self):
        self.program.run("run", self.sweep, "-o", "out", "--filter", "dilated/random$")
        records = self.program.records("out")
        self.assertEqual([record["variant"] for record in records], ["dilated/linear", "dilated/random"])
        self.assertEqual(records[1]["speedup"]["against"], "dilated/linear")
        self.program.run("run", self.sweep, "-o", "none", "--filter", "nothing", status=2)
        self.program.run("run", self.sweep, "-o", "none", "--filter", "(", status=2)
        self.assertFalse((self.program.folder / "none").exists())

    def test_axis_replaces_a_parameter(self):
        self.program.run("run", self.sweep, "-o", "out", "--axis", "heads=1,2", "--axis", "causal=true")
        params = [record["params"] for record in self.program.records("out")]
        self.assertEqual({each["heads"] for each in params}, {1, 2})
        self.assertEqual({each["causal"] for each in params}, {True})

    def test_processes_join_their_samples(self):
        self.program.run("run", self.program.sweep(SMALL.replace("min_rounds: 3", "min_rounds: 3, processes: 2")),
                         "-o", "out")
        for record in self.program.records("out"):
            self.assertEqual(record["status"], "ok")
            self.assertEqual(len(record["time_ns"]["samples"]), 2)
            self.assertTrue(all(len(process) >= 3 for process in record["time_ns"]["samples"]))
            seeds = [process["seed"] for process in record["environment"]["processes"]]
            self.assertEqual((len(seeds), len(set(seeds))), (2, 2))
        (twin,) = (record for record in self.program.records("out", twins=True) if record["twin"])
        self.assertEqual((twin["variant"], twin["status"]), ("dilated/linear@twin", "ok"))
        self.assertEqual(twin["asked"]["reference"], "dilated/linear")

    def test_cold_cache(self):
        self.program.run("run", self.program.sweep(SMALL.replace("min_rounds: 3", "min_rounds: 3, cache: cold")),
                         "-o", "out")
        for record in self.program.records("out"):
            self.assertEqual((record["status"], record["params"]["cache"]), ("ok", "cold"))

    def test_steady_samples(self):
        steady = SMALL.replace("min_rounds: 3", "min_rounds: 3, processes: 2, steady: true, steady_s: 0.2")
        sweep = self.program.sweep(steady.replace(", hilbert, random", ""))
        out, _ = self.program.run("plan", sweep)
        self.assertIn("steady: each sample is 0.2 s or more of executions back to back", out)
        self.program.run("run", sweep, "-o", "out")
        records = self.program.records("out", twins=True)
        self.assertEqual({record["variant"] for record in records}, {"dilated/linear", "dilated/linear@twin", "gemm"})
        for record in records:
            self.assertEqual((record["status"], record["params"]["steady_s"]), ("ok", 0.2), record["reason"])
            times, energy = record["time_ns"], record["energy_j"]
            self.assertEqual([len(process) for process in times["samples"]], [3, 3])
            # Three variants, three rounds: their windows alone take this long.
            self.assertTrue(all(process["seconds"] > 9 * 0.2 for process in record["environment"]["processes"]))
            if energy["median"] is None:
                self.assertTrue(energy["reason"])
            else:
                self.assertEqual([len(process) for process in energy["samples"]], [3, 3])
        self.program.run("report", "out", "-o", "report")
        report = (self.program.folder / "report" / "report.md").read_text()
        self.assertIn("Steady: all times are of executions back to back for 0.2 s or more", report)
        self.assertIn("| steady | J per run |", report)
        _, err = self.program.run("run", self.program.sweep(SMALL), "-o", "out", status=2)
        self.assertIn("measured with other settings", err)
        self.program.run("run", self.program.sweep(SMALL), "-o", "plain")
        text, err = self.program.run("compare", "plain", "out", status=3)
        self.assertIn("steady no / 0.2 s", text + err)

    def test_inputs_from_files(self):
        values = [((7 * i) % 31 - 15) / 8 for i in range(64 * 2 * 16)]
        for name in "qkv":
            write_npy(self.program.folder / f"{name}.npy", [1, 64, 2, 16], values, "<f4")
        sweep = self.program.sweep(SMALL + "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n")
        self.program.run("run", sweep, "-o", "out", "--dump", "dump")
        (case,) = (self.program.folder / "dump").iterdir()
        self.assertEqual(list(read_npy(case / "gemm" / "q.npy")[1]), values)
        write_npy(self.program.folder / "q.npy", [1, 64, 2, 16], values[::-1], "<f4")
        _, err = self.program.run("run", sweep, "-o", "out", status=2)
        self.assertIn("measured with other settings", err)

    def test_dump_folder_that_cannot_be_made(self):
        (self.program.folder / "dump").write_text("a file")
        _, err = self.program.run("run", self.sweep, "-o", "out", "--dump", "dump", status=2)
        self.assertRegex(err, r"cannot write to the output folder \(dump\): .*give another folder with --dump")
        self.assertFalse((self.program.folder / "out").exists())


class RingTest(unittest.TestCase):
    """Ranks as threads: measured once; each test looks at one side of it."""

    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.program.run("run", cls.program.sweep(RING), "-o", "out", "--dump", "dump")
        cls.records = cls.program.records("out")
        cls.rings = [r for r in cls.records if r["params"]["ring_size"] > 1 and r["status"] == "ok"]

    def test_all_is_ok_but_what_cannot_be(self):
        self.assertEqual(len(self.records), 2 * 2 * 3 * 29)
        for record in self.records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                ranks = record["params"]["ring_size"]
                expected = ("ok", None)
                if record["variant"] == "gemm" and ranks > 1:
                    expected = ("skipped", f"ring_size {ranks}: gemm runs on one rank")
                if record["variant"] == "longnet_allgather" and ranks == 1:
                    expected = ("skipped", "longnet_allgather gathers from the ranks of a ring: ring_size must be above 1")
                if record["params"]["order"] == "seed_d2xy":
                    self.assertEqual(record["status"], "invalid")
                    continue
                # On one rank all rings of an order are one kernel.
                first = {"linear": "dilated/linear", "hilbert": "dilated/hilbert/ring_packed"}.get(record["params"]["order"])
                if ranks == 1 and record["kind"] == "kernel" and record["variant"] != first:
                    expected = ("skipped", f"ring_size 1: the same as {first}")
                self.assertEqual((record["status"], record["reason"]), expected)

    def test_what_is_sent_is_what_was_planned(self):
        self.assertEqual(len(self.rings), 2 * 2 * 2 * 27)
        for record in self.rings:
            with self.subTest(case=record["case"], variant=record["variant"]):
                params, counters = record["params"], record["counters"]
                self.assertEqual(counters["ring_bytes"]["value"], record["comm_bytes"])
                self.assertGreater(counters["ring_compute_ns"]["value"], 0)
                sends = record["comm_bytes"] > 0
                self.assertEqual(params["ring_algorithm"] == "local", not sends)
                overlap = counters["ring_overlap"]
                self.assertTrue(overlap["reason"] if overlap["value"] is None else 0 <= overlap["value"] <= 1 and sends)
                self.assertEqual(counters["ring_exchange_ns"]["value"] is not None, sends)
                self.assertEqual(params["transport"], "threads")
                transport = {"name": "threads", "threads_per_rank": 2 // params["ring_size"] or 1}
                if params["outer_link"] == "emulated_host":
                    transport["outer_link"] = {"emulated": True, "through": "a buffer in between",
                                               "chunk_bytes": 4 << 20}
                self.assertEqual(record["environment"]["transport"], transport)
                for name, groups in (("ring_link_between", 2), ("ring_link_inside", params["ring_size"] // 2)):
                    link = counters[name]
                    has_link = params["ring_groups"] is not None and groups > 1
                    self.assertEqual(link["value"] is not None and link["value"] > 0, has_link, link)
                self.assertIn(params["sharding"], ("contiguous", "zigzag", "striped"))
                clock = counters["task_clock"]  # counted by every rank, if the kernel permits it
                if clock["value"] is None:
                    self.assertTrue(clock["reason"])
                else:
                    self.assertEqual(len(clock["ranks"]), params["ring_size"])
                    self.assertAlmostEqual(sum(clock["ranks"]), clock["counts"][-1], delta=1)
                    self.assertGreaterEqual(len(clock["counts"]), 5)
                    self.assertGreater(min(clock["ranks"]), 0)
                ordered = params["order"] != "linear" and params["order_span"] == "shard"
                self.assertEqual(record["permute_ns"] is not None, ordered)

    def test_algorithms_send_what_they_should(self):
        sent = {(r["case"], r["variant"]): r["comm_bytes"] for r in self.rings}
        case = "n66-w64-r4-h4-d16-fp32-p4-cpu-threads.2"
        row = 2 * 4 * 16 * 4  # of K and V, all heads
        self.assertEqual(sent[case, "dilated/linear/allgather"], 3 * 66 * row)
        self.assertEqual(sent[case, "dilated/linear.striped"], 0)
        self.assertLess(sent[case, "dilated/linear/ring_packed"], sent[case, "dilated/linear"] / 3)
        self.assertEqual(sent[case, "dilated/linear/ulysses.2"], 3 * 66 * (2 * row + 4 * 4) / 4)

    def test_groups_split_what_is_sent(self):
        for record in self.rings:
            parts = [record["comm_bytes_inside"], record["comm_bytes_between"]]
            if record["variant"].endswith((".2", ".2.emulated_host")):
                self.assertEqual(sum(parts), record["comm_bytes"])
                self.assertEqual(record["params"]["ring_groups"], 2)
                self.assertEqual(parts[0] == 0, record["params"]["ring_size"] == 2 or record["comm_bytes"] == 0)
            else:
                self.assertEqual(parts, [None, None])
                self.assertIsNone(record["params"]["ring_groups"])

    def test_longnets_scheme_is_the_packed_gathering(self):
        packed = {r["case"]: r for r in self.rings if r["variant"] == "dilated/linear.contiguous/allgather_packed"}
        longnet = [r for r in self.rings if r["variant"] == "longnet_allgather"]
        self.assertEqual(len(longnet), 2 * 2 * 2)
        for record in longnet:
            with self.subTest(case=record["case"]):
                ours = packed[record["case"]]
                self.assertEqual((record["kind"], record["params"]["kernel"]), ("baseline", "dilated_cpu"))
                self.assertEqual(record["params"]["sharding"], "contiguous")
                self.assertEqual(record["comm_bytes"], ours["comm_bytes"])
                self.assertEqual(record["params"]["ring_algorithm"], ours["params"]["ring_algorithm"])
                self.assertEqual(record["verify"]["max_abs"], ours["verify"]["max_abs"])

    def test_one_rank_has_no_ring(self):
        alone = [r for r in self.records if r["params"]["ring_size"] == 1 and r["status"] == "ok"]
        self.assertEqual(len(alone), 2 * 2 * 3)
        for record in alone:
            self.assertEqual(record["comm_bytes"], 0)
            for name in ("ring_algorithm", "ring_groups", "outer_link", "ring_launch", "head_parts", "sharding",
                         "order_span", "transport"):
                self.assertIsNone(record["params"][name])
            self.assertNotIn("ring_bytes", record["counters"])

    def test_a_ring_gives_the_output_of_one_rank(self):
        compared = 0
        for record in self.rings:
            if record["variant"] not in ("dilated/linear.zigzag/ring_packed", "dilated/hilbert.global",
                                         "dilated/linear.zigzag/hierarchical.2", "dilated/linear.zigzag/ulysses.2",
                                         "dilated/linear/hierarchical_packed.2",
                                         "dilated/linear/ring.2.emulated_host"):
                continue
            folder = self.program.folder / "dump" / record["case"]
            one = self.program.folder / "dump" / record["case"].replace(f"-p{record['params']['ring_size']}-", "-p1-")
            for name in ("o.npy", "lse.npy"):
                ring = read_npy(folder / record["variant"].replace("/", "_") / name)[1]
                whole = read_npy(one / "dilated_linear" / name)[1]
                self.assertLess(largest_difference(ring, whole), 1e-4)
            compared += 1
        self.assertEqual(compared, 2 * 2 * 2 * 6)

    def test_what_no_ring_can_do_is_told(self):
        def reasons(options, axes="ring_size: 2"):
            self.program.run("run", self.program.sweep(
                "name: no\naxes: {sequence_length: 512, segments: 64, heads: 1, head_dim: 16, " + axes + "}\n"
                "variants: [{kernel: dilated, " + options + "}]\n", "no.yaml"), "-o", "no", "--fresh")
            return self.program.records("no")[0]["reason"]
        self.assertEqual(reasons("order: linear", "ring_size: 300"), "ring_size 300: rings have at most 256 ranks")
        self.assertIn("start them with mpirun -n 2", reasons("transport: mpi"))
        self.assertIn("memory of GPUs", reasons("transport: nccl"))
        self.assertIn("buffers must be pooled", reasons("buffers: fresh"))
        self.assertIn("index must be cached", reasons("index: computed"))
        self.assertIn("no order_scope tokens", reasons("order_scope: tokens"))
        self.assertIn("ring_groups must say how many", reasons("outer_link: emulated_host"))
        self.assertIn("hierarchical computes in steps",
                      reasons("ring_launch: persistent, ring_algorithm: hierarchical, ring_groups: 2"))
        # Of three shards, segments cross the borders.
        self.assertIn("dilated_cpu computes in steps", reasons("ring_launch: persistent", "ring_size: 3"))
        self.assertIn("order_span must be shard", reasons("order: hilbert, order_span: global, ring_algorithm: ring_packed"))

    def test_larger_rings_are_predicted_and_checked(self):
        out, _ = self.program.run("predict", "out", "--ring", "4,8", "--memory", "2GiB", "--format", "json")
        told = json.loads(out, parse_constant=refuse_constant)
        (fit,) = told["fits"]
        self.assertEqual((fit["kernel"], fit["device"], fit["comparisons"]), ("dilated_cpu", "cpu", 2 * 2 * 2))
        (check,) = fit["checks"]
        self.assertEqual((check["ranks"], check["errors"]["count"]), (4, 2 * 2 * 24))
        times = {p["ring_size"]: p["time_ns"] for p in told["predictions"]
                 if p["variant"] == "dilated/linear" and p["case"].startswith("n66-") and "causal" not in p["case"]}
        self.assertEqual(sorted(times), [4, 8])
        for time_ns in times.values():
            self.assertLess(0, time_ns["ci"][0])
            self.assertLess(time_ns["ci"][0], time_ns["value"])
            self.assertLess(time_ns["value"], time_ns["ci"][1])
        sent = {(r["case"], r["variant"]): r["comm_bytes"] for r in self.rings}
        for prediction in told["predictions"]:
            if prediction["ring_size"] == 4:
                self.assertEqual(prediction["comm_bytes"], sent[prediction["case"], prediction["variant"]])
        self.assertTrue(all(row["positions"] > 0 for row in told["longest"]))
        self.assertEqual({row["claim"] for row in told["claims"]}, {"analysis-projection", "scaling-projection"})
        sweep = self.program.sweep(RING, "other.yaml")
        out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", "sequence_length=1000",
                                  "--axis", "ring_size=3", "--filter", "linear/allgather$", "--format", "markdown")
        self.assertIn("n1000-w64-r4-h4-d16-fp32-p3-cpu-threads.2", out)
        self.assertIn("Compared with records of larger rings", out)
        out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", "sequence_length=1000",
                                  "--axis", "ring_size=2", "--filter", "linear/(hierarchical|ulysses)")
        self.assertRegex(out, r"Not predicted: n1000\S*/dilated/linear/hierarchical\.2\.emulated_host: the model knows the links")
        self.assertNotRegex(out, r"Not predicted: \S*/ulysses")
        for predicted in ("hierarchical.2 ", "hierarchical_packed.2 ", "ulysses.2 "):
            self.assertIn("dilated/linear/" + predicted, out)
        for axis, why in (("head_dim=32", "the records hold no rings with its device, kernel, dtype and head_dim"),
                          ("pass=backward", "rings compute only the forward pass")):
            out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", axis)
            self.assertIn(f"dilated/linear: {why}", out)
            out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", axis, "--filter", "linear")
            self.assertIn(f"dilated/linear: {why}", out)

    def test_what_cannot_be_predicted_is_told(self):
        alone = self.program.sweep(RING, "alone.yaml")
        self.program.run("run", alone, "--axis", "ring_size=1", "--filter", "dilated/linear$", "-o", "alone")
        for arguments, said in ((["alone"], "no rings to fit on"), (["nosuch"], "is not a folder of records"),
                                (["out", "--fit-ranks", "3"], "no rings to fit on"), ([alone], "--calibration DIR"),
                                (["out", "--ring", "0"], "rings have 1 to 256 ranks"),
                                (["out", "--format", "xml"], "text, markdown or json"),
                                (["out", "--axis", "heads=8"], "--axis without a sweep"),
                                (["out", "--filter", "("], "bad regular expression"),
                                (["out", "--filter", "(" * 50000 + ")" * 50000], "at most 1000 characters"),
                                (["out", "--filter", "(.*)*(.*)*(.*)*nosuch$"], "matches no ring"),
                                (["out", "--calibration", "out"], "two folders of records")):
            with self.subTest(arguments=arguments):
                out, err = self.program.run("predict", *arguments, status=2)
                self.assertEqual((out, err.count("\n")), ("", 1))
                self.assertIn(said, err)

    def test_more_ranks_than_threads(self):
        self.program.run("run", self.program.sweep(RING), "--axis", "ring_size=7", "--axis", "threads=1",
                         "--filter", "ring_packed", "-o", "many")
        statuses = {record["status"] for record in self.program.records("many") if "ring_packed" in record["variant"]}
        self.assertEqual(statuses, {"ok"})

    def test_wrong_values_are_one_line(self):
        for option, said in (("transport: tcp", "transport"), ("sharding: random", "sharding"),
                             ("ring_algorithm: local", "ring_algorithm"),
                             ("transport: [auto, threads]", "two variants with the id")):
            _, err = self.program.run("plan", self.program.sweep(
                "name: a\ncases: [{ring_size: 2}]\nvariants: [{kernel: dilated, " + option + "}]\n", "bad.yaml"), status=2)
            self.assertEqual(err.count("\n"), 1)
            self.assertIn(said, err)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
