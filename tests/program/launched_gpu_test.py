"""The program under mpirun with a GPU for each of two processes: rings over NCCL, too few GPUs, and ranks that fail.

Usage: launched_gpu_test.py PATH_OF_HILBENCH MPIRUN [unittest arguments]
If PATH_OF_HILBENCH is called hilbench_fake_gpus, its GPUs are those of tests/fakes/gpus.cpp.
"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

import launched
from program import Store

RING = """
name: ring
axes: {sequence_length: [66, 37], segments: [[64]], dilations: [[4]], heads: 4, head_dim: 64, device: cuda, threads: 2,
       causal: [false, true], ring_size: [1, 2, 3]}
skip_when: "(causal == true and sequence_length == 66) or (causal == false and sequence_length == 37)"
variants:
  - {kernel: dilated, ring_algorithm: [auto, allgather, ring_packed, allgather_packed]}
  - {kernel: dilated, sharding: [zigzag, striped]}
  - {kernel: dilated, ring_algorithm: ring_packed, order: hilbert}
  - {kernel: dilated, order: hilbert, order_span: global}
measure: {budget_s: 0.05, min_rounds: 3}
"""
# The first comparison is soon done; the next one is timed for seconds while data moves.
LONG = """
name: long
cases:
  - {sequence_length: 64, segments: [64], ring_size: 2, heads: 2, head_dim: 64, device: cuda, threads: 1}
  - {sequence_length: 2048, segments: [2048], ring_size: 2, heads: 2, head_dim: 64, device: cuda, threads: 1}
  - {sequence_length: 65, segments: [65], ring_size: 2, heads: 2, head_dim: 64, device: cuda, threads: 1}
variants: [{kernel: dilated, ring_algorithm: [auto, allgather]}]
measure: {interval: 0.000001, budget_s: 2, min_rounds: 3, timeout_s: 8}
"""
QUICK = LONG.replace("budget_s: 2", "budget_s: 0.1")


class LaunchedGpuTest(launched.LaunchedTest):
    def setUp(self):
        super().setUp()
        self.show(2)

    def show(self, gpus):
        """Shows this many GPUs to every process."""
        os.environ["HILBENCH_FAKE_GPUS"] = str(gpus)
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(gpus)))


class RingTest(LaunchedGpuTest):
    def test_as_one_gpu_does_it(self):
        out, told = self.launch(3, "run", self.program.sweep(RING), "-o", "out", "--dump", "dump")
        self.assertEqual(told, [])
        self.assertEqual(out.count("records ok"), 1)
        rings = 0
        for record in self.program.records("out"):
            params = record["params"]
            with self.subTest(case=record["case"], variant=record["variant"]):
                if record["status"] == "skipped" and record["reason"].startswith(("skip_when", "ring_size 1: the same as")):
                    continue
                if params["ring_size"] == 3:
                    self.assertEqual((record["status"], record["reason"]),
                                     ("skipped", "transport nccl: ring_size 3: rank 2 of 3 has the GPU of rank 0; start "
                                                 "one process for each GPU"))
                    continue
                self.assertEqual((record["status"], record["reason"]), ("ok", None))
                self.assertEqual(record["verify"]["rows"], params["sequence_length"] * 4)
                if params["ring_size"] == 2:
                    rings += 1
                    self.check_ring(record)
        self.assertEqual(rings, 2 * 8)
        out, _ = self.launch(3, "run", "sweep.yaml", "-o", "out")
        self.assertIn("12 comparisons were measured before", out)

    def check_ring(self, record):
        self.assertEqual(record["params"]["transport"], "nccl")
        self.assertEqual(record["counters"]["ring_bytes"]["value"], record["comm_bytes"])
        transport = record["environment"]["transport"]
        self.assertEqual((transport["name"], transport["processes"], transport["hosts"]), ("nccl", 3, 1))
        self.assertRegex(transport["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(len(set(transport["gpus"])), 2)
        state = record["environment"]["device_state"]
        self.assertEqual(len(state["further"]), 1)
        if FAKE:
            self.assertEqual([state["uuid"], state["further"][0]["uuid"]], transport["gpus"])
            self.assertGreater(state["observed"], 0)
            self.assertEqual(state["further"][0]["observed"], state["observed"])
        else:
            self.assertEqual(record["time_ns"]["timer"], "cuda_events")
            self.assertGreater(record["counters"]["ring_device_memory"]["value"], 0)
        dump = self.program.folder / "dump"
        self.compare_dumps(dump / record["case"] / record["variant"].replace("/", "_"),
                           dump / record["case"].replace("-p2-", "-p1-") / "dilated_linear")

    def test_one_gpu_for_two(self):
        self.show(1)
        text = QUICK.replace("{sequence_length: 65, segments: [65], ring_size: 2",
                             "{sequence_length: 65, segments: [65], ring_size: 1")
        self.launch(2, "run", self.program.sweep(text), "-o", "out")
        statuses = self.statuses()
        self.assertEqual(statuses["n64", "dilated/linear"],
                         ("skipped", "transport nccl: ring_size 2: rank 1 of 2 has the GPU of rank 0; start one process "
                                     "for each GPU"))
        self.assertEqual(statuses["n65", "dilated/linear"], ("ok", None))

    def test_two_hosts(self):
        """Open MPI knows hosts by their names, and starts its daemon on the other one by a script instead of ssh."""
        if not FAKE:
            self.skipTest("real GPUs belong to one host only")
        if "Open MPI) 4." not in subprocess.run([launched.MPIRUN, "--version"], text=True, capture_output=True).stdout:
            self.skipTest("other versions of Open MPI name the option differently")
        agent = self.program.folder / "agent"
        agent.write_text('#!/bin/bash\nexport HILBENCH_FAKE_HOST=$1-\nshift\nexec bash -c "$*"\n')
        agent.chmod(0o755)
        hosts = ["--host", f"{os.uname().nodename}:1,other:1", "--mca", "plm_rsh_agent", str(agent)]
        self.launch(2, "run", self.program.sweep(QUICK), "-o", "out", flags=hosts)
        for record in self.program.records("out"):
            self.assertEqual(record["status"], "ok", record["reason"])
            self.assertEqual(record["environment"]["transport"]["gpus"], ["GPU-0", "GPU-other-0"])

    def test_peer_is_of_one_process(self):
        self.launch(2, "run", self.program.sweep(QUICK.replace("{kernel: dilated,", "{kernel: dilated, transport: peer,")),
                    "-o", "out")
        for status, reason in self.statuses().values():
            self.assertEqual(status, "skipped")
            self.assertRegex(reason, "^transport peer: .*under a launcher")


class FaultTest(LaunchedGpuTest):
    def test_killed_rank(self):
        self.fail_rank(1, signal.SIGKILL, LONG, 2, 30)
        self.check_resumed(2)

    def test_gpu_that_does_not_open(self):
        """No rank waits for the one without a GPU, and the run goes on."""
        if not FAKE:
            self.skipTest("every GPU here opens")
        run = [self.program.binary, "run", self.program.sweep(QUICK), "-o", "out"]
        _, told = self.launch(1, *run[1:], status=1, others=[(1, ["env", "HILBENCH_FAKE_LOST=1", *run])])
        self.assertEqual(told, [])
        self.assertEqual(set(self.statuses().values()), {("failed", "rank 1 of 2: this GPU does not open")})
        self.assertEqual(len(Store(self.program.folder / "out").texts()), 9)  # with a twin a case

    def test_rank_that_finds_no_gpu(self):
        if not FAKE:
            self.skipTest("every rank finds the GPUs of this host")
        run = [self.program.binary, "run", self.program.sweep(QUICK), "-o", "out"]
        _, told = self.launch(1, *run[1:], status=2, others=[(1, ["env", "HILBENCH_FAKE_GPUS=0", *run])])
        self.assertEqual(told, ["hilbench: error: rank 1 of 2 finds no GPU, rank 0 does; start one process for each GPU, or "
                                "choose --device cpu"])


class HungTest(LaunchedGpuTest):
    def test_hung_rank(self):
        told = self.fail_rank(1, signal.SIGSTOP, LONG, 2, 90)
        self.assertEqual(len(told), 1, told)
        hung = r"rank 0 waited 8 s for .*rank 1"
        self.assertRegex(told[0], r"^hilbench: error: the ranks cannot go on \(n2048-.*\): .*" + hung)
        reasons = [reason for status, reason in self.statuses().values() if status == "failed"]
        self.assertEqual(len(reasons), 2)
        for reason in reasons:
            self.assertRegex(reason, hung)
        self.check_resumed(2)


if __name__ == "__main__":
    launched.BINARY, launched.MPIRUN = (sys.argv.pop(1) for _ in range(2))
    FAKE = pathlib.Path(launched.BINARY).name == "hilbench_fake_gpus"
    unittest.main(verbosity=2)
