"""Who has installed hilbench compiles kernels against its hilbench/kernel.h, and needs no copy of it.

usage: installed_header.py HILBENCH BUILD_FOLDER TREE [unittest arguments]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, BUILD, TREE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
C = shutil.which("cc") or shutil.which("gcc")
CXX = shutil.which("c++") or shutil.which("g++")
NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")


class InstalledHeaderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_here(self, *command, status=0):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def install(self, *options):
        return subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder / "there", *options],
                              capture_output=True, text=True)

    def template(self, language):
        """The folder that `init` writes, without the copy of the header that lies beside the kernel."""
        self.run_here(PROGRAM, "init", "--kernel", language, "-o", language)
        shutil.rmtree(self.folder / language / "hilbench")
        return str(next((self.folder / language).glob("mine.c*")))

    def test_it_is_installed_with_all_else(self):
        done = self.install()
        if "stubs of the GPU code" in done.stderr:
            self.skipTest("this build has stubs of the GPU code, and is not installed")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.access(self.folder / "there/bin/hilbench", os.X_OK))
        self.assertEqual((self.folder / "there/include/hilbench/kernel.h").read_text(),
                         (TREE / "kernels/plugin/kernel.h").read_text())

    def test_templates_compile_against_it(self):
        done = self.install("--component", "development")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([str(file.relative_to(self.folder)) for file in self.folder.rglob("*.*")],
                         ["there/include/hilbench/kernel.h"])
        include = f"-I{self.folder / 'there/include'}"
        commands = []
        if C:
            commands.append([C, "-Wall", "-Werror", "-fopenmp", "-fsyntax-only"])
        if NVCC:
            commands.append([NVCC, "-arch=sm_80", "-O0", "-ptx", "-o", "mine.ptx"])
        for command in commands:
            with self.subTest(command[0]):
                source = self.template("cuda" if command[0] == NVCC else "c")
                self.assertIn("hilbench/kernel.h", self.run_here(*command, source, status=1))
                self.run_here(*command, include, source)
        if CXX:  # C++ may include it too
            (self.folder / "mine.cpp").write_text('#include "hilbench/kernel.h"\nhilbench_kernel table = {};\n')
            self.run_here(CXX, "-Wall", "-Werror", "-fsyntax-only", include, "mine.cpp")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
