"""Runs that are killed, stopped, repeated or refused: nothing committed is lost, and nothing stays behind. The moments
are fail points (kernels/base/process/fail_point.hpp); resume_random_test.py takes random ones.

Usage: resume_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import os
import re
import signal
import sys
import time
import unittest

import resuming
from program import Store
from resuming import LONG, STORED, VARIANTS, ResumingTest, sweep_of

SWEEP = sweep_of(ResumingTest.CASES)


class KilledTest(ResumingTest):
    def expect_killed(self, process):
        # Not communicate(): a worker that outlives its supervisor keeps the pipes open.
        self.assertEqual(process.wait(timeout=60), -signal.SIGKILL, "the point was not reached")
        self.program.wait_until_no_worker()

    def test_killed_supervisor_loses_nothing_committed(self):
        kept = {}
        # Where it is killed, and how many comparisons are committed until then. Each run resumes the one before.
        for point, committed in (("new_store", 0), ("told_prepare", 0), ("in_commit", 0), ("before_commit:2", 1),
                                 ("told_verify@dilated/random", 0), ("after_commit:2", 2), ("in_commit:2", 1),
                                 ("told_time@gemm:2", 0), ("told_count", 0)):
            with self.subTest(point):
                self.expect_killed(self.start(fail_point=point))
                before = len(kept)
                kept = self.check_store(kept)
                self.assertEqual(len(kept) - before, committed * len(STORED))
        self.finish()
        texts = self.check_finished(kept)
        out, _ = self.finish()
        self.assertIn(f"{self.CASES} comparisons were measured before", out)
        self.assertEqual(self.check_finished(texts), texts)

    def test_worker_in_a_long_execution_dies_with_its_supervisor(self):
        # Seconds without output, so that no broken pipe ends the worker.
        process = self.start(self.program.sweep("""
name: silent
axes: {sequence_length: 32768, segments: [[32768]], heads: 4, head_dim: 64, threads: 1}
variants: [{kernel: dilated}]
"""), "told_verify")
        self.expect_killed(process)

    def failures_of(self, fail_point):
        """Case and reason of each variant that failed, by variant, if every worker fails at this point."""
        process = self.start(self.program.sweep(sweep_of(2), "two.yaml"), fail_point)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.program.wait_until_no_worker()
        rows = Store(self.results).rows
        self.assertEqual(len(rows), 2 * len(STORED))
        found = {}
        for _, case, variant, status, reason, _ in rows:
            self.assertIn(status, ("ok", "failed"))
            if status == "failed":
                found.setdefault(variant, []).append((case.split("-")[0], reason))
        return found

    def test_killed_worker_costs_the_variant_in_flight(self):
        for point, variant, phase in (("worker_verify@dilated/random", "dilated/random", "verify"),
                                      ("worker_time@dilated/hilbert:2", "dilated/hilbert", "time"),
                                      ("worker_count@gemm", "gemm", "count")):
            with self.subTest(point):
                killed = f"{phase}: the worker was killed by signal 9"
                found = self.failures_of(point)
                self.assertEqual(list(found), [variant])
                self.assertEqual([case for case, _ in found[variant]], ["n33", "n34"])
                for _, reason in found[variant]:
                    self.assertIn(killed, reason)
                self.program.run("run", "two.yaml", "-o", "out")  # nobody kills now
                self.assertEqual({row[3] for row in Store(self.results).rows}, {"ok"})
                (self.results / "results.sqlite").unlink()

    def test_worker_killed_while_inputs_are_made_costs_all_that_was_left(self):
        found = self.failures_of("worker_prepare@n34-")
        self.assertEqual(sorted(found), sorted(STORED))
        for reasons in found.values():
            self.assertEqual([case for case, _ in reasons], ["n34"])
            self.assertIn("prepare: the worker was killed by signal 9", reasons[0][1])

    def test_hung_worker_is_stopped_and_named(self):
        process = self.start(self.program.sweep(LONG.replace("timeout_s: 20", "timeout_s: 1").replace(
            "[48, 49]", "48"), "long.yaml"), "worker_time@dilated/hilbert:1:STOP")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        failed = {row[2]: row[4] for row in Store(self.results).rows if row[3] != "ok"}
        self.assertEqual(list(failed), ["dilated/hilbert"])
        self.assertIn("time: no progress for 1 s", failed["dilated/hilbert"])


class StoppedTest(ResumingTest):
    def stop_and_resume(self, stop, status):
        process = self.start_and_hold("told_time@n35-:1")
        self.assertEqual(len(self.program.workers()), 1)
        stop(process)
        self.go_on(process)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, status, err)
        self.assertIn("hilbench: stopped; run the same command again to resume", err)
        self.assertEqual(self.program.workers(), [])
        kept = self.check_store({})
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])
        self.assertEqual(len(kept), 2 * len(STORED))
        self.finish()
        self.check_finished(kept)

    def test_ctrl_c_stops_cleanly(self):
        # A terminal sends it to the foreground group.
        self.stop_and_resume(lambda process: os.killpg(process.pid, signal.SIGINT), 130)

    def test_sigterm_stops_cleanly(self):
        self.stop_and_resume(lambda process: process.send_signal(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_an_ignored_hangup_stays_ignored(self):
        process = self.start_and_hold("told_time:1", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.go_on(process)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)

    def test_second_run_on_the_folder_is_refused_at_once(self):
        process = self.start_and_hold("told_time:1")
        began = time.monotonic()
        _, err = self.program.run("run", self.sweep, "-o", "out", status=2)
        self.assertLess(time.monotonic() - began, 2)
        self.go_on(process)
        self.assertRegex(err, r"^hilbench: error: another hilbench writes to this folder \(out\); ")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)


class RepeatedTest(ResumingTest):
    def test_fresh_measures_again(self):
        self.program.run("run", self.sweep, "-o", "out", "--axis", "sequence_length=33,34")
        before = Store(self.results).texts()
        self.program.run("run", self.sweep, "-o", "out", "--axis", "sequence_length=34", "--fresh")
        after = Store(self.results).texts()
        self.assertEqual(len(after), len(STORED))
        for key, text in after.items():
            self.assertNotEqual(text, before[key])

    def test_changed_settings_are_refused_and_nothing_is_lost(self):
        few = ["--axis", "sequence_length=33,34"]
        self.program.run("run", self.sweep, "-o", "out", *few)
        before = (self.results / "results.sqlite").read_bytes()
        changes = {
            "other settings .*: measure.budget_s was 0.05 and is 0.06;": SWEEP.replace("budget_s: 0.05", "budget_s: 0.06"),
            "other settings .*: measure.budget_s was 0.05 and is 0.06, measure.seed was 1 and is 7;":
                SWEEP.replace("budget_s: 0.05", "budget_s: 0.06, seed: 7"),
            "without some of the variants .*: dilated/residue is not there,":
                SWEEP.replace("hilbert, random", "hilbert, random, residue"),
            "other settings .*: reference was dilated/linear and is dilated/hilbert;":
                SWEEP + "reference: dilated/hilbert\n",
            "other settings .*: counters was not given and is default;": SWEEP + "counters: [default]\n",
            "of another sweep .*: there '.*', here 'renamed';": re.sub("name: .*", "name: renamed", SWEEP),
        }
        for said, text in changes.items():
            with self.subTest(said):
                self.assertNotEqual(text, SWEEP)
                _, err = self.program.run("run", self.program.sweep(text, "changed.yaml"), "-o", "out", *few, status=2)
                self.assertRegex(err, said)
                self.assertEqual((self.results / "results.sqlite").read_bytes(), before)

    def test_no_variant_that_was_measured_is_asked_for(self):
        few = ["--axis", "sequence_length=33"]
        self.program.run("run", self.sweep, "-o", "out", *few)
        before = (self.results / "results.sqlite").read_bytes()
        others = SWEEP.replace("linear, hilbert, random", "morton, snake").replace("baselines: [gemm]\n", "")
        _, err = self.program.run("run", self.program.sweep(others, "others.yaml"), "-o", "out", *few, status=2)
        self.assertIn("measured with other settings", err)
        self.assertEqual((self.results / "results.sqlite").read_bytes(), before)

    def test_a_rival_that_was_skipped_displaces_nothing(self):
        sweep = self.program.sweep(SWEEP.replace("baselines: [gemm]", 'external: {my: {command: ["false"]}}\nbaselines: [my]\nreference: my'))
        few = ["--axis", "sequence_length=33"]
        self.program.run("run", sweep, "-o", "out", *few)
        before = (self.results / "results.sqlite").read_bytes()
        for allowed in (["--allow-external", "--filter", "my$"], ["--allow-external"]):
            _, err = self.program.run("run", sweep, "-o", "out", *few, *allowed, status=2)
            self.assertIn("measured with other settings", err)
            self.assertEqual((self.results / "results.sqlite").read_bytes(), before)

    def test_fewer_variants_are_done_and_nothing_is_lost(self):
        few = ["--axis", "sequence_length=33,34"]
        self.program.run("run", self.sweep, "-o", "out", *few)
        before = (self.results / "results.sqlite").read_bytes()
        text = SWEEP.replace("hilbert, random", "hilbert")
        self.assertNotEqual(text, SWEEP)
        for arguments in ([self.program.sweep(text, "fewer.yaml")], [self.sweep, "--filter", "hilbert"]):
            out, _ = self.program.run("run", *arguments, "-o", "out", *few)
            self.assertIn("(2 comparisons were measured before)", out)
            self.assertEqual((self.results / "results.sqlite").read_bytes(), before)


class SurroundingsTest(ResumingTest):
    def test_read_only_folder(self):
        self.program.run("run", self.sweep, "-o", "out", "--axis", "sequence_length=33")
        report = self.program.folder / "report"
        report.mkdir()
        report.chmod(0o777)
        (self.results / "results.sqlite").chmod(0o444)
        self.results.chmod(0o555)
        self.addCleanup(self.results.chmod, 0o755)
        # To root every folder is writable.
        someone = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        out, _ = self.program.run("export", "out", "--format", "jsonl", **someone)
        self.assertEqual(len(out.splitlines()), len(STORED))
        self.program.run("report", "out", "-o", "report", **someone)
        self.assertTrue((report / "report.html").exists())
        _, err = self.program.run("run", self.sweep, "-o", "out", status=4, **someone)
        self.assertRegex(err, r"^hilbench: error: cannot write to the output folder \(out\)")
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])

    def test_lost_listener_does_not_stop_a_run(self):
        read_end, write_end = os.pipe()
        process = self.program.start("run", self.sweep, "-o", "out", "--axis", "sequence_length=33,34",
                                     stderr=write_end)
        os.close(read_end)
        os.close(write_end)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(Store(self.results).rows), 2 * len(STORED))

    def test_closed_or_full_standard_error_does_not_hide_the_status(self):
        self.program.run("run", "absent.yaml", preexec_fn=lambda: os.close(2), stderr=None, status=2)
        with open("/dev/full", "w") as full:
            self.program.run("run", "absent.yaml", stderr=full, status=2)

    def test_nothing_printed_ends_in_a_file_where_standard_streams_are_closed(self):
        self.program.run("run", self.sweep, "-o", "out", "--axis", "sequence_length=33,34",
                         preexec_fn=lambda: os.closerange(0, 3), stdout=None, stderr=None, status=4)
        store = Store(self.results)
        self.assertEqual((store.integrity, len(store.rows)), ([("ok",)], 2 * len(STORED)))


if __name__ == "__main__":
    resuming.BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
