"""`pack.sh`: the archive holds every file that its `run.sh` asks for.

Usage: pack_test.py BUILD [unittest arguments]
"""

import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]


def archive_in(place):
    return pathlib.Path(place) / "bundle.tar.xz"


def pack(build, place, *options):
    return subprocess.run([TREE / "reports/publish/pack.sh", build, archive_in(place), *options], capture_output=True,
                          text=True, timeout=500)


def has_stubs():
    version = subprocess.run([pathlib.Path(BUILD, "hilbench"), "--version"], capture_output=True, text=True, check=True)
    return ", stubs of the code for " in version.stdout


class Pack(unittest.TestCase):
    def test_holds_what_its_script_asks_for(self):
        with tempfile.TemporaryDirectory() as place:
            done = pack(BUILD, place, "--allow-stubs")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with tarfile.open(archive_in(place)) as packed:
                names = {name.removeprefix("./") for name in packed.getnames()}
        script = (TREE / "reports/publish/run.sh").read_text()
        asked = set(re.findall(r"tests/program/[a-z_]+\.py|bin/hilbench", script))
        self.assertGreater(len(asked), 2)
        asked |= {"run.sh", "bin/cuda_tests", "sweeps/quick.yaml", "fakes/libcuda.so.1", "fakes/libnvidia-ml.so.1"}
        self.assertEqual(asked - names, set())

    def test_stubs_of_the_gpu_code_are_not_packed(self):
        if not has_stubs():
            self.skipTest("this build has the GPU code")
        with tempfile.TemporaryDirectory() as place:
            done = pack(BUILD, place)
            self.assertEqual(done.returncode, 4)
            self.assertRegex(done.stderr, r"\Apack.sh: .* has stubs of the GPU code; .*--cuda builds the code\n\Z")

    def test_a_folder_without_a_build(self):
        with tempfile.TemporaryDirectory() as place:
            done = pack(place, place)
            self.assertEqual(done.returncode, 4)
            self.assertIn("no hilbench in", done.stderr)
            for absent in (place + "/absent", "", __file__):
                done = pack(absent, place)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r"\Apack.sh: no folder of a build .*\n\Z")
            self.assertFalse(archive_in(place).exists())


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1))
    unittest.main()
