"""The program under mpirun: rings of processes.

Usage: mpi_run_test.py PATH_OF_HILBENCH MPIRUN [unittest arguments]
"""

import os
import pathlib
import subprocess
import sys
import time
import unittest

import launched
from launched import LONG, QUICK, LaunchedTest
from program import SANITIZED, Store

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
measure: {budget_s: 0.01, min_rounds: 3}
"""
# 3 ranks form no two groups.
RINGS, CASES = 2 * (14 + 23), 12
if SANITIZED:  # four instrumented processes
    RING = RING.replace("[1, 3, 4]", "[1, 4]").replace("[auto, zigzag, striped]", "auto")
    RINGS, CASES = 2 * 9, 8


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
                own = {"transport": None, "head_moves": None}
                self.assertEqual({**record["params"], **own}, {**expected["params"], **own})
                for name in ("comm_bytes", "comm_bytes_inside", "comm_bytes_between", "flops", "min_bytes"):
                    self.assertEqual(record[name], expected[name])
                moves = (record["params"]["head_moves"], expected["params"]["head_moves"])
                if record["params"]["ring_algorithm"] == "ulysses":  # MPI moves only what is contiguous
                    self.assertEqual(moves, ("regrouped", "direct"))
                    self.assertGreater(record["memory_bytes"], expected["memory_bytes"])
                else:
                    self.assertEqual(*moves)
                    self.assertEqual(record["memory_bytes"], expected["memory_bytes"])
                if not ring or record["status"] != "ok":
                    continue  # `invalid` order, baseline, one rank, skip_when
                rings += 1
                self.assertEqual(record["params"]["transport"], "mpi")
                drawn = {"entropy", "poisoned_rounds", "after"}  # anew in each run
                compared = [{key: value for key, value in one["verify"].items() if key not in drawn}
                            for one in (record, expected)]
                self.assertEqual(*compared)  # all ranks' parts, added up
                self.assertLessEqual(record["verify"]["after"]["worst"], 1)
                self.assertEqual(record["verify"]["rows"], record["params"]["sequence_length"] * 4)
                self.assertEqual(record["counters"]["ring_bytes"]["value"], record["comm_bytes"])
                clock, alike = record["counters"]["task_clock"], expected["counters"]["task_clock"]
                self.assertEqual(clock["value"] is None, alike["value"] is None)
                self.assertEqual(len(clock.get("ranks", [])), len(alike.get("ranks", [])))  # every process counts
                transport = record["environment"]["transport"]
                self.assertEqual((transport["name"], transport["processes"], transport["hosts"]), ("mpi", 4, 1))
                self.assertEqual(transport["threads_per_rank"], 2 // record["params"]["ring_size"] or 1)
                self.check_output(record)
        self.assertEqual(rings, RINGS)
        out, _ = self.launch(4, "run", sweep, "-o", "out")
        self.assertIn(f"{CASES} comparisons were measured before", out)

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

    def test_variables_of_google_benchmark_do_not_act(self):
        sweep = self.program.sweep(QUICK)
        flags = ["-x", "BENCHMARK_OUT=bench.json", "-x", "BENCHMARK_REPETITIONS=3"]
        _, told = self.launch(4, "run", sweep, "-o", "out", flags=flags)
        self.assertEqual(told, [])
        self.assertFalse((self.program.folder / "bench.json").exists())
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})

    def test_cold_caches(self):
        self.launch(2, "run", self.program.sweep(QUICK.replace("measure: {", "measure: {cache: cold, ")), "-o", "out",
                    "--axis", "ring_size=2", "--filter", "n64-")
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})


class EightRanksTest(LaunchedTest):
    def test_eight_ranks(self):
        """Every algorithm, flat and in two groups of four; the oracle verifies each."""
        heads = RING.replace("heads: 4", "heads: 8").replace("[1, 3, 4]", "8").replace("[66, 37]", "66")
        out, _ = self.launch(8, "run", self.program.sweep(heads), "-o", "out")
        self.assertIn("23 records ok, 0 failed, 1 invalid", out)  # an order of the seeds is none
        rings = [r for r in self.program.records("out") if r["status"] == "ok"]
        algorithms = {r["params"]["ring_algorithm"] for r in rings}
        self.assertEqual(algorithms, {"ring", "allgather", "ring_packed", "allgather_packed", "hierarchical",
                                      "hierarchical_packed", "ulysses"})
        for record in rings:
            self.assertEqual(record["environment"]["transport"]["processes"], 8)
            self.assertEqual(record["counters"]["ring_bytes"]["value"], record["comm_bytes"])


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
        text = LONG.replace("budget_s: 1", "budget_s: 8").replace("timeout_s: 3", "timeout_s: 4")
        process = self.start(3, "run", self.program.sweep(text), "-o", "out", "--filter", "n64-")
        stat = pathlib.Path(f"/proc/{self.rank_pid(2)}/stat")
        time.sleep(4.5)  # longer than the timeout
        before = sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))
        time.sleep(2)
        after = sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))
        self.assertLess((after - before) / os.sysconf("SC_CLK_TCK"), 0.1, "seconds of 2 s")
        self.finish(process)
        self.assertEqual({status for status, _ in self.statuses().values()}, {"ok"})


if __name__ == "__main__":
    launched.BINARY, launched.MPIRUN = (sys.argv.pop(1) for _ in range(2))
    unittest.main(verbosity=2)
