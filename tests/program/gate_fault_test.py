"""`hilbench gate`: builds that crash, lie or hang.

Usage: gate_fault_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import json
import pathlib
import signal
import sys
import time
import unittest
import xml.etree.ElementTree

import gating
from gating import CASES, UNREADABLE, GateTest


class FaultTest(GateTest):
    """A candidate that fails where the baseline works: exit status 1, whatever the times. CTest runs the classes below
    side by side."""

    def workers(self):
        """The number of workers that the candidate was asked for."""
        return len((self.program.folder / "candidate.asked").read_text())

    def fault(self, what, reason, of="dilated/random", budget="10s"):
        with self.subTest(what):
            _, out, _ = self.gate("--threshold", "90%", "--budget", budget, "-o", "out", candidate=self.build(what),
                                  statuses=[1])
            self.assertRegex(out, r"\Afailed: of 4 variants, ")
            for case in CASES:
                self.assertRegex(out, rf"\nfailed +{case}\S* {of} *; {reason}\n")
            summary = (self.program.folder / "out/gate.md").read_text()
            self.assertRegex(summary, rf"(?m)^\| n256\S* \| {of} \| .*{reason}")
            suite = xml.etree.ElementTree.parse(self.program.folder / "out/gate.xml").getroot()
            self.assertGreaterEqual(int(suite.get("failures")), len(CASES))
            self.assertEqual(len(suite.findall("testcase/failure")), int(suite.get("failures")))


class CrashTest(FaultTest):
    def test_a_candidate_that_crashes(self):
        self.fault("os.kill(os.getpid(), signal.SIGSEGV) if sys.argv[1] == 'worker' else 0",
                   r"failed in the candidate: prepare: the worker was killed by signal 11 \(Segmentation fault\)")
        self.assertEqual(self.workers(), len(CASES), "what failed is not measured again")

    def test_a_candidate_that_crashes_later(self):
        # Four workers for the first two pairs of both cases work, as long as all go well.
        self.fault("os.kill(os.getpid(), signal.SIGSEGV) if asked >= 4 else 0",
                   r"failed in the candidate: prepare: the worker was killed by signal 11 \(Segmentation fault\)",
                   budget="60s")
        self.assertEqual(self.workers(), 3 * len(CASES))

    def test_a_candidate_that_crashes_while_a_slowdown_is_confirmed(self):
        self.sweep_of(256)
        # Six pairs show the slowdown; the workers after them crash.
        crash = self.build("os.kill(os.getpid(), signal.SIGSEGV) if asked >= 6 else 0")
        _, out, _ = self.gate("--threshold", "5%", "--inject", "n256=100%", "--budget", "60s", candidate=crash,
                              statuses=[1])
        self.assertRegex(out, r"(?m)^failed +n256\S* dilated/linear.*killed by signal 11")
        self.assertNotIn("did not confirm", out)


class AnswerTest(FaultTest):
    def test_incomplete_answers(self):
        missing = "failed in the candidate: the worker ended without a result for it"
        self.fault("sys.exit() if sys.argv[1] == 'worker' else 0", missing)
        self.fault("if sys.argv[1] == 'worker': say('{\"phase\": 3, \"rec'), sys.exit()", missing)

    def test_answers_that_are_no_report(self):
        event = {"phase": 2, "variant": "dilated/random", "round": 0, "spent_s": 0}
        for line in ("hello", [], 7, {}, {"error": 5}, {**event, "variant": 7}, {**event, "phase": "time"},
                     {**event, "phase": 9}, {**event, "variant": "dilated/moore"}, {**event, "record": {}}):
            text = line if line == "hello" else json.dumps(line)
            self.fault(f"if sys.argv[1] == 'worker': say({text!r} + chr(10)), sys.exit()",
                       "failed in the candidate: prepare: " + UNREADABLE)

    def test_records_that_are_not_of_the_task(self):
        for change in ({"variant": "dilated/hilbert"}, {"case": "n1024"}, {"time_ns": None}, {"schema": 99}):
            self.fault("if sys.argv[1] == 'worker': worker(lambda event: {**event, 'record': {**event['record'], "
                       f"**{change!r}}}}})", rf"failed in the candidate: [a-z]+: {UNREADABLE}", of=r"\S+")

    def test_times_that_are_none(self):
        for samples in ("[[]]", "[[0, 0]]", "[[None]]", "[[-1, 5]]"):
            self.fault("if sys.argv[1] == 'worker': worker(lambda event: {**event, 'record': {**event['record'], "
                       f"'time_ns': {{**event['record']['time_ns'], 'samples': {samples}}}}}}})",
                       rf"failed in the candidate: [a-z]+: {UNREADABLE}", of=r"\S+")

    def test_what_run_would_not_store(self):
        """Records that `run` refuses are not believed here either."""
        right = "event['record']['verify']"
        for change, reason in (("'verify': None", "it is ok and was not verified"),
                               (f"'verify': {{**{right}, 'max_abs': 1e3, 'worst': 1e6}}", "it is ok and its largest error, "),
                               (f"'verify': {{**{right}, 'after': {{**{right}['after'], 'rows': 0}}}}",
                                "it is ok and no row was verified"),
                               ("'twin': True", "its .*twin.* is true"),
                               ("'environment': {'processes': [0]}", "its environment is no list of objects")):
            self.fault("if sys.argv[1] == 'worker': worker(lambda event: {**event, 'record': {**event['record'], "
                       f"{change}}}}})", rf"failed in the candidate: .*({reason}).*", of=r"\S+")
            self.program.run("report", "out/candidate", "-o", "page")  # what is kept can be read

    def test_nested_without_end_and_lines_without_end(self):
        for text, times in (("'[' * 1000", 1000), ("'{\"a\":' * 1000", 1000), ("'x' * 65536", 1200)):
            self.fault(f"if sys.argv[1] == 'worker': [say({text}) for i in range({times})], say(chr(10)), sys.exit()",
                       "failed in the candidate: prepare: " + UNREADABLE)

    def test_a_failed_verification(self):
        self.fault("if sys.argv[1] == 'worker': worker(lambda event: {**event, 'record': {**event['record'], "
                   "'status': 'invalid', 'reason': 'row 3 differs'}})", "invalid in the candidate: row 3 differs")


class HangTest(FaultTest):
    def test_a_candidate_that_reports_progress_for_ever(self):
        event = json.dumps({"phase": 2, "variant": "dilated/random", "round": 0, "spent_s": 0}) + "\n"
        began = time.monotonic()
        self.sweep_of(256)
        _, out, _ = self.gate("--budget", "3s", statuses=[1], candidate=self.build(
            f"while sys.argv[1] == 'worker': say({event!r}), time.sleep(0.1)"))
        self.assertRegex(out, r"(?m)^failed +n256\S* dilated/random.*it still reported progress when the time for all was over")
        self.assertLess(time.monotonic() - began, 60)

    def test_a_candidate_that_hangs(self):
        sweep = self.program.folder / "sweep.yaml"
        sweep.write_text(sweep.read_text().replace("measure: {", "measure: {timeout_s: 3, "))
        hung = "no progress for 3 s: the worker counts as hung and was stopped"
        # At once; and while it has the turn, so that the baseline waits for it.
        stop = "(lambda event, real: os.kill(real.pid, signal.SIGSTOP) if event['phase'] == 2 else 0)"
        for what, phase in (("time.sleep(1000) if sys.argv[1] == 'worker' else 0", "prepare"),
                            ("if sys.argv[1] == 'worker': worker(lambda event: event, %s)" % stop, "time")):
            began = time.monotonic()
            self.fault(what, f"failed in the candidate: {phase}: {hung}", of=r"\S+", budget="30s")
            self.assertLess(time.monotonic() - began, 40)
            records = self.program.records("out/baseline")
            self.assertEqual([record["status"] for record in records], ["ok"] * 4)


if __name__ == "__main__":
    gating.BINARY = str(pathlib.Path(sys.argv.pop(1)).absolute())
    unittest.main()
