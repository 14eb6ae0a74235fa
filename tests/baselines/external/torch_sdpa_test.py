"""torch_sdpa.py on the CPU: by its protocol over random shapes with all options, then through the program.

Usage: torch_sdpa_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch in it only the tests that need none run, and the status is 77.
"""

import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "program"))
from plain_attention import attention  # noqa: E402
from program import Program  # noqa: E402

PYTHON = os.environ.get("HILBENCH_PYTHON") or "python3"
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
RANDOM_CASES = 80
NO_CAUSAL = "no causal mask for dense queries and dilated keys"
NO_LSE_OF_FLEX = "flex: returns no LSE on a CPU, which merging branches needs"
NO_COMPILER = "flex: does not compile: "
NO_LSE = "math returns no LSE, which merging branches needs"

POINT = "sequence_length: 72, heads: 4, head_dim: 16, threads: 1"
SWEEP = f"""
name: torch
cases:
  - {{{POINT}, segments: [32], dilations: [2], kv_heads: 2, causal: true}}
  - {{{POINT}, segments: [32, 72], dilations: [1, 3], batch: 2, dtype: bf16}}
  - {{{POINT}, segments: [36], dilations: [2], queries: dense, dtype: fp16}}
variants: [{{kernel: dilated, order: linear}}]
baselines: [torch_sdpa, torch_sdpa.flash, torch_sdpa.math, torch_sdpa.efficient, torch_sdpa.cudnn, torch_sdpa.fa3]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""
FLEX_SWEEP = f"""
name: flex
cases:
  - {{{POINT}, segments: [36], dilations: [2], queries: dense, causal: true, head_offset: none}}
  - {{{POINT}, segments: [32, 72], dilations: [1, 3]}}
variants: [{{kernel: dilated, order: linear}}]
baselines: [torch_sdpa.flex]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""


def half(value):
    return struct.pack("<e", value)


def upper_half(value):
    return struct.pack("<f", value)[2:]


# Bytes of a value in each dtype, and the value that they hold.
STORE = {"fp32": lambda value: struct.pack("<f", value), "fp16": half, "bf16": upper_half}
LOAD = {"fp32": lambda data: struct.unpack("<f", data)[0], "fp16": lambda data: struct.unpack("<e", data)[0],
        "bf16": lambda data: struct.unpack("<f", b"\0\0" + data)[0]}
# Of the largest output: a few roundings to the dtype, as it stores probabilities too.
TOLERANCE = {"fp32": 2e-5, "fp16": 2.0**-9, "bf16": 2.0**-6}


class Script:
    """torch_sdpa.py, asked as the program asks it."""

    def __init__(self):
        self.process = subprocess.Popen([PYTHON, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def random_case(rng):
    heads = rng.choice([1, 3, 4, 8])
    length = rng.choice([16, 33, 48])
    branches = rng.choice([1, 1, 2, 3])
    return {"sequence_length": length, "segments": [rng.choice([5, 8, 16, length, 2 * length]) for _ in range(branches)],
            "dilations": [rng.choice([1, 2, 3, 4, 8]) for _ in range(branches)], "batch": rng.choice([1, 2]), "heads": heads,
            "kv_heads": rng.choice([g for g in (1, 2, 3, 8) if g <= heads]), "head_dim": rng.choice([8, 16, 24]),
            "dtype": rng.choice(list(STORE)), "causal": rng.random() < 0.4,
            "queries": rng.choice(["dilated", "dilated", "dense"]),
            "head_offset": rng.choice(["modulo", "contiguous", "none"]), "branch_heads": rng.choice(["all", "partition"]),
            "pass": "forward", "ring_size": 1, "device": "cpu", "threads": 1}


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        if ABSENCE:
            self.skipTest(ABSENCE)
        self.script = Script()
        self.addCleanup(self.script.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.hello = self.script.ask(do="hello", protocol=1)

    def test_hello_names_the_version(self):
        self.assertEqual((self.hello["protocol"], self.hello["name"]), (1, "torch_sdpa"))
        self.assertRegex(self.hello["version"], r"^PyTorch \d+\.\d+")
        self.assertIn("cpu", self.hello["devices"])
        self.assertIs(self.hello["forked"], False)

    def test_another_protocol_is_refused(self):
        self.assertEqual(self.script.ask(do="hello", protocol=2), {"unsupported": "speaks protocol 1, not 2"})

    def write_tensor(self, name, case, heads, rng):
        count = case["batch"] * case["sequence_length"] * heads * case["head_dim"]
        stored = [STORE[case["dtype"]](rng.gauss(0, 1)) for _ in range(count)]
        (self.folder / name).write_bytes(b"".join(stored))
        return [LOAD[case["dtype"]](data) for data in stored]

    def load(self, case, option, rng):
        tensors = [self.write_tensor(name, case, case["heads" if name == "q" else "kv_heads"], rng) for name in "qkv"]
        files = {name: str(self.folder / name) for name in "qkv"}
        return tensors, self.script.ask(do="load", case=case, option=option, **files)

    def read(self):
        files = {name: str(self.folder / name) for name in ("o", "lse")}
        for file in files.values():
            pathlib.Path(file).write_bytes(b"")
        answer = self.script.ask(do="read", **files)
        self.assertIn("lse", answer)
        values = []
        for name in ("o", "lse"):
            values.append(array.array("f", (self.folder / name).read_bytes() if name == "o" or answer["lse"] else b""))
        return values

    def test_random_cases(self):
        rng = random.Random(5)
        computed = 0
        for number in range(RANDOM_CASES):
            case, option = random_case(rng), rng.choice(["", "flash", "math"])
            with self.subTest(number=number, option=option, case=case):
                (q, k, v), answer = self.load(case, option, rng)
                if case["causal"] and case["queries"] == "dense" and max(case["dilations"]) > 1:
                    self.assertEqual(answer, {"unsupported": NO_CAUSAL})
                    continue
                if option == "math" and len(case["segments"]) > 1 and case["branch_heads"] == "all":
                    self.assertEqual(answer, {"unsupported": NO_LSE})
                    continue
                self.check_output(case, (q, k, v), answer, has_lse=option != "math")
                computed += 1
        self.assertGreater(computed, RANDOM_CASES / 2)

    def check_output(self, case, tensors, answer, has_lse):
        self.assertEqual(answer.get("timer"), "perf_counter", answer)
        times = self.script.ask(do="run", executions=2)["times_ns"]
        self.assertTrue(len(times) == 2 and min(times) > 0, times)
        got_o, got_lse = self.read()
        o, lse = attention(case, *tensors)
        self.assertEqual(len(got_o), len(o))
        tolerance = TOLERANCE[case["dtype"]] * max(map(abs, o))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(got_o, o)), tolerance)
        self.assertEqual(len(got_lse), len(lse) if has_lse else 0)
        if has_lse:
            self.assertLess(max(0 if a == b else abs(a - b) for a, b in zip(got_lse, lse)), 1e-3)

    def test_flex(self):
        rng = random.Random(2)
        plain = {**random_case(rng), "sequence_length": 300, "batch": 1, "heads": 4, "kv_heads": 2, "head_dim": 16,
                 "segments": [300], "dilations": [2], "dtype": "fp32", "head_offset": "modulo", "branch_heads": "all"}
        for change in ({"causal": True, "queries": "dense"},  # masks of several tiles, differing from head to head
                       {"causal": True, "queries": "dilated", "segments": [150], "dtype": "bf16"}):
            with self.subTest(**change):
                case = {**plain, **change}
                tensors, answer = self.load(case, "flex", rng)
                if answer.get("unsupported", "").startswith(NO_COMPILER):
                    self.skipTest(answer["unsupported"])
                self.assertEqual((answer.get("backends"), answer.get("kernel_options")), (["flex"], [{}]), answer)
                self.check_output(case, tensors, answer, has_lse=False)
        _, answer = self.load({**plain, "segments": [32, 64], "dilations": [1, 2]}, "flex", rng)
        self.assertEqual(answer, {"unsupported": NO_LSE_OF_FLEX})

    def test_what_pytorch_cannot_do_is_said(self):
        rng = random.Random(1)
        case = {**random_case(rng), "segments": [16], "dilations": [1], "causal": False}
        for change, option, reason in (({}, "xformers", "torch_sdpa has no option 'xformers', only flash, "), ({}, "cudnn", "^cudnn: "),
                                       ({}, "fa3", "^fa3: needs a GPU"),
                                       ({"head_dim": 12}, "", "head_dim 12 is not a multiple of 8"),
                                       ({"pass": "backward"}, "", "forward pass only"),
                                       ({"ring_size": 2}, "", "one rank only")):
            with self.subTest(reason=reason):
                _, answer = self.load({**case, **change}, option, rng)
                self.assertRegex(answer.get("unsupported", ""), reason)


class ThroughTheProgramTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)

    def test_every_backend(self):
        if ABSENCE:
            self.skipTest(ABSENCE)
        self.program.run("run", self.program.sweep(SWEEP), "-o", "out", "--allow-external")
        records = self.program.records("out")
        self.assertEqual(len(records), 21)
        for record in records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                name, reason = record["variant"], record["reason"]
                if name in ("torch_sdpa.efficient", "torch_sdpa.cudnn", "torch_sdpa.fa3"):
                    self.assertEqual(record["status"], "skipped")
                    self.assertRegex(reason, "^(efficient|cudnn|fa3): ")
                elif name == "torch_sdpa.math" and len(record["params"]["segments"]) > 1:
                    self.assertEqual((record["status"], reason), ("skipped", NO_LSE))
                elif name.startswith("torch_sdpa"):
                    self.assertEqual((record["status"], reason), ("ok", None))
                    self.assertEqual(record["time_ns"]["timer"], "external:perf_counter")
                    library = record["environment"]["library"]
                    self.assertRegex(library["version"], "^PyTorch ")
                    self.assertIs(library["forked"], True)
                    self.assertEqual(library["backends"], ["math" if name.endswith("math") else "flash"])
                    self.assertEqual(record["verify"]["lse_max_abs"] is None, name.endswith("math"))

    def test_flex(self):
        if ABSENCE:
            self.skipTest(ABSENCE)
        self.program.run("run", self.program.sweep(FLEX_SWEEP), "-o", "out", "--allow-external")
        one, several = (record for record in self.program.records("out") if record["variant"] == "torch_sdpa.flex")
        self.assertEqual((several["status"], several["reason"]), ("skipped", NO_LSE_OF_FLEX))
        if (one["reason"] or "").startswith(NO_COMPILER):
            self.skipTest(one["reason"])
        self.assertEqual((one["status"], one["reason"]), ("ok", None))
        library = one["environment"]["library"]
        self.assertEqual((library["backends"], library["compiled"], library["forked"]),
                         (["flex"], "max-autotune-no-cudagraphs", True))
        self.assertIsNone(one["verify"]["lse_max_abs"])

    def test_python_without_pytorch(self):
        bare = self.program.folder / "bare_python"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        bare.chmod(0o755)
        self.program.run("run", self.program.sweep(SWEEP), "-o", "out", "--allow-external", "--filter", "torch_sdpa$",
                         env={**os.environ, "HILBENCH_PYTHON": str(bare)})
        records = [record for record in self.program.records("out") if record["kind"] == "baseline"]
        self.assertEqual(len(records), 3)
        for record in records:
            self.assertEqual(record["status"], "skipped")
            self.assertRegex(record["reason"], "^no PyTorch for .*python.*: No module named 'torch'; set HILBENCH_PYTHON")


def absence():
    """Why the tests with PyTorch cannot run, or ""."""
    try:
        answer = subprocess.run([PYTHON, SCRIPT], input='{"do": "hello", "protocol": 1}\n', text=True, capture_output=True)
        return json.loads(answer.stdout).get("unsupported", "")
    except (OSError, ValueError) as error:
        return f"{PYTHON} does not run {SCRIPT}: {error}"


if __name__ == "__main__":
    BINARY, SCRIPT = sys.argv.pop(1), sys.argv.pop(1)
    ABSENCE = absence()
    passed = unittest.main(verbosity=2, exit=False).result.wasSuccessful()
    if ABSENCE:
        print(f"skipped: {ABSENCE}")
    sys.exit(1 if not passed else SKIPPED if ABSENCE else 0)
