"""What the program says if NVIDIA's driver is missing, too old or broken, with other libraries in place of the driver's
(tests/fakes/). Nothing here needs a GPU.

Usage: driver_test.py PATH_OF_HILBENCH FOLDER_OF_STUBS [unittest arguments]
"""

import os
import pathlib
import shutil
import sys
import unittest

from program import Program

SWEEP = """
name: driver
cases: [{sequence_length: 64, segments: [32], dilations: [2], heads: 2, head_dim: 16, device: DEVICE}]
variants: [{kernel: dilated, order: [linear, random]}]
measure: {budget_s: 0.05, min_rounds: 3}
"""

# What the driver does: variables of the stub, and the words for it.
STATES = {
    "no device": ({"INIT": 100}, "CUDA finds no GPU; check that nvidia-smi lists one, with an instance if MIG is on, "
                                 "and that CUDA_VISIBLE_DEVICES does not hide it"),
    "not ready": ({"INIT": 802}, "the system is not ready (CUDA error 802); check that nvidia-fabricmanager runs"),
    "mismatch": ({"INIT": 803}, "the driver's library and its kernel module differ (CUDA error 803); restart the machine "
                                "after a driver update"),
    "compatibility": ({"INIT": 804}, "the compatibility package's driver does not support this GPU (CUDA error 804); "
                                     "remove its folder from LD_LIBRARY_PATH"),
    "stub": ({"INIT": 34}, "libcuda.so.1 is the toolkit's stub, not a driver; remove its folder from LD_LIBRARY_PATH"),
    "unknown": ({"INIT": 999}, "CUDA does not start (error 999); check that nvidia-smi works"),
}
TOO_OLD = "the NVIDIA driver is too old: it supports CUDA 10.2, this build needs {}; update the driver, or build with the " \
          "driver's CUDA version"
NO_DRIVER = "no NVIDIA driver (libcuda.so.1); install one if there is an NVIDIA GPU"


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.mark = self.program.folder / "loaded"

    def surroundings(self, folder=None, **stub):
        variables = {"HILBENCH_STUB_" + name: str(value) for name, value in stub.items()}
        return {**os.environ, **variables, "LD_LIBRARY_PATH": str(folder or STUBS),
                "HILBENCH_STUB_LOADED": str(self.mark)}

    def expect(self, reason, env):
        """Every command that looks for a GPU gives `reason`, and the exit status of its kind."""
        devices, _ = self.program.run("list", "devices", env=env)
        self.assertRegex(devices, rf"(?m)^cuda +unavailable: {reason}$")
        self.assertIn("cpu ", devices)
        kernels, _ = self.program.run("list", "kernels", env=env)
        self.assertRegex(kernels, rf"(?m)^dilated_simt .*; unavailable here: {reason}$")
        sweep = self.program.sweep(SWEEP.replace("DEVICE", "cuda"))
        planned, _ = self.program.run("plan", sweep, env=env)
        self.assertRegex(planned, rf"(?m)^  dilated/linear .* {reason}$")
        self.assertIn("0 variants to measure, 2 skipped", planned)
        out, _ = self.program.run("run", sweep, "-o", "out", "--fresh", env=env)
        self.assertIn("0 records ok, 0 failed, 0 invalid, 2 skipped", out)
        for record in self.program.records("out"):
            self.assertEqual(record["status"], "skipped")
            self.assertRegex(record["reason"], f"^{reason}$")
        _, err = self.program.run("run", sweep, "-o", "out", "--device", "cuda:0", status=4, env=env)
        self.assertRegex(err, rf"^hilbench: error: no device cuda:0 \(--device\): {reason}; "
                              r"see `hilbench list devices`\n$")
        # Where the device is left open, the processors do.
        sweep = self.program.sweep(SWEEP.replace("DEVICE", "auto"))
        out, _ = self.program.run("run", sweep, "-o", "open", "--fresh", env=env)
        self.assertIn("2 records ok", out)

    @staticmethod
    def literally(text):
        return "".join("\\" + letter if letter in "().[]{}*+?|" else letter for letter in text)

    def expect_doctor(self, part, reason, env):
        report, _ = self.program.run("doctor", env=env)
        self.assertRegex(report, rf"(?m)^  absent  {part} +{reason}$")

    def test_states_of_the_driver(self):
        for state, (stub, reason) in STATES.items():
            with self.subTest(state=state):
                env, reason = self.surroundings(**stub), self.literally(reason)
                self.expect(reason, env)
                self.expect_doctor("NVIDIA driver", reason, env)
                self.expect_doctor("CUPTI", "nothing to count on: " + reason, env)

    def test_too_old(self):
        env = self.surroundings(VERSION=10020, INIT=0)
        reason = self.literally(TOO_OLD).replace("\\{\\}", r"\d+\.\d")
        self.expect(reason, env)
        self.expect_doctor("NVIDIA driver", reason, env)

    def test_no_driver(self):
        folder = self.program.folder / "broken"
        folder.mkdir()
        (folder / "libcuda.so.1").touch()  # found before one that this machine may have
        self.expect(self.literally(NO_DRIVER), self.surroundings(folder))
        self.expect_doctor("NVIDIA driver", r".*libcuda\.so\.1.*; install NVIDIA's driver if there is an NVIDIA GPU",
                           self.surroundings(folder))

    def test_states_of_nvml(self):
        for stub, part in (({"NVML": 9}, "absent  NVML +NVIDIA's kernel module is not loaded; check that nvidia-smi works"),
                           ({"NVML": 18}, "absent  NVML +NVML and the kernel module belong to different drivers; restart "
                                          "the machine after a driver update"),
                           ({"NVML": 4}, "absent  NVML +this user may not use NVML; check the permissions of /dev/nvidiactl"),
                           ({}, r"works   NVML +driver 580\.1-fake"),
                           ({"MIG": 1}, r"works   NVML +driver 580\.1-fake; GPU 0 is split \(MIG\): a slice is measured as a "
                                        "device of its own, counters may be refused; `nvidia-smi -i 0 -mig 0` makes it "
                                        "whole")):
            with self.subTest(stub=stub):
                report, _ = self.program.run("doctor", env=self.surroundings(**stub))
                self.assertRegex(report, f"(?m)^  {part}$")

    def test_libraries_without_their_functions(self):
        folder = self.program.folder / "empty"
        folder.mkdir()
        names = ["libnvidia-ml.so.1"] + [f"lib{name}.so.{n}" for name in ("cublas", "cudnn") for n in range(8, 15)]
        for name in names:
            shutil.copy(STUBS / "libhilbench-empty.so", folder / name)
        report, _ = self.program.run("doctor", env=self.surroundings(folder))
        self.assertRegex(report, r"(?m)^  absent  NVML +NVML has no nvmlInit_v2$")
        self.assertRegex(report, r"(?m)^  absent  cuBLAS +cuBLAS lacks cublasCreate_v2: ")
        self.assertRegex(report, r"(?m)^  absent  cuDNN +(cuDNN lacks cudnn\w+: |this build has (no cuDNN|checked the syntax))")

    def test_what_needs_no_gpu_does_not_load_the_driver(self):
        env = self.surroundings()
        sweep = self.program.sweep(SWEEP.replace("DEVICE", "cpu"))
        for arguments in (["--version"], ["--help"], ["list", "orders"], ["list", "traversals"], ["list", "claims"],
                          ["order", "hilbert", "--length", "64"], ["plan", sweep], ["run", sweep, "-o", "out"],
                          ["report", "out"], ["export", "out", "--format", "csv"],
                          ["plan", self.program.sweep(SWEEP.replace("DEVICE", "auto"), "open.yaml"), "--device", "cpu"]):
            with self.subTest(arguments=arguments):
                self.program.run(*arguments, env=env)
                self.assertFalse(self.mark.exists())
        self.program.run("list", "devices", env=env)
        self.assertTrue(self.mark.exists(), "the stub tells nothing")


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    STUBS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
