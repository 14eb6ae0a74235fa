"""torch_context_parallel.py on the CPU: what it refuses, a ring of two processes, and how it ends.

Usage: torch_context_parallel_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch in it only the tests that need none run, and the status is 77.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "program"))
from program import Program, wait_until  # noqa: E402

PYTHON = os.environ.get("HILBENCH_PYTHON") or "python3"
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
NOT_ON_CPUS = "does not have a sharding strategy"  # PyTorch 2.11 says so of all attention, 2.15 of causal one
CASE = {"sequence_length": 64, "segments": [64], "dilations": [1], "batch": 2, "heads": 4, "kv_heads": 4, "head_dim": 16,
        "dtype": "fp32", "causal": False, "pass": "forward", "ring_size": 2, "device": "cpu", "threads": 2}
SWEEP = """
name: torch
cases:
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 4, head_dim: 16, threads: 2, batch: 2, ring_size: 2}
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 4, head_dim: 16, threads: 2}
variants: [{kernel: dilated, order: linear}]
baselines: [torch_context_parallel, torch_context_parallel.ring, torch_sdpa]
measure: {budget_s: 0.05, min_rounds: 3}
"""


class Script:
    """torch_context_parallel.py, asked as the program asks it."""

    def __init__(self):
        self.process = subprocess.Popen([PYTHON, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ranks(self):
        pid = self.process.pid
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class ProtocolTest(unittest.TestCase):
    def setUp(self):
        if ABSENCE:
            self.skipTest(ABSENCE)
        self.script = Script()
        self.addCleanup(self.script.close)
        self.hello = self.script.ask(do="hello", protocol=1)
        self.program = Program(BINARY)  # for its folder
        self.addCleanup(self.program.close)
        self.files = {name: str(self.program.folder / name) for name in "qkv"}
        values = bytes(4 * 2 * 64 * 4 * 16)
        for file in self.files.values():
            pathlib.Path(file).write_bytes(values)

    def load(self, option="", **change):
        return self.script.ask(do="load", case={**CASE, **change}, option=option, **self.files)

    def started_ranks(self):
        answer = self.load()
        if NOT_ON_CPUS in answer.get("unsupported", ""):
            self.skipTest(answer["unsupported"])
        self.assertEqual(answer.get("timer"), "perf_counter", answer)
        return self.script.ranks()

    def test_what_pytorch_cannot_do_is_said_before_ranks_are_started(self):
        self.assertEqual((self.hello["protocol"], self.hello["name"], self.hello["rings"]),
                         (1, "torch_context_parallel", True))
        self.assertRegex(self.hello["version"], r"^PyTorch \d+\.\d+")
        self.assertEqual(self.script.ask(do="hello", protocol=2), {"unsupported": "speaks protocol 1, not 2"})
        gpu = {"device": "cuda", "dtype": "bf16"}
        for change, option, reason in (
                ({}, "gather", "there is no option 'gather', only allgather, ring"),
                ({"ring_size": 1}, "", "ring_size must be above 1"),
                ({"pass": "backward"}, "", "only the forward pass"),
                ({"dilations": [2]}, "", "no dilation and no segments"),
                ({"segments": [32]}, "", "no dilation and no segments"),
                ({"segments": [64, 64], "dilations": [1, 1]}, "", "no dilation and no segments"),
                ({"kv_heads": 2}, "", "as many K/V heads as heads"),
                ({"sequence_length": 62, "causal": True}, "", "62 does not divide into 4 equal shards"),
                ({}, "ring", "rotates keys between GPUs only"),
                ({**gpu, "dtype": "fp32"}, "ring", "fp16 and bf16, not in fp32"),
                ({**gpu, "head_dim": 12}, "ring", "multiple of 8, not head_dim 12"),
                ({**gpu, "ring_size": 64}, "ring", r"ring_size 64: a rank wants a GPU of its own, of \d+ here")):
            with self.subTest(reason=reason):
                self.assertRegex(self.load(option, **change).get("unsupported", ""), reason)
        self.assertFalse(self.script.ranks())

    def test_a_rank_that_dies_ends_the_program_and_one_that_fails_says_why(self):
        (self.program.folder / "v").write_bytes(b"short")
        self.assertRegex(self.load().get("error", ""), r"^rank \d of 2: RuntimeError: ")
        (self.program.folder / "v").write_bytes(bytes(4 * 2 * 64 * 4 * 16))
        ranks = self.started_ranks()
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[1], signal.SIGKILL)
        answer = self.script.ask(do="run", executions=1)
        if answer is None:
            self.assertEqual(self.script.process.wait(), 1)
        else:  # the other rank was quicker to miss it than torchrun
            self.assertRegex(answer.get("error", ""), "^rank 0 of 2: ")

    def test_ranks_die_with_the_program(self):
        ranks = self.started_ranks()
        self.script.process.kill()
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in ranks), 20, "a rank outlived its launcher")


class ThroughTheProgramTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)

    def run_all(self, **options):
        self.program.run("run", self.program.sweep(SWEEP), "-o", "out", "--allow-external", **options)
        return {(record["params"]["ring_size"], record["variant"]): record for record in self.program.records("out")}

    def test_full_attention_on_two_processes(self):
        if ABSENCE:
            self.skipTest(ABSENCE)
        records = self.run_all()
        self.check_skips(records)
        self.assertEqual(records[1, "torch_sdpa"]["status"], "ok")
        option = records[2, "torch_context_parallel.ring"]
        self.assertEqual((option["status"], option["reason"]), ("skipped", "PyTorch rotates keys between GPUs only"))
        ring = records[2, "torch_context_parallel"]
        if NOT_ON_CPUS in (ring["reason"] or ""):
            self.assertEqual(ring["status"], "skipped")
            self.skipTest(ring["reason"])
        self.assertEqual((ring["status"], ring["reason"]), ("ok", None))
        self.assertIsNone(ring["verify"]["lse_max_abs"])
        self.assertEqual(ring["time_ns"]["timer"], "external:perf_counter")
        self.assertEqual(ring["environment"]["library"]["ranks"], 2)
        self.assertIsNone(ring["comm_bytes"])

    def check_skips(self, records):
        for name in ("torch_context_parallel", "torch_context_parallel.ring"):
            self.assertEqual((records[1, name]["status"], records[1, name]["reason"]),
                             ("skipped", f"{name} needs a ring: ring_size must be above 1"))
        self.assertEqual((records[2, "torch_sdpa"]["status"], records[2, "torch_sdpa"]["reason"]),
                         ("skipped", "ring_size 2: torch_sdpa runs on one rank"))

    def test_python_without_pytorch(self):
        bare = self.program.folder / "bare_python"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        bare.chmod(0o755)
        records = self.run_all(env={**os.environ, "HILBENCH_PYTHON": str(bare)})
        self.check_skips(records)
        for name in ("torch_context_parallel", "torch_context_parallel.ring"):
            self.assertEqual(records[2, name]["status"], "skipped")
            self.assertRegex(records[2, name]["reason"], "^no PyTorch with context_parallel for .*No module named 'torch'; "
                             "set HILBENCH_PYTHON")


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
