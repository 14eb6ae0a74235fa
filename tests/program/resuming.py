"""Runs that are stopped and resumed: their sweeps, and what their stores must hold, as the tests of them say it."""

import os
import pathlib
import signal
import unittest

from program import Program, Store, wait_until

BINARY = None  # each test script sets it
VARIANTS = ["dilated/linear", "dilated/hilbert", "dilated/random", "gemm"]
STORED = VARIANTS + ["dilated/linear@twin"]  # the reference is measured twice
# One comparison that is timed for seconds: what hits its worker then hits a timed variant.
LONG = """
name: long
axes: {sequence_length: [48, 49], segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants:
  - {kernel: dilated, order: [linear, hilbert, random]}
baselines: [gemm]
measure: {interval: 0.000001, budget_s: 2, min_rounds: 3, timeout_s: 20}
"""


def sweep_of(cases):
    return f"""
name: resume
axes:
  sequence_length: {{range: [33, {32 + cases}, 1]}}
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


class ResumingTest(unittest.TestCase):
    CASES = 8

    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.sweep = self.program.sweep(sweep_of(self.CASES))
        self.results = self.program.folder / "out"

    def start(self, sweep=None, fail_point="", **options):
        process = self.program.start("run", sweep or self.sweep, "-o", "out", start_new_session=True,
                                     env={**os.environ, "HILBENCH_FAIL_POINT": fail_point}, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_and_hold(self, fail_point, sweep=None, **options):
        """A run that has stopped itself at this point; SIGCONT lets it go on."""
        process = self.start(sweep, fail_point + ":STOP", **options)
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", 60, f"{fail_point} was not reached")
        return process

    def go_on(self, process):
        process.send_signal(signal.SIGCONT)

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
        self.assertEqual(len(texts), self.CASES * len(STORED))
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])
        return texts
