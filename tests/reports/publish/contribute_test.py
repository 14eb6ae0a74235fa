"""`run.sh OUT contribute`: what it measures, how it is stopped and goes on, and what it packs. A script stands for the
program, so nothing is measured.

Usage: contribute_test.py [unittest arguments]
"""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
# Writes down its arguments. `run` makes a store; $STOP_AT names the sweep at which it ends as after Ctrl-C. `check`
# finds fault with the sweep that $FAULT_IN names.
PROGRAM = r"""#!/usr/bin/env bash
echo "$*" >>calls.txt
case $1 in
  list) printf '%s' "${DEVICES:-}" ;;
  run)
    store=${*: -1}
    mkdir -p "$store" && touch "$store/results.sqlite"
    [[ $store != */"${STOP_AT:-}" ]] || exit 130 ;;
  check)
    [[ $2 != */"${FAULT_IN:-}" ]] || { echo "not ok  quiet: no"; echo "$2 may not be published: 1 fault"; exit 1; }
    echo "$2 may be published" ;;
esac
"""
ON_GPU = "cpu\ncuda:0  a card\n"


class Contribute(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.place = pathlib.Path(held.name)
        (self.place / "bin").mkdir()
        (self.place / "bin/hilbench").write_text(PROGRAM)
        (self.place / "bin/hilbench").chmod(0o755)
        shutil.copy(TREE / "reports/publish/run.sh", self.place)
        shutil.copytree(TREE / "sweeps", self.place / "sweeps")
        self.claims = sorted(re.search("^name: (.*)$", file.read_text(), re.MULTILINE)[1]
                             for file in (TREE / "sweeps/claims").glob("*.yaml")
                             if not file.name.startswith("chain-"))

    def contribute(self, status=0, **environment):
        """What it prints. It must end with `status`."""
        (self.place / "calls.txt").unlink(missing_ok=True)
        done = subprocess.run([self.place / "run.sh", self.place / "out", "contribute"], capture_output=True, text=True,
                              env={**os.environ, **environment}, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def calls(self, command):
        lines = (self.place / "calls.txt").read_text().splitlines()
        return [line for line in lines if line.startswith(command + " ")]

    def packed(self):
        return sorted(file.name.removesuffix(".tar.xz") for file in (self.place / "out").glob("*.tar.xz"))

    def test_a_gpu_measures_every_claim_by_five_processes(self):
        self.contribute(DEVICES=ON_GPU)
        self.assertEqual(self.packed(), self.claims)
        self.assertEqual(len(self.calls("run")), len(self.claims))
        for call in self.calls("run"):
            self.assertIn(" --device cuda ", call)
            self.assertIn(" --processes 5 ", call)
            self.assertNotRegex(call, r"(^| )/", "no absolute path may stand in records")

    def test_windows_are_not_asked_of_a_gpu_without_a_kernel_for_them(self):
        self.contribute(DEVICES="cpu   a processor\ncuda:0  NVIDIA GeForce GTX 1080: compute capability 6.1, 20 multiprocessors\n")
        windows = {"hilbert-local", "neighborhood", "sliding-tile"}
        self.assertEqual(self.packed(), [name for name in self.claims if name not in windows])

    def test_a_gpu_that_the_build_cannot_use_is_an_error(self):
        (self.place / "nvidia-smi").write_text("#!/bin/sh\necho 'GPU 0: a card'\n")
        (self.place / "nvidia-smi").chmod(0o755)
        out = self.contribute(4, DEVICES="cpu\ncuda  unavailable\n", PATH=f"{self.place}:{os.environ['PATH']}")
        self.assertIn("this build cannot use it", out)
        self.assertEqual(self.packed(), [])

    def test_a_processor_measures_by_ten(self):
        self.contribute(DEVICES="cpu\n")
        self.assertGreater(len(self.packed()), 8)
        for call in self.calls("run"):
            self.assertIn(" --device cpu ", call)
            self.assertIn(" --processes 10 ", call)

    def test_claims_about_gpus_alone_are_not_asked_of_a_processor(self):
        self.contribute(DEVICES="cpu\n")
        self.assertFalse({"neighborhood", "sawtooth", "sliding-tile"} & set(self.packed()))
        self.assertIn("hilbert-local", self.packed())

    def test_windows_are_measured_beside_their_rivals(self):
        for step, processes, sweeps in (("windows", 5, ["dilated-windows", "images", "shapes", "videos", "window-rivals"]),
                                        ("cpu-windows", 10, ["cpu-dilated", "cpu-images", "cpu-videos", "cpu-window-rivals"])):
            with self.subTest(step=step):
                shutil.rmtree(self.place / "out", ignore_errors=True)
                (self.place / "calls.txt").unlink(missing_ok=True)
                subprocess.run([self.place / "run.sh", self.place / "out", step], capture_output=True, check=True, timeout=60)
                self.assertEqual(self.packed(), sweeps)
                for call in self.calls("run"):
                    self.assertIn(f" --allow-external --processes {processes} ", call)

    def test_what_may_not_be_published_is_not_packed(self):
        self.contribute(DEVICES=ON_GPU)
        out = self.contribute(1, DEVICES=ON_GPU, FAULT_IN="hybrid-core")
        self.assertEqual(self.packed(), [name for name in self.claims if name != "hybrid-core"])
        self.assertIn("hybrid-core may not be published: 1 fault", out)
        self.assertIn("not ok  quiet: no", out)

    def test_stopped_it_ends_at_once_and_goes_on_later(self):
        stop = self.claims[3]
        out = self.contribute(130, DEVICES=ON_GPU, STOP_AT=stop)
        self.assertEqual((len(self.calls("run")), self.packed()), (4, self.claims[:3]))
        self.assertIn("stopped; the same command goes on", out)
        self.contribute(DEVICES=ON_GPU)
        self.assertEqual(self.packed(), self.claims)
        with tarfile.open(self.place / f"out/{stop}.tar.xz") as archive:
            self.assertIn(f"{stop}/results.sqlite", archive.getnames())


if __name__ == "__main__":
    unittest.main(verbosity=2)
