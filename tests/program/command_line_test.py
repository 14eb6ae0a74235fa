#!/usr/bin/env python3
"""What commands do at the edges: memory, sizes, filters, exports, two runs, folders that may not be used.

Usage: command_line_test.py HILBENCH [unittest arguments]
"""

import gzip
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree
from pathlib import Path

from command_line import AXES, CommandLine, HEAD, SMALL, main, variants


class ShorterRuns(CommandLine):
    def test_long_executions_are_skipped_with_the_reason(self):
        self.put("sweep.yaml", SMALL)
        result = self.run_it(["plan", "sweep.yaml", "--execution-limit", "1000"])
        self.assert_runs(result)
        self.assertNotIn(b"--execution-limit", result.stdout)
        self.measured(arguments=["--execution-limit", "0"])
        self.assertEqual(self.statuses(), {"skipped"})
        self.assertTrue(all("more than --execution-limit 0" in reason for _, _, reason in self.records()))

    def test_another_budget_is_another_measurement(self):
        self.put("sweep.yaml", SMALL)
        self.measured(arguments=["--budget", "0.05"])
        self.assertIn(b"measured before", self.measured(arguments=["--budget", "0.05"]).stdout)
        result = self.run_it(["run", "sweep.yaml", "--budget", "0.06"])
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"measured with other settings", result.stderr)


class Memory(CommandLine):
    def longest(self, memory):
        result = self.run_it(["plan", "sweep.yaml", "--longest", "--memory", memory])
        self.assert_runs(result)
        found = re.findall(rb"/dilated/linear +(\d+)", result.stdout)
        self.assertEqual(len(found), 1, result.stdout)
        return int(found[0])

    def test_longest_sequence_grows_with_the_memory_that_is_named(self):
        self.put("sweep.yaml", SMALL)
        one, two = self.longest("8GiB"), self.longest("16GiB")
        self.assertGreater(one, 0)
        self.assertAlmostEqual(two / one, 2, delta=0.05)
        self.assertLess(self.longest("8GB"), one)

    def test_named_memory_replaces_the_device_s_in_the_plan(self):
        self.put("sweep.yaml", SMALL)
        self.measured(arguments=["--memory", "10kB"])
        reasons = {reason for _, status, reason in self.records() if status == "skipped"}
        self.assertEqual(self.statuses(), {"skipped"})
        self.assertRegex(reasons.pop(), "does not fit")

    def test_named_memory_is_not_that_of_the_plan(self):
        self.put("sweep.yaml", SMALL)
        result = self.run_it(["plan", "sweep.yaml", "--memory", "1kB"])
        self.assert_runs(result)
        self.assertIn(b"does not fit", result.stdout)

    def test_longest_below_one_segment_and_without_a_gpu(self):
        self.put("sweep.yaml", SMALL.replace("segments: [32]", "segments: [1073741824]"))
        self.assertGreater(self.longest("8MB"), 1000)
        self.assertEqual(self.longest("1kB"), 0)
        result = self.run_it(["plan", "sweep.yaml", "--longest", "--memory", "1kB"])
        self.assertIn(b" 0          -  does not fit", result.stdout)
        self.put("sweep.yaml", SMALL)
        result = self.run_it(["plan", "sweep.yaml", "--longest", "--memory", "80GB", "--device", "cuda"])
        self.assert_runs(result)
        self.assertRegex(result.stderr.decode(), r"note: .*; cases on cuda are planned for compute capability 9\.0\n")
        if b"this build has no" not in result.stdout:
            self.assertRegex(result.stdout, rb"p1-cuda-threads.1/dilated/linear +\d{6,} ")

    def test_memory_that_is_no_size(self):
        self.put("sweep.yaml", SMALL)
        self.refused(["plan", "sweep.yaml", "--memory", "much"], "much")
        self.refused(["plan", "sweep.yaml", "--memory", "0"], "memory")


class Orders(CommandLine):
    def test_a_length_with_a_unit(self):
        result = self.run_it(["order", "hilbert", "--length", "4k"])
        self.assert_runs(result)
        self.assertEqual(sorted(map(int, result.stdout.split())), list(range(4096)))

    def test_a_picture(self):
        result = self.run_it(["order", "boxes.4.8", "--grid", "16x32", "--svg", "boxes.svg"])
        self.assert_runs(result)
        self.assertEqual(result.stdout, b"", "the slots are not printed too")
        root = xml.etree.ElementTree.parse(self.folder / "boxes.svg").getroot()
        self.assertTrue(root.tag.endswith("svg"))
        self.assertIn("boxes.4.8 on 16 x 32", "".join(root.itertext()))


class RunTime(CommandLine):
    def test_sizes_at_the_edges(self):
        cases = """cases:
  - {sequence_length: 1, segments: [1], dilations: [1], heads: 1, head_dim: 16, threads: 1}
  - {sequence_length: 33, segments: [8], dilations: [8], heads: 3, head_dim: 17, threads: 1}
  - {sequence_length: 7, segments: [64], dilations: [3], heads: 2, head_dim: 255, threads: 1, causal: true}
"""
        self.measured(HEAD + cases + variants("[{kernel: dilated, order: [linear, hilbert, residue, random]}]")
                      .replace(HEAD, "").replace(AXES, ""))
        self.assertEqual(self.statuses(), {"ok"}, self.records())

    def test_order_parameters_beyond_the_length(self):
        self.measured(variants("[{kernel: dilated, order: [linear, hilbert.1099511627776, "
                               "residue.1099511627776, bitrev_residue.1099511627776]}]"))
        self.assertEqual(self.statuses(), {"ok"}, self.records())

    def test_what_cannot_run_is_skipped(self):
        for text in ("head_dim: 1", "head_dim: 1024", "dtype: fp16",
                     "device: cuda", "sequence_length: 1099511627776", "batch: 4294967296",
                     "heads: 16777216"):
            with self.subTest(text=text):
                key, value = text.split(": ")
                self.measured(arguments=["--fresh", "--axis", "%s=%s" % (key, value)])
                self.assertEqual(self.statuses(), {"skipped"}, self.records())
                self.assertNotIn("", [reason for _, _, reason in self.records()])
        self.measured(arguments=["--fresh", "--device", "cuda"])
        self.assertEqual(self.statuses(), {"skipped"})
        self.assert_runs(self.run_it(["report", "results/small"]))

    def test_reasons_to_skip_are_told(self):
        result = self.measured(arguments=["--device", "cuda"])
        self.assertRegex(result.stdout.decode(), r"2 skipped\nskipped 2: [^\n]+\nnothing was measured\n")
        result = self.measured(SMALL + "baselines: [torch_sdpa]\n", ["--fresh"])
        self.assertRegex(result.stdout.decode(), r"1 skipped\nskipped 1: runs another program: needs --allow-external\n")
        self.assertNotIn(b"nothing was measured", result.stdout)

    def test_a_filter_resumes_what_ran_without_it(self):
        self.measured()
        result = self.measured(arguments=["--filter", "hilbert"])
        self.assertIn(b"(1 comparisons were measured before)", result.stdout)
        self.measured(arguments=["--fresh", "--filter", "linear"])
        self.refused(["run", "sweep.yaml"], r"without some of the variants.*--fresh")

    def test_results_read_from_an_export(self):
        self.measured()
        text = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout
        (self.folder / "plain").mkdir()
        (self.folder / "packed").mkdir()
        (self.folder / "plain/records.jsonl").write_bytes(text)
        (self.folder / "packed/records.jsonl.gz").write_bytes(gzip.compress(text))
        for folder in ("plain", "packed"):
            self.assertEqual(self.run_it(["export", folder, "--format", "jsonl"]).stdout, text)
            self.assert_runs(self.run_it(["report", folder, "-o", "out"]))
        (self.folder / "packed/records.jsonl.gz").write_bytes(gzip.compress(text)[:-20])
        self.refused(["export", "packed", "--format", "csv"], r"cannot be read")
        (self.folder / "plain/records.jsonl").write_bytes(text + text)
        self.refused(["export", "plain", "--format", "csv"], r"line 4\): .* is already in line 1")
        (self.folder / "plain/records.jsonl").write_bytes(b'{"schema": ' + b"[" * 1000000)
        self.refused(["report", "plain"], r"nested deeper")

    def test_an_export_replaces_no_records(self):
        self.measured()
        text = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout
        (self.folder / "plain").mkdir()
        (self.folder / "plain/records.jsonl").write_bytes(text)
        (self.folder / "link.csv").symlink_to("plain/records.jsonl")
        for folder, output in (("results/small", "results/small/results.sqlite"), ("plain", "plain/records.jsonl"),
                               ("plain", "link.csv"), ("plain", "results/small/results.sqlite")):
            self.refused(["export", folder, "--format", "csv", "-o", output], "an export must not replace records")
        self.assertEqual((self.folder / "plain/records.jsonl").read_bytes(), text)
        self.assertEqual(self.run_it(["export", "results/small", "--format", "jsonl"]).stdout, text)
        self.assert_runs(self.run_it(["export", "plain", "--format", "csv", "-o", "plain/records.csv"]))

    def test_special_files_are_not_read(self):
        self.measured()
        (self.folder / "plain").mkdir()
        (self.folder / "plain/records.jsonl").write_bytes(
            self.run_it(["export", "results/small", "--format", "jsonl"]).stdout)
        os.mkfifo(self.folder / "pipe")
        (self.folder / "vega").mkdir()
        os.mkfifo(self.folder / "vega/vega-util.min.js")
        self.refused(["report", "plain", "--charts", "vega"], r"it has no vega-util\.min\.js")
        for special in ("pipe", "/dev/zero"):
            self.refused(["report", "plain", "--claims", special], r"not a claims file")
            self.refused(["report", "plain", "--charts", special], r"not a folder of Vega 5")
            (self.folder / "plain/meta.json").symlink_to(Path("..") / special)
            self.refused(["report", "plain"], r"not a file of meta")
            (self.folder / "plain/meta.json").unlink()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become somebody who may not")
    def test_folders_that_may_not_be_used(self):
        self.measured()
        shutil.copy(self.PROGRAM, self.folder / "hilbench")
        self.folder.chmod(0o755)
        (self.folder / "locked").mkdir(mode=0o700)
        def nobody():
            os.setgid(65534)
            os.setuid(65534)
        def refused(*arguments, says="Permission denied"):
            result = subprocess.run(["./hilbench", *arguments], cwd=self.folder, preexec_fn=nobody, timeout=120,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assert_refused(result, says, 4)
        refused("run", "sweep.yaml", "-o", "locked")
        refused("run", "sweep.yaml", "-o", "locked/deeper")
        refused("run", "sweep.yaml", "--dump", "locked")
        refused("report", "locked")
        refused("report", "results/small", "-o", "locked/out")
        refused("export", "results/small", "--format", "csv", "-o", "locked/x.csv")
        refused("order", "linear", "--length", "4", "-o", "locked/x.npy")
        refused("compare", "results/small", "results/small", "-o", "locked/x")
        (self.folder / "exported").mkdir()
        for name in ("records.jsonl", "meta.json", "secret"):
            (self.folder / "exported" / name).touch(mode=0)
        refused("run", "exported/secret")
        refused("order", "file", "--length", "4", "--file", "exported/secret")
        refused("report", "results/small", "-o", "exported", "--claims", "exported/secret")
        refused("report", "results/small", "-o", "exported", "--charts", "locked")
        refused("report", "exported")
        (self.folder / "exported/meta.json").unlink()
        refused("report", "exported")
        (self.folder / "results/small/results.sqlite").chmod(0)
        refused("export", "results/small", "--format", "csv", says="unable to open|ermission")

    def test_folders_whose_names_are_no_utf8(self):
        """Such as those that a Latin-1 system made. They are measured into and read; what is said of them is UTF-8."""
        self.put("sweep.yaml", SMALL)
        name = os.fsdecode(b"r\xff\x1b[31m")
        for arguments in (["run", "sweep.yaml", "-o", name], ["report", name, "-o", "page" + name],
                          ["site", name, "-o", "site" + name], ["compare", name, name, "-o", "compared" + name],
                          ["export", name, "--format", "jsonl", "-o", "records.jsonl"],
                          ["gate", "sweep.yaml", "--baseline", name, "--candidate", self.PROGRAM, "--budget", "0.1s",
                           "--threshold", "90%", "-o", "gate"]):
            with self.subTest(arguments[0]):
                result = self.run_it(arguments)
                self.assertIn(result.returncode, (0, 3) if arguments[0] == "gate" else (0,), result.stderr)
                if arguments[0] == "gate":
                    self.assertIn("Baseline: r\ufffd [31m.", result.stdout.decode())
        written = [path for path in self.folder.rglob("*") if path.suffix in (".html", ".md", ".csv", ".xml", ".jsonl")]
        self.assertGreater(len(written), 8)
        for path in written:
            self.assertNotIn("\x1b", path.read_bytes().decode(), path)

    def test_a_gpu_that_is_not_there(self):
        self.put("sweep.yaml", SMALL)
        self.refused(["run", "sweep.yaml", "--device", "cuda", "--profile", "dilated/linear"],
                     r"no GPU to run 'dilated/linear' on \(--profile\)", 4)
        self.refused(["run", "sweep.yaml", "--device", "cuda:99"], "no device cuda:99", status=4)

    def test_processes_and_cold_caches(self):
        self.measured(SMALL.replace("min_rounds: 3", "min_rounds: 3, processes: 3, cache: cold"))
        self.assertEqual(self.statuses(), {"ok"}, self.records())

    def test_dump(self):
        self.measured(arguments=["--dump", "dumped"])
        self.assertEqual(self.statuses(), {"ok"}, self.records())
        self.assertEqual(len(list((self.folder / "dumped").rglob("*.npy"))), 10)


if __name__ == "__main__":
    main()
