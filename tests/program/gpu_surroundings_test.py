"""The program on a GPU that is not its own: other programs, other users and profilers use it too, and NVML reports
different states (tests/fakes/nvml.cpp, over the real driver). Timing works in all of these.

Usage: gpu_surroundings_test.py PATH_OF_HILBENCH FOLDER_OF_STUBS [unittest arguments]
"""

import os
import pathlib
import shutil
import sys
import unittest

from program import Program

SWEEP = """
name: surroundings
cases: [{sequence_length: 1024, segments: [128], dilations: [2], heads: 2, head_dim: 16, device: cuda}]
variants: [{kernel: dilated_simt, order: [linear, random]}]
measure: {budget_s: 0.2, min_rounds: 5}
counters: [default]
"""
EXTERNAL = """
name: visible
cases: [{{sequence_length: 24, segments: [12], dilations: [2], heads: 2, head_dim: 16, device: cuda}}]
external: {{on_gpu: {{command: [{python}, rival.py, on_gpu]}}}}
variants: [{{kernel: dilated_simt, order: linear}}]
baselines: [on_gpu]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""


class GpuTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.env = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}

    def measure(self, text=SWEEP, *options, **more):
        more.setdefault("env", self.env)
        _, self.progress = self.program.run("run", self.program.sweep(text), "-o", "out", "--fresh", *options, **more)
        records = self.program.records("out")
        for record in records:
            self.assertEqual(record["status"], "ok", record["reason"])
            self.assertEqual(list(map(bool, record["time_ns"]["samples"])), [True])  # one process
        return records

    def hardware_counters(self, records):
        """By name, those that CUPTI counts or reports as absent."""
        counters = {name: counter for record in records for name, counter in record["counters"].items()
                    if counter.get("source") not in ("layout", "measured")}
        self.assertTrue(counters)
        for name, counter in counters.items():
            self.assertTrue(counter["value"] is not None or counter["reason"], name)
        return counters

    def reasons(self, records):
        return {counter["reason"] for counter in self.hardware_counters(records).values() if counter["value"] is None}

    def test_an_external_program_sees_its_gpu_alone(self):
        self.program.add_rival()
        sweep = EXTERNAL.format(python=sys.executable)
        devices, _ = self.program.run("list", "devices", env=self.env)
        uuids = []
        for ordinal in range(devices.count("\ncuda:")):
            for record in self.measure(sweep, "--allow-external", "--device", f"cuda:{ordinal}"):
                device = record["environment"]["device"]
                self.assertEqual(device["ordinal"], ordinal)
                if record["variant"] == "on_gpu":
                    self.assertEqual(record["environment"]["library"]["visible"], device["uuid"])
                    uuids.append(device["uuid"])
        self.assertTrue(uuids)
        self.assertEqual(len(uuids), len(set(uuids)))
        # By that name CUDA finds the same device, as its first.
        for uuid in uuids:
            device = self.measure(env={**self.env, "CUDA_VISIBLE_DEVICES": uuid})[0]["environment"]["device"]
            self.assertEqual((device["ordinal"], device["uuid"]), (0, uuid))

    @unittest.skipUnless(os.getuid() == 0, "needs to become another user")
    def test_another_user_gets_times_and_may_be_refused_counters(self):
        nobody = {"user": 65534, "group": 65534, "extra_groups": []}
        self.program.folder.chmod(0o777)
        try:
            self.program.run("--version", env=self.env, **nobody)
        except AssertionError as error:
            self.skipTest(f"another user cannot load the program's libraries: {error}")
        records = self.measure(**nobody)
        reasons = self.reasons(records)
        print("as another user:", reasons or "counters are read")
        for reason in reasons:  # counts of several passes may contradict each other, whoever counts
            self.assertRegex(reason, "restricted to administrators|^its counts contradict each other")

    @unittest.skipUnless(shutil.which("ncu"), "needs Nsight Compute")
    def test_under_another_profiler_times_are_taken(self):
        program = self.program.folder / "hilbench"
        wrapped = self.program.folder / "under-ncu"
        wrapped.write_text(f'#!/bin/sh\nexec ncu --profile-from-start off --target-processes all {program} "$@"\n')
        wrapped.chmod(0o755)
        self.program.binary, plain = str(wrapped), self.program.binary
        self.program.run("run", self.program.sweep(SWEEP), "-o", "out", env=self.env)
        self.program.binary = plain
        records = self.program.records("out")
        print("under ncu:", {record["time_ns"]["timer"] for record in records}, self.reasons(records))
        for record in records:
            self.assertEqual(record["status"], "ok", record["reason"])

    def with_nvml(self, **stub):
        folder = self.program.folder / "nvml"
        folder.mkdir(exist_ok=True)
        shutil.copy(STUBS / "libnvidia-ml.so.1", folder)  # alone: the driver stays the real one
        paths = [str(folder), *filter(None, [self.env.get("LD_LIBRARY_PATH")])]
        return {**self.env, "LD_LIBRARY_PATH": ":".join(paths),
                **{"HILBENCH_STUB_" + name: value for name, value in stub.items()}}

    def test_nvml_tells_of_another_process(self):
        # None of them is ours: one is taken for the worker, as it would be in a container.
        records = self.measure(env=self.with_nvml(PIDS="999999998,999999999"))
        for record in records:
            self.assertGreaterEqual(record["environment"]["device_state"]["foreign_processes"], 1)
            self.assertIsNone(record["speedup"])
        self.assertIn("2 ok, no verdict: another process used the GPU in ", self.progress)
        self.program.run("report", "out", "-o", "report", env=self.env)
        self.assertIn("withheld: another process used the GPU", (self.program.folder / "report/report.md").read_text())

    def test_nvml_tells_of_a_slice_and_of_throttling(self):
        for record in self.measure(env=self.with_nvml(MIG="1", THROTTLE="0x44")):
            state = record["environment"]["device_state"]
            self.assertEqual((state["mig"], state["throttle"], state["sm_mhz"]),
                             (True, ["hardware thermal", "power cap"], [1980, 1980]))

    def test_nvml_may_be_missing(self):
        for record in self.measure(env=self.with_nvml(NVML="9")):
            state = record["environment"]["device_state"]
            self.assertEqual(state["reason"], "NVIDIA's kernel module is not loaded; check that nvidia-smi works")
            self.assertIsNone(state["foreign_processes"])


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    STUBS = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
