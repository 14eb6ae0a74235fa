"""The program under mpirun: rings of processes, and ranks that fail or do not agree.

Usage: mpi_run_test.py PATH_OF_HILBENCH PATH_OF_HILBENCH_WITHOUT_MPI MPIRUN [unittest arguments]
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import Program, Store, read_npy, running_in, wait_until

# As root in a container, and with more processes than cores.
FLAGS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
RING = """
name: ring
axes: {sequence_length: [66, 37], segments: [[64]], dilations: [[4]], heads: 4, head_dim: 16, threads: 2,
       causal: [false, true], ring_size: [1, 3, 4]}
skip_when: "(causal == true and sequence_length == 66) or (causal == false and sequence_length == 37)"
variants:
  - {kernel: dilated, ring_algorithm: [auto, allgather, ring_packed, allgather_packed], sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: [hierarchical, hierarchical_packed, ulysses], ring_groups: 2,
     sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: ring_packed, order: hilbert}
  - {kernel: dilated, order: hilbert, order_span: global}
  - {kernel: dilated, order: seed_d2xy}
baselines: [gemm]
counters: [default, software]
measure: {budget_s: 0.05, min_rounds: 3}
"""
# The first comparison is soon done; the next one is timed for seconds while data moves.
LONG = """
name: long
cases:
  - {sequence_length: 64, segments: [64], ring_size: 2, heads: 2, head_dim: 16, threads: 1}
  - {sequence_length: 4096, segments: [4096], ring_size: 4, heads: 2, head_dim: 16, threads: 1}
  - {sequence_length: 65, segments: [65], ring_size: 4, heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, ring_algorithm: [auto, allgather]}]
measure: {interval: 0.000001, budget_s: 2, min_rounds: 3, timeout_s: 3}
"""
# Two variants pass shards between groups, the third exchanges heads.
GROUPED = LONG.replace("[auto, allgather]", "[hierarchical, hierarchical_packed, ulysses], ring_groups: 2").replace(
    "heads: 2", "heads: 4")
# Done long before its timeout, even under a sanitizer.
QUICK = LONG.replace("budget_s: 2", "budget_s: 0.1").replace("timeout_s: 3", "timeout_s: 30")


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


class RingTest(LaunchedTest):
    def test_as_threads_do_it(self):
        sweep = self.program.sweep(RING)
        self.program.run("run", sweep, "-o", "threads")
        out, told = self.launch(4, "run", sweep, "-o", "out", "--dump", "dump")
        self.assertEqual(told, [])
        self.assertEqual(out.count("records ok"), 1)  # rank 0 alone speaks
        alone = {(r["case"], r["variant"]): r for r in self.program.records("threads")}
        together = {(r["case"], r["variant"]): r for r in self.program.records("out")}
        self.assertEqual(list(together), list(alone))
        rings = 0
        for key, record in together.items():
            with self.subTest(key):
                expected = alone[key]
                self.assertEqual((record["status"], record["reason"]), (expected["status"], expected["reason"]))
                ring = record["params"]["transport"] is not None
                self.assertEqual({**record["params"], "transport": None}, {**expected["params"], "transport": None})
                for name in ("comm_bytes", "comm_bytes_inside", "comm_bytes_between", "flops", "memory_bytes", "min_bytes"):
                    self.assertEqual(record[name], expected[name])
                if not ring or record["status"] != "ok":
                    continue  # `invalid` order, baseline, one rank, skip_when
                rings += 1
                self.assertEqual(record["params"]["transport"], "mpi")
                self.assertEqual(record["verify"], expected["verify"])  # all ranks' parts, added up
                self.assertEqual(record["verify"]["rows"], record["params"]["sequence_length"] * 4)
                self.assertEqual(record["counters"]["ring_bytes"]["value"], record["comm_bytes"])
                clock, alike = record["counters"]["task_clock"], expected["counters"]["task_clock"]
                self.assertEqual(clock["value"] is None, alike["value"] is None)
                self.assertEqual(len(clock.get("ranks", [])), len(alike.get("ranks", [])))  # every process counts
                transport = record["environment"]["transport"]
                self.assertEqual((transport["name"], transport["processes"], transport["hosts"]), ("mpi", 4, 1))
                self.assertEqual(transport["threads_per_rank"], 2 // record["params"]["ring_size"] or 1)
                self.check_output(record)
        self.assertEqual(rings, 2 * (14 + 23))  # 3 ranks form no two groups
        out, _ = self.launch(4, "run", sweep, "-o", "out")
        self.assertIn("12 comparisons were measured before", out)

    def check_output(self, record):
        """The dumped output equals that of one rank."""
        dump = self.program.folder / "dump"
        one = dump / record["case"].replace(f"-p{record['params']['ring_size']}-", "-p1-") / "dilated_linear"
        own = dump / record["case"] / record["variant"].replace("/", "_")
        self.compare_dumps(own, one)

    def test_fewer_ranks_than_processes_and_more(self):
        sweep = self.program.sweep(QUICK)
        self.launch(3, "run", sweep, "-o", "out")
        statuses = self.statuses()
        self.assertEqual(statuses["n64", "dilated/linear"], ("ok", None))
        self.assertEqual(statuses["n65", "dilated/linear"],
                         ("skipped", "transport mpi: ring_size 4: the launcher started 3 processes"))
        _, err = self.program.run("run", sweep, "-o", "out", status=2)
        self.assertIn("without some of the variants that are asked for now", err)  # it would be by threads

    def test_threads_and_plans_under_a_launcher(self):
        sweep = self.program.sweep(QUICK.replace("[auto, allgather]", "auto, transport: threads"))
        self.launch(2, "run", sweep, "-o", "out")
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})
        out, _ = self.launch(2, "plan", self.program.sweep(QUICK))
        self.assertEqual(out.count("3 cases; 2 variants to measure, 4 skipped"), 1, out)

    def test_processes_that_are_bound_are_told_of(self):
        process = self.start(2, "run", self.program.sweep(QUICK.replace("threads: 1", "threads: 300")), "-o", "out",
                             "--filter", "n64-")
        _, err = process.communicate(timeout=240)
        self.assertEqual(err.count("rank 0 may use fewer cores"), 1, err)

    def test_cold_caches(self):
        self.launch(2, "run", self.program.sweep(QUICK.replace("measure: {", "measure: {cache: cold, ")), "-o", "out",
                    "--axis", "ring_size=2", "--filter", "n64-")
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})


class ProcessesTest(LaunchedTest):
    """Ranks live as long as the run, so that each run measures one process."""

    def test_each_run_appends_one(self):
        run = ["run", self.program.sweep(RING), "-o", "out", "--axis", "ring_size=2"]
        self.launch(2, *run)
        once = Store(self.program.folder / "out")
        self.assertEqual(set(once.processes.values()), {1})
        out, _ = self.launch(2, *run)
        self.assertIn("4 comparisons were measured before", out)
        self.assertEqual(Store(self.program.folder / "out").texts(), once.texts())
        out, told = self.launch(2, *run, "--append-process")
        self.assertEqual(told, [])
        twice = Store(self.program.folder / "out")
        runnable = {case for _, case, _, status, *_ in twice.rows if status == "ok"}
        self.assertEqual(len(runnable), 2)
        self.assertEqual({case for case, processes in twice.processes.items() if processes == 2}, runnable)
        before = once.samples()
        self.assertEqual({key: samples[:1] for key, samples in twice.samples().items()}, before)
        for record in self.program.records("out", twins=True):
            if record["case"] in runnable and record["status"] == "ok":
                with self.subTest(case=record["case"], variant=record["variant"]):
                    self.check_two_processes(record)

    def check_two_processes(self, record):
        samples = record["time_ns"]["samples"]
        self.assertEqual(len(samples), 2)
        self.assertTrue(all(len(each) >= 3 for each in samples))
        first, second = (process["seed"] for process in record["environment"]["processes"])
        self.assertNotEqual(first, second)
        if record["params"]["transport"] is None:
            return  # `gemm` runs on one rank
        self.assertEqual(record["verify"]["rows"], record["params"]["sequence_length"] * 4)  # of the worse process
        self.assertLessEqual(record["verify"]["max_abs"], record["verify"]["tolerance"])
        sent = record["counters"]["ring_bytes"]
        self.assertEqual(sent["value"], record["comm_bytes"])
        self.assertTrue(all(count == sent["value"] for count in sent.get("counts", [])))

    def test_several_ranks_append_what_several_measured(self):
        run = ["run", self.program.sweep(QUICK), "-o", "out", "--filter", "n64-", "--append-process"]
        for processes in (1, 2, 3):
            self.launch(2, *run)
            self.assertEqual(list(Store(self.program.folder / "out").processes.values()), [processes])
        (record, _) = self.program.records("out")
        self.assertEqual(len({process["seed"] for process in record["environment"]["processes"]}), 3)
        self.assertEqual(len(record["time_ns"]["samples"]), 3)


class LibraryTest(LaunchedTest):
    def test_mpi_is_loaded_on_first_use(self):
        out, _ = self.program.run("doctor")
        if "Open MPI" not in out:
            self.skipTest("another MPI is linked")
        self.assertNotIn("libmpi", subprocess.run(["ldd", self.program.binary], capture_output=True, text=True).stdout)
        (self.program.folder / "libmpi.so.40").write_text("no library")
        broken = {"env": {**os.environ, "LD_LIBRARY_PATH": str(self.program.folder)}}
        self.program.run("list", "orders", **broken)
        out, _ = self.program.run("doctor", **broken)
        self.assertRegex(out, r"absent +MPI +.*libmpi\.so\.40.*; install Open MPI \(libopenmpi3, openmpi-bin\)")
        out, _ = self.program.run("list", "transports", **broken)
        self.assertRegex(out, r"mpi .*libmpi\.so\.40")


class IdleTest(LaunchedTest):
    def test_an_idle_process_waits_as_long_as_it_takes_and_sleeps(self):
        text = LONG.replace("budget_s: 2", "budget_s: 10").replace("timeout_s: 3", "timeout_s: 4")
        process = self.start(3, "run", self.program.sweep(text), "-o", "out", "--filter", "n64-")
        stat = pathlib.Path(f"/proc/{self.rank_pid(2)}/stat")
        time.sleep(5)
        before = sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))
        time.sleep(4)
        after = sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))
        self.assertLess((after - before) / os.sysconf("SC_CLK_TCK"), 0.2, "seconds of 4 s")
        self.finish(process)
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})


class FaultTest(LaunchedTest):
    def test_hung_rank_that_no_case_needs(self):
        """Rings of two, and rank 2 of 3 hangs: all is measured, and the run ends."""
        self.program.sweep(LONG.replace("ring_size: 4", "ring_size: 2"))
        process = self.start(3, "run", "sweep.yaml", "-o", "out")
        pid = self.rank_pid(2)
        self.wait_for_case(1)
        os.kill(pid, signal.SIGSTOP)
        told = self.finish_broken(process)
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], r"^hilbench: error: a rank does not end with the others: rank 0 waited 3 s for 8 bytes "
                                  r"from rank 2; nothing is lost: what was measured is stored$")
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})

    def test_killed_rank(self):
        self.fail_rank(2, signal.SIGKILL)
        self.assertEqual(len(Store(self.program.folder / "out").comparisons), 1)
        self.check_resumed()

    def test_killed_rank_of_groups(self):
        self.fail_rank(2, signal.SIGKILL, GROUPED)
        self.check_resumed(variants=3)

    def test_hung_rank_of_groups(self):
        told = self.fail_rank(2, signal.SIGSTOP, GROUPED)
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], r"^hilbench: error: the ranks cannot go on \(n4096-.*rank \d waited 3 s for ")
        self.check_resumed(variants=3)

    def test_killed_leader(self):
        self.fail_rank(0, signal.SIGKILL)
        self.check_resumed()

    def test_hung_leader(self):
        told = self.fail_rank(0, signal.SIGSTOP)
        self.assertIn(len(told), (1, 2), told)  # the first to speak ends the others, on a loaded machine not at once
        self.assertRegex(told[0], r"^hilbench: error: rank \d of 4: .*rank \d waited .* s for .*rank 0")
        self.check_resumed()

    def test_hung_rank(self):
        told = self.fail_rank(2, signal.SIGSTOP)
        self.assertEqual(len(told), 1, told)
        # At the end of an exchange rank 0 waits for that rank itself; otherwise the roll call names it.
        hung = r"rank \d waited 3 s for (8 bytes from )?rank (\d, )*2(, \d)*( to come)?"
        self.assertRegex(told[0], r"^hilbench: error: the ranks cannot go on \(n4096-.*\): (.*; roll call: )?" + hung +
                                  "; the same command resumes after this case$")
        reasons = [reason for status, reason in self.statuses().values() if status == "failed"]
        self.assertEqual(len(reasons), 2)  # variants of a comparison are timed together
        for reason in reasons:
            self.assertRegex(reason, hung + "$")
        self.check_resumed()

    def test_rank_without_memory(self):
        """Rank 1 may use less memory than its shard needs: this variant fails, smaller ones are measured."""
        text = QUICK.replace("4096", "524288").replace("segments: [524288]", "segments: [512]")
        self.program.sweep(text.replace("ring_size: 4", "ring_size: 2").replace("heads: 2", "heads: 8"))
        limited = ["prlimit", f"--data={300 << 20}", self.program.binary, "run", "sweep.yaml", "-o", "out"]
        _, told = self.launch(1, "run", "sweep.yaml", "-o", "out", status=1, others=[(1, limited)])
        self.assertEqual(told, [])
        for (case, variant), (status, reason) in self.statuses().items():
            with self.subTest(case=case, variant=variant):
                if case == "n524288":
                    self.assertEqual(status, "failed")
                    self.assertRegex(reason, "^rank 1 of 2: .*out of memory")
                else:
                    self.assertEqual((status, reason), ("ok", None))

    def test_ranks_that_disagree(self):
        sweep = self.program.sweep(QUICK)
        other = self.program.sweep(QUICK + "# other\n", "other.yaml")
        binary = shutil.copy(self.program.binary, self.program.folder / "other_build")
        with open(binary, "ab") as file:
            file.write(b"other")
        run = ["run", sweep, "-o", "out"]
        program = self.program.binary
        for words, said in (
                ([program, "run", other, "-o", "out"], r"rank 1 of 3 has another sweep than rank 0 \(.*other.yaml\)"),
                ([binary, *run], "rank 1 of 3 has another build than rank 0"),
                ([program, *run, "--axis", "sequence_length=128"], "rank 1 of 3 has another plan than rank 0"),
                ([program, "run", "absent.yaml", "-o", "out"], "rank 1 of 3: .*absent.yaml")):
            with self.subTest(said):
                _, told = self.launch(1, *run, status=2, others=[(1, words), (1, [self.program.binary, *run])])
                self.assertEqual(len(told), 1, told)
                self.assertRegex(told[0], said)
                self.assertFalse((self.program.folder / "out").exists())

    def test_bad_input_is_told_once(self):
        self.program.sweep(QUICK)
        self.program.sweep(QUICK.replace("measure: {", "measure: {processes: 2, "), "two.yaml")
        for arguments, said in ((["absent.yaml"], "all ranks: .*absent.yaml"),
                                (["sweep.yaml", "--device", "cuda:0"], "every process uses a GPU of its own"),
                                (["sweep.yaml", "--profile", "dilated/linear"], "--profile"),
                                (["two.yaml"], "measure.processes is 2"),
                                (["sweep.yaml", "-o", "/proc/out"], "/proc/out")):
            with self.subTest(said):
                _, told = self.launch(2, "run", *arguments, status=2)
                self.assertEqual(len(told), 1, told)
                self.assertRegex(told[0], said)

    def test_build_without_mpi(self):
        shutil.copy(WITHOUT_MPI, self.program.binary)
        sweep = self.program.sweep(QUICK)
        _, told = self.launch(2, "run", sweep, "-o", "out", status=4)
        self.assertEqual(told, ["hilbench: error: one of 2 processes of a launcher: built without MPI: install "
                                "libopenmpi-dev and openmpi-bin and configure again"])
        self.program.sweep(QUICK.replace("{kernel: dilated,", "{kernel: dilated, transport: mpi,"))
        out, _ = self.program.run("plan", "sweep.yaml")
        self.assertIn("transport mpi: built without MPI", out)


if __name__ == "__main__":
    BINARY, WITHOUT_MPI, MPIRUN = (sys.argv.pop(1) for _ in range(3))
    unittest.main(verbosity=2)
