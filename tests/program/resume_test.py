"""Runs that are killed, stopped, repeated or refused: nothing committed is lost, and nothing stays behind.

Usage: resume_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import os
import random
import signal
import sys
import time
import unittest

from program import Program, Store, wait_until

CASES = 30
VARIANTS = ["dilated/linear", "dilated/hilbert", "dilated/random", "gemm"]
STORED = VARIANTS + ["dilated/linear@twin"]  # the reference is measured twice
SWEEP = f"""
name: resume
axes:
  sequence_length: {{range: [33, {32 + CASES}, 1]}}
  segments: [[16]]
  dilations: [[2]]
  heads: 2
  head_dim: 16
  threads: 1
variants:
  - {{kernel: dilated, order: [linear, hilbert, random]}}
baselines: [gemm]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""
# One comparison that is timed for seconds: what hits its worker then hits a timed variant.
LONG = """
name: long
axes: {sequence_length: [48, 49], segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants:
  - {kernel: dilated, order: [linear, hilbert, random]}
baselines: [gemm]
measure: {interval: 0.000001, budget_s: 2, min_rounds: 3, timeout_s: 20}
"""


class ResumeTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.sweep = self.program.sweep(SWEEP)
        self.results = self.program.folder / "out"
        self.random = random.Random(20)

    def start(self, sweep=None, **options):
        process = self.program.start("run", sweep or self.sweep, "-o", "out", start_new_session=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, status=0):
        return self.program.run("run", self.sweep, "-o", "out", status=status)

    def check_store(self, kept):
        """The store is sound, holds whole comparisons once, and all of `kept` as it was. Gives its records."""
        if not (self.results / "results.sqlite").exists():
            self.assertEqual(kept, {})
            return {}
        store = Store(self.results)
        self.assertEqual(store.integrity, [("ok",)])
        variants_of = {case: [] for case in store.comparisons.values()}
        self.assertEqual(len(variants_of), len(store.comparisons))
        for comparison, case, variant, *_ in store.rows:
            self.assertEqual(store.comparisons[comparison], case)
            variants_of[case].append(variant)
        for case, variants in variants_of.items():
            self.assertEqual(sorted(variants), sorted(STORED), case)
        texts = store.texts()
        for key, text in kept.items():
            self.assertEqual(texts.get(key), text, f"{key} was committed and is lost or changed")
        return texts

    def check_finished(self, kept):
        texts = self.check_store(kept)
        self.assertEqual(len(texts), CASES * len(STORED))
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])
        return texts

    def test_killed_supervisor_loses_nothing_committed(self):
        kept, interrupted_between, longest = {}, 0, 0.8
        for _ in range(30):
            if interrupted_between == 6:
                break
            process = self.start()
            time.sleep(self.random.uniform(0, longest))
            process.kill()
            process.wait()
            self.program.wait_until_no_worker()
            before = len(kept)
            kept = self.check_store(kept)
            interrupted_between += before < len(kept) < CASES * len(STORED)
            if len(kept) == before:  # a busy machine needs longer to measure a case
                longest *= 1.2
        self.assertGreater(interrupted_between, 2, "no kill fell into the measuring: the test shows nothing")
        self.finish()
        texts = self.check_finished(kept)
        began = time.monotonic()
        out, _ = self.finish()
        self.assertLess(time.monotonic() - began, 5)
        self.assertIn(f"{CASES} comparisons were measured before", out)
        self.assertEqual(self.check_finished(texts), texts)

    def test_worker_in_a_long_execution_dies_with_its_supervisor(self):
        # Seconds without output, so that no broken pipe ends the worker.
        process = self.start(self.program.sweep("""
name: silent
axes: {sequence_length: 32768, segments: [[32768]], heads: 4, head_dim: 64, threads: 1}
variants: [{kernel: dilated}]
"""))
        self.program.wait_for_worker()
        time.sleep(1.5)
        process.kill()
        process.wait()
        self.program.wait_until_no_worker()

    def test_killed_worker_costs_the_variant_in_flight(self):
        sweep = self.program.sweep(LONG, "long.yaml")
        process = self.start(sweep)
        first = self.program.wait_for_worker()
        time.sleep(self.random.uniform(0.7, 1.2))
        os.kill(first, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        rows = Store(self.results).rows
        self.assertEqual(len(rows), 2 * len(STORED))
        failed = [row for row in rows if row[3] != "ok"]
        self.assertEqual(len(failed), 1, rows)
        self.assertIn("worker was killed by signal 9", failed[0][4])
        self.program.wait_until_no_worker()

    def test_workers_killed_at_random_moments(self):
        process = self.start()
        kills = 0
        while process.poll() is None and kills < 6:
            time.sleep(self.random.uniform(0, 0.4))
            for worker in self.program.workers():
                try:
                    os.kill(worker, signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass  # done by itself
        process.communicate(timeout=120)
        self.assertGreater(kills, 0)
        self.check_finished({})
        failed_of = {}
        for _, case, _, status, reason, _ in Store(self.results).rows:
            self.assertIn(status, ("ok", "failed"))
            if status == "failed":
                self.assertIn("worker was killed by signal 9", reason)
                failed_of.setdefault(case, []).append(reason)
        self.assertEqual(process.returncode, 1 if failed_of else 0)
        # While inputs are made no variant is in flight: that costs all that was left of the comparison.
        at_once = [any(reason.startswith("prepare:") for reason in reasons) for reasons in failed_of.values()]
        single = [not reason.startswith("prepare:") for reasons in failed_of.values() for reason in reasons]
        self.assertLessEqual(sum(at_once) + sum(single), kills, failed_of)
        kept = Store(self.results).sound_texts()
        self.assertEqual(len(kept), (CASES - len(failed_of)) * len(STORED))
        self.finish()  # nobody kills now: what failed is measured again
        self.check_finished(kept)
        self.assertEqual({row[3] for row in Store(self.results).rows}, {"ok"})

    def test_hung_worker_is_stopped_and_named(self):
        process = self.start(self.program.sweep(LONG.replace("timeout_s: 20", "timeout_s: 2"), "long.yaml"))
        worker = self.program.wait_for_worker()
        time.sleep(0.8)
        os.kill(worker, signal.SIGSTOP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        failed = [row[4] for row in Store(self.results).rows if row[3] != "ok"]
        self.assertEqual(len(failed), 1)
        self.assertIn("no progress for 2 s", failed[0])

    def stop_and_resume(self, stop, status):
        process = self.start()
        wait_until(lambda: self.results.exists() and list(self.results.iterdir()), 20, "no store came up")
        self.program.wait_for_worker()
        time.sleep(1)
        stop(process)
        _, err = process.communicate(timeout=10)
        self.assertEqual(process.returncode, status, err)
        self.assertIn("hilbench: error: stopped; run the same command again to resume", err)
        self.assertEqual(self.program.workers(), [])
        kept = self.check_store({})
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])
        self.assertLess(len(kept), CASES * len(STORED))
        self.finish()
        self.check_finished(kept)

    def test_ctrl_c_stops_cleanly(self):
        # A terminal sends it to the foreground group.
        self.stop_and_resume(lambda process: os.killpg(process.pid, signal.SIGINT), 130)

    def test_sigterm_stops_cleanly(self):
        self.stop_and_resume(lambda process: process.send_signal(signal.SIGTERM), 128 + signal.SIGTERM)

    def test_an_ignored_hangup_stays_ignored(self):
        process = self.start(self.program.sweep(LONG, "long.yaml"),
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.program.wait_for_worker()
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)

    def test_second_run_on_the_folder_is_refused_at_once(self):
        process = self.start(self.program.sweep(LONG, "long.yaml"))
        self.program.wait_for_worker()
        began = time.monotonic()
        _, err = self.program.run("run", self.sweep, "-o", "out", status=2)
        self.assertLess(time.monotonic() - began, 2)
        self.assertRegex(err, r"^hilbench: error: another hilbench writes to this folder \(out\); ")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)

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
            "measure": SWEEP.replace("budget_s: 0.05", "budget_s: 0.06"),
            "variants": SWEEP.replace("hilbert, random", "hilbert, random, residue"),
            "reference": SWEEP + "reference: dilated/hilbert\n",
            "counters": SWEEP + "counters: [default]\n",
        }
        for name, text in changes.items():
            with self.subTest(name):
                self.assertNotEqual(text, SWEEP)
                _, err = self.program.run("run", self.program.sweep(text, "changed.yaml"), "-o", "out", *few, status=2)
                self.assertIn("without some of the variants" if name == "variants" else "measured with other settings",
                              err)
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
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
