"""`hilbench gate`: builds that are none, equal and slowed builds, stored results, and a stop.

Usage: gate_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import pathlib
import re
import signal
import sys
import time
import unittest
import xml.etree.ElementTree

import gating
from gating import CASE, GateTest


class FailingBaselineTest(GateTest):
    """Nothing is lost by a candidate if the baseline fails, but nothing is shown to be kept either."""

    CRASH = "os.kill(os.getpid(), signal.SIGSEGV) if sys.argv[1] == 'worker' else 0"

    def test_every_variant(self):
        _, out, _ = self.gate("--budget", "3s", baseline=self.build(self.CRASH), statuses=[3])
        self.assertRegex(out, r"\Aundecided, because no variant could be judged: of 0 variants, ")
        self.assertRegex(out, r"(?m)^not judged +n256\S* dilated/linear.*failed in the baseline: ")

    def test_both_builds(self):
        crash = self.build(self.CRASH)
        _, out, _ = self.gate("--budget", "3s", baseline=crash, candidate=crash, statuses=[3])
        self.assertRegex(out, r"\Aundecided(, because the machine was disturbed)?: of 4 variants, ")
        self.assertRegex(out, r"(?m)^undecided +n256\S* dilated/linear.*failed in the baseline and the candidate: ")


class SkippedTest(GateTest):
    def test_a_case_that_cannot_be_measured_is_named(self):
        self.sweep_of(256, 1 << 30)
        _, out, _ = self.gate("--threshold", "90%", "--budget", "3s", statuses=[3])
        self.assertRegex(out, r"\Aundecided, because (not all could be compared|the machine was disturbed)")
        self.assertRegex(out, r"(?m)^- 2 variants cannot be measured here: n1073741824-\S*; the first: does not fit: ")


class SelfTestTest(GateTest):
    def self_test(self, *arguments, statuses, candidate="hilbench"):
        process = self.program.start("gate", "sweep.yaml", "--candidate", candidate, "--self-test", *arguments)
        out, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, statuses, out + err)
        return out, err

    def test_what_it_says_and_keeps(self):
        out, _ = self.self_test("--threshold", "90%", "--budget", "1s", "-o", "out", statuses=[0, 3])
        self.assertRegex(out, r"\AThis machine (supports a threshold of|is too noisy)")
        self.assertIn("gates drawn from 6 measured pairs of processes a case", out)
        self.assertEqual((self.program.folder / "out/self-test.txt").read_text(), out.split("disturbed: ")[0])
        with open(self.program.folder / "out/self-test.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4 * 6)
        self.assertTrue(all(abs(float(row["slowdown"])) < 10 for row in rows))

    def test_a_build_that_fails(self):
        half = self.build("if sys.argv[1] == 'worker': worker(lambda event: {**event, 'record': {**event['record'], "
                          "'status': 'invalid', 'reason': 'row 3 differs'}} if 'n512' in event['record']['case'] "
                          "else event)")
        out, _ = self.self_test("--budget", "1s", candidate=half, statuses=[1])
        self.assertRegex(out, r"(?m)^failed: n512\S* dilated/random: invalid: row 3 differs$")
        self.assertIn("This machine", out)
        none = self.build(FailingBaselineTest.CRASH)
        out, _ = self.self_test("--budget", "1s", candidate=none, statuses=[1])
        self.assertNotIn("This machine", out)

    def test_a_stop_keeps_the_pairs(self):
        process = self.program.start("gate", "sweep.yaml", "--candidate", "hilbench", "--self-test", "-o", "out")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stderr:  # as many as tell anything
            if line.startswith("equal builds: pair 8 "):
                break
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (143, ""))
        with open(self.program.folder / "out/self-test.csv", newline="") as file:
            self.assertGreaterEqual(len(list(csv.DictReader(file))), 4 * 7)

    def test_pairs_that_take_longer_than_the_budget(self):
        slow = self.build("time.sleep(4) if sys.argv[1] == 'worker' else None; ")
        out, err = self.self_test("--budget", "1s", candidate=slow, statuses=[2])
        self.assertEqual(out, "")
        self.assertRegex(err, r"hilbench: error: a budget of 1 s is too short for these cases.*: a pair of processes takes "
                              r"\d+ s, and 6 pairs are needed; say --budget \d+s, or choose cases by --filter\n\Z")

    def test_what_it_refuses(self):
        for arguments, why in ((["--inject", "n256=10%"], "no work can be added here (--inject)"),
                               (["--baseline", "hilbench"], "(--self-test --baseline)")):
            out, err = self.self_test(*arguments, statuses=[2])
            self.assertEqual(out, "")
            self.assertIn(why, err)


class BadInputTest(GateTest):
    def test_what_is_no_hilbench(self):
        (self.program.folder / "empty").mkdir()
        for name in ("text", "other"):
            (self.program.folder / name).write_text("#!/bin/sh\nread question\necho '{\"program\": \"other\"}'\n")
        (self.program.folder / "other").chmod(0o755)
        for path, why in (("/bin/ls", "exited with status 2"), ("text", "it is not a program that may be run"),
                          ("missing", "it is not a program that may be run"), ("other", "it answers"),
                          (self.build("if sys.argv[1] == 'describe-build': describe(protocol=0)"), "speak protocol 0")):
            for side in ("baseline", "candidate"):
                with self.subTest(path=path, side=side):
                    err = self.refused(**{side: path})
                    self.assertIn(f"not a hilbench that a gate can drive ({path}): ", err)
                    self.assertIn(why, err)
        self.assertIn("no results here (empty)", self.refused(baseline="empty"))
        self.assertIn("the candidate is a folder and the baseline a program (empty)", self.refused(candidate="empty"))

    def test_what_hangs_is_ended_with_all_that_it_started(self):
        script = self.program.folder / "hangs"
        script.write_text("#!/bin/sh\nsleep 600; true\n")
        script.chmod(0o755)
        self.assertIn("not a hilbench that a gate can drive (hangs): ", self.refused(candidate="hangs"))
        self.assertFalse(self.program.processes(b"sleep"))

    def test_bad_values(self):
        for arguments, why in ((["--threshold", "5"], "'5' is no share (--threshold); write 0.05 or 5%"),
                               (["--threshold", "200%"], "'200%' is no share (--threshold)"),
                               (["--threshold", "-1%"], "'-1%' is no share (--threshold)"),
                               (["--threshold", "0"], "(--threshold 0)"),
                               (["--budget", "0"], "'0' is no duration (--budget)"),
                               (["--inject", "x"], "'x' is no injection (--inject)"),
                               (["--inject", "=5%"], "'=5%' is no injection (--inject)"),
                               (["--inject", "x="], "'' is no share (--inject)"),
                               (["--inject", "x=400%"], "'400%' is no share (--inject)"),
                               (["--inject", "(=10%"], "bad regular expression '(' (--inject)"),
                               (["--inject", "nothing=10%"], "no work would be added to any variant (--inject)"),
                               (["--inject", ".=0"], "no work would be added to any variant (--inject)"),
                               (["--filter", "nothing"], "'nothing' matches no variant (--filter)"),
                               (["--format", "xml"], "--format: xml not in {text,markdown,github}")):
            with self.subTest(arguments):
                self.assertIn(why, self.refused(*arguments))
        steady = self.program.folder / "steady.yaml"
        text = (self.program.folder / "sweep.yaml").read_text()
        steady.write_text(text.replace("min_rounds: 3", "min_rounds: 3, steady: true"))
        self.assertIn("a gate measures builds in short turns, not in steady samples (steady.yaml): its `measure` has "
                      "steady: true; run the sweep with both builds", self.refused(sweep="steady.yaml"))
        self.assertIn("no such sweep file (missing.yaml)", self.refused(sweep="missing.yaml"))
        self.assertIn("several baselines (--baseline)", self.refused("--baseline", "hilbench"))


class MeasuredTest(GateTest):
    def rows(self, folder="out"):
        with open(self.program.folder / folder / "gate.csv", newline="") as file:
            return {(row["case"].split("-")[0], row["variant"]): row for row in csv.DictReader(file)}

    def test_equal_builds(self):
        began = time.monotonic()
        status, out, _ = self.gate("--threshold", "50%", "--budget", "5s", "-o", "out", "--format", "github",
                                   statuses=[0, 3])
        self.assertLess(time.monotonic() - began, 60)
        rows = self.rows()
        self.assertEqual(len(rows), 4)
        self.assertFalse([row for row in rows.values() if row["verdict"] not in ("ok", "undecided", "faster")])
        for row in rows.values():
            self.assertTrue(row["verdict"] != "undecided" or row["reason"])
        if status == 3:  # and it says why
            self.assertRegex(out, "::warning title=hilbench gate::|; the (budget|processes)")
        self.assertNotIn("::error", out)
        summary = (self.program.folder / "out/gate.md").read_text()
        self.assertLess(len(summary.encode()), 64 << 10)
        self.assertEqual(len(re.findall(r"(?m)^\| n\d+", summary)), 4)
        suite = xml.etree.ElementTree.parse(self.program.folder / "out/gate.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("4", "0"))
        for side in ("baseline", "candidate"):
            records = self.program.records(f"out/{side}")
            self.assertEqual([record["status"] for record in records], ["ok"] * 4)
            self.assertFalse([record for record in records if record["injected"]])

    def test_rings_take_no_work(self):
        sweep = self.program.folder / "sweep.yaml"
        ring = (CASE % 512)[:-1] + ", ring_size: 2}\n"
        sweep.write_text(sweep.read_text().replace("variants:", ring + "variants:").replace("threads: 1", "threads: 2"))
        _, out, _ = self.gate("--threshold", "90%", "--inject", ".=5%", "--budget", "4s", statuses=[0, 3])
        self.assertIn("no work was injected into rings, which time themselves", out)
        self.assertNotIn("failed", out)
        self.assertIn("no work would be added to any variant (--inject): rings time themselves",
                      self.refused("--inject", "-p2-=5%"))

    def test_injected_work_is_seen(self):
        status, out, _ = self.gate("--threshold", "5%", "--inject", "n256.*/dilated/linear=100%", "--budget", "8s",
                                   "-o", "out", statuses=[1, 3])
        self.assertIn("extra work was injected into the candidate", out)
        row = self.rows()["n256", "dilated/linear"]
        self.assertGreater(float(row["slowdown"]), 0.2)
        if status == 1:
            self.assertEqual((row["verdict"], row["second_round"]), ("slower", "true"))
            self.assertRegex(out, r"\Aslower: of 4 variants, ")
        else:
            self.assertEqual(row["verdict"], "undecided")
            self.assertTrue(row["reason"])
        injected = [(record["case"].split("-")[0], record["variant"])
                    for record in self.program.records("out/candidate") if record["injected"]]
        self.assertEqual(injected, [("n256", "dilated/linear")])
        self.assertFalse([record for record in self.program.records("out/baseline") if record["injected"]])

    def test_a_spent_budget(self):
        # Two quick pairs of each case, then one that takes longer than the budget.
        slow = self.build("time.sleep(8) if sys.argv[1] == 'worker' and asked >= 4 else 0")
        _, out, _ = self.gate("--threshold", "90%", "--budget", "6s", "-o", "out", candidate=slow, statuses=[3])
        self.assertRegex(out, r"\Aundecided")
        rows = self.rows()
        self.assertEqual(len(rows), 4)
        self.assertIn("3", [row["processes"] for row in rows.values()], "the test shows nothing")
        for row in rows.values():
            self.assertEqual((row["verdict"], row["reason"]), ("undecided", "the budget was spent"))

    def test_a_slowdown_that_cannot_be_confirmed_takes_no_pairs_from_other_cases(self):
        """The candidate is slower everywhere; in one case its times differ from process to process after the first, until
        it fails there. By then the other case has its six pairs, and the six that confirm them."""
        scatters = self.build("""
def slower(event):
    record = event["record"]
    if record["variant"] == "dilated/linear":
        print(record["case"], file=open(sys.argv[0] + ".cases", "a"))
    steady = asked < 12 or record["case"].startswith("n512")
    if asked >= 30 and not steady:
        record.update(status="failed", reason="enough", time_ns=None)
    if record["time_ns"]:
        factor = 1.5 if steady else (0.5, 4)[asked // 2 % 2]
        record["time_ns"].update(
            median=record["time_ns"]["median"] * factor, ci=[end * factor for end in record["time_ns"]["ci"]],
            samples=[[sample * factor for sample in part] for part in record["time_ns"]["samples"]])
    return event
if sys.argv[1] == "worker":
    worker(slower)
""")
        self.gate("--threshold", "20%", "--budget", "120s", "-o", "out", candidate=scatters, statuses=[1])
        cases = (self.program.folder / "candidate.cases").read_text().splitlines()
        self.assertGreaterEqual(sum(case.startswith("n512") for case in cases[:30]), 12, cases)

    def test_results_of_a_run_are_not_replaced(self):
        self.program.run("run", "sweep.yaml", "-o", "out/candidate")
        before = self.program.records("out/candidate")
        self.assertIn("the gate would replace results that are not a gate's (out/candidate)",
                      self.refused("-o", "out"))
        self.assertIn("(out/candidate)", self.refused("-o", "out", baseline="out/candidate"))
        self.assertEqual(self.program.records("out/candidate"), before)
        self.gate("--threshold", "90%", "--budget", "1s", "-o", "new", statuses=[0, 1, 3])
        self.gate("--threshold", "90%", "--budget", "1s", "-o", "new", statuses=[0, 1, 3])

    def test_a_threshold_that_the_machine_supports(self):
        _, out, _ = self.gate("--threshold", "auto", "--budget", "20s", "-o", "out", statuses=[0, 3])
        threshold = re.search(r"the threshold, ([0-9.]+) %, is the smallest that could be seen", out)
        self.assertTrue(threshold, out)
        self.assertIn(f"slower by more than {threshold[1]} %", out)
        self.assertGreaterEqual(float(threshold[1]), 1)
        _, out, _ = self.gate("--threshold", "auto", "--budget", "0.1s", statuses=[3])
        self.assertRegex(out, "no threshold could be found: the budget was spent before 4 variants had enough pairs; "
                              r"2\.5 %, the default, stands")
        for more in (["--self-test"], ["--baseline", "out/baseline"]):
            _, err = self.program.run("gate", "sweep.yaml", "--candidate", "hilbench", "--threshold", "auto", *more,
                                      status=2)
            self.assertIn("no threshold can be found here (--threshold auto)", err)

    def test_a_stop(self):
        process = self.program.start("gate", "sweep.yaml", "--baseline", "hilbench", "--candidate", "hilbench",
                                     "-o", "out")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stderr:  # each case was measured by both
            if line.startswith("pair 2 of 12"):
                break
        self.program.wait_for_worker()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertTrue(err.endswith("hilbench: stopped\n"), err)
        self.program.wait_until_no_worker()
        for side in ("baseline", "candidate"):
            self.assertEqual([record["status"] for record in self.program.records(f"out/{side}")], ["ok"] * 4)


class StoredTest(GateTest):
    def stored(self, *lengths, folder):
        sweep = self.sweep_of(*lengths, name=f"{folder}.yaml")
        self.program.run("run", sweep, "-o", folder)

    def test_a_measured_candidate_keeps_to_its_budget(self):
        self.stored(256, 512, folder="first")
        began = time.monotonic()
        _, out, err = self.gate("--threshold", "90%", "--budget", "0.001s", "-o", "out", baseline="first",
                                statuses=[0, 1, 3])
        spent = time.monotonic() - began
        self.assertNotIn("process 3 of", err)
        self.assertIn("the budget was spent before all processes of the candidate had measured", out)
        self.assertEqual({record["status"] for record in self.program.records("out/candidate")}, {"ok"})
        _, out, _ = self.gate("--threshold", "90%", "--budget", "2s", baseline="first", statuses=[0, 1, 3])
        self.assertNotIn("Measured in 0 s", out)
        self.assertLess(spent, 30)

    def test_a_stop_keeps_what_the_candidate_measured(self):
        self.stored(256, 512, folder="first")
        process = self.program.start("gate", "sweep.yaml", "--baseline", "first", "--candidate", "hilbench",
                                     "-o", "out")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if line.startswith("candidate: process 2 "):
                break
        self.program.wait_for_worker()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 143)
        self.assertEqual([record["status"] for record in self.program.records("out/candidate")], ["ok"] * 4)

    def test_stored_results_take_no_work(self):
        self.stored(256, folder="first")
        self.assertIn("no work can be added here (--inject): both sides are stored results",
                      self.refused("--inject", "n256=10%", baseline="first", candidate="first"))

    def test_cases_that_are_not_in_both(self):
        self.stored(256, folder="first")
        self.stored(512, folder="second")
        self.stored(256, 512, folder="both")
        self.assertIn("no case is in both", self.refused(baseline="first", candidate="second"))
        _, out, _ = self.gate("--threshold", "90%", baseline="both", candidate="first", statuses=[3])
        self.assertRegex(out, r"has no time for 2 variants that the baseline has: n512-\S+\n")
        self.sweep_of(256)  # asks for no other case
        _, out, _ = self.gate("--threshold", "90%", baseline="both", candidate="first", statuses=[0, 1, 3])
        self.assertNotIn("n512-", out)

    def test_results_of_another_sweep(self):
        self.stored(256, folder="first")
        other = self.program.folder / "other.yaml"
        other.write_text((self.program.folder / "first.yaml").read_text().replace("name: tiny", "name: other"))
        self.assertIn("these are results of the sweep 'tiny'",
                      self.refused(sweep="other.yaml", baseline="first", candidate="first"))


if __name__ == "__main__":
    gating.BINARY = str(pathlib.Path(sys.argv.pop(1)).absolute())
    unittest.main()
