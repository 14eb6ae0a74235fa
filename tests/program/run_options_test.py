"""What the options of `run` change, on a small sweep.

Usage: run_options_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import sys
import unittest

from program import Program, read_npy, write_npy

SMALL = """
name: small
axes: {sequence_length: 64, segments: [[32]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants:
  - {kernel: dilated, order: [linear, hilbert, random]}
baselines: [gemm]
measure: {budget_s: 0.1, min_rounds: 3}
"""


class OptionsTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.sweep = self.program.sweep(SMALL)

    def test_plan_and_dry_run_write_nothing(self):
        before = sorted(self.program.folder.rglob("*"))
        planned, _ = self.program.run("plan", self.sweep)
        dry, _ = self.program.run("run", self.sweep, "--dry-run")
        self.assertEqual(planned, dry)
        for text in ("n64-w32-r2-h2-d16-fp32-p1-cpu-threads.1", "dilated/hilbert", "gemm", "4 variants to measure"):
            self.assertIn(text, planned)
        self.assertEqual(sorted(self.program.folder.rglob("*")), before)

    def test_results_go_to_the_folder_of_the_sweep_by_default(self):
        self.program.run("run", self.sweep)
        self.assertTrue((self.program.folder / "results" / "small" / "results.sqlite").exists())

    def test_filter_keeps_the_reference(self):
        self.program.run("run", self.sweep, "-o", "out", "--filter", "dilated/random$")
        records = self.program.records("out")
        self.assertEqual([record["variant"] for record in records], ["dilated/linear", "dilated/random"])
        self.assertEqual(records[1]["speedup"]["against"], "dilated/linear")
        self.program.run("run", self.sweep, "-o", "none", "--filter", "nothing", status=2)
        self.program.run("run", self.sweep, "-o", "none", "--filter", "(", status=2)
        self.assertFalse((self.program.folder / "none").exists())

    def test_axis_replaces_a_parameter(self):
        self.program.run("run", self.sweep, "-o", "out", "--axis", "heads=1,2", "--axis", "causal=true")
        params = [record["params"] for record in self.program.records("out")]
        self.assertEqual({each["heads"] for each in params}, {1, 2})
        self.assertEqual({each["causal"] for each in params}, {True})

    def test_processes_join_their_samples(self):
        self.program.run("run", self.program.sweep(SMALL.replace("min_rounds: 3", "min_rounds: 3, processes: 2")),
                         "-o", "out")
        for record in self.program.records("out"):
            self.assertEqual(record["status"], "ok")
            self.assertEqual(len(record["time_ns"]["samples"]), 2)
            self.assertTrue(all(len(process) >= 3 for process in record["time_ns"]["samples"]))
            seeds = [process["seed"] for process in record["environment"]["processes"]]
            self.assertEqual((len(seeds), len(set(seeds))), (2, 2))
        (twin,) = (record for record in self.program.records("out", twins=True) if record["twin"])
        self.assertEqual((twin["variant"], twin["status"]), ("dilated/linear@twin", "ok"))
        self.assertEqual(twin["asked"]["reference"], "dilated/linear")

    def test_cold_cache(self):
        self.program.run("run", self.program.sweep(SMALL.replace("min_rounds: 3", "min_rounds: 3, cache: cold")),
                         "-o", "out")
        for record in self.program.records("out"):
            self.assertEqual((record["status"], record["params"]["cache"]), ("ok", "cold"))

    def test_steady_samples(self):
        steady = SMALL.replace("min_rounds: 3", "min_rounds: 3, processes: 2, steady: true, steady_s: 0.2")
        sweep = self.program.sweep(steady.replace(", hilbert, random", ""))
        out, _ = self.program.run("plan", sweep)
        self.assertIn("steady: each sample is 0.2 s or more of executions back to back", out)
        self.program.run("run", sweep, "-o", "out")
        records = self.program.records("out", twins=True)
        self.assertEqual({record["variant"] for record in records}, {"dilated/linear", "dilated/linear@twin", "gemm"})
        for record in records:
            self.assertEqual((record["status"], record["params"]["steady_s"]), ("ok", 0.2), record["reason"])
            times, energy = record["time_ns"], record["energy_j"]
            # Two processes share three rounds. Their windows alone, of three variants, take this long.
            self.assertEqual([len(process) for process in times["samples"]], [2, 2])
            self.assertTrue(all(process["seconds"] > 6 * 0.2 for process in record["environment"]["processes"]))
            if energy["median"] is None:
                self.assertTrue(energy["reason"])
            else:
                self.assertEqual([len(process) for process in energy["samples"]], [2, 2])
        self.program.run("report", "out", "-o", "report")
        report = (self.program.folder / "report" / "report.md").read_text()
        self.assertIn("Steady: all times are of executions back to back for 0.2 s or more", report)
        self.assertIn("| steady | J per run |", report)
        _, err = self.program.run("run", self.program.sweep(SMALL), "-o", "out", status=2)
        self.assertIn("measured with other settings", err)
        self.program.run("run", self.program.sweep(SMALL), "-o", "plain")
        text, err = self.program.run("compare", "plain", "out", status=3)
        self.assertIn("steady no / 0.2 s", text + err)

    def test_inputs_from_files(self):
        values = [((7 * i) % 31 - 15) / 8 for i in range(64 * 2 * 16)]
        for name in "qkv":
            write_npy(self.program.folder / f"{name}.npy", [1, 64, 2, 16], values, "<f4")
        sweep = self.program.sweep(SMALL + "inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n")
        self.program.run("run", sweep, "-o", "out", "--dump", "dump")
        (case,) = (self.program.folder / "dump").iterdir()
        self.assertEqual(list(read_npy(case / "gemm" / "q.npy")[1]), values)
        write_npy(self.program.folder / "q.npy", [1, 64, 2, 16], values[::-1], "<f4")
        _, err = self.program.run("run", sweep, "-o", "out", status=2)
        self.assertIn("measured with other settings", err)

    def test_dump_folder_that_cannot_be_made(self):
        (self.program.folder / "dump").write_text("a file")
        _, err = self.program.run("run", self.sweep, "-o", "out", "--dump", "dump", status=2)
        self.assertRegex(err, r"cannot write to the output folder \(dump\): .*give another folder with --dump")
        self.assertFalse((self.program.folder / "out").exists())


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
