"""What the program says of a Pascal card and counts on it, with stand-ins for driver, NVML and CUPTI (tests/fakes/).
Nothing here needs a GPU.

Usage: pascal_test.py PATH_OF_HILBENCH PATH_OF_HILBENCH_FAKE_GPUS FOLDER_OF_STUBS FOLDER_OF_CUPTI [unittest arguments]
"""

import os
import pathlib
import re
import sys
import unittest

from program import Program

SWEEP = """
name: pascal
cases: [{sequence_length: 64, segments: [32], dilations: [2], heads: 2, head_dim: 16, device: cuda}]
variants: [{kernel: dilated, order: [linear, random]}]
measure: {budget_s: 0.02, min_rounds: 3}
counters: [default]
"""
COUNTED = "l1_load_sectors, l1_sectors_per_load, l1_load_hit_percent, l2_read_sectors, l2_read_hit_percent, " \
          "dram_read_bytes, dram_write_bytes"
FORBIDDEN = "counters are restricted to administrators; run as root, in a container with CAP_SYS_ADMIN, or load NVIDIA's " \
            "kernel module with NVreg_RestrictProfilingToAdminUsers=0 (see RmProfilingAdminOnly in " \
            "/proc/driver/nvidia/params)"
BUSY = "another profiler holds the counting hardware; end Nsight tools, DCGM profiling and other counting programs on " \
       "this machine"
ATTACHED = "a debugger or profiler is attached to this process; run without it"


class PascalTest(unittest.TestCase):
    BINARY = "hilbench"

    def setUp(self):
        self.program = Program(BINARIES[self.BINARY])
        self.addCleanup(self.program.close)

    @staticmethod
    def surroundings(named=None, **stub):
        """A GTX 1080 with driver 575, and the CUPTI that it counts by, unless the arguments say otherwise."""
        stub = {"INIT": 0, "DEVICES": 1, "VERSION": 12090, "DRIVER": "575.57.08", **stub}
        variables = {"HILBENCH_STUB_" + name: str(value) for name, value in stub.items()}
        folders = [STUBS, *([] if named else [CUPTI])]
        return {**os.environ, **variables, **({"HILBENCH_CUPTI": named} if named else {}),
                "LD_LIBRARY_PATH": ":".join(map(str, folders))}


class DoctorTest(PascalTest):
    def line(self, env):
        report, _ = self.program.run("doctor", env=env)
        lines = re.findall(r"(?m)^  (\w+) +CUPTI +(.*)$", report)
        self.assertEqual(len(lines), 1, report)
        return lines[0]

    def expect_no_counters(self, reason, **surroundings):
        works, text = self.line(self.surroundings(**surroundings))
        self.assertEqual(works, "absent", text)
        # What this build runs on a Pascal card is a matter of its toolkit.
        self.assertRegex(text, r"^times (yes,|no: .+;) counters no: ")
        said = text.split(" counters no: ")[1]
        if "no counter set" not in reason:
            self.assertIn(f"; used: {CUPTI}/libcupti.so.12, CUPTI of CUDA 1", said)
        self.assertTrue(said.startswith(reason), said)
        self.assertNotIn("l1_load_sectors", said)

    def test_a_card_that_can_be_counted_on(self):
        works, text = self.line(self.surroundings())
        self.assertEqual((works, text.split("; used: ")[0]), ("works", COUNTED))
        self.assertRegex(text, r"; used: \S+/libcupti\.so\.12, CUPTI of CUDA 12 \(API 28\)")

    def test_a_cupti_that_is_named(self):
        works, text = self.line(self.surroundings(named=str(CUPTI / "libcupti.so.12")))
        self.assertEqual(works, "works", text)
        self.assertIn(f"; used: {CUPTI}/libcupti.so.12, CUPTI of CUDA 12", text)

    def test_a_driver_of_the_wrong_branch(self):
        self.expect_no_counters("driver 580.65.06-fake reads none on Pascal; install driver 575 or older",
                                VERSION=13000, DRIVER="580.65.06")
        self.expect_no_counters("this driver of CUDA 13.0 reads none on Pascal; install driver 575 or older",
                                VERSION=13000, DRIVER="")
        self.expect_no_counters("driver 580.65.06-fake reads none on Volta; install driver 575 or older",
                                VERSION=13000, DRIVER="580.65.06", CAPABILITY=70)

    def test_a_toolkit_that_contradicts(self):
        self.expect_no_counters("CUPTI of CUDA 13 (API 130001) is too new for this driver of CUDA 12.9; install a newer "
                                "driver, or name the CUPTI of CUDA 12 in HILBENCH_CUPTI", CUPTI_VERSION=130001)

    def test_a_card_without_counter_sets(self):
        self.expect_no_counters("there is no counter set 'default' for compute capability 5.2", CAPABILITY=52)

    def test_what_forbids_counting(self):
        for fault, reason in (("cuptiMetricCreateEventGroupSets=35", FORBIDDEN), ("cuptiEventGroupSetEnable=35", FORBIDDEN),
                              ("cuptiEventGroupSetEnable=26", BUSY), ("cuptiEventGroupSetEnable=26@2", BUSY),
                              ("cuptiSetEventCollectionMode=39", ATTACHED)):
            with self.subTest(fault=fault):
                self.expect_no_counters(reason, CUPTI=fault)

    def test_a_cupti_that_does_not_load(self):
        for devices in (0, 1):
            works, text = self.line(self.surroundings(named="/nowhere/libcupti.so", DEVICES=devices))
            self.assertEqual((works, text), ("absent", "HILBENCH_CUPTI names no library: /nowhere/libcupti.so: cannot open "
                                                       "shared object file: No such file or directory"))
        works, text = self.line(self.surroundings(named="libm.so.6"))
        self.assertEqual(works, "absent")
        self.assertRegex(text, r"^\S+/libm\.so\.6 is no CUPTI: cuptiGetVersion gives none; HILBENCH_CUPTI names it$")

    def test_the_list_of_counters(self):
        listed, _ = self.program.run("list", "counters", env=self.surroundings())
        self.assertRegex(listed, r"(?m)^default \(cupti_events; compute capability 6\.0 to 7\.2\): ")
        env = self.surroundings(VERSION=13000, DRIVER="580.65.06")
        listed, _ = self.program.run("list", "counters", env=env)
        self.assertNotIn("cupti_events", listed)
        listed, _ = self.program.run("list", "counters", "--all", env=env)
        self.assertIn("  unavailable here: driver 580.65.06-fake reads none on Pascal; install driver 575 or older\n", listed)


class RunTest(PascalTest):
    """Records of a whole run, on a GPU that the processor stands in for."""
    BINARY = "hilbench_fake_gpus"

    def counters(self, **surroundings):
        """What each variant counted. Whatever happens to counters, the run ends well and times are taken."""
        sweep = self.program.sweep(SWEEP)
        self.program.run("run", sweep, "-o", "out", "--fresh", env=self.surroundings(**surroundings))
        records = self.program.records("out")
        self.assertEqual(len(records), 2)
        for record in records:
            self.assertEqual(record["status"], "ok", record["reason"])
            self.assertGreater(record["time_ns"]["median"], 0)
            counters = {name: counter for name, counter in record["counters"].items()
                        if not name.startswith(("layout_", "index_"))}
            self.assertIn("dram_read_bytes", counters)
            yield counters

    def expect_none(self, reason, **surroundings):
        for counters in self.counters(**surroundings):
            for name, counter in counters.items():
                self.assertIsNone(counter["value"], name)
                self.assertIn(reason, counter["reason"], name)

    def test_counts_by_events(self):
        for counters in self.counters():
            self.assertEqual({name: counter["value"] for name, counter in counters.items()},
                             {"l1_load_sectors": 6000, "l1_sectors_per_load": 4, "l1_load_hit_percent": 40,
                              "l1_load_hit_rate": 0.4, "l2_read_sectors": 1800, "l2_read_hit_percent": 60,
                              "l2_read_hit_rate": 0.6, "dram_read_bytes": 96000, "dram_write_bytes": 48000})
            self.assertEqual(counters["l1_load_sectors"]["source"], "cupti_events, scaled, fake")
            self.assertEqual(counters["dram_read_bytes"]["source"], "cupti_events, fake")
            self.assertEqual({counter["passes"] for counter in counters.values()}, {2})

    def test_may_not_be_published(self):
        list(self.counters())
        out, _ = self.program.run("check", "out", status=1)
        lines = [line for line in out.splitlines() if " fake: " in line]
        self.assertEqual(len(lines), 1, out)
        self.assertRegex(lines[0], r"^not ok  fake: a stand-in for a GPU, its driver or CUPTI is in \d of \d records, the "
                                   r"first \S+ dilated/\w+; measure on a GPU$")

    def test_no_permission(self):
        self.expect_none(FORBIDDEN, CUPTI="cuptiEventGroupSetEnable=35")

    def test_a_profiler_elsewhere(self):
        self.expect_none(BUSY, CUPTI="cuptiEventGroupSetEnable=26")

    def test_a_profiler_attached(self):
        self.expect_none(ATTACHED, CUPTI="cuptiSetEventCollectionMode=39")

    def test_a_driver_of_the_wrong_branch(self):
        self.expect_none("driver 580.65.06-fake reads none on Pascal; install driver 575 or older", VERSION=13000,
                         DRIVER="580.65.06")

    def test_a_cupti_that_does_not_load(self):
        self.expect_none("HILBENCH_CUPTI names no library: /nowhere/libcupti.so: ", named="/nowhere/libcupti.so")


if __name__ == "__main__":
    BINARIES = {"hilbench": sys.argv.pop(1), "hilbench_fake_gpus": sys.argv.pop(1)}
    STUBS, CUPTI = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main(verbosity=2)
