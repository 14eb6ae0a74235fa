"""Kernels of users in the whole program: programs, functions in Python, and libraries, right ones and faulty ones.

Usage: kernels_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import pathlib
import sys
import unittest

from kernel_cases import CASE, COMPILER, PLAIN, KernelCase, LibraryCase, PythonCase


class ProgramTest(KernelCase):
    def test_is_a_kernel_in_everything(self):
        self.write("plain.py", PLAIN)
        records = self.measure({"mine": f"{{command: [{sys.executable}, plain.py]}}"},
                               ["kernel: mine, order: [linear, hilbert, random], traversal: [auto, head_minor]",
                                "kernel: dilated, order: linear"],
                               twins=True, more="reference: mine/linear\nbaselines: [gemm]",
                               case=CASE + ", causal: true, kv_heads: 1, batch: 2")
        for variant, record in records.items():
            self.assertEqual((variant, record["status"], record["reason"]), (variant, "ok", None))
        kernels = [variant for variant in records if variant.startswith("mine/")]
        self.assertEqual(len(kernels), 7, "with the twin of the reference")
        for variant in kernels:
            record = records[variant]
            self.assertEqual((record["kind"], record["params"]["kernel"]), ("kernel", "mine"))
            self.assertGreater(record["verify"]["probed_rows"], 0)
            self.assertEqual(record["time_ns"]["timer"], "external:clock")
            told = record["environment"]["library"]["told"]
            self.assertEqual(told["order"], record["params"]["order"])
            self.assertEqual(record["permute_ns"] is None, told["order"] == "linear")
        self.assertEqual(records["mine/hilbert/head_minor"]["environment"]["library"]["told"]["traversal"], "head_minor")
        self.assertEqual(records["dilated/linear"]["speedup"]["against"], "mine/linear")

    def test_what_it_cannot_have_is_skipped_with_a_reason(self):
        self.write("plain.py", PLAIN)
        command = f"{{command: [{sys.executable}, plain.py%s]}}"
        records = self.measure({"mine": command % "", "bare": command % ", no_tiles"},
                               ["kernel: mine, order: linear, key_visit: slot", "kernel: mine, order_scope: tokens",
                                "kernel: bare, order: linear, traversal: head_minor", "kernel: dilated"])
        reasons = {variant: record["reason"] for variant, record in records.items() if record["status"] == "skipped"}
        self.assertEqual(len(reasons), 3, records)
        self.assertIn("key_visit: not with kernels that the sweep declares, such as mine", reasons["mine/linear.slot"])
        self.assertIn("order_scope: not with", reasons["mine/linear@tokens"])
        self.assertIn("traversal head_minor: bare says no tile_rows in hello", reasons["bare/linear/head_minor"])

    def test_a_rival_is_no_kernel(self):
        self.write("plain.py", PLAIN)
        command = f"{{command: [{sys.executable}, plain.py, %s]}}"
        records = self.measure({"rival": command % "rival", "bad": command % "bad_tiles"},
                               ["kernel: rival", "kernel: bad"], status=1)
        self.assertIn("hello of a kernel needs `kernel` true", records["rival/linear"]["reason"])
        self.assertIn("tile_rows of hello must be 1 to 65536", records["bad/linear"]["reason"])

    def test_needs_permission(self):
        records = self.measure({"mine": "{command: [false]}", "lib": "{library: none.so}"},
                               ["kernel: [mine, lib]", "kernel: dilated"], options=())
        for variant in ("mine/linear", "lib/linear"):
            self.assertEqual(records[variant]["status"], "skipped")
            self.assertIn("--allow-external", records[variant]["reason"])

    def test_a_changed_file_is_seen(self):
        self.write("plain.py", PLAIN)
        sweep = self.sweep({"mine": f"{{command: [{sys.executable}, plain.py]}}"}, ["kernel: mine"])
        self.program.run("run", sweep, "-o", "out", "--allow-external")
        _, err = self.program.run("run", sweep, "-o", "out", "--allow-external")
        self.assertNotIn("[1/1]", err, "measured already")
        self.write("plain.py", PLAIN.replace('"version": "1"', '"version": "2"'))
        _, err = self.program.run("run", sweep, "-o", "out", "--allow-external", status=2)
        self.assertRegex(err, r"kernel mine has changed: .*; use --fresh")
        self.program.run("run", sweep, "-o", "out", "--allow-external", "--fresh")
        self.assertEqual(self.program.records("out")[0]["environment"]["library"]["version"], "2")

    def test_bad_declarations_are_refused(self):
        for kernels, variants, more, complaint in (
                ({"mine": "{}"}, ["kernel: mine"], "", "neither command nor library"),
                ({"mine": "{command: [a], library: b}"}, ["kernel: mine"], "", "command and library"),
                ({"mine": "{libary: b}"}, ["kernel: mine"], "", "did you mean 'library'"),
                ({"Mine": "{library: b}"}, ["kernel: dilated"], "", "'Mine' cannot name a kernel"),
                ({"gemm": "{library: b}"}, ["kernel: dilated"], "", "'gemm' is a name of this build"),
                ({"mine": "{library: b}"}, ["kernel: other"], "", "allowed are dilated, dilated_cpu"),
                ({"mine": "{library: b}"}, ["kernel: dilated"], "baselines: [mine]", "'mine' is a kernel"),
                ({"mine": "{library: b}"}, ["kernel: dilated"], "external: {mine: {command: [a]}}",
                 "'mine' is declared under external too"),
                ({"mine": "{library: b}"}, ["kernel: its"], "external: {its: {command: [a]}}", "'its' is a baseline")):
            with self.subTest(complaint):
                sweep = self.sweep(kernels, variants, more=more)
                _, err = self.program.run("plan", sweep, status=2)
                self.assertIn(complaint, err)
                self.assertEqual(len(err.splitlines()), 1, err)


class PythonTest(PythonCase):
    """hilbench.kernel, if a python3 has NumPy or PyTorch."""

    PREFIX = "import {tensors}\nfrom hilbench.kernel import kernel\n\n@kernel\ndef mine(q, k, v, slots, case):\n"

    def bodies(self, python, tensors, bodies):
        kernels = {}
        for name, body in bodies.items():
            text = self.PREFIX.format(tensors=tensors) + "".join(f"    {line}\n" for line in body.splitlines())
            self.write(name + ".py", text + "\nmine.serve()\n")
            kernels[name] = f"{{command: [{python}, {name}.py]}}"
        return kernels

    def test_bad_functions_give_one_line(self):
        python = self.python_with("numpy")
        bodies = {
            "raises": "raise ValueError('two\\nlines')",
            "shape": "return q[0]",
            "dtype": "return q.astype('float64')",
            "type": "return [1, 2]",
            "lse_shape": "return q, q",
            "lse_type": "return q, None, None",
            "wrong": "return q",
            "prints": "print('{}')\nfrom hilbench.kernel import Unsupported\nraise Unsupported('not on Mondays')"}
        records = self.measure(self.bodies(python, "numpy", bodies), [f"kernel: [{', '.join(bodies)}]"], status=1)
        expected = {
            "raises": "mine raises ValueError at raises.py:6: two lines",
            "shape": "mine returns o of shape (24, 2, 16); expected: (1, 24, 2, 16)",
            "dtype": "mine returns o of dtype float64; expected: float32",
            "type": "mine returns o as list; expected: a numpy.ndarray, either o or (o, lse)",
            "lse_shape": "mine returns lse of shape (1, 24, 2, 16); expected: (1, 24, 2)",
            "lse_type": "mine returns o as tuple; expected: a numpy.ndarray, either o or (o, lse)",
            "wrong": "exceeds the tolerance",
            "prints": "not on Mondays"}
        for name, reason in expected.items():
            self.assertIn(reason, records[f"{name}/linear"]["reason"])
        self.assertEqual(records["prints/linear"]["status"], "skipped")

    def test_what_it_prints_is_no_answer(self):
        prints = "import os\nprint('in Python', flush=True)\nos.write(1, b'{}\\n')\nos.system('echo from a shell')\n"
        kernels = self.bodies(self.python_with("numpy"), "numpy", {"mine": prints + "return q"})
        script = self.program.folder / "mine.py"
        at_import, rest = script.read_text().split("\n@kernel")
        script.write_text(f"{at_import}\n{prints}\n@kernel{rest}")
        record = self.measure(kernels, ["kernel: mine"], status=1)["mine/linear"]
        self.assertIn("exceeds the tolerance", record["reason"], "all requests were answered")

    def test_dtypes_that_numpy_lacks_are_skipped(self):
        records = self.measure(self.bodies(self.python_with("numpy"), "numpy", {"mine": "return q"}), ["kernel: mine"],
                               case=CASE + ", dtype: bf16")
        self.assertIn("NumPy has no bf16", records["mine/linear"]["reason"])

    def test_torch_names_what_was_expected(self):
        python = self.python_with("torch")
        records = self.measure(self.bodies(python, "torch", {"dtype": "return q.double()", "device": "return q.to('meta')",
                                                             "shape": "return q, q[..., 0, 0]"}),
                               ["kernel: [dtype, device, shape]"], case=CASE + ", dtype: bf16", status=1)
        for name, reason in {"dtype": "o of dtype float64; expected: bfloat16 or float32",
                             "device": "o of device meta; expected: cpu",
                             "shape": "lse of shape (1, 24); expected: (1, 24, 2)"}.items():
            self.assertIn(reason, records[f"{name}/linear"]["reason"])


@unittest.skipUnless(COMPILER, "no C compiler")
class LibraryTest(LibraryCase):
    """Libraries, each in a process of its own: what is wrong with one costs that one."""

    FAULTS = {
        "none": ("ok", "^$"),
        "says_why_not": ("skipped", "^it is Monday$"),
        "says_blanks": ("skipped", "^it gives no reason$"),
        "workspace": ("failed", r"declares 1048576.00 GiB of workspace: expects 0 to the [\d.]+ GiB that there are"),
        "negative_workspace": ("failed", "declares -0.00 GiB of workspace"),
        "writes_nan": ("failed", "1 of 768 output values are NaN"),
        "writes_nothing": ("failed", "768 of 768 output values are NaN"),
        "error_code": ("failed", "launch returns 7: no more tea$"),
        "prepare_fails": ("failed", "prepare returns 5$"),
        "forks": ("failed", "launch forks: a kernel computes in the process that calls it"),
        "forks_by_syscall": ("ok", "^$"),  # the copy ends before it answers
        "exits": ("failed", "^'exits' exited with status 3"),
        "crashes": ("failed", r"^'crashes' was killed by signal 11 \(Segmentation fault\)"),
        "before_o": ("failed", "the kernel writes before o$"),
        "behind_lse": ("failed", "the kernel writes behind the end of lse$"),
        "behind_workspace": ("failed", "the kernel writes behind the end of its workspace$"),
        "prints": ("ok", "^$"),
        "last_tile": ("failed", "exceeds the tolerance|keys|differ"),
        "no_launch": ("failed", "its table has no launch"),
        "no_device": ("failed", "devices 4: expects HILBENCH_ON_CPU"),
        "many_tile_rows": ("failed", "tile_rows 65537: expects 0 to 65536"),
        "once": ("failed", "NaN|did not change with its inputs"),
    }

    def test_each_fault_costs_its_own_variant(self):
        kernels = {name: self.build(name, f"-DFAULT={name.upper()}") for name in self.FAULTS}
        records = self.measure(kernels, [f"kernel: [{', '.join(kernels)}]", "kernel: dilated"], status=1)
        for name, (status, reason) in self.FAULTS.items():
            record = records[f"{name}/linear"]
            self.assertEqual((name, record["status"]), (name, status), record["reason"])
            self.assertRegex(record["reason"] or "", reason)
            self.assertNotIn("\n", record["reason"] or "")
        self.assertEqual(records["dilated/linear"]["status"], "ok")
        self.assertEqual(records["none/linear"]["time_ns"]["timer"], "external:steady_clock")

    def test_a_library_that_cannot_be_loaded_says_why(self):
        self.build("needed", "-DOTHER_SYMBOL")
        kernels = {
            "old": self.build("old", "-DINTERFACE=7"),
            "symbol": self.build("symbol", "-DOTHER_SYMBOL"),
            "needs": self.build("needs", "-L.", "-Wl,--no-as-needed", "-lneeded"),
            "absent": "{library: ./libabsent.so}",
            "text": "{library: ./sweep.yaml}",
            "empty": "{library: ./libempty.so}",
            "cut": self.build("cut"),
            "loop": "{library: ./libloop.so}",
            "long": f"{{library: ./{'a' * 300}.so}}"}
        for name, size in {"empty": 0, "cut": 5000}.items():
            with open(self.program.folder / f"lib{name}.so", "ab") as file:
                file.truncate(size)
        (self.program.folder / "libloop.so").symlink_to("libloop.so")
        (self.program.folder / "libneeded.so").unlink()
        records = self.measure(kernels, [f"kernel: [{', '.join(kernels)}]"], status=1)
        for name, reason in {"old": "it has version 7 of the interface, this program has 1",
                             "symbol": "it exports no hilbench_kernel_table",
                             "needs": "libneeded.so: cannot open shared object file",
                             "absent": "there is no such library",
                             "text": "invalid ELF header|file too short",
                             "empty": r"\(\S+/libempty.so\): file too short$",
                             "cut": r"\(\S+/libcut.so\): it is cut off: it has 5000 of \d+ bytes; build it again$",
                             "loop": r"library cannot be read \(\S+/libloop.so\): Too many levels of symbolic links$",
                             "long": r"library cannot be read \(\S+/a{300}.so\): File name too long$"}.items():
            self.assertRegex(records[f"{name}/linear"]["reason"], reason)
            self.assertNotIn("filesystem error", records[f"{name}/linear"]["reason"])

    def test_orders_reach_a_library(self):
        kernels = {"mine": self.build("mine"), "blind": self.build("blind", "-DFAULT=LINEAR_ALWAYS")}
        records = self.measure(kernels, ["kernel: [mine, blind], order: [linear, hilbert, random]"], status=1,
                               case=CASE.replace("sequence_length: 24", "sequence_length: 48") + ", causal: true")
        for variant, record in records.items():
            right = variant.startswith("mine/") or variant == "blind/linear"
            self.assertEqual((variant, record["status"]), (variant, "ok" if right else "failed"), record["reason"])

    def test_a_library_that_hangs_is_stopped(self):
        sweep = self.sweep({"hangs": self.build("hangs", "-DFAULT=HANGS")}, ["kernel: hangs", "kernel: dilated"])
        text = (self.program.folder / sweep).read_text().replace("timeout_s: 60", "timeout_s: 1")
        self.program.sweep(text)
        self.program.run("run", sweep, "-o", "out", "--allow-external", status=1)
        records = {record["variant"]: record for record in self.program.records("out")}
        self.assertIn("no progress for 1 s", records["hangs/linear"]["reason"])
        self.assertEqual(records["dilated/linear"]["status"], "ok")

    def test_a_library_is_counted(self):
        records = self.measure({"mine": self.build("mine")}, ["kernel: mine", "kernel: dilated"],
                               more="counters: [default]")
        mine, ours = records["mine/linear"]["counters"], records["dilated/linear"]["counters"]
        counted = [name for name, counter in ours.items() if counter["source"] == "perf"]
        for name in counted:
            self.assertEqual(mine[name]["source"], "perf")
        reasons = {counter["reason"] for name, counter in mine.items() if counter["value"] is None}
        self.assertFalse([reason for reason in reasons if "process of its own" in reason], "it counts itself")

    def test_what_else_takes_a_sweep_takes_a_library(self):
        self.measure({"mine": self.build("mine")}, ["kernel: mine", "kernel: dilated"])
        out, _ = self.program.run("run", "sweep.yaml", "--allow-external", "--profile", "mine/linear")
        self.assertIn("profiled", out)
        out, _ = self.program.run("plan", "sweep.yaml", "--sectors", "--gpu", "h100")
        self.assertRegex(out, r"(?m)mine/linear .*not known: what mine reads is not known")
        out, _ = self.program.run("costs", "sweep.yaml", "--allow-external")
        self.assertRegex(out, r"(?m)^ *mine/linear .* - *$")

    def claims(self, *options):
        self.program.run("report", "out", *options)
        with open(self.program.folder / "out/tables/claims.csv", newline="") as file:
            return {row["claimed"]: row["verdict"] for row in csv.DictReader(file) if row["measured"]}

    def test_answers_the_claims_of_a_sweep(self):
        self.measure({"mine": self.build("mine")}, ["kernel: mine, order: [linear, hilbert]"],
                     case="sequence_length: 64, segments: [32], dilations: [1], heads: 2, head_dim: 16, device: cpu",
                     more="claims: [dilated-kernel]")
        self.assertEqual(self.claims(), {}, "the reports claim nothing of this case")
        self.program.sweep("""
test: {variant: dilated/hilbert, against: dilated/linear, control: dilated/random}
claims:
  - id: dilated-kernel
    title: Hilbert order in any kernel
    source: {seed: notes.txt, section: First try}
    provenance: measured
    how: one run
    config: {heads: 2, head_dim: 16, dtype: fp32}
    rows:
      - {sequence_length: 64, segments: [32], dilations: [1], speedup: 900}
      - {sequence_length: 64, segments: [32], dilations: [1], speedup: 700,
         test: {variant: mine/hilbert, against: mine/linear, control: mine/random}}
      - {sequence_length: 64, segments: [32], dilations: [1], speedup: 800,
         test: {variant: other/hilbert, against: other/linear, control: other/random}}
""", "claims.yaml")
        verdicts = self.claims("--claims", "claims.yaml")
        self.assertEqual(set(verdicts), {"900", "700"}, "`dilated` of a claim stands for each kernel, `mine` for itself")
        self.assertFalse({"", "reproduced", "not testable here"} & set(verdicts.values()), verdicts)

    def test_failures_are_counted_once(self):
        self.measure({"mine": "{library: ./nothere.so}"}, ["kernel: mine"], status=1)
        out, _ = self.program.run("run", "sweep.yaml", "-o", "again", "--allow-external", status=1)
        self.assertIn("0 records ok, 1 failed,", out)


if __name__ == "__main__":
    KernelCase.binary = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
