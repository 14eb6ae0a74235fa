#!/usr/bin/env python3
"""Bad input through the command line: exit status, the one-line message, nothing written.

Usage: bad_input_test.py HILBENCH [unittest arguments]
"""

import os
import resource

from command_line import (AXES, CommandLine, FULL, HEAD, ORDER_FILE, SMALL, TENSORS, TENSOR_FILES, axes, main,
                          permutation, sweep, tensor, variants)
from program import npy

# Sweeps that `run` and `plan` refuse: what the message says, the sweep, other files in its folder.
BAD_SWEEPS = [
    (r"unknown key 'axis'.*allowed are name, title.*did you mean 'axes'", HEAD + "axis: {}\n", {}),
    (r"unknown key 'sequnce_length'.*did you mean 'sequence_length'", axes("{sequnce_length: 64}"), {}),
    (r"expects an integer 1\.\.1099511627776 \(sweep\.yaml:2, axes\.heads\): found 'many'", axes("{heads: many}"), {}),
    (r"expects an integer.*found a map|expects", axes("{heads: [{}]}"), {}),
    (r"expects true or false .*: found 'yes'", axes("{causal: yes}"), {}),
    (r"expects one of fp32, bf16, fp16, auto .*: found 'fp8'", axes("{dtype: fp8}"), {}),
    # Wrong also if every variant sets the option itself.
    (r"unknown order 'bogus'.*axes\.order", axes("{sequence_length: 64, order: bogus}"), {}),
    (r"traversal 'nope'.*axes\.traversal", sweep(AXES.replace("threads", "traversal: nope, threads"),
                                                 "variants: [{kernel: dilated, traversal: sawtooth}]\n"), {}),
    (r"expects a map .*: found a list", axes("[1, 2]"), {}),
    (r"empty list", axes("{heads: []}"), {}),
    (r"no value from 5 to 1", axes("{heads: {range: [5, 1, 1]}}"), {}),
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
     dict(TENSOR_FILES, **{"q.npy": npy((1, 64, 2, 16), "<f4", b"\0" * 8192, fortran_order=True)})),
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
    *((r"control character in a value", SMALL + "title: %s\n" % title, {})
      for title in ('"\\x9b31mred"', "a\u009b31mred", '"\\u202Eder"', '"a\\u2028b"')),
    (r"key 'name' is given twice", SMALL + "name: again\n", {}),
    (r"nothing|no variant", HEAD + AXES, {}),
    (r"skip_when|unknown parameter", SMALL + 'skip_when: "hed_dim > 3"\n', {}),
    (r"nested too deep|condition too long", SMALL + "skip_when: '%s'\n" % ("(" * 5000), {}),
]

# Bad values of measure.margin, and what the message says of them.
BAD_SWEEPS += [(said, SMALL.replace("measure: {", "measure: {margin: %s, " % value), {}) for value, said in (
    *((value, r"^hilbench: error: %s is out of range \(sweep\.yaml:4, measure\.margin\): expects a number above 0" % value)
      for value in ("0", "1", "2", "-0.01", "1e999", "1e-400")),
    *((value, r"expects a number above 0 .* \(sweep\.yaml:4, measure\.margin\): found %s" % found)
      for value, found in (("nan", "'nan'"), ("one", "'one'"), ("1%", "'1%'"), ("[0.01]", "a list"), ("", "nothing"))))]

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
    (2, ["run"], r"no sweep is given; SWEEP\.yaml, or --claim ID"),
    (2, ["run", "sweep.yaml", "-o"], r"error: -o needs a value; see hilbench run --help"),
    (2, ["run", "--colour", "sweep.yaml"], r"--colour"),
    (2, ["run", "nosuch.yaml"], r"no such sweep file \(nosuch\.yaml\)"),
    (2, ["run", "."], r"not a sweep file"),
    (2, ["run", "/dev/zero"], r"not a sweep file"),
    (2, ["run", ""], r"no sweep is given"),
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
    (2, ["run", "sweep.yaml", "--processes", ""], r"--processes: must not be empty"),
    (2, ["run", "sweep.yaml", "--axis", ""], r"--axis: must not be empty"),
    (2, ["gate", "sweep.yaml", "--candidate", "x", "--baseline", ""], r"--baseline: must not be empty"),
    (2, ["run", "sweep.yaml", "--dump", "/proc/dump"], r"cannot write to the output folder \(/proc/dump\)"),
    (2, ["run", "sweep.yaml", "--budget", "-1"], r"'-1' is no duration \(--budget\); write 90, 90s, 3m or 1h, above 0"),
    (2, ["run", "sweep.yaml", "--budget", "abc"], r"'abc' is no duration \(--budget\); write 90, 90s, 3m or 1h, above 0"),
    (2, ["run", "sweep.yaml", "--dump", ""], r"--dump: must not be empty"),
    (2, ["run", "sweep.yaml", "-o", ""], r"-o: must not be empty"),
    (2, ["run", "sweep.yaml", "--profile", "nosuch"], r"no case runs the variant 'nosuch'"),
    (2, ["run", "sweep.yaml", "--memory", "0x10GB"], r"'0x10GB' is not a memory size \(--memory\)"),
    (2, ["run", "sweep.yaml", "--memory", "010GB"], r"does not begin with a decimal number"),
    (2, ["run", "sweep.yaml", "--memory", "80"], r"it has no unit; write a decimal number and a unit"),
    (2, ["predict", ".", "--memory", "9999999TB"], r"'9999999TB' is not a memory size .*not between a byte and 2\^62 bytes"),
    (2, ["predict", "x" * 5000], r"cannot be used \(x+\.\.\.\): File name too long"),
    (2, ["predict", ".", "--memory", "80"], r"it has no unit; write a decimal number and a unit"),
    (2, ["plan", "sweep.yaml", "--json"], r"error: --json without --sectors; add --sectors\n"),
    (2, ["plan", "sweep.yaml", "--gpu", "a100", "--device", "cpu"], r"--device excludes --gpu"),
    (2, ["plan", "sweep.yaml", "--sectors", "--gpu", "a101"], r"a101 not in \{gtx-1080,v100,a100-40gb,a100,"),
    (2, ["plan", "sweep.yaml", "--longest", "--sectors"], r"--longest excludes --sectors"),
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
    (2, ["compare", "nosuch", "nosuch", "-o", ""], r"must not be empty"),
    (2, ["list", "nonsense"], r"nothing to list under 'nonsense'"),
    (2, ["list", "order"], r"did you mean 'orders'"),
    (2, ["list"], r"required"),
    (2, ["order", "hilbret", "--length", "4"], r"unknown order 'hilbret'.*did you mean 'hilbert'"),
    (2, ["order", "hilbert"], r"--length is required"),
    (2, ["order", "hilbert", "--length", "0"], r"length"),
    (2, ["order", "hilbert", "--length", "-1"], r"length"),
    (2, ["order", "hilbert", "--length", "8x"], r"--length: '8x' is not a whole number, such as 8192 or 8k"),
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
    (2, ["predict", ".", "--ring", "3.5"], r"--ring: '3\.5' is not a whole number"),
    (2, ["order", "file", "--length", "4"], r"needs a permutation"),
    (2, ["order", "file", "--length", "4", "--file", "nosuch.npy"], r"no such file"),
    (2, ["order", "linear", "--length", "4", "-o", "nosuch/map.npy"], r"cannot write the file"),
    (2, ["order", "linear", "--length", "4", "-o", "."], r"cannot write the file"),
    (2, ["order", "linear", "--length", "4", "--svg", "nosuch/map.svg"], r"cannot write the file .*nosuch/map\.svg"),
    (2, ["order", "linear", "--length", "4", "--svg", "a.svg", "-o", "a.npy"], r"-o.*--svg|--svg.*-o"),
    (2, ["order", "linear", "hilbert", "--length", "4"], r"2 orders.*--svg FILE"),
    (2, ["order", "linear", "hilbret", "--length", "4", "--svg", "a.svg"], r"unknown order 'hilbret'"),
    (2, ["order", "linear", "--grid", "1024x1024", "--svg", "a.svg"], r"too many for a picture"),
    (2, ["order", "linear", "--length", "4", "--window", "3x3"], r"--window without --grid.*--grid 64x64"),
    (2, ["order", "linear", "--grid", "8x8", "--window", "3"], r"--window 3.*2 dimensions"),
    (2, ["order", "linear", "--grid", "8x8", "--window", "9x9"], r"9 \(--window 9x9\).*1\.\.8"),
    (2, ["order", "linear", "--grid", "8x8", "--window", "5x5", "--dilation", "2x2"], r"does not fit"),
]


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


if __name__ == "__main__":
    main()
