"""Runs and workers that are killed at random moments: nothing committed is lost. For nights: other moments each time,
and on a busy machine minutes; resume_test.py kills at moments that have names.

Usage: resume_random_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import os
import random
import signal
import sys
import time
import unittest

import resuming
from program import Store
from resuming import STORED, ResumingTest


class RandomMomentsTest(ResumingTest):
    CASES = 30

    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("HILBENCH_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"HILBENCH_TEST_SEED={seed} draws these moments again", flush=True)
        self.random = random.Random(seed)

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
            interrupted_between += before < len(kept) < self.CASES * len(STORED)
            if len(kept) == before:  # a busy machine needs longer to measure a case
                longest *= 1.2
        self.assertGreater(interrupted_between, 2, "no kill fell into the measuring: the test shows nothing")
        self.finish()
        texts = self.check_finished(kept)
        began = time.monotonic()
        out, _ = self.finish()
        self.assertLess(time.monotonic() - began, 5)
        self.assertIn(f"{self.CASES} comparisons were measured before", out)
        self.assertEqual(self.check_finished(texts), texts)

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
        self.assertEqual(len(kept), (self.CASES - len(failed_of)) * len(STORED))
        self.finish()  # nobody kills now: what failed is measured again
        self.check_finished(kept)
        self.assertEqual({row[3] for row in Store(self.results).rows}, {"ok"})


if __name__ == "__main__":
    resuming.BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
