"""What tests of the command line share: small sweeps, files for them, a folder, and how a refusal looks."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import npy

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # these tests are about processors: hide the GPUs

# A sweep of one small case; tests replace or add parts of it.
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


def permutation(slots):
    return npy((len(slots),), "<i8", struct.pack("<%dq" % len(slots), *slots))


def tensor(values, shape=(1, 64, 2, 16)):
    return npy(shape, "<f4", struct.pack("<%df" % len(values), *values))


FULL = [0.5] * (64 * 2 * 16)
ORDER_FILE = variants("[{kernel: dilated, order: [linear, file], order_file: map.npy}]")
TENSORS = sweep(more="inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy}\n")
TENSOR_FILES = {name: tensor(FULL) for name in ("q.npy", "k.npy", "v.npy")}


class CommandLine(unittest.TestCase):
    PROGRAM = ""  # main() sets it

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hilbench-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.run([self.PROGRAM, *arguments], cwd=self.folder, timeout=120, **options)

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


def main():
    """Runs the tests of the script that was started: SCRIPT HILBENCH [unittest arguments]."""
    CommandLine.PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
