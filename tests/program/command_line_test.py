#!/usr/bin/env python3
"""Bad input and odd surroundings through the command line: exit status, the one-line message, nothing written.

Usage: command_line_test.py HILBENCH
"""

import gzip
import json
import os
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = ""
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # these tests are about processors: a GPU is not to be seen

# A sweep of one small case; the tables below replace or add parts of it.
HEAD = "name: small\n"
AXES = "axes: {sequence_length: 64, segments: [32], dilations: [2], heads: 2, head_dim: 16, threads: 1}\n"
VARIANTS = "variants: [{kernel: dilated, order: [linear, hilbert]}]\n"
MEASURE = "measure: {budget_s: 0.02, min_rounds: 3, timeout_s: 60}\ncounters: []\n"
SMALL = HEAD + AXES + VARIANTS + MEASURE


def sweep(axes=AXES, variants=VARIANTS, more=""):
    return HEAD + axes + variants + MEASURE + more


def axes(text):
    return sweep(axes="axes: " + text + "\n")


def variants(text):
    return sweep(variants="variants: " + text + "\n")


def npy(shape, descr, data, order="False"):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def permutation(slots):
    return npy((len(slots),), "<i8", struct.pack("<%dq" % len(slots), *slots))


def tensor(values, shape=(1, 64, 2, 16)):
    return npy(shape, "<f4", struct.pack("<%df" % len(values), *values))


FULL = [0.5] * (64 * 2 * 16)
ORDER_FILE = variants("[{kernel: dilated, order: [linear, file], order_file: map.npy}]")
TENSORS = sweep(more="inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n")
TENSOR_FILES = {name: tensor(FULL) for name in ("q.npy", "k.npy", "v.npy")}

# Sweeps that `run` and `plan` refuse: what the message says, the sweep, other files in its folder.
BAD_SWEEPS = [
    (r"unknown key 'axis'.*allowed are name, title.*did you mean 'axes'", HEAD + "axis: {}\n", {}),
    (r"unknown key 'sequnce_length'.*did you mean 'sequence_length'", axes("{sequnce_length: 64}"), {}),
    (r"expects an integer 1\.\.1099511627776 \(sweep\.yaml:2, axes\.heads\): found 'many'", axes("{heads: many}"), {}),
    (r"expects an integer.*found a map|expects", axes("{heads: [{}]}"), {}),
    (r"expects true or false .*: found 'yes'", axes("{causal: yes}"), {}),
    (r"expects one of fp32, bf16, fp16 .*: found 'fp8'", axes("{dtype: fp8}"), {}),
    # Wrong also if every variant sets the option itself.
    (r"unknown order 'bogus'.*axes\.order", axes("{sequence_length: 64, order: bogus}"), {}),
    (r"traversal 'nope'.*axes\.traversal", sweep(AXES.replace("threads", "traversal: nope, threads"),
                                                 "variants: [{kernel: dilated, traversal: sawtooth}]\n"), {}),
    (r"expects a map .*: found a list", axes("[1, 2]"), {}),
    (r"empty list", axes("{heads: []}"), {}),
    (r"empty axis", axes("{heads: {range: [5, 1, 1]}}"), {}),
    (r"0 is out of range", axes("{sequence_length: 0}"), {}),
    (r"-8 is out of range", axes("{heads: -8}"), {}),
    (r"is out of range", axes("{heads: 99999999999999999999}"), {}),
    (r"is out of range", axes("{head_dim: 1099511627777}"), {}),
    (r"passes 2\^62 bytes", axes("{sequence_length: 1099511627776, batch: 1099511627776}"), {}),
    (r"kv_heads 8 is above heads 2", axes("{heads: 2, kv_heads: 8}"), {}),
    (r"1 dilations for 2 segments", axes("{segments: [32, 64], dilations: [1]}"), {}),
    (r"patterns of dilations", axes("{segments: [[32], [64]], dilations: [[1]]}"), {}),
    (r"dilation 64 is larger than its segment 32", axes("{segments: [32], dilations: [64]}"), {}),
    (r"more than a million cases",
     axes("{heads: {range: [1, 1001, 1]}, sequence_length: {range: [1, 1000, 1]}}"), {}),
    (r"more than a million", axes("{heads: {range: [1, 99999999, 1]}}"), {}),
    (r"unknown order 'hilbret'.*did you mean 'hilbert'", variants("[{kernel: dilated, order: hilbret}]"), {}),
    (r"unknown kernel 'dilatd'.*did you mean 'dilated'", variants("[{kernel: dilatd}]"), {}),
    (r"unknown baseline 'gem'(?!.*peak.*peak).*did you mean 'gemm'", sweep(more="baselines: [gem]\n"), {}),
    (r"unknown traversal", variants("[{kernel: dilated, traversal: head_mjor}]"), {}),
    (r"unknown variant", sweep(more="reference: dilated/none\n"), {}),
    (r"takes a power of two", variants("[{kernel: dilated, order: bitrev_residue.6}]"), {}),
    (r"takes no parameter", variants("[{kernel: dilated, order: linear.6}]"), {}),
    (r"order_file missing", variants("[{kernel: dilated, order: file}]"), {}),
    (r"no such file", ORDER_FILE, {}),
    (r"no bijection .*: slot 0 is taken twice", ORDER_FILE, {"map.npy": permutation([0] * 64)}),
    (r"no bijection", ORDER_FILE, {"map.npy": permutation(list(range(1, 65)))}),
    (r"order_file has 32 positions", ORDER_FILE, {"map.npy": permutation(list(range(32)))}),
    (r"truncated \.npy", ORDER_FILE, {"map.npy": permutation(list(range(64)))[:-8]}),
    (r"not a \.npy file", ORDER_FILE, {"map.npy": b"PK\x03\x04 no array"}),
    (r"not a \.npy file", ORDER_FILE, {"map.npy": b""}),
    (r"overflows", ORDER_FILE, {"map.npy": npy((2**61, 64), "<i8", b"")}),
    (r"no such file", TENSORS, {}),
    (r"tensor of another shape", TENSORS, dict(TENSOR_FILES, **{"k.npy": tensor(FULL, (1, 32, 4, 16))})),
    (r"NaN in the data", TENSORS, dict(TENSOR_FILES, **{"v.npy": tensor(FULL[:-1] + [float("nan")])})),
    (r"infinity in the data", TENSORS, dict(TENSOR_FILES, **{"v.npy": tensor(FULL[:-1] + [float("inf")])})),
    (r"truncated \.npy", TENSORS, dict(TENSOR_FILES, **{"q.npy": tensor(FULL)[:-4]})),
    (r"dtype", TENSORS, dict(TENSOR_FILES, **{"q.npy": npy((1, 64, 2, 16), "<i4", b"\0" * 8192)})),
    (r"big-endian", TENSORS, dict(TENSOR_FILES, **{"q.npy": npy((1, 64, 2, 16), ">f4", b"\0" * 8192)})),
    (r"Fortran order", TENSORS,
     dict(TENSOR_FILES, **{"q.npy": npy((1, 64, 2, 16), "<f4", b"\0" * 8192, "True")})),
    (r"anchors and aliases",
     "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n" + SMALL, {}),
    (r"nested too deep", "name: " + "[" * 20000 + "]" * 20000, {}),
    (r"nested too deep", "name: " + "{a: " * 20000 + "}" * 20000, {}),
    (r"nested too deep", "- " * 20000 + "x\n", {}),
    (r"a key must be a word|nested too deep|not YAML", "? " * 20000 + "x\n", {}),
    (r"not a text file", b"\x7fELF\x02\x01\x01\x00", {}),
    (r"not UTF-8", b"name: \xff\xfe\n", {}),
    (r"file is empty", "", {}),
    (r"file is empty", " \n\n", {}),
    (r"tags are not read", "name: !!python/object:os.system x\n", {}),
    (r"cannot name a folder", SMALL.replace("small", "../escape"), {}),
    (r"cannot name a folder", SMALL.replace("small", "/etc/passwd"), {}),
    (r"cannot name a folder", SMALL.replace("small", "\"$(touch x)\""), {}),
    (r"control character|not a text file", SMALL + 'title: "\\e[31mred"\n', {}),
    (r"key 'name' is given twice", SMALL + "name: again\n", {}),
    (r"nothing|no variant", HEAD + AXES, {}),
    (r"skip_when|unknown parameter", SMALL + 'skip_when: "hed_dim > 3"\n', {}),
    (r"nested too deep|condition too long", SMALL + "skip_when: '%s'\n" % ("(" * 5000), {}),
]

# Commands in a folder with a good sweep.yaml: expected exit status, arguments, what the message says.
BAD_COMMANDS = [
    (2, [], r"subcommand"),
    (2, ["fly"], r"error: unknown command 'fly'; see hilbench --help\n"),
    (2, ["pln", "sweep.yaml"], r"error: unknown command 'pln'; did you mean 'plan'\?\n"),
    (2, ["rep"], r"error: unknown command 'rep'; did you mean 'report'\?\n"),
    (2, ["work"], r"error: unknown command 'work'; see hilbench --help\n"),
    (2, ["fly", "plan", "sweep.yaml"], r"error: unknown command 'fly'; see hilbench --help\n"),
    (2, ["-v"], r"error: unknown option '-v'; did you mean '--version'\?\n"),
    (2, ["-v", "plan", "sweep.yaml"], r"error: unknown option '-v'; did you mean '--version'\?\n"),
    (2, ["plan", "--fliter=x", "sweep.yaml"], r"error: unknown option '--fliter'; did you mean '--filter'\?\n"),
    (2, ["plan", "--fresh", "sweep.yaml"], r"error: unknown option '--fresh'; see hilbench plan --help\n"),
    (2, ["plan", "sweep.yaml", "more.yaml"], r"error: hilbench plan takes no argument 'more\.yaml'; see hilbench plan --help\n"),
    (2, ["\x1b[31m" + "x" * 10000], r"error: unknown command ' \[31mx+[^\n]*'; see hilbench --help\n"),
    (2, ["run"], r"SWEEP\.yaml is required"),
    (2, ["run", "--colour", "sweep.yaml"], r"--colour"),
    (2, ["run", "nosuch.yaml"], r"no such sweep file \(nosuch\.yaml\)"),
    (2, ["run", "."], r"not a sweep file"),
    (2, ["run", "/dev/zero"], r"not a sweep file"),
    (2, ["run", ""], r"no such sweep file|empty"),
    (2, ["run", "sweep.yaml", "-o", "sweep.yaml"], r"cannot write to the output folder \(sweep\.yaml\)"),
    (2, ["run", "sweep.yaml", "-o", "sweep.yaml/deeper"], r"cannot write to the output folder"),
    (2, ["run", "sweep.yaml", "-o", "/proc/hilbench"], r"cannot write to the output folder"),
    (2, ["run", "sweep.yaml", "--dump", "sweep.yaml"], r"--dump"),
    (2, ["run", "sweep.yaml", "--dump", "sweep.yaml/deeper"], r"--dump"),
    (2, ["run", "sweep.yaml", "--filter", "("], r"bad regular expression"),
    (2, ["run", "sweep.yaml", "--filter", "nosuch"], r"matches no variant"),
    (2, ["run", "sweep.yaml", "--filter", "(" * 50000 + ")" * 50000], r"--filter"),
    (2, ["run", "sweep.yaml", "--filter", "(a{1,1000}){1,1000}{1,1000}"], r"--filter"),
    (2, ["run", "sweep.yaml", "--filter", "(.*)*(.*)*(.*)*nosuch$"], r"--filter"),
    (2, ["run", "sweep.yaml", "--axis", "nonsense"], r"expects NAME=V,V|unknown parameter"),
    (2, ["run", "sweep.yaml", "--axis", "head=2"], r"unknown parameter 'head'.*did you mean 'heads'"),
    (2, ["run", "sweep.yaml", "--axis", "heads="], r"empty list"),
    (2, ["run", "sweep.yaml", "--axis", "heads=1,,2"], r"expects an integer"),
    (2, ["run", "sweep.yaml", "--axis", "heads=1", "--axis", "heads=2"], r"given twice"),
    (2, ["run", "sweep.yaml", "--axis", "segments=1"], r"dilation 2 is larger than its segment 1"),
    (2, ["run", "sweep.yaml", "--axis"], r"--axis"),
    (2, ["run", "sweep.yaml", "--device", "tpu"], r"unknown device 'tpu'"),
    (2, ["run", "sweep.yaml", "--device", ""], r"--device: must not be empty"),
    (2, ["run", "sweep.yaml", "--device="], r"--device"),
    (2, ["run", "sweep.yaml", "--profile", ""], r"--profile: must not be empty"),
    (2, ["run", "sweep.yaml", "--filter", ""], r"--filter: must not be empty"),
    (2, ["run", "sweep.yaml", "--dump", "/proc/dump"], r"cannot write to the output folder \(/proc/dump\)"),
    (2, ["run", "sweep.yaml", "--budget", "-1"], r"--budget: must be a number from 0 to 1e6"),
    (2, ["run", "sweep.yaml", "--budget", "abc"], r"--budget: must be a number from 0 to 1e6"),
    (2, ["run", "sweep.yaml", "--dump", ""], r"--dump: must not be empty"),
    (2, ["run", "sweep.yaml", "-o", ""], r"-o: must not be empty"),
    (2, ["run", "sweep.yaml", "--profile", "nosuch"], r"no case runs the variant 'nosuch'"),
    (2, ["run", "sweep.yaml", "--memory", "0x10GB"], r"'0x10GB' is not a memory size \(--memory\)"),
    (2, ["run", "sweep.yaml", "--memory", "010GB"], r"does not begin with a decimal number"),
    (2, ["run", "sweep.yaml", "--memory", "80"], r"it has no unit; write a decimal number and a unit"),
    (2, ["predict", ".", "--memory", "9999999TB"], r"'9999999TB' is not a memory size .*not between a byte and 2\^62 bytes"),
    (2, ["predict", ".", "--memory", "80"], r"it has no unit; write a decimal number and a unit"),
    (2, ["plan", "sweep.yaml", "--longest", "--filter", "x"], r"--filter excludes --longest"),
    (2, ["plan", "sweep.yaml", "--longest", "--execution-limit", "1"], r"--execution-limit excludes --longest"),
    (2, ["run", "sweep.yaml", "--budget", "-1"], r"--budget"),
    (2, ["run", "sweep.yaml", "--execution-limit", "soon"], r"--execution-limit"),
    (2, ["run", "sweep.yaml", "--device", "cuda:"], r"unknown device 'cuda:'"),
    (2, ["run", "sweep.yaml", "--device", "cuda:x"], r"unknown device 'cuda:x'"),
    (2, ["report"], r"DIR is required"),
    (2, ["report", "."], r"no results here"),
    (2, ["report", "nosuch"], r"no results here"),
    (2, ["export", ".", "--format", "csv"], r"no results here"),
    (2, ["export", "."], r"--format is required"),
    (2, ["compare", "nosuch"], r"DIR_B is required"),
    (2, ["compare", "nosuch", "nosuch"], r"no results here \(nosuch\)"),
    (2, ["compare", "nosuch", "nosuch", "--format", "html"], r"--format"),
    (2, ["compare", "nosuch", "nosuch", "--fail-above", "-1"], r"--fail-above"),
    (2, ["compare", "nosuch", "nosuch", "--fail-above", "nan"], r"--fail-above"),
    (2, ["compare", "nosuch", "nosuch", "-o", ""], r"must not be empty"),
    (2, ["list", "nonsense"], r"nothing to list under 'nonsense'"),
    (2, ["list", "order"], r"did you mean 'orders'"),
    (2, ["list"], r"required"),
    (2, ["order", "hilbret", "--length", "4"], r"unknown order 'hilbret'.*did you mean 'hilbert'"),
    (2, ["order", "hilbert"], r"--length is required"),
    (2, ["order", "hilbert", "--length", "0"], r"length"),
    (2, ["order", "hilbert", "--length", "-1"], r"length"),
    (2, ["order", "hilbert", "--length", "x"], r"length"),
    (2, ["order", "hilbert", "--length", str(2**40)], r"out of range"),
    (2, ["order", "hilbert", "--length", str(2**70)], r"length"),
    (2, ["order", "hilbert.0", "--length", "4"], r"out of range"),
    (2, ["order", "random.%d" % 2**63, "--length", "4"], r"bad parameter"),
    (2, ["order", "random.", "--length", "4"], r"bad parameter"),
    (2, ["order", "hilbert.x", "--length", "4"], r"bad parameter"),
    (2, ["order", "linear", "--length", "4", "--chunk", "2"], r"does not apply"),
    (2, ["order", "residue.5", "--length", "4", "--residue", "3"], r"order 'residue' is given twice \(residue\.5\)"),
    (2, ["order", "linear", "--length", "010"], r"--length: '010' is not a decimal number"),
    (2, ["order", "residue", "--length", "4", "--residue", "0x2"], r"--residue: '0x2' is not a decimal number"),
    (2, ["predict", ".", "--ring", "2,010"], r"--ring: '010' is not a decimal number"),
    (2, ["order", "file", "--length", "4"], r"needs a permutation"),
    (2, ["order", "file", "--length", "4", "--file", "nosuch.npy"], r"no such file"),
    (2, ["order", "linear", "--length", "4", "-o", "nosuch/map.npy"], r"cannot write the file"),
    (2, ["order", "linear", "--length", "4", "-o", "."], r"cannot write the file"),
]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hilbench-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, timeout=120, **options)

    def put(self, name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(data)

    def listing(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def assert_refused(self, result, says, status=2):
        text = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, status, text[-2000:])
        self.assertRegex(text, r"\Ahilbench: error: [^\n]*\n\Z")
        self.assertRegex(text, says)
        self.assertLess(len(text), 4000)

    def assert_runs(self, result, status=0):
        self.assertEqual(result.returncode, status, result.stderr.decode(errors="replace")[-2000:])

    def refused(self, arguments, says, status=2, **options):
        before = self.listing()
        self.assert_refused(self.run_it(arguments, **options), says, status)
        self.assertEqual(self.listing(), before, "something was written")

    def records(self, folder="results/small"):
        with sqlite3.connect(self.folder / folder / "results.sqlite") as store:
            return store.execute("SELECT variant_id, status, coalesce(reason, '') FROM record").fetchall()

    def statuses(self, folder="results/small"):
        return {status for _, status, _ in self.records(folder)}

    def measured(self, text=SMALL, arguments=(), **options):
        self.put("sweep.yaml", text)
        result = self.run_it(["run", "sweep.yaml", *arguments], **options)
        self.assert_runs(result)
        return result


class BadInput(CommandLine):
    def test_sweeps(self):
        for says, text, files in BAD_SWEEPS:
            with self.subTest(says=says, text=text[:200]):
                for path in self.folder.iterdir():
                    path.unlink()
                self.put("sweep.yaml", text)
                for name, content in files.items():
                    self.put(name, content)
                self.refused(["run", "sweep.yaml"], says)

    def test_commands(self):
        self.put("sweep.yaml", SMALL)
        for status, arguments, says in BAD_COMMANDS:
            with self.subTest(arguments=[argument[:60] for argument in arguments]):
                self.refused(arguments, says, status)

    def test_order_that_does_not_fit_memory(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if available > 45 * 2**30:
            self.skipTest("an order of 2^31 positions fits this machine")
        self.refused(["order", "hilbert", "--length", str(2**31 - 1)], r"not enough memory", 4,
                     preexec_fn=limit)

    def test_plan_that_does_not_fit_memory(self):
        self.put("sweep.yaml", sweep("axes: {heads: {range: [1, 1000, 1]}, sequence_length: {range: [1, 1000, 1]}}\n",
                                     "variants: [{kernel: dilated, order: [linear, hilbert], traversal: [%s]}]\n" %
                                     ", ".join("grouped.%d" % group for group in range(1, 451))))
        self.refused(["plan", "sweep.yaml"], r"1000000 cases with 900 variants each are too many to plan")

    def test_order_that_is_no_bijection(self):
        result = self.run_it(["order", "seed_d2xy", "--length", "16"])
        self.assert_runs(result, status=1)
        self.assertEqual(len(result.stdout.split()), 16, "the map is printed all the same")
        self.assertRegex(result.stderr.decode(), r"(?m)^invalid: order seed_d2xy is no bijection: 9 of 16 positions")
        self.assert_runs(self.run_it(["order", "seed_list", "--length", "16"]))  # a bijection, but no curve

    def test_largest_seed(self):
        result = self.run_it(["order", "random.%d" % 2**62, "--length", "5"])
        self.assert_runs(result)
        self.assertEqual(sorted(result.stdout.split()), [b"0", b"1", b"2", b"3", b"4"])

    def test_huge_sparse_files_are_refused_by_their_shape(self):
        count = 2**36
        self.put("sweep.yaml", ORDER_FILE)
        self.put("map.npy", npy((count,), "<i8", b""))
        os.truncate(self.folder / "map.npy", os.path.getsize(self.folder / "map.npy") + 8 * count)
        self.refused(["plan", "sweep.yaml"], r"order_file has 68719476736 positions")
        self.put("sweep.yaml", TENSORS)
        self.put("q.npy", npy((1, count, 2, 16), "<f4", b""))
        os.truncate(self.folder / "q.npy", os.path.getsize(self.folder / "q.npy") + 128 * count)
        self.refused(["plan", "sweep.yaml"], r"tensor of another shape")


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


class Surroundings(CommandLine):
    def test_lost_standard_output(self):
        self.put("sweep.yaml", SMALL)
        for arguments in (["plan", "sweep.yaml"], ["list", "orders"], ["--version"], ["--help"],
                          ["order", "linear", "--length", "10"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                result = self.run_it(arguments, stdout=full)
                self.assertEqual(result.returncode, 4)
                self.assertRegex(result.stderr.decode(), r"hilbench: error: cannot write to standard output\n\Z")

    def test_closed_streams(self):
        self.put("sweep.yaml", SMALL)
        result = subprocess.run(["sh", "-c", '"$0" run sweep.yaml <&- >&- 2>&-', PROGRAM], cwd=self.folder,
                                timeout=120)
        self.assertEqual(result.returncode, 4, "its summary is lost")
        self.assertEqual(self.statuses(), {"ok"})
        result = subprocess.run(["sh", "-c", '"$0" export results/small --format csv >&-', PROGRAM], cwd=self.folder,
                                timeout=120, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 4)
        self.assertIn(b"cannot write to standard output", result.stderr)

    def test_variables_that_a_launcher_left(self):
        self.put("sweep.yaml", SMALL)
        # What MPI itself leaves behind when nothing was joined is not looked at.
        stale = dict(os.environ, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1", ASAN_OPTIONS="detect_leaks=0")
        result = self.run_it(["run", "sweep.yaml"], env=stale)
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, rb"note: rank 1 of 2 of an MPI launcher ends: .*(built without MPI|unset the var)")
        result = self.run_it(["plan", "sweep.yaml"], env=stale)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"rank 1 of 2 of an MPI launcher: rank 0 prints the plan", result.stderr)

    def test_lost_standard_error_does_not_stop_a_run(self):
        self.put("sweep.yaml", SMALL)
        with open("/dev/full", "wb") as full:
            self.assert_runs_anyway(self.run_it(["run", "sweep.yaml"], stderr=full))
        self.assertEqual(self.statuses(), {"ok"})
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_it(["run", "nosuch.yaml"], stderr=full).returncode, 2)

    def assert_runs_anyway(self, result):
        self.assertEqual(result.returncode, 0)

    def test_export_that_cannot_be_written(self):
        self.measured()
        self.refused(["export", "results/small", "--format", "csv", "-o", "nosuch/x.csv"], r"cannot write")
        self.refused(["export", "results/small", "--format", "csv", "-o", "."], r"cannot write")
        self.refused(["export", "results/small", "--format", "csv", "-o", "/dev/full"], r"cannot write", 4)
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.refused(["export", "results/small", "--format", "csv", "-o", "x.csv"], r"cannot write", 4,
                     preexec_fn=limit)
        self.put("old.csv", "as it was")
        self.refused(["export", "results/small", "--format", "csv", "-o", "old.csv"], r"cannot write", 4,
                     preexec_fn=limit)
        self.assertEqual((self.folder / "old.csv").read_text(), "as it was")
        self.refused(["export", "results/small", "--format", "xml"], r"unknown.*format|format.*unknown|xml")
        with open("/dev/full", "wb") as full:
            self.assert_refused(self.run_it(["export", "results/small", "--format", "csv"], stdout=full),
                                r"cannot write to standard output", 4)

    def test_report_that_cannot_be_written(self):
        self.measured()
        self.refused(["report", "results/small", "-o", "sweep.yaml"], r"sweep\.yaml")
        self.refused(["report", "results/small", "-o", "/proc/hilbench"], r"/proc/hilbench")
        self.refused(["report", "results/small", "-o", "out", "--claims", "nosuch.yaml"], r"nosuch\.yaml")
        self.refused(["report", "results/small", "-o", "out", "--charts", "nosuch.js"], r"nosuch\.js")
        self.put("claims.yaml", "[" * 20000)
        self.refused(["report", "results/small", "-o", "out", "--claims", "claims.yaml"], r"claims\.yaml")
        self.put("claims.yaml", "a: &a [x, x, x, x]\n" +
                 "".join("%s: &%s [*%s, *%s, *%s]\n" % (b, b, a, a, a) for a, b in zip("abcdefgh", "bcdefghi")))
        self.refused(["report", "results/small", "-o", "out", "--claims", "claims.yaml"], r"claims\.yaml")

    def test_file_size_limit(self):
        self.put("sweep.yaml", SMALL)
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.refused(["run", "sweep.yaml"], r"results\.sqlite", 4, preexec_fn=limit)

    def test_stores_that_cannot_be_used(self):
        self.measured()
        store = self.folder / "results/small/results.sqlite"
        good = store.read_bytes()
        for commands in (["run", "sweep.yaml"], ["report", "results/small"],
                         ["export", "results/small", "--format", "csv"]):
            with self.subTest(command=commands[0]):
                with sqlite3.connect(store) as db:
                    db.execute("PRAGMA user_version = 99")
                db.close()
                self.refused(commands, r"written by a newer hilbench")
                store.write_bytes(good)
                with sqlite3.connect(store) as db:
                    db.execute("UPDATE meta SET value = 'zzz' WHERE key = 'schema'")
                db.close()
                self.refused(commands, r"damaged.*its schema is 1, its table meta says 'zzz'")
                store.write_bytes(good)
                with sqlite3.connect(store) as db:
                    db.execute("DROP TABLE record")
                db.close()
                self.refused(commands, r"damaged.*no such table: record")
                store.write_bytes(b"this is no database, though it is long enough" * 200)
                self.refused(commands, r"not a store of hilbench")
                store.write_bytes(good[:100] + os.urandom(len(good) - 100))
                self.refused(commands, r"damaged|cannot be used|not a store")
                store.write_bytes(good[:len(good) // 2])
                self.refused(commands, r"damaged|cannot be used|not a store")
                store.write_bytes(good)

    def test_second_run_on_the_same_folder(self):
        self.measured()
        import fcntl
        folder = os.open(self.folder / "results/small", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.refused(["run", "sweep.yaml"], r"another hilbench writes to this folder")
        os.close(folder)

    def test_settings_that_changed(self):
        self.measured()
        self.put("sweep.yaml", SMALL.replace("min_rounds: 3", "min_rounds: 4"))
        self.refused(["run", "sweep.yaml"], r"other settings.*--fresh")

    def test_environment_variables(self):
        for name, values in {"OMP_NUM_THREADS": ["0", "-3", "many", "8", "4,2", ""],
                             "TMPDIR": ["/nonexistent"], "HOME": [None], "PATH": [""],
                             "LC_ALL": ["de_DE.UTF-8", "xx_XX"]}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    changed = dict(os.environ)
                    changed.pop(name, None)
                    if value is not None:
                        changed[name] = value
                    text = SMALL.replace(", threads: 1", "") if name == "OMP_NUM_THREADS" else SMALL
                    self.measured(text, ["--fresh", "--filter", "linear"], env=changed)
                    if name == "OMP_NUM_THREADS":
                        continue
                    result = self.run_it(["report", "results/small", "-o", "out"], env=changed)
                    self.assertIn(result.returncode, (0, 2) if name == "TMPDIR" else (0,), result.stderr)

    def test_more_threads_than_any_machine_has_are_capped(self):
        self.put("sweep.yaml", SMALL.replace(", threads: 1", ""))
        result = self.run_it(["plan", "sweep.yaml"], env=dict(os.environ, OMP_NUM_THREADS="100000"))
        self.assert_runs(result)
        self.assertIn(b"(4096 threads)", result.stdout)

    def test_names_stay_text(self):
        title = '<script>alert(1)</script> `touch pwned` $(touch pwned) "\' | [x](javascript:alert(1))'
        hostile = "it's <b> $(touch pwned) \"q\".yaml"
        self.put(hostile, SMALL + "title: '%s'\n" % title.replace("'", "''"))
        self.assert_runs(self.run_it(["run", hostile]))
        self.assert_runs(self.run_it(["report", "results/small"]))
        page = (self.folder / "results/small/report.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<b> $(", page)
        self.assertIn("&lt;script&gt;alert", page)
        self.assertNotIn("<script>alert", (self.folder / "results/small/report.md").read_text())
        self.assertNotIn("pwned", " ".join(self.listing()).replace(hostile, ""))


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
        for text in ("head_dim: 1", "head_dim: 1024", "dtype: fp16", "pass: backward",
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
        self.refused(["export", "plain", "--format", "csv"], r"line 3\): .* is already in line 1")
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
        for special in ("pipe", "/dev/zero"):
            self.refused(["report", "plain", "--claims", special], r"not a claims file")
            self.refused(["report", "plain", "--charts", special], r"not a file of Chart\.js")
            (self.folder / "plain/meta.json").symlink_to(Path("..") / special)
            self.refused(["report", "plain"], r"not a file of meta")
            (self.folder / "plain/meta.json").unlink()

    def steady_export(self, factor, name):
        """The run as an export with its medians multiplied, and samples close to them, whatever else the machine did."""
        lines = []
        for line in self.run_it(["export", "results/small", "--format", "jsonl"]).stdout.splitlines():
            record = json.loads(line)
            time = record["time_ns"]
            time["median"] *= factor
            time["ci"] = [time["median"] * 0.999, time["median"] * 1.001]
            time["samples"] = [time["median"] * (1 + (i % 3 - 1) / 1000) for i in range(len(time["samples"]))]
            lines.append(json.dumps(record) + "\n")
        (self.folder / name).mkdir()
        (self.folder / name / "records.jsonl").write_text("".join(lines))

    def test_two_runs(self):
        self.measured()
        self.steady_export(1, "steady")
        self.steady_export(3, "slow")
        result = self.run_it(["compare", "results/small", "results/small"])
        self.assert_runs(result)
        self.assertIn(b"no difference shown in 2", result.stdout)
        result = self.run_it(["compare", "steady", "slow", "-o", "out", "--format", "markdown"])
        self.assert_runs(result)
        self.assertIn(b"B is slower", result.stdout)
        self.assertEqual((self.folder / "out/compare.md").read_bytes(), result.stdout)
        self.assertIn("B is slower", (self.folder / "out/compare.csv").read_text())
        self.assertIn("<h1>hilbench: two runs compared</h1>", (self.folder / "out/compare.html").read_text())
        gate = ["compare", "steady", "slow", "--fail-above"]
        self.assert_runs(self.run_it([*gate, "10"]), 1)
        self.assert_runs(self.run_it([*gate, "2000"]))
        self.assert_runs(self.run_it(["compare", "slow", "steady", "--fail-above", "10"]))
        self.measured(arguments=["--device", "cuda", "-o", "other"])
        self.assert_runs(self.run_it(["compare", "results/small", "other", "--fail-above", "10"]), 3)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become somebody who may not")
    def test_folders_that_may_not_be_used(self):
        self.measured()
        shutil.copy(PROGRAM, self.folder / "hilbench")
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
        refused("report", "results/small", "-o", "exported", "--charts", "exported/secret")
        refused("report", "exported")
        (self.folder / "exported/meta.json").unlink()
        refused("report", "exported")
        (self.folder / "results/small/results.sqlite").chmod(0)
        refused("export", "results/small", "--format", "csv", says="unable to open|ermission")

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
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
