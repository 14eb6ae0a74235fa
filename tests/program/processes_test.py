"""Comparisons that several processes measure: killed in between, appended to, and measured again after a failure.

Usage: processes_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import sqlite3
import sys
import unittest

from program import Program, Store, wait_until

CASES = 6
SWEEP = f"""
name: processes
axes: {{sequence_length: {{range: [33, {32 + CASES}, 1]}}, segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16,
       threads: 1}}
variants: [{{kernel: dilated, order: [linear, hilbert, random]}}]
baselines: [gemm]
measure: {{interval: 0.000001, budget_s: 0.9, min_rounds: 3, processes: 3}}
"""
STORED = 5  # records of a case: four variants and the twin of the reference
# `my` fails until the file `works` is there.
FAILING = """
name: failing
cases: [{sequence_length: 24, segments: [12], dilations: [2], heads: 2, head_dim: 16, threads: 1}]
external: {my: {command: [sh, -c, "test -e works && exec %s rival.py none; exit 3"]}}
variants: [{kernel: dilated, order: [linear, hilbert]}]
baselines: [my]
measure: {budget_s: 0.05, min_rounds: 3}
""" % sys.executable


class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.results = self.program.folder / "out"

    def run_it(self, *arguments, **options):
        return self.program.run("run", "sweep.yaml", "-o", "out", *arguments, **options)

    def stored(self):
        return (self.results / "results.sqlite").read_bytes()

    def processes(self):
        return list(Store(self.results).processes.values())


class KilledTest(ProcessesTest):
    def processes_now(self):
        try:
            return sorted(self.processes())
        except sqlite3.Error:
            return []  # not there yet, or locked

    def test_partial_comparisons_are_kept_and_completed(self):
        self.program.sweep(SWEEP)
        process = self.program.start("run", "sweep.yaml", "-o", "out")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: 2 in self.processes_now(), 120, "no comparison came to its second process")
        self.program.wait_for_worker()
        process.kill()
        process.communicate()
        self.program.wait_until_no_worker()
        before = Store(self.results)
        self.assertEqual(before.integrity, [("ok",)])
        self.assertEqual(len(before.rows), CASES * STORED, "the first process of all comes before the second of any")
        self.assertEqual(set(before.processes.values()), {1, 2}, "killed too late: the test shows nothing")
        self.check_samples(before)
        kept = before.samples()
        out, _ = self.run_it()
        self.assertIn(f"{CASES * 4} records ok, 0 failed, 0 invalid, 0 skipped\n", out)
        after = Store(self.results)
        self.assertEqual(set(after.processes.values()), {3})
        self.check_samples(after)
        self.assertEqual({key: samples[:len(kept[key])] for key, samples in after.samples().items()}, kept)
        for record in self.program.records("out", twins=True):
            seeds = [one["seed"] for one in record["environment"]["processes"]]
            self.assertEqual((len(seeds), len(set(seeds))), (3, 3))
        bytes_before = self.stored()
        out, _ = self.run_it()
        self.assertIn(f"({CASES} comparisons were measured before)", out)
        self.assertEqual(self.stored(), bytes_before)

    def check_samples(self, store):
        """Every record holds the samples of as many processes as its comparison."""
        samples = store.samples()
        self.assertEqual(len(samples), CASES * STORED)
        for (case, variant), processes in samples.items():
            self.assertEqual(len(processes), store.processes[case], variant)
            self.assertTrue(all(len(rounds) >= 3 for rounds in processes))


class AppendTest(ProcessesTest):
    def setUp(self):
        super().setUp()
        self.program.sweep(SWEEP.replace("0.9", "0.05").replace("processes: 3", "processes: 1"))
        self.few = ["--axis", "sequence_length=33,34"]
        self.run_it(*self.few)

    def test_one_process_is_added_whatever_the_sweep_says(self):
        before = Store(self.results).samples()
        for processes in (2, 3):
            self.run_it(*self.few, "--append-process")
            self.assertEqual(self.processes(), [processes] * 2)
        after = Store(self.results).samples()
        self.assertEqual({key: samples[:1] for key, samples in after.items()}, before)
        for record in self.program.records("out"):
            self.assertEqual(record["status"], "ok")
            self.assertEqual(len({one["seed"] for one in record["environment"]["processes"]}), 3)
            if record["speedup"]:
                self.assertEqual(record["speedup"]["processes"], 3)
        out, _ = self.run_it(*self.few)
        self.assertIn("(2 comparisons were measured before)", out)

    def test_the_command_line_may_ask_for_more(self):
        self.run_it(*self.few, "--processes", "3")
        self.assertEqual(self.processes(), [3] * 2)
        for number in ("0", "-1", "1001", "x"):
            with self.subTest(number):
                _, err = self.run_it(*self.few, "--processes", number, status=2)
                self.assertRegex(err, r"^hilbench: error: [^\n]*--processes[^\n]*\n$")

    def test_other_variants_are_refused(self):
        before = self.stored()
        for arguments in (["--filter", "hilbert$"], ["--filter", "n33-.*(linear|random)$"]):
            with self.subTest(arguments):
                _, err = self.run_it(*self.few, *arguments, "--append-process", status=2)
                self.assertRegex(err, r"^hilbench: error: the store holds n33-\S* with more variants than are asked for "
                                      r"now \(out\): [^\n]*; [^\n]*\n$")
                self.assertEqual(self.stored(), before)
                out, _ = self.run_it(*self.few, *arguments)  # what it asks for is there
                self.assertIn("measured before", out)
                self.assertEqual(self.stored(), before)

    def test_whole_cases_may_be_left_out(self):
        self.run_it("--axis", "sequence_length=34", "--append-process")
        self.assertEqual(self.processes(), [1, 2])


class RetryTest(ProcessesTest):
    def setUp(self):
        super().setUp()
        self.program.sweep(FAILING)
        self.program.add_rival()

    def run_failing(self, *arguments, status=1):
        return self.run_it("--allow-external", *arguments, status=status)[0]

    def status(self):
        return {variant: status for _, _, variant, status, *_ in Store(self.results).rows}["my"]

    def mend(self):
        (self.program.folder / "works").touch()

    def test_once_by_itself_and_always_if_asked(self):
        self.run_failing()
        first = Store(self.results).samples()
        self.run_failing()
        again = Store(self.results).samples()
        self.assertTrue(all(first[key] != again[key] for key in first), "nothing was measured again")
        self.mend()
        before = self.stored()
        self.assertIn("(1 comparisons were measured before)", self.run_failing())
        self.assertEqual(self.stored(), before)
        self.run_failing("--retry-failed", status=0)
        self.assertEqual(self.status(), "ok")

    def test_what_is_mended_is_measured_with_the_rest(self):
        self.run_failing()
        self.mend()
        self.run_failing(status=0)
        self.assertEqual(self.status(), "ok")

    def test_other_variants_are_not_lost(self):
        """A commit replaces all records of a comparison: a run that leaves variants out tries nothing again."""
        self.run_failing()
        self.mend()
        before = self.stored()
        self.assertIn("(1 comparisons were measured before)", self.run_failing("--filter", "linear$", status=0))
        _, err = self.run_it("--allow-external", "--filter", "linear$", "--retry-failed", status=2)
        self.assertRegex(err, r"^hilbench: error: the store holds \S+ with more variants than are asked for now [^\n]*\n$")
        self.assertEqual(self.stored(), before)

    def test_other_settings_are_refused(self):
        self.run_failing()
        before = self.stored()
        self.program.sweep(FAILING.replace("min_rounds: 3", "min_rounds: 4"))
        for arguments in ([], ["--retry-failed"]):
            _, err = self.run_it("--allow-external", *arguments, status=2)
            self.assertIn("measured with other settings", err)
            self.assertEqual(self.stored(), before)

    def test_appended_processes_are_not_lost(self):
        for _ in range(3):
            self.run_failing("--append-process")
        self.assertEqual(self.processes(), [3])
        self.mend()
        self.run_failing(status=0)  # the sweep asks for one process
        self.assertEqual((self.processes(), self.status()), ([3], "ok"))


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
