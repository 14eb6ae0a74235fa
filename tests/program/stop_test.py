"""What hangs, or outlives the program: a BLAS that cannot be loaded, Node.js, and the folders that they use.

Usage: stop_test.py HILBENCH FOLDER_OF_A_BLAS_THAT_HANGS [unittest arguments]
"""

import os
import signal
import sys
import time
import unittest

from program import Program, wait_until

SWEEP = """
name: small
cases: [{sequence_length: 64, segments: [32], dilations: [2], heads: 2, head_dim: 16, threads: 1, device: cpu}]
variants: [{kernel: dilated, order: [linear, hilbert]}]
baselines: [gemm]
measure: {budget_s: 0.02, min_rounds: 3, timeout_s: 60}
"""


class StopTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.program.sweep(SWEEP)


class BlasTest(StopTest):
    def setUp(self):
        super().setUp()
        self.hanging = {**os.environ, "LD_LIBRARY_PATH": BLAS}

    def test_a_blas_that_hangs_costs_its_baseline_alone(self):
        began = time.monotonic()
        self.program.run("run", "sweep.yaml", "-o", "out", env={**self.hanging, "HILBENCH_BLAS_TIMEOUT_S": "0.2"})
        self.assertLess(time.monotonic() - began, 10, "as long as without the setting")
        records = {record["variant"]: record for record in self.program.records("out")}
        self.assertEqual((records["gemm"]["status"], records["gemm"]["reason"]),
                         ("skipped", "OpenBLAS did not answer within 0.2 s; install libopenblas0 again"))
        self.assertEqual(records["dilated/hilbert"]["status"], "ok")
        self.assertFalse(self.program.processes(b"hilbench"))

    def test_a_patience_that_is_no_time(self):
        for text in ("0", "-1", "nan", "inf", "1e9", "10s", "soon"):
            with self.subTest(text):
                out, _ = self.program.run("plan", "sweep.yaml",
                                          env={**os.environ, "HILBENCH_BLAS_TIMEOUT_S": text})
                self.assertIn(f"HILBENCH_BLAS_TIMEOUT_S is '{text}', not seconds from above 0 to 3600", out)

    def test_a_stop_while_the_blas_hangs(self):
        for command in (["run", "sweep.yaml", "-o", "out"], ["plan", "sweep.yaml"], ["list", "baselines"]):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(command=command, signal=number):
                    process = self.program.start(*command, env=self.hanging)
                    wait_until(lambda: len(self.program.processes(b"hilbench")) == 2, 20, "no child asks the BLAS")
                    process.send_signal(number)
                    process.communicate(timeout=5)
                    self.assertNotEqual(process.returncode, 0)
                    wait_until(lambda: not self.program.processes(b"hilbench"), 5, "the child outlived the program")


class InheritedTest(StopTest):
    def test_a_parent_that_ignores_the_ends_of_children(self):
        self.program.run("run", "sweep.yaml", "-o", "out",
                         preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual({record["status"] for record in self.program.records("out")}, {"ok"})


class FolderTest(StopTest):
    """Folders in TMPDIR go when the program is asked to stop."""

    def setUp(self):
        super().setUp()
        self.program.run("run", "sweep.yaml", "-o", "out")
        self.temporary = self.program.folder / "temporary"
        tools = self.program.folder / "tools"
        for folder in (self.temporary, tools):
            folder.mkdir()
        for name in ("node", "valgrind"):
            (tools / name).write_text("#!/bin/sh\n[ \"$1\" != --version ] || exec echo valgrind-3.0\nexec sleep 600\n")
            (tools / name).chmod(0o755)
        self.slow = {**os.environ, "TMPDIR": str(self.temporary), "PATH": f"{tools}:{os.environ['PATH']}"}

    def test_a_report_that_is_stopped_leaves_no_folder(self):
        before = {file.name for file in (self.program.folder / "out").iterdir()}
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.program.start("report", "out", env=self.slow)
                wait_until(lambda: self.program.processes(b"sleep"), 20, "node was not started")
                self.assertTrue(list(self.temporary.iterdir()))
                process.send_signal(number)
                process.communicate(timeout=5)
                self.assertEqual(process.returncode, -number)
                self.assertEqual(list(self.temporary.iterdir()), [])
                self.assertEqual({file.name for file in (self.program.folder / "out").iterdir()}, before)
                self.assertFalse(self.program.processes(b"sleep"))

    def counting(self, sweep="sweep.yaml"):
        process = self.program.start("costs", sweep, "--instructions", "callgrind", env=self.slow)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        if "cannot be counted this way here" in line:
            self.skipTest("this build has no marks for callgrind")
        self.assertRegex(line, r"\Acounting n64-")
        return process

    def test_costs_that_are_stopped_leave_no_folder(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.counting()
                wait_until(lambda: self.program.processes(b"sleep"), 20, "valgrind was not started")
                self.assertTrue(list(self.temporary.iterdir()))
                process.send_signal(number)
                out, err = process.communicate(timeout=5)
                self.assertEqual((process.returncode, out, err), (128 + number, "", "hilbench: stopped\n"))
                self.assertEqual(list(self.temporary.iterdir()), [])
                self.assertFalse(self.program.processes(b"sleep"))

    def test_a_valgrind_that_hangs(self):
        process = self.counting(self.program.sweep(SWEEP.replace("timeout_s: 60", "timeout_s: 1")))
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 4)
        self.assertRegex(err, r"\Ahilbench: error: counting instructions takes too long \(n64-[^)]*\): no answer after 2 s; "
                         r"[^\n]*\n\Z")
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertFalse(self.program.processes(b"sleep"))

    def test_a_signal_that_is_ignored_stops_no_report(self):
        node = self.program.folder / "tools/node"
        node.write_text("#!/bin/sh\nkill -HUP $PPID\nsleep 1\nexit 3\n")
        _, err = self.program.run("report", "out", env=self.slow,
                                  preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(list(self.temporary.iterdir()), [])
        self.assertNotIn("stopped", err)

    def test_a_run_with_a_program_leaves_no_folder(self):
        self.program.add_rival()
        text = SWEEP.replace("baselines: [gemm]", f"external: {{hangs: {{command: [{sys.executable}, rival.py, hangs]}}}}\n"
                             "baselines: [hangs]")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                process = self.program.start("run", self.program.sweep(text), "-o", "other", "--allow-external",
                                             env=self.slow)
                wait_until(lambda: self.program.processes(b"sleep"), 20, "the program was not started")
                process.send_signal(number)
                process.communicate(timeout=5)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(list(self.temporary.iterdir()), [])
                self.assertFalse(self.program.processes(b"sleep"))


if __name__ == "__main__":
    BINARY, BLAS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main(verbosity=2)
