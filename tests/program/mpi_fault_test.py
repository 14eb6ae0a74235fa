"""The program under mpirun: ranks that fail or do not agree.

Usage: mpi_fault_test.py PATH_OF_HILBENCH MPIRUN PATH_OF_HILBENCH_WITHOUT_MPI [unittest arguments]
"""

import os
import shutil
import signal
import sys
import unittest

import launched
from launched import GROUPED, LONG, QUICK, LaunchedTest
from program import Store


# What ends a run with a killed rank is mpirun, long before this timeout.
PATIENT, PATIENT_GROUPED = (text.replace("timeout_s: 3", "timeout_s: 120") for text in (LONG, GROUPED))


class HungTest(LaunchedTest):
    """Ranks wait for 3 s. On a busy machine one may speak without need, or several at once."""

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

    def test_hung_rank_of_groups(self):
        told = self.fail_rank(2, signal.SIGSTOP, GROUPED)
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], r"^hilbench: error: the ranks cannot go on \(n4096-.*rank \d waited 3 s for ")
        self.check_resumed(variants=3)

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


class KilledTest(LaunchedTest):
    def test_killed_rank(self):
        self.fail_rank(2, signal.SIGKILL, PATIENT)
        self.assertEqual(len(Store(self.program.folder / "out").comparisons), 1)
        self.check_resumed()

    def test_killed_rank_of_groups(self):
        self.fail_rank(2, signal.SIGKILL, PATIENT_GROUPED)
        self.check_resumed(variants=3)

    def test_killed_leader(self):
        self.fail_rank(0, signal.SIGKILL, PATIENT)
        self.check_resumed()


class RefusedTest(LaunchedTest):
    """What cannot begin, or cannot be allocated."""

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
        self.program.put(WITHOUT_MPI)
        sweep = self.program.sweep(QUICK)
        _, told = self.launch(2, "run", sweep, "-o", "out", status=4)
        self.assertEqual(told, ["hilbench: error: one of 2 processes of a launcher: built without MPI: install "
                                "libopenmpi-dev and openmpi-bin and configure again"])
        self.program.sweep(QUICK.replace("{kernel: dilated,", "{kernel: dilated, transport: mpi,"))
        out, _ = self.program.run("plan", "sweep.yaml")
        self.assertIn("transport mpi: built without MPI", out)


if __name__ == "__main__":
    launched.BINARY, launched.MPIRUN, WITHOUT_MPI = (sys.argv.pop(1) for _ in range(3))
    unittest.main(verbosity=2)
