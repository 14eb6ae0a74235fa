"""The rivals that compute with PyTorch, or JAX, as their tests see them: by their protocol, and through the program.

A test of one is run with PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch, or JAX, in it only the tests that need none run, and the status is 77.
"""

import array
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "program"))
from plain_attention import attention, gradients  # noqa: E402
from program import Program  # noqa: E402

PYTHON = os.environ.get("HILBENCH_PYTHON") or "python3"
SKIPPED = 77  # CTest's SKIP_RETURN_CODE
NO_COMPILER = "flex: does not compile: "


def half(value):
    return struct.pack("<e", value)


def upper_half(value):
    return struct.pack("<f", value)[2:]


# Bytes of a value in each dtype, and the value that they hold.
STORE = {"fp32": lambda value: struct.pack("<f", value), "fp16": half, "bf16": upper_half}
LOAD = {"fp32": lambda data: struct.unpack("<f", data)[0], "fp16": lambda data: struct.unpack("<e", data)[0],
        "bf16": lambda data: struct.unpack("<f", b"\0\0" + data)[0]}
# Of the largest output: a few roundings to the dtype, as it stores probabilities too.
TOLERANCE = {"fp32": 2e-5, "fp16": 2.0**-9, "bf16": 2.0**-6}


class Script:
    """The script under test, asked as the program asks it."""

    def __init__(self, path, environment=None):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([PYTHON, path], text=True, env=environment, **pipes)

    def ask(self, **request):
        """The script's answer; None if it ends without one."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class RivalTest(unittest.TestCase):
    binary = path_of_script = None  # main() sets these three
    absence = None  # why the tests with PyTorch cannot run, or ""

    def skip_without_pytorch(self):
        if self.absence:
            self.skipTest(self.absence)

    def skip_without_compiler(self, reason):
        if (reason or "").startswith(NO_COMPILER):
            self.skipTest(reason)


class ProtocolTest(RivalTest):
    """A script that has said hello, and a folder for its tensors."""

    environment = None  # of the script; None: that of the test
    tolerance = TOLERANCE
    lse_tolerance = 1e-3

    def setUp(self):
        self.skip_without_pytorch()
        self.rng = random.Random(7)  # of new inputs and of chosen rows
        self.script = Script(self.path_of_script, self.environment)
        self.addCleanup(self.script.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.hello = self.script.ask(do="hello", protocol=2)

    def files(self, names):
        return {name: str(self.folder / name) for name in names}

    def write_tensors(self, case, rng, names="qkv"):
        """Writes random tensors of the case. Returns their values, as its dtype holds them."""
        tensors = []
        for name in names:
            heads = case["kv_heads" if name in "kv" else "heads"]
            count = case["batch"] * case["sequence_length"] * heads * case["head_dim"]
            stored = [STORE[case["dtype"]](rng.gauss(0, 1)) for _ in range(count)]
            (self.folder / name).write_bytes(b"".join(stored))
            tensors.append([LOAD[case["dtype"]](data) for data in stored])
        return tensors

    def check_output(self, case, tensors):
        """Runs a case that is loaded and compares its output with plain attention, then for other inputs, of which some
        are new. Returns whether it has an LSE."""
        self.assertEqual(self.script.ask(do="run", executions=0), {"times_ns": []})
        has_lse = self.check_run(case, tensors)
        changed = self.rng.choice(["q", "k", "v", "qk", "kv", "qkv"])
        tensors = dict(zip("qkv", tensors)) | dict(zip(changed, self.write_tensors(case, self.rng, changed)))
        answer = self.script.ask(do="inputs", changed=list(changed), **self.files("qkv"))
        self.assertEqual(answer, {}, changed)
        self.assertEqual(self.check_run(case, [tensors[name] for name in "qkv"]), has_lse)
        return has_lse

    def read(self, **request):
        """What it writes of O and LSE, and whether it has an LSE."""
        files = self.files(("o", "lse"))
        for file in files.values():
            pathlib.Path(file).write_bytes(b"")
        has_lse = self.script.ask(do="read", **files, **request)["lse"]
        return *(array.array("f", pathlib.Path(file).read_bytes()) for file in files.values()), has_lse

    def check_run(self, case, tensors):
        times = self.script.ask(do="run", executions=2)["times_ns"]
        self.assertTrue(len(times) == 2 and min(times) > 0, times)
        got_o, got_lse, has_lse = self.read()
        self.check_rows(case, got_o, got_lse)
        o, lse = attention(case, *tensors)
        self.assertEqual(len(got_o), len(o))
        self.assertFalse(any(map(math.isnan, got_o)))
        tolerance = self.tolerance[case["dtype"]] * max(map(abs, o))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(got_o, o)), tolerance)
        self.assertEqual(len(got_lse), len(lse) if has_lse else 0)
        if has_lse:
            self.assertFalse(any(map(math.isnan, got_lse)))
            self.assertEqual([a == -math.inf for a in got_lse], [b == -math.inf for b in lse])
            off = [abs(a - b) for a, b in zip(got_lse, lse) if b != -math.inf]
            self.assertLess(max(off), self.lse_tolerance)
        return has_lse

    def check_rows(self, case, o, lse):
        """That it writes any rows as it writes them among all, bit for bit."""
        d, count = case["head_dim"], case["batch"] * case["sequence_length"] * case["heads"]
        some = sorted(self.rng.sample(range(count), self.rng.randint(1, count)))
        for rows in (some, [0], [count - 1], list(range(count)), []):
            some_o, some_lse, has_lse = self.read(rows=rows)
            self.assertEqual(some_o.tobytes(), b"".join(o[row * d:(row + 1) * d].tobytes() for row in rows))
            self.assertEqual(some_lse.tobytes(), array.array("f", [lse[row] for row in rows if has_lse]).tobytes())


class GradientsTest(ProtocolTest):
    """The backward pass of a script, asked as the program asks for it."""

    NAMES = "q", "k", "v", "d_o", "o", "lse"

    def load_gradients(self, case, option, rng):
        """Returns the values of the tensors, and the answer of the script."""
        tensors = self.write_operands(case, rng)
        return tensors, self.script.ask(do="load", case=case, option=option, **self.files(self.NAMES))

    def write_operands(self, case, rng):
        q, k, v, d_o = self.write_tensors(case, rng, ("q", "k", "v", "d_o"))
        o, lse = attention(case, q, k, v)
        stored = [STORE[case["dtype"]](value) for value in o]
        (self.folder / "o").write_bytes(b"".join(stored))
        (self.folder / "lse").write_bytes(struct.pack(f"<{len(lse)}f", *lse))
        return q, k, v, d_o, [LOAD[case["dtype"]](data) for data in stored], lse

    def check_gradients(self, case, tensors):
        """Of what is loaded, then of dO alone negated, then of all that is new."""
        self.check_one(case, tensors)
        negated = [-value for value in tensors[3]]
        (self.folder / "d_o").write_bytes(b"".join(map(STORE[case["dtype"]], negated)))
        for changed, new in ((["d_o"], (*tensors[:3], negated, *tensors[4:])), (list(self.NAMES), None)):
            new = new or self.write_operands(case, self.rng)
            self.assertEqual(self.script.ask(do="inputs", changed=changed, **self.files(self.NAMES)), {})
            self.check_one(case, new)

    def check_one(self, case, tensors):
        times = self.script.ask(do="run", executions=2)["times_ns"]
        self.assertTrue(len(times) == 2 and min(times) > 0, times)
        whole = self.read_gradients()
        for name, got, right in zip(("dQ", "dK", "dV"), whole, gradients(case, *tensors)):
            self.assertEqual(len(got), len(right), name)
            self.assertFalse(any(map(math.isnan, got)), name)
            # D of few keys is a difference of large numbers: no less than of gradients of size 1.
            tolerance = 4 * self.tolerance[case["dtype"]] * max(1, *map(abs, right))
            self.assertLessEqual(max(abs(a - b) for a, b in zip(got, right)), tolerance, name)
        d, chosen = case["head_dim"], []
        for heads in (case["heads"], case["kv_heads"]):
            count = case["batch"] * case["sequence_length"] * heads
            chosen.append(sorted(self.rng.sample(range(count), self.rng.randint(1, count))))
        some = self.read_gradients(rows=chosen[0], keys=chosen[1])
        for got, all_rows, rows in zip(some, whole, (chosen[0], chosen[1], chosen[1])):
            self.assertEqual(got.tobytes(), b"".join(all_rows[row * d:(row + 1) * d].tobytes() for row in rows))

    def read_gradients(self, **request):
        files = self.files(("d_q", "d_k", "d_v"))
        for file in files.values():
            pathlib.Path(file).write_bytes(b"")
        self.assertEqual(self.script.ask(do="read", **files, **request), {})
        return [array.array("f", pathlib.Path(file).read_bytes()) for file in files.values()]


class ThroughTheProgramTest(RivalTest):
    def setUp(self):
        self.program = Program(self.binary)
        self.addCleanup(self.program.close)

    def run_sweep(self, text, *arguments, **options):
        """The records of all variants of the sweep."""
        self.program.run("run", self.program.sweep(text), "-o", "out", "--allow-external", *arguments, **options)
        return self.program.records("out")

    def without_pytorch(self):
        """An environment whose HILBENCH_PYTHON has the standard library alone."""
        bare = self.program.folder / "bare_python"
        bare.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        bare.chmod(0o755)
        return {**os.environ, "HILBENCH_PYTHON": str(bare)}

    def check_python_without_pytorch(self, text, rival, cases):
        records = self.run_sweep(text, "--filter", f"{rival}$", env=self.without_pytorch())
        records = [record for record in records if record["kind"] == "baseline"]
        self.assertEqual(len(records), cases)
        for record in records:
            self.assertEqual(record["status"], "skipped")
            self.assertRegex(record["reason"],
                             "^no PyTorch for .*python.*: No module named 'torch'; set HILBENCH_PYTHON")


def absence(script, environment=None):
    """Why the tests with PyTorch, or JAX, cannot run, or ""."""
    try:
        hello = json.dumps({"do": "hello", "protocol": 2}) + "\n"
        answer = subprocess.run([PYTHON, script], input=hello, text=True, capture_output=True, env=environment)
        return json.loads(answer.stdout).get("unsupported", "")
    except (OSError, ValueError) as error:
        return f"{PYTHON} does not run {script}: {error}"


def main(absence=absence):
    RivalTest.binary, RivalTest.path_of_script = sys.argv.pop(1), sys.argv.pop(1)
    RivalTest.absence = absence(RivalTest.path_of_script)
    passed = unittest.main(verbosity=2, exit=False).result.wasSuccessful()
    if RivalTest.absence:
        print(f"skipped: {RivalTest.absence}")
    sys.exit(1 if not passed else SKIPPED if RivalTest.absence else 0)
