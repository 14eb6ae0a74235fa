"""torch_context_parallel.py on the CPU: what it refuses, a ring of two processes, and how it ends.

Usage: torch_context_parallel_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch in it only the tests that need none run, and the status is 77.
"""

import os
import pathlib
import random
import signal
import subprocess

import torch_rivals
from program import wait_until  # torch_rivals adds its folder to the path

NOT_ON_CPUS = "does not have a sharding strategy"  # PyTorch 2.11 says so of all attention, 2.15 of causal one
CASE = {"sequence_length": 64, "segments": [64], "dilations": [1], "batch": 2, "heads": 4, "kv_heads": 4,
        "head_dim": 16, "dtype": "fp32", "causal": False, "pass": "forward", "ring_size": 2, "device": "cpu",
        "threads": 2, "queries": "dilated", "head_offset": "modulo", "branch_heads": "all"}
BYTES = 4 * 2 * 64 * 4 * 16  # of a tensor of CASE
SWEEP = """
name: torch
cases:
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 4, head_dim: 16, threads: 2, batch: 2, ring_size: 2}
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 4, head_dim: 16, threads: 2}
variants: [{kernel: dilated, order: linear}]
baselines: [torch_context_parallel, torch_context_parallel.ring, torch_sdpa]
measure: {budget_s: 0.05, min_rounds: 3}
"""

# Two ranks whose attention is not run. Each prints "right" if its rows of the first inputs and of new ones are those
# that PyTorch gives it, and if rows of its output are found again.
BALANCED = """
import os, sys
sys.path.insert(0, sys.argv[1])
import torch, torch_context_parallel as script
script.import_torch()
case = {"sequence_length": 16, "batch": 2, "heads": 3, "head_dim": 4, "dtype": "fp32", "causal": True, "ring_size": 2}
shape = 2, 16, 3, 4
count = 2 * 16 * 3 * 4
meeting = os.memfd_create("meeting")
for name in "qkv":
    torch.from_file(name, shared=True, size=count, dtype=torch.float32).copy_(torch.rand(count))
ranks = []
for number in range(2):
    ranks.append(os.fork())
    if ranks[-1]:
        continue
    rank = script.Rank("cpu", number, 2, torch.distributed.FileStore(f"/proc/self/fd/{meeting}", 2))
    rank.run = lambda executions: None
    rank.load(case, "", "q", "k", "v")
    before = [shard.clone() for shard in rank.shards]
    for shard in rank.shards:
        shard.zero_()
    rank.inputs(["q", "k", "v"], q="q", k="k", v="v")
    right = all(map(torch.equal, before, rank.shards)) and rank.positions != list(range(8 * number, 8 * number + 8))
    rank.output = rank.shards[0]
    rank.read("o", "lse", [5, 50, 95])
    rank.meet()
    rows = torch.from_file("q", size=count, dtype=torch.float32).view(-1, 4)[[5, 50, 95]]
    right = right and torch.equal(torch.from_file("o", size=12, dtype=torch.float32).view(-1, 4), rows)
    os.write(1, b"right\\n" if right else b"wrong\\n")
    os._exit(0)
for rank in ranks:
    os.waitpid(rank, 0)
"""


class ProtocolTest(torch_rivals.ProtocolTest):
    def setUp(self):
        super().setUp()
        for name in "qkv":
            (self.folder / name).write_bytes(bytes(BYTES))

    def load(self, option="", **change):
        return self.script.ask(do="load", case={**CASE, **change}, option=option, **self.files("qkv"))

    def ranks(self):
        pid = self.script.process.pid
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def started_ranks(self):
        answer = self.load()
        if NOT_ON_CPUS in answer.get("unsupported", ""):
            self.skipTest(answer["unsupported"])
        self.assertEqual(answer.get("timer"), "perf_counter", answer)
        return self.ranks()

    def test_what_pytorch_cannot_do_is_said_before_ranks_are_started(self):
        self.assertEqual((self.hello["protocol"], self.hello["name"], self.hello["rings"]),
                         (2, "torch_context_parallel", True))
        self.assertRegex(self.hello["version"], r"^PyTorch \d+\.\d+")
        self.assertIs(self.hello["forked"], False)
        self.assertEqual(self.script.ask(do="hello", protocol=1), {"unsupported": "speaks protocol 2, not 1"})
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
        self.assertFalse(self.ranks())

    def test_a_rank_that_dies_ends_the_program_and_one_that_fails_says_why(self):
        (self.folder / "v").write_bytes(b"short")
        self.assertRegex(self.load().get("error", ""), r"^rank \d of 2: RuntimeError: ")
        (self.folder / "v").write_bytes(bytes(BYTES))
        ranks = self.started_ranks()
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[1], signal.SIGKILL)
        answer = self.script.ask(do="run", executions=1)
        if answer is None:
            self.assertEqual(self.script.process.wait(), 1)
        else:  # the other rank was quicker to miss it than the launcher
            self.assertRegex(answer.get("error", ""), "^rank 0 of 2: ")

    def test_output_is_that_of_attention(self):
        tensors = self.write_tensors(CASE, random.Random(5))
        self.started_ranks()
        self.assertFalse(self.check_output(CASE, tensors))

    def test_balanced_ranks_take_their_own_rows_of_new_inputs(self):
        """PyTorch balances causal work, which it does not attend to on CPUs."""
        process = subprocess.run([torch_rivals.PYTHON, "-c", BALANCED, str(pathlib.Path(self.path_of_script).parent)],
                                 cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(process.stdout.splitlines(), ["right"] * 2)

    def test_ranks_die_with_the_program(self):
        ranks = self.started_ranks()
        self.script.process.kill()
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in ranks), 20, "a rank outlived its launcher")


class ThroughTheProgramTest(torch_rivals.ThroughTheProgramTest):
    def run_all(self, **options):
        records = self.run_sweep(SWEEP, **options)
        return {(record["params"]["ring_size"], record["variant"]): record for record in records}

    def test_full_attention_on_two_processes(self):
        self.skip_without_pytorch()
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
        self.assertIs(ring["environment"]["library"]["forked"], True)
        self.assertIsNone(ring["comm_bytes"])

    def check_skips(self, records):
        for name in ("torch_context_parallel", "torch_context_parallel.ring"):
            self.assertEqual((records[1, name]["status"], records[1, name]["reason"]),
                             ("skipped", f"{name} needs a ring: ring_size must be above 1"))
        self.assertEqual((records[2, "torch_sdpa"]["status"], records[2, "torch_sdpa"]["reason"]),
                         ("skipped", "ring_size 2: torch_sdpa runs on one rank"))

    def test_python_without_pytorch(self):
        records = self.run_all(env=self.without_pytorch())
        self.check_skips(records)
        for name in ("torch_context_parallel", "torch_context_parallel.ring"):
            self.assertEqual(records[2, name]["status"], "skipped")
            self.assertRegex(records[2, name]["reason"], "^no PyTorch with context_parallel for .*"
                             "No module named 'torch'; set HILBENCH_PYTHON")


if __name__ == "__main__":
    torch_rivals.main()
