"""The program under mpirun, as the tests of rings of processes start it and wait for it."""

import os
import re
import subprocess
import time
import unittest

from program import Program, Store, read_npy, running_in, wait_until

BINARY = MPIRUN = None  # each test script sets them
# As root in a container, and with more processes than cores.
FLAGS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
# The first comparison is soon done; the next one is timed for seconds while data moves.
LONG = """
name: long
cases:
  - {sequence_length: 64, segments: [64], ring_size: 2, heads: 2, head_dim: 16, threads: 1}
  - {sequence_length: 4096, segments: [4096], ring_size: 4, heads: 2, head_dim: 16, threads: 1}
  - {sequence_length: 65, segments: [65], ring_size: 4, heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, ring_algorithm: [auto, allgather]}]
measure: {interval: 0.000001, budget_s: 1, min_rounds: 3, timeout_s: 3}
"""
# Two variants pass shards between groups, the third exchanges heads.
GROUPED = LONG.replace("[auto, allgather]", "[hierarchical, hierarchical_packed, ulysses], ring_groups: 2").replace(
    "heads: 2", "heads: 4")
# Done long before its timeout, even under a sanitizer.
QUICK = LONG.replace("budget_s: 1", "budget_s: 0.1").replace("timeout_s: 3", "timeout_s: 30")


class LaunchedTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)

    def start(self, ranks, *arguments, others=(), flags=()):
        """`others`: further (number of ranks, command) for the same mpirun; `flags`: options of mpirun."""
        command = [MPIRUN, *FLAGS, *flags, "-n", str(ranks), self.program.binary, *arguments]
        for number, words in others:
            command += [":", "-n", str(number), *words]
        # Open MPI itself leaks memory, and by default gives ranks that it ends a second to end by themselves.
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "OMPI_MCA_odls_base_sigkill_timeout": "0"}
        process = subprocess.Popen(command, cwd=self.program.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, status=0, limit_s=240):
        out, err = process.communicate(timeout=limit_s)
        self.assertEqual(process.returncode, status, f"{out}\n{err}")
        return out, self.errors(err)

    def finish_broken(self, process, limit_s=60):
        """Waits until no rank is left. When all are told to end, mpirun itself may crash, or hang for good in
        PMIx_server_finalize (Open MPI 4.1 with PMIx 4.2), so it is ended here and has no exit status of its own."""
        wait_until(lambda: not self.ranks(), limit_s, "ranks are still there")
        try:
            _, err = process.communicate(timeout=10)
            self.assertNotEqual(process.returncode, 0, err)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
        return self.errors(err)

    @staticmethod
    def errors(err):
        return [line for line in err.splitlines() if line.startswith("hilbench: error:")]

    def launch(self, ranks, *arguments, status=0, **options):
        return self.finish(self.start(ranks, *arguments, **options), status)

    def ranks(self):
        """Process ids of the ranks that live, by rank."""
        found = {}
        for process, environment in running_in(self.program.folder, "environ").items():
            if rank := re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", environment):
                found[int(rank[1])] = process
        return found

    def rank_pid(self, rank):
        return wait_until(lambda: self.ranks().get(rank), 60, f"rank {rank} did not come up")

    def wait_for_case(self, cases):
        """Waits until this many cases are committed and the next one has begun."""
        def committed():
            try:
                return len(Store(self.program.folder / "out").comparisons) >= cases
            except Exception:  # not there yet, or locked
                return False
        wait_until(committed, 120, f"{cases} cases were not committed")
        time.sleep(0.5)

    def statuses(self):
        return {(record["case"].split("-")[0], record["variant"]): (record["status"], record["reason"])
                for record in self.program.records("out")}

    def compare_dumps(self, own, one):
        """Both folders hold the same output."""
        for name in ("o.npy", "lse.npy"):
            (shape, ring), (expected_shape, whole) = read_npy(own / name), read_npy(one / name)
            self.assertEqual(shape, expected_shape)
            self.assertLess(max(0 if a == b else abs(a - b) for a, b in zip(ring, whole)), 1e-4)

    def check_resumed(self, ranks=4, variants=2):
        """The same command measures what is missing and once more what failed, and leaves the rest as it was."""
        before = Store(self.program.folder / "out")
        self.assertEqual(before.integrity, [("ok",)])
        out, told = self.launch(ranks, "run", "sweep.yaml", "-o", "out")
        self.assertEqual(told, [])
        kept, after = before.sound_texts(), Store(self.program.folder / "out").texts()
        self.assertGreater(len(kept), 0)
        self.assertEqual({key: after[key] for key in kept}, kept)
        self.assertEqual(len(after), 3 * (variants + 1))  # and a twin in each case
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})

    def fail_rank(self, rank, how, text=LONG, ranks=4, limit_s=25):
        """Makes a rank fail while the second case of `text` is measured; returns the printed errors."""
        self.program.sweep(text)
        process = self.start(ranks, "run", "sweep.yaml", "-o", "out")
        pid = self.rank_pid(rank)
        self.wait_for_case(1)
        os.kill(pid, how)
        return self.finish_broken(process, limit_s)  # timeout_s is a part; the rest is a loaded machine
