"""Kernels of users in the whole program: programs, functions in Python, and libraries, right ones and faulty ones.

Usage: kernels_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from program import TESTS, Program

COMPILER = shutil.which("cc") or shutil.which("gcc")
CASE = "sequence_length: 24, segments: [12, 24], dilations: [1, 2], heads: 2, head_dim: 16, threads: 1, device: cpu"
SWEEP = """
name: kernels
cases: [{{{case}}}]
kernels:
{kernels}
variants:
{variants}
{more}
measure: {{budget_s: {budget_s}, min_rounds: {min_rounds}, timeout_s: 60}}
"""

# A kernel in plain Python, which needs neither NumPy nor PyTorch: what hilbench.kernel does for those two.
PLAIN = """
import array, json, math, sys, time
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""

class Kernel:
    def hello(self, protocol):
        answer = {"protocol": 2, "name": "plain", "version": "1", "devices": ["cpu"], "kernel": True, "tile_rows": 5}
        if FAULT == "rival": del answer["kernel"]
        if FAULT == "no_tiles": del answer["tile_rows"]
        if FAULT == "bad_tiles": answer["tile_rows"] = 0
        return answer
    def read_file(self, path, kind):
        return array.array(kind, open(path, "rb").read())
    def load(self, case, option, q, k, v, kernel):
        self.case, self.slots = case, self.read_file(kernel["slots"], "i")
        self.tiles = self.read_file(kernel["tiles"], "i") if "tiles" in kernel else None
        self.inputs(q, k, v, "qkv")
        return {"timer": "clock", "told": {key: kernel[key] for key in ("order", "traversal")}}
    def inputs(self, q, k, v, changed):
        for name, path in (("q", q), ("k", k), ("v", v)):
            if name in changed: setattr(self, name, self.read_file(path, "f"))
        return {}
    def compute(self):
        c, d = self.case, self.case["head_dim"]
        rows, length = c["batch"] * c["sequence_length"] * c["heads"], c["sequence_length"]
        self.o, self.lse = [0.0] * (rows * d), [-math.inf] * rows
        for i in range(0, len(self.tiles), 12):
            _, batch, head, kv, query, step, queries, key, key_step, keys, unmasked, flags = self.tiles[i:i + 12]
            for position in range(query, query + queries * step, step):
                row = (batch * length + position) * c["heads"] + head
                weights = []
                for p in range(key, key + keys * key_step, key_step):
                    if c["causal"] and p > position: break
                    at = ((batch * length + self.slots[p]) * c["kv_heads"] + kv) * d
                    score = sum(self.q[row * d + e] * self.k[at + e] for e in range(d)) / math.sqrt(d)
                    weights.append((math.exp(score), at))
                before = math.exp(self.lse[row])
                assert before == 0 or flags & 1
                total = before + sum(weight for weight, _ in weights)
                if total:
                    for e in range(d):
                        self.o[row * d + e] = (before * self.o[row * d + e] +
                                               sum(weight * self.v[at + e] for weight, at in weights)) / total
                    self.lse[row] = math.log(total)
    def run(self, executions):
        times = []
        for _ in range(executions):
            begin = time.perf_counter_ns()
            self.compute()
            times.append(time.perf_counter_ns() - begin)
        return {"times_ns": times}
    def read(self, o, lse, rows=None):
        d = self.case["head_dim"]
        rows = range(len(self.lse)) if rows is None else rows
        array.array("f", (self.o[row * d + e] for row in rows for e in range(d))).tofile(open(o, "wb"))
        array.array("f", (self.lse[row] for row in rows)).tofile(open(lse, "wb"))
        return {"lse": True}

kernel = Kernel()
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(getattr(kernel, request.pop("do"))(**request)), flush=True)
"""


class KernelCase(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)

    def sweep(self, kernels, variants, case=CASE, more="", budget_s=0.05, min_rounds=3):
        return self.program.sweep(SWEEP.format(
            case=case, more=more, budget_s=budget_s, min_rounds=min_rounds, kernels="\n".join(f"  {name}: {how}" for name, how in kernels.items()),
            variants="\n".join(f"  - {{{variant}}}" for variant in variants)))

    def measure(self, *arguments, options=("--allow-external",), status=0, twins=False, **more):
        self.program.run("run", self.sweep(*arguments, **more), "-o", "out", "--fresh", *options, status=status)
        return {record["variant"]: record for record in self.program.records("out", twins)}

    def write(self, name, text):
        (self.program.folder / name).write_text(text)
        return f"{{command: [{sys.executable}, {name}]}}"


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
        self.assertRegex(err, r"kernel mine was \w+ .* and is \w+ .*; use --fresh")
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


class PythonCase(KernelCase):
    def python_with(self, module):
        for python in (sys.executable, "/usr/bin/python3", os.environ.get("HILBENCH_PYTHON")):
            if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
                return python
        self.skipTest(f"no python3 with {module}")


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
            "raises": "mine raises ValueError: two lines",
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


class LibraryCase(KernelCase):
    def build(self, name, *flags, source=TESTS / "fakes/faulty_kernel.c"):
        include = self.program.folder / "include/hilbench"
        if not include.exists():
            include.mkdir(parents=True)
            shutil.copy(TESTS.parent / "kernels/plugin/kernel.h", include)
        subprocess.run([COMPILER, "-std=gnu99", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-pthread", "-Iinclude", *flags, source, "-o",
                        f"lib{name}.so", "-lm"], cwd=self.program.folder, check=True)
        return f"{{library: ./lib{name}.so}}"


@unittest.skipUnless(COMPILER, "no C compiler")
class LibraryTest(LibraryCase):
    """Libraries, each in a process of its own: what is wrong with one costs that one."""

    FAULTS = {
        "none": ("ok", "^$"),
        "says_why_not": ("skipped", "^it is Monday$"),
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
            "text": "{library: ./sweep.yaml}"}
        (self.program.folder / "libneeded.so").unlink()
        records = self.measure(kernels, [f"kernel: [{', '.join(kernels)}]"], status=1)
        for name, reason in {"old": "it has version 7 of the interface, this program has 1",
                             "symbol": "it exports no hilbench_kernel_table",
                             "needs": "libneeded.so: cannot open shared object file",
                             "absent": "there is no such library",
                             "text": "invalid ELF header|file too short"}.items():
            self.assertRegex(records[f"{name}/linear"]["reason"], reason)

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


@unittest.skipUnless(COMPILER, "no C compiler")
class CheatTest(LibraryCase):
    """Libraries that cheat, and what catches each. An execution takes some milliseconds."""

    CASE = "sequence_length: 512, segments: [512], dilations: [1], heads: 1, head_dim: 32, threads: 1, device: cpu"
    ROWS = "exceeds the tolerance|exceed theirs"
    TIMES = "less than half|does not compute in each|on new inputs|above the peak|peak of"
    INVALID = ("caches_by_inputs",)  # its rate is above the peak: the run itself has not failed
    CHEATS = {
        "once": "NaN",
        "caches_by_inputs": TIMES,
        "half_of_the_rows": f"{ROWS}",
        "last_key_of_each_tile": f"{ROWS}|keys",
        "low_precision": ROWS,
        "ignores_causal": f"{ROWS}|keys",
        "linear_always": f"{ROWS}|keys",
        "keeps_old_v": f"did not change with its inputs|{ROWS}|keys",
        "wrong_lse": "LSE",
        "coarse_after_30": f"{ROWS}|after the timing",
        "two_threads": "cores while it was timed|computed while it was not asked",
        "spins": "computed while it was not asked|cores while it was timed",
        "computes_later": f"NaN|{TIMES}|computed while it was not asked|{ROWS}"}

    def test_cheats_are_caught(self):
        for name, reason in self.CHEATS.items():
            with self.subTest(name):
                kernels = {name: self.build(name, "-O2", f"-DFAULT={name.upper()}")}
                # Without a mask, a kernel that reads all keys of the sequence may read them in any order.
                causal = ", causal: true" if name in ("ignores_causal", "linear_always") else ""
                records = self.measure(kernels, [f"kernel: {name}, order: random"], case=self.CASE + causal, budget_s=2,
                                       min_rounds=20, status=0 if name in self.INVALID else 1)
                record = records[f"{name}/random"]
                self.assertIn(record["status"], ("failed", "invalid"), record["reason"])
                self.assertRegex(record["reason"], reason)

    def test_the_honest_one_is_ok(self):
        records = self.measure({"honest": self.build("honest", "-O2")}, ["kernel: honest, order: random"],
                               case=self.CASE, budget_s=2, min_rounds=20)
        self.assertEqual(records["honest/random"]["status"], "ok", records["honest/random"]["reason"])

    def test_each_cheat_is_listed(self):
        text = (TESTS.parent / "docs/kernels.md").read_text()
        for name in self.CHEATS:
            self.assertIn(f"`{name}`", text)


class TemplateTest(PythonCase):
    """What `init --kernel` and `--rival` write runs as it is, and is right."""

    def init(self, *options):
        out, _ = self.program.run("init", *options)
        return [line.removeprefix("next: ").strip() for line in out.splitlines() if line.startswith(("next: ", "   "))]

    def check(self, sweep, python="python3"):
        """Runs the first two cases of the sweep, short: all is right."""
        file = self.program.folder / sweep
        text = file.read_text().replace("[python3,", f"[{python},").replace("heads: 4", "heads: 4\n  threads: 1", 1)
        file.write_text(re.sub("budget_s: 5", "budget_s: 0.1, min_rounds: 3", text))
        self.program.run("run", sweep, "-o", "out", "--fresh", "--allow-external", "--axis", "sequence_length=96")
        records = self.program.records("out")
        self.assertEqual({record["status"] for record in records}, {"ok"})
        return {record["variant"] for record in records}

    def check_kernel(self, python="python3"):
        self.assertEqual(self.check("mine.yaml", python),
                         {"mine/linear", "mine/hilbert", "mine/residue", "mine/random", "dilated/linear"})
        file = self.program.folder / "mine-test.yaml"
        file.write_text(file.read_text().replace("[python3,", f"[{python},"))
        self.program.run("run", "mine-test.yaml", "-o", "test", "--allow-external", "--axis", "sequence_length=96")

    @unittest.skipUnless(COMPILER, "no C compiler")
    def test_c(self):
        commands = self.init("--kernel", "c", "-o", "mine")
        self.assertEqual(commands[1:], ["hilbench run mine.yaml --allow-external", "hilbench report results/mine"])
        subprocess.run(commands[0], shell=True, check=True, cwd=self.program.folder)  # it begins with `cd mine`
        for file in (self.program.folder / "mine").glob("*mine*"):
            file.replace(self.program.folder / file.name)
        self.check_kernel()

    def test_numpy(self):
        self.init("--kernel", "numpy")
        self.check_kernel(self.python_with("numpy"))

    def test_torch(self):
        python = self.python_with("torch")
        self.init("--kernel", "torch")
        self.check_kernel(python)

    def test_rival(self):
        python = self.python_with("torch")
        self.init("--rival")
        self.assertEqual(self.check("rival.yaml", python), {"dilated/linear", "dilated/random", "theirs"})

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
    def test_cuda_compiles(self):
        commands = self.init("--kernel", "cuda", "-o", "mine")
        command = commands[0].removeprefix("cd mine && ").replace("-arch=native", "-arch=sm_80 -O1")  # no GPU here
        environment = os.environ | {"PATH": os.environ["PATH"] + ":/usr/local/cuda/bin"}
        subprocess.run(command, shell=True, check=True, cwd=self.program.folder / "mine", env=environment)
        (self.program.folder / "mine/mine.yaml").replace(self.program.folder / "mine.yaml")
        (self.program.folder / "mine/libmine.so").replace(self.program.folder / "libmine.so")
        out, _ = self.program.run("plan", "mine.yaml", "--allow-external")
        self.assertIn("mine/hilbert", out)

    def test_triton_compiles(self):
        self.init("--kernel", "triton")
        compile((self.program.folder / "mine.py").read_text(), "mine.py", "exec")
        python = self.python_with("triton")
        checker = TESTS / "program/interpreted_triton.py"
        environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(TESTS.parent / "reports/python")}
        done = subprocess.run([python, checker, self.program.folder / "mine.py"], env=environment, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("right", done.stdout)

    def test_nothing_is_overwritten(self):
        self.program.sweep("mine", "mine.yaml")
        _, err = self.program.run("init", "--kernel", "numpy", status=2)
        self.assertIn("the file exists (mine.yaml): init overwrites nothing", err)
        self.assertFalse((self.program.folder / "mine.py").exists(), "nothing was written before")
        self.program.run("init", "--kernel", "c", "--rival", status=2)
        _, err = self.program.run("init", "--kernel", "rust", status=2)
        self.assertIn("triton", err)


@unittest.skipUnless(COMPILER, "no C compiler")
class GateTest(LibraryCase):
    CASE = "sequence_length: 256, segments: [256], dilations: [2], heads: 2, head_dim: 32, threads: 1, device: cpu"

    def setUp(self):
        super().setUp()
        for name, flags in (("old", ()), ("new", ()), ("slow", ("-DTWICE_OF_10=10",))):
            self.build("mine", "-O2", *flags)
            (self.program.folder / name).mkdir()
            (self.program.folder / "libmine.so").replace(self.program.folder / name / "libmine.so")
        self.file = self.sweep({"mine": "{library: ./libmine.so}"},
                               ["kernel: mine, order: [linear, random]", "kernel: dilated"], case=self.CASE,
                               more="baselines: [gemm]")

    def gate(self, *arguments, statuses):
        process = self.program.start("gate", self.file, *arguments)
        out, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, statuses, out + err)
        return out, err

    def rows(self):
        with open(self.program.folder / "out/gate.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_slowed_copy_is_caught(self):
        out, _ = self.gate("--allow-external", "--baseline", "mine=old", "--candidate", "mine=slow/libmine.so",
                           "--threshold", "20%", "--budget", "40s", "-o", "out", statuses=(1, 3))
        judged = [row for row in self.rows() if row["variant"].startswith("mine/")]
        self.assertEqual({row["variant"] for row in judged}, {"mine/linear", "mine/random"})
        if "disturbed" not in out:  # then the verdict is withheld
            self.assertEqual({row["verdict"] for row in judged}, {"slower"}, out)
        self.assertFalse([row for row in self.rows() if row["variant"].startswith("dilated")], "it has one version")
        self.assertEqual([row["verdict"] for row in self.rows() if row["variant"] == "gemm"], ["rival, not judged"])
        self.assertIn("Baseline: mine=old. Candidate: mine=slow/libmine.so.", out)
        self.assertTrue((self.program.folder / "out/gate.xml").exists())

    def test_an_equal_copy_is_not(self):
        out, _ = self.gate("--allow-external", "--baseline", "mine=old/libmine.so", "--candidate", "mine=new", "--threshold",
                           "20%", "--budget", "20s", "-o", "out", statuses=(0, 3))
        self.assertNotIn("slower", {row["verdict"] for row in self.rows()}, out)

    def test_self_test_takes_a_kernel(self):
        out, _ = self.gate("--allow-external", "--self-test", "--candidate", "mine=new", "--threshold", "50%", "--budget",
                           "10s", statuses=(0, 3))
        self.assertIn("smallest", out)

    def test_a_command_has_versions_too(self):
        for name in ("old", "new"):
            (self.program.folder / name / "plain.py").write_text(PLAIN)
        self.file = self.sweep({"mine": f"{{command: [{sys.executable}, plain.py]}}"}, ["kernel: mine"])
        self.gate("--allow-external", "--baseline", "mine=old", "--candidate", f"mine={sys.executable} new/plain.py",
                  "--budget", "5s", "--threshold", "50%", "-o", "out", statuses=(0, 1, 3))
        self.assertEqual([row["variant"] for row in self.rows()], ["mine/linear"])

    def test_bad_calls_are_refused(self):
        allowed = ("--allow-external",)
        for arguments, complaint in (
                ((*allowed, "--baseline", "mine=old", "--candidate", "other=new"), "measures no kernel 'other'"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=none.so"), "there is no such library"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=new", "--candidate", "mine=slow"),
                 "'mine' has two versions"),
                ((*allowed, "--baseline", "old/libmine.so", "--candidate", "mine=new"), "is no version of a kernel"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=new", "--inject", "n=10%"),
                 "time themselves"),
                (("--baseline", "mine=old", "--candidate", "mine=new"), "--allow-external")):
            with self.subTest(complaint):
                _, err = self.gate(*arguments, statuses=(2,))
                self.assertIn(complaint, err)


if __name__ == "__main__":
    BINARY = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
