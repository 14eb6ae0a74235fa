"""Kernels of users on a GPU: what `init` writes runs, is right, counted, clean and gated.

Usage: kernels_gpu_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from kernel_cases import PythonCase

os.environ["PATH"] += ":/usr/local/cuda/bin"
del os.environ["CUDA_VISIBLE_DEVICES"]  # program.py hides the GPUs
SHORT = ("--processes", "1", "--budget", "1")
# Shuffles that leave the scores as they are.
SLOWER = ("      const float most = fmaxf(top, score)",
          "      for (int i = 0; i < 16; ++i) score = __shfl_xor_sync(0xffffffffu, score, 0);\n"
          "      const float most = fmaxf(top, score)")
# Nothing waits for what runs on this stream.
ELSEWHERE = ("  auto* const on = static_cast<cudaStream_t>(stream);",
             "  static cudaStream_t on = nullptr;\n"
             "  if (on == nullptr) cudaStreamCreateWithFlags(&on, cudaStreamNonBlocking);")
A_TENTH = ("if __name__ ==",
           "import hilbench.kernel as served\n"
           "honest = served.TorchTensors.durations\n"
           "served.TorchTensors.durations = lambda self, run, n: [ns / 10 for ns in honest(self, run, n)]\n"
           "if __name__ ==")


def has_gpu():
    return shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0


@unittest.skipUnless(has_gpu(), "no GPU")
class GpuTest(PythonCase):
    def init(self, kind):
        """Runs `init` and the build that it prints; what came of it lies in the folder of the program."""
        out, _ = self.program.run("init", "--kernel", kind, "-o", "mine")
        self.command = out[out.index("next: ") + len("next: "):].splitlines()[0].removeprefix("cd mine && ")
        if self.command.startswith("nvcc"):
            subprocess.run(self.command, shell=True, check=True, cwd=self.program.folder / "mine")
        for file in (self.program.folder / "mine").glob("*mine*"):
            file.replace(self.program.folder / file.name)

    def check(self, python="python3"):
        for name in ("mine.yaml", "mine-test.yaml"):
            file = self.program.folder / name
            file.write_text(file.read_text().replace("[python3,", f"[{python},"))
        self.program.run("run", "mine-test.yaml", "-o", "test", "--allow-external", "--axis", "sequence_length=333")
        self.assertEqual({(record["status"], record["reason"]) for record in self.program.records("test")}, {("ok", None)})
        self.program.run("run", "mine.yaml", "-o", "out", "--allow-external", *SHORT, "--axis", "sequence_length=16k",
                         "--filter", "w8192")
        records = self.program.records("out")
        self.assertEqual({(record["status"], record["reason"]) for record in records}, {("ok", None)})
        self.assertEqual({record["variant"] for record in records},
                         {"mine/linear", "mine/hilbert", "mine/residue", "mine/random", "dilated/linear"})
        return records

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc")
    def test_library(self):
        self.init("cuda")
        records = self.check()
        ours = {name for record in records if record["variant"] == "dilated/linear"
                for name, counter in record["counters"].items() if counter["source"] == "cupti" and counter["value"]}
        for record in records:
            if record["variant"].startswith("mine/"):
                counted = {name for name, counter in record["counters"].items() if counter["value"] is not None}
                self.assertLessEqual(ours - {"tma_load_sectors"}, counted, record["variant"])

    def test_triton(self):
        python = self.python_with("triton")
        self.init("triton")
        records = self.check(python)
        for record in records:
            if record["variant"].startswith("mine/"):
                self.assertEqual(record["environment"]["library"]["launch"], "cuda_graph")

    def sanitized(self, tool):
        """A short run under a tool of compute-sanitizer, begun."""
        return subprocess.Popen(
            ["compute-sanitizer", "--tool", tool, "--target-processes", "all", self.program.binary, "run", "mine-test.yaml",
             "-o", tool, "--fresh", "--allow-external", "--axis", "sequence_length=96", "--axis", "dtype=fp32,bf16", "--axis",
             "causal=true", "--filter", "mine/hilbert"],
            cwd=self.program.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @unittest.skipUnless(shutil.which("compute-sanitizer") and shutil.which("nvcc"), "no compute-sanitizer")
    def test_library_is_clean(self):
        self.init("cuda")
        for tool, check in [(tool, self.sanitized(tool)) for tool in ("memcheck", "racecheck")]:
            with self.subTest(tool):
                out = check.communicate()[0]
                summaries = [line for line in out.splitlines() if "SUMMARY" in line]
                self.assertEqual(check.returncode, 0, out[-4000:])
                self.assertTrue(summaries, out[-4000:])
                self.assertFalse([line for line in summaries if " 0 " not in line], summaries)
        # The process of the library is checked too: a fault in its kernel is found.
        self.change("mine.cu", "lse[i] = -INFINITY", "lse[i + (1ll << 28)] = -INFINITY")
        self.assertIn("Invalid __global__ write", self.sanitized("memcheck").communicate()[0])

    def change(self, file, old, new):
        """Replaces `old` in a file of the kernel; a library is built again."""
        source = (self.program.folder / file).read_text()
        self.assertIn(old, source)
        (self.program.folder / file).write_text(source.replace(old, new))
        if file.endswith(".cu"):
            built = self.program.folder / "mine"
            shutil.copy(self.program.folder / file, built)
            subprocess.run(self.command, shell=True, check=True, cwd=built)
            (built / "libmine.so").replace(self.program.folder / "libmine.so")

    def measure_one(self, store):
        self.program.run("run", "mine.yaml", "-o", store, "--allow-external", *SHORT, "--axis", "sequence_length=16k",
                         "--filter", "w2048.*mine/linear", status=(0, 1))
        (record,) = self.program.records(store)
        return record

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc")
    def test_library_that_computes_elsewhere(self):
        """Below 20 us CUPTI's clock is asked, which sees kernels on every stream: the time is true then."""
        self.init("cuda")
        honest = self.measure_one("honest")
        self.change("mine.cu", *ELSEWHERE)
        cheat = self.measure_one("cheat")
        if cheat["status"] == "ok":
            self.assertIn("cupti", cheat["time_ns"]["timer"])
            self.assertGreater(cheat["time_ns"]["median"], 0.5 * honest["time_ns"]["median"])
        else:
            self.assertIn("less than half", cheat["reason"])

    def test_program_that_reports_a_tenth(self):
        python = self.python_with("triton")
        self.init("triton")
        sweep = self.program.folder / "mine.yaml"
        sweep.write_text(sweep.read_text().replace("[python3,", f"[{python},"))
        self.change("mine.py", *A_TENTH)
        self.assertIn("less than half", self.measure_one("out")["reason"])

    @unittest.skipUnless(shutil.which("nvcc"), "no nvcc")
    def test_gate(self):
        self.init("cuda")
        for name, change in (("old", None), ("slow", SLOWER)):
            folder = self.program.folder / name
            folder.mkdir()
            shutil.copytree(self.program.folder / "mine/hilbench", folder / "hilbench")
            source = (self.program.folder / "mine.cu").read_text()
            if change:
                self.assertIn(change[0], source)
                source = source.replace(*change)
            (folder / "mine.cu").write_text(source)
            subprocess.run(self.command, shell=True, check=True, cwd=folder)
        for candidate, budget, statuses, verdicts in (("slow", "150s", (1,), {"slower"}), ("old", "60s", (0, 3), {"ok", "undecided"})):
            with self.subTest(candidate):
                out = self.program.folder / candidate / "out"
                process = self.program.start("gate", "mine.yaml", "--allow-external", "--baseline", "mine=old",
                                             "--candidate", f"mine={candidate}", "--budget", budget, "--threshold", "5%",
                                             "--axis", "sequence_length=16k", "--filter", "w2048.*mine/(linear|hilbert)", "-o", out)
                told = "".join(process.communicate(timeout=300))
                self.assertIn(process.returncode, statuses, told)
                with open(out / "gate.csv", newline="") as file:
                    found = {row["verdict"] for row in csv.DictReader(file) if row["variant"].startswith("mine/")}
                self.assertLessEqual(found, verdicts, told)


if __name__ == "__main__":
    PythonCase.binary = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
