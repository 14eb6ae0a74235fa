"""What the tests of kernels of users share: a sweep, a kernel in plain Python, and libraries that are built."""

import os
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
        self.program = Program(self.binary)
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


class PythonCase(KernelCase):
    def python_with(self, module):
        for python in (sys.executable, "/usr/bin/python3", os.environ.get("HILBENCH_PYTHON")):
            if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
                return python
        self.skipTest(f"no python3 with {module}")


class LibraryCase(KernelCase):
    def build(self, name, *flags, source=TESTS / "fakes/faulty_kernel.c"):
        include = self.program.folder / "include/hilbench"
        if not include.exists():
            include.mkdir(parents=True)
            shutil.copy(TESTS.parent / "kernels/plugin/kernel.h", include)
        subprocess.run([COMPILER, "-std=gnu99", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-pthread", "-Iinclude", *flags, source, "-o",
                        f"lib{name}.so", "-lm"], cwd=self.program.folder, check=True)
        return f"{{library: ./lib{name}.so}}"
