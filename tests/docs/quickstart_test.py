"""What quickstart.sh builds on which machine, and what it says if it cannot.

Usage: quickstart_test.py [unittest arguments]

Most tests put programs of their own before those of the machine: a cmake that writes down how it is called, an
nvidia-smi, an nvcc. `DiskTest` needs root, for a disk of its own.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
NVCC = 'case $1 in --list-gpu-code) printf "sm_75\\nsm_80\\nsm_86\\nsm_90\\nsm_90a\\nsm_120\\n" ;; esac'


class Place:
    """A folder with quickstart.sh in it, and programs that it finds first."""

    def __init__(self, test, folder=None):
        if folder is None:
            made = tempfile.TemporaryDirectory()
            test.addCleanup(made.cleanup)
            folder = made.name
        self.tree, self.programs = pathlib.Path(folder, "tree"), pathlib.Path(folder, "programs")
        self.programs.mkdir()
        self.tree.mkdir()
        for name in ("quickstart.sh", "packages.txt"):
            shutil.copy(TREE / name, self.tree / name)
        shutil.copytree(TREE / ".cmake/cuda_12", self.tree / ".cmake/cuda_12")

    def program(self, name, text):
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def run(self, *options, **environment):
        return subprocess.run([self.tree / "quickstart.sh", "--no-install", *options], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", **environment})


class MachinesTest(unittest.TestCase):
    """Which GPU code is asked of CMake."""

    def configured(self, *options, gpus="", again=()):
        """Options that CMake gets, and what quickstart.sh says; with `again` those of a second call."""
        place = Place(self)
        calls = place.tree / "calls"
        place.program("cmake", f'echo "$*" >>{calls}; [ "$1" = --build ] || {{ mkdir -p build; for o in "$@"; do case $o in '
                               '-DHILBENCH_CUDA=*) echo "HILBENCH_CUDA:STRING=${o#*=}" >build/CMakeCache.txt ;; esac; done; }')
        place.program("nvidia-smi", f'[ -n "{gpus}" ] || exit 9; printf "{gpus}"')
        nvcc = place.program("nvcc", NVCC)
        done = place.run("--setup", *options, CUDACXX=str(nvcc))
        if again:
            calls.unlink()
            done = place.run("--setup", *again, CUDACXX=str(nvcc))
        self.assertEqual(done.returncode, 0, done.stderr)
        return calls.read_text().splitlines()[0], done.stdout

    def test_without_a_gpu_no_gpu_code(self):
        options, said = self.configured()
        self.assertIn("-DHILBENCH_CUDA=OFF", options)
        self.assertIn("-DHILBENCH_UNITY=ON", options)
        self.assertRegex(said, "(?m)^== building; no NVIDIA GPU here: .*--cuda builds it$")

    def test_cuda_without_a_gpu_is_for_all_architectures(self):
        options, said = self.configured("--cuda")
        self.assertIn("-DHILBENCH_CUDA=ON -DHILBENCH_DEVICE_CODE=COMPILED", options)
        self.assertIn("-UCMAKE_CUDA_ARCHITECTURES", options)
        self.assertIn("GPU code: for all architectures", said)

    def test_a_gpu_gets_its_own_code(self):
        for gpus, wanted in (("9.0\\n", "90-real"), ("9.0\\n9.0\\n", "90-real"), ("8.6\\n9.0\\n", "86-real;90-real"),
                             ("12.0\\n", "120-real")):
            options, said = self.configured(gpus=gpus)
            self.assertIn(f"-DHILBENCH_CUDA=ON -DHILBENCH_DEVICE_CODE=COMPILED", options)
            self.assertIn(f"-DCMAKE_CUDA_ARCHITECTURES={wanted}", options)
            self.assertIn("for the GPU here alone", said)
        options, said = self.configured("--all-architectures", gpus="9.0\\n")
        self.assertIn("-UCMAKE_CUDA_ARCHITECTURES", options)

    def test_a_gpu_that_the_toolkit_does_not_know(self):
        options, said = self.configured(gpus="6.1\\n")
        self.assertIn("-DHILBENCH_CUDA=OFF", options)
        self.assertIn("no code for a GPU of compute capability 6.1", said)
        options, _ = self.configured(gpus="10.3\\n9.0\\n")
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=90-real ", options + " ")

    def test_what_nvidia_smi_says_without_a_driver_is_no_gpu(self):
        for words in ("No devices were found\\n", "NVIDIA-SMI has failed\\n", "[N/A]\\n"):
            options, _ = self.configured(gpus=words)
            self.assertIn("-DHILBENCH_CUDA=OFF", options)

    def test_tests_compile_gpu_code_if_it_has_changed(self):
        options, _ = self.configured("--tests")
        self.assertIn("-DHILBENCH_CUDA=AUTO -DHILBENCH_DEVICE_CODE=IF_CHANGED", options)
        options, _ = self.configured("--tests", "--cuda")
        self.assertIn("-DHILBENCH_DEVICE_CODE=COMPILED", options)
        options, _ = self.configured("--tests", gpus="9.0\\n")
        self.assertIn("-DHILBENCH_DEVICE_CODE=COMPILED", options)

    def test_a_folder_with_gpu_code_keeps_it(self):
        options, said = self.configured("--cuda", again=("--no-install",))
        self.assertNotIn("-DHILBENCH_CUDA", options)
        self.assertNotIn("-DHILBENCH_UNITY", options)
        self.assertNotIn("left out", said)


class Cuda12Test(unittest.TestCase):
    """`--cuda 12`: when it is chosen, what it fetches and what contradicts it."""

    def setUp(self):
        self.place = Place(self)
        self.calls = self.place.tree / "calls"
        self.toolkit = self.place.tree / "build/cuda-12.4"
        self.place.program("cmake", f'echo "$*" >>{self.calls}')
        self.place.program("nvcc", NVCC)
        self.place.program("nvidia-smi", "exit 9")
        self.place.program("dpkg-query", "echo ok installed")  # every package is there

    def gpu(self, capabilities):
        self.place.program("nvidia-smi", f'printf "{capabilities}"')

    def unpacked(self):
        """The toolkit, as if fetched."""
        (self.toolkit / "bin").mkdir(parents=True)
        shutil.copy(self.place.programs / "nvcc", self.toolkit / "bin/nvcc")

    def configured(self, *options):
        done = self.place.run("--setup", *options, CUDACXX="")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.calls.read_text().splitlines()[0], done.stdout

    def refused(self, message, *options, **environment):
        done = self.place.run("--setup", *options, **{"CUDACXX": "", **environment})
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stderr, rf"\Aquickstart.sh: {message}\n\Z")

    def test_one_build_for_three_gpus_and_one_compiler_of_both_kinds_of_code(self):
        self.unpacked()
        options, said = self.configured("--cuda", "12")
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=61-real;80-real;90a-real;80-virtual", options)
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.toolkit}/bin/nvcc", options)
        self.assertEqual(*re.findall(r"-DCMAKE_(?:CXX|CUDA_HOST)_COMPILER=(\S+)", options))
        self.assertIn("-DCUBLAS_INCLUDE_DIR= -DCUDNN_INCLUDE_DIR= -DNCCL_INCLUDE_DIR= ", options)
        self.assertIn("; cuBLAS, cuDNN and NCCL are left out of this build\n", said)

    def test_a_gpu_that_the_toolkit_here_builds_no_code_for_chooses_it(self):
        self.unpacked()
        self.gpu("6.1\\n")
        options, said = self.configured()
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.toolkit}/bin/nvcc", options)
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=61-real ", options + " ")
        self.assertIn("for the GPU here alone (61;", said)

    def test_a_toolkit_before_12_counts_as_none(self):
        self.place.program("nvcc", f'case $1 in --version) echo "release 11.8, V11.8.89" ;; esac; {NVCC}')
        self.unpacked()
        self.gpu("8.0\\n")
        options, _ = self.configured()
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=80-real ", options + " ")
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.toolkit}/bin/nvcc", options)

    def test_a_toolkit_that_builds_code_for_a_gpu_here_stays(self):
        self.unpacked()
        self.gpu("6.1\\n9.0\\n")
        options, _ = self.configured()
        self.assertIn(f"-DCMAKE_CUDA_COMPILER={self.place.programs}/nvcc", options)
        self.gpu("12.1\\n")  # neither knows it
        self.calls.unlink()
        self.assertIn("-DHILBENCH_CUDA=OFF", self.configured()[0])

    def test_what_contradicts(self):
        self.unpacked()
        for name in ("CUDACXX", "CUDAToolkit_ROOT", "NVCC_APPEND_FLAGS"):
            self.refused(rf"--cuda 12: it brings its own toolkit, and {name} is /other: unset {name}", "--cuda", "12",
                         **{name: "/other"})
        self.refused(r"--cuda 12: it needs g\+\+ 12 or 13, and CXX is false: unset CXX", "--cuda", "12", CXX="false")
        cache = self.place.tree / "build/CMakeCache.txt"
        cache.write_text("CMAKE_CUDA_COMPILER:FILEPATH=/other/nvcc\n")
        self.refused(r"build/ is configured with another CUDA compiler, /other/nvcc: remove that \(rm -r build/CMake\*\) "
                     "and run this again", "--cuda", "12")
        cache.write_text("CMAKE_CXX_COMPILER:FILEPATH=/bin/false\n")
        self.refused(r"--cuda 12: it needs g\+\+ 12 or 13, and build/ is configured with /bin/false: remove that "
                     r"\(rm -r build/CMake\*\) and run this again", "--cuda", "12")

    def test_other_versions(self):
        done = self.place.run("--cuda", "11")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aquickstart.sh: --cuda 11: only CUDA 12 can be fetched; [^\n]*\n\Z")

    def test_not_fetched_without_leave(self):
        self.refused(r"--cuda 12: not fetched \(--no-install\), and build/ does not have it", "--cuda", "12")

    def fetch(self, apt, pip):
        """Calls fetch.sh with such an apt-get and a python3 that runs `pip` for `-m pip download`."""
        self.place.program("apt-get", 'case "$1 $*" in "indextargets "*) echo http://mirror Debian; exit ;; esac\n' + apt)
        self.place.program("python3", f'case "$*" in *"pip download"*) {pip} ;; *" --version"*) ;; *) exec {sys.executable} "$@" ;; esac')
        return subprocess.run([self.place.tree / ".cmake/cuda_12/fetch.sh", self.toolkit], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.place.programs}:{os.environ['PATH']}"})

    def test_downloads_that_fail(self):
        if os.uname().machine != "x86_64" or not pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg").exists():
            self.skipTest("Debian on x86-64 only")
        wheel = "nvidia-cuda-nvcc-cu12==12.4.131"
        for apt, pip, message in (
                ("echo 'E: Could not resolve mirror' >&2; exit 100", "exit 0",
                 r"Debian's packages cannot be fetched: Could not resolve mirror; is there a network\?"),
                ("exit 0", "echo 'ERROR: No matching distribution' >&2; exit 1",
                 rf"{wheel} cannot be fetched: No matching distribution; is there a network\?"),
                ("exit 0", "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM ...' >&2; exit 1",
                 rf"{wheel} has another hash than .*/wheels.txt says, and is not used")):
            done = self.fetch(apt, pip)
            self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
            self.assertRegex(done.stderr, rf"\ACUDA 12: {message}\n\Z")
            self.assertFalse(self.toolkit.exists())

    def test_what_was_fetched_is_not_fetched_again(self):
        self.unpacked()
        made_from = hashlib.sha256(b"".join((TREE / ".cmake/cuda_12" / name).read_bytes() for name in ("fetch.sh", "wheels.txt")))
        (self.toolkit / "made-from").write_text(made_from.hexdigest() + "\n")
        self.assertEqual(self.fetch("exit 1", "exit 1").returncode, 0)

    def test_every_wheel_has_a_hash(self):
        lines = [line for line in (TREE / ".cmake/cuda_12/wheels.txt").read_text().splitlines() if not line.startswith("#")]
        for line in lines:
            self.assertRegex(line, r"\A[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}\Z")


class FaultsTest(unittest.TestCase):
    """One line, status 4."""

    def refused(self, done, message):
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], message)
        others = [line for line in done.stderr.splitlines()[:-1] if "(--no-install): " not in line]
        self.assertEqual(others, [])

    def with_cache(self, text):
        place = Place(self)
        (place.tree / "build").mkdir()
        (place.tree / "build/CMakeCache.txt").write_text(text)
        return place.run("--setup")

    def test_build_folders_of_other_configurations(self):
        self.refused(self.with_cache("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n"),
                     r"\Aquickstart.sh: build/ is of another tree, /elsewhere: remove it \(rm -r build\) and run this again\Z")
        self.refused(self.with_cache("HILBENCH_SANITIZE:STRING=thread\n"),
                     r"\Aquickstart.sh: build/ is configured with sanitizers: remove it \(rm -r build\) and run this again\Z")

    def test_a_compiler_that_is_too_old(self):
        place = Place(self)
        old = place.program("old-g++", 'exec g++ -U__GNUC__ -D__GNUC__=11 "$@" 2>/dev/null')
        for name in ("CMakeLists.txt", "CMakePresets.json", ".cmake"):
            source = TREE / name
            if source.is_dir():
                shutil.copytree(source, place.tree / name, dirs_exist_ok=True)
            else:
                shutil.copy(source, place.tree / name)
        self.refused(place.run("--setup", CXX=str(old)),
                     r"\Aquickstart.sh: cannot configure: .*old-g\+\+ 11\.\S* is too old: hilbench needs g\+\+ 12, clang 14, or "
                     r"newer.*; the log is build/setup.log\Z")

    def test_what_the_compiler_says(self):
        place = Place(self)
        place.program("cmake", '[ "$1" != --build ] || { echo "[1/2] x.o"; echo "x.cpp:1:2: error: no such thing"; exit 1; }')
        self.refused(place.run("--setup"), r"\Aquickstart.sh: cannot build: x.cpp:1:2: error: no such thing.*; the log is build/setup.log\Z")

    def test_cuda_without_a_compiler_of_it(self):
        if shutil.which("nvcc") or pathlib.Path("/usr/local/cuda/bin/nvcc").exists():
            self.skipTest("a CUDA compiler is here")
        self.refused(Place(self).run("--setup", "--cuda"), r"--cuda: no CUDA compiler here; install a CUDA toolkit")

    def test_a_folder_that_cannot_be_written(self):
        place = Place(self)
        (place.tree / "build").write_text("a file\n")
        self.refused(place.run("--setup"), r"\Aquickstart.sh: cannot write .*/build; ")

    def test_unknown_options(self):
        done = Place(self).run("--fast")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "quickstart.sh: unknown option '--fast'; see --help\n")


class DiskTest(unittest.TestCase):
    def test_a_disk_that_fills(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", made.name], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("a disk of its own cannot be mounted here: it needs root")
        self.addCleanup(subprocess.run, ["umount", made.name], check=True)
        place = Place(self, made.name)
        place.program("cmake", 'if [ "$1" = --build ]; then dd if=/dev/zero of=build/object bs=1M 2>&1 || exit 1; fi')
        done = place.run("--setup")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r"\Aquickstart.sh: cannot build: the disk is full \(\d+ MB are free\): free some, .*; it goes on from here\Z")
        place.program("cmake", "exit 0")
        (place.tree / "build/object").unlink()
        self.assertEqual(place.run("--setup").returncode, 0)


if __name__ == "__main__":
    unittest.main()
