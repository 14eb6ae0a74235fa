"""jax_ring.py: what it refuses, its clock, then a ring of processors, and what a user sees where parts are missing.

Usage: jax_ring_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without JAX in it only the tests that need none run, and the status is 77. If it has
flash-attn3-jax too, the package's own ring runs with plain kernels; else a plain function stands for the package.
"""

import importlib.util
import os
import pathlib
import random
import shutil
import sys
import time
from unittest import mock

import torch_rivals
from program import TESTS  # torch_rivals adds its folder to the path

ON_CPUS = TESTS / "fakes/jax_ring_on_cpus.py"
CASE = {"sequence_length": 32, "segments": [32], "dilations": [1], "batch": 2, "heads": 4, "kv_heads": 4,
        "head_dim": 128, "dtype": "bf16", "causal": False, "pass": "forward", "ring_size": 4, "device": "cuda",
        "threads": 2, "queries": "dilated", "head_offset": "modulo", "branch_heads": "all"}
SWEEP = """
name: jax
cases:
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 2, head_dim: 16, threads: 2, ring_size: 2}
  - {sequence_length: 64, segments: [64], dilations: [1], heads: 2, head_dim: 16, threads: 2}
variants: [{kernel: dilated, order: linear}]
baselines: [jax_ring]
measure: {budget_s: 0.05, min_rounds: 3}
"""
REFUSED = (  # change of CASE, option, reason
    ({}, "fast", "jax_ring has no options, so not 'fast'"),
    ({"pass": "backward"}, "", "only the forward pass is computed"),
    ({"ring_size": 1}, "", "jax_ring needs a ring: ring_size must be above 1"),
    ({"dilations": [2]}, "", "flash-attn3-jax knows no dilation and no segments: one as long as the sequence"),
    ({"segments": [16]}, "", "flash-attn3-jax knows no dilation and no segments: one as long as the sequence"),
    ({"segments": [32, 32], "dilations": [1, 1]}, "",
     "flash-attn3-jax knows no dilation and no segments: one as long as the sequence"),
    ({"dtype": "fp32"}, "", "flash-attn3-jax attends in fp16 and bf16, not in fp32"),
    ({"head_dim": 64}, "", "the kernels of flash-attn3-jax take head_dim 128, not 64"),
    ({"sequence_length": 30}, "", "sequence_length 30 does not divide into 4 equal shards"))


def on_cpus(script, kernels):
    """The environment of fakes/jax_ring_on_cpus.py."""
    return {**os.environ, "JAX_RING": str(pathlib.Path(script).resolve()), "KERNELS": kernels}


class Device:
    """Executes one thing after another, by a clock of its own that goes on while somebody waits."""

    def __init__(self, durations):
        self.durations, self.now, self.free, self.waiting, self.most = list(durations), 0, 0, 0, 0

    def start(self):
        self.free = max(self.free, self.now) + self.durations.pop(0)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return self.free

    def wait(self, end):
        self.now = end
        self.waiting -= 1


class ScriptTest(torch_rivals.RivalTest):
    """Parts of the script that need no JAX."""

    def setUp(self):
        sys.path.insert(0, str(pathlib.Path(self.path_of_script).parent))  # for the modules that it imports
        self.addCleanup(sys.path.pop, 0)
        specification = importlib.util.spec_from_file_location("jax_ring", self.path_of_script)
        self.script = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.script)

    def test_what_the_package_cannot_do_is_refused(self):
        self.script.refuse(CASE, "")
        self.script.refuse({**CASE, "dtype": "fp16", "causal": True, "kv_heads": 1, "segments": [64]}, "")
        for change, option, reason in REFUSED:
            with self.subTest(reason=reason), self.assertRaises(self.script.Unsupported) as raised:
                self.script.refuse({**CASE, **change}, option)
            self.assertEqual(str(raised.exception), reason)

    def test_versions_of_jax(self):
        for version, old in (("0.5.3", True), ("0.5.3.dev20250401", True), ("0.6.0", False), ("0.11.2", False),
                             ("1.0", False), ("0.6", True), ("0.6.0rc1", False)):
            self.assertEqual(self.script.too_old(version), old, version)

    def test_jax_gets_its_environment_unless_it_is_set(self):
        for given, expected in (({}, ("false", "0")), ({"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, ("true", "0")),
                                ({"NCCL_NVLS_ENABLE": "1"}, ("false", "1"))):
            with mock.patch.dict(sys.modules, {"jax": None}), mock.patch.dict(os.environ, given, clear=True):
                with self.assertRaisesRegex(self.script.Unsupported, "^no JAX for "):
                    self.script.import_package()
                names = "XLA_PYTHON_CLIENT_PREALLOCATE", "NCCL_NVLS_ENABLE"
                self.assertEqual(tuple(os.environ[name] for name in names), expected)

    def test_an_execution_takes_from_the_end_of_the_one_before_to_its_own(self):
        device = Device([1000, 7, 5, 30, 2, 2, 2, 9])
        self.script.time = type("Time", (), {"perf_counter_ns": lambda: device.now})
        times, last = self.script.run_in_a_row(device.start, device.wait, 7)
        self.assertEqual(times, [7, 5, 30, 2, 2, 2, 9])  # not the first one, which finds the device idle
        self.assertEqual(last, sum(times) + 1000)
        self.assertLessEqual(device.most, self.script.AHEAD + 1)
        self.assertFalse(device.durations)

    def test_a_start_that_runs_its_execution_is_timed_too(self):
        times, _ = self.script.run_in_a_row(lambda: time.sleep(0.03), lambda output: None, 6)
        self.assertEqual(len(times), 6)
        self.assertGreater(sorted(times)[1], 3e6, times)  # had all been started first, most would take microseconds

    def test_an_error_ends_a_run(self):
        def fail(*_):
            raise RuntimeError("a device is lost")
        for start, wait in ((fail, lambda output: None), (lambda: 1, fail)):
            with self.assertRaisesRegex(RuntimeError, "a device is lost"):
                self.script.run_in_a_row(start, wait, 20)


class RingTest(torch_rivals.ProtocolTest):
    """The ring on four processors of JAX."""

    kernels = "plain"

    def setUp(self):
        self.environment = on_cpus(self.path_of_script, self.kernels)
        self.path_of_script = ON_CPUS
        super().setUp()
        if self.kernels == "package" and "unsupported" in self.hello:
            self.skipTest(self.hello["unsupported"])

    def load(self, option="", **change):
        case = {**CASE, **change}
        tensors = self.write_tensors(case, random.Random(5))
        return case, tensors, self.script.ask(do="load", case=case, option=option, **self.files("qkv"))

    def test_output_is_that_of_attention(self):
        for change in ({}, {"causal": True}, {"causal": True, "ring_size": 2, "kv_heads": 2},
                       {"dtype": "fp16", "kv_heads": 2}, {"ring_size": 3, "sequence_length": 33, "segments": [33]}):
            with self.subTest(**change):
                case, tensors, answer = self.load(**change)
                self.assertEqual(answer.get("timer"), "perf_counter", answer)
                self.assertEqual((answer["ranks"], answer["load_balance"]), (case["ring_size"], False))
                self.assertFalse(self.check_output(case, tensors))

    def test_each_device_has_its_shard_in_position_order(self):
        self.load()
        rows = [[device, 8 * device, 8 * device + 8] for device in range(4)]
        self.assertEqual(self.script.ask(do="place"), {"rows": [rows] * 3})

    def test_what_it_says_and_what_it_refuses(self):
        self.assertEqual((self.hello["name"], self.hello["rings"], self.hello["devices"]),
                         ("jax_ring", True, ["cuda"]))
        self.assertRegex(self.hello["version"], r"^flash-attn3-jax \d+\.\d+\.\d+, JAX \d+\.\d+\.\d+")
        self.assertEqual(self.script.ask(do="hello", protocol=1), {"unsupported": "speaks protocol 2, not 1"})
        _, _, answer = self.load(ring_size=8)
        self.assertEqual(answer, {"unsupported": "ring_size 8: a rank needs a GPU of its own, JAX finds 4"})
        _, _, answer = self.load(head_dim=64)
        self.assertEqual(answer, {"unsupported": REFUSED[-2][2]})
        self.script.ask(do="pretend", capability="8.0")
        _, _, answer = self.load()
        self.assertRegex(answer["unsupported"],
                         "^the kernels of flash-attn3-jax need compute capability 9.0, .* has 8.0$")

    def test_what_xla_and_nccl_are_told(self):
        _, _, answer = self.load()
        self.assertEqual((answer["nccl_nvls_enable"], answer["latency_hiding_scheduler"]),
                         (os.environ.get("NCCL_NVLS_ENABLE", "0"), True))


class PackageTest(RingTest):
    """The package's own ring, its kernels replaced."""

    kernels = "package"

    def test_one_head_of_keys_for_several(self):
        case, tensors, answer = self.load(kv_heads=1)
        if "unsupported" not in answer:
            self.check_output(case, tensors)
            return
        self.assertRegex(answer["unsupported"], r"^JAX [\d.]+ does not compile the ring: .*: .*factor of size 1")
        self.assertNotIn("\n", answer["unsupported"])


class ThroughTheProgramTest(torch_rivals.ThroughTheProgramTest):
    def ring(self, folder=None, version=None, package=None):
        """The record of the ring of two. The folder of modules holds a JAX of this version and this package."""
        environment = self.without_pytorch()
        if version:
            self.write_module("jax", f"__version__ = '{version}'")
        if package:
            self.write_module("flash_attn3_jax", package)
        if version or package:
            bare = pathlib.Path(environment["HILBENCH_PYTHON"])
            bare.write_text(bare.read_text().replace("-I -S", "-S"))
            environment["PYTHONPATH"] = str(self.program.folder / "modules")
        shutil.rmtree(self.program.folder / "out", ignore_errors=True)  # a second run would go on with the first
        records = {(record["params"]["ring_size"], record["variant"]): record
                   for record in self.run_sweep(SWEEP, env=environment)}
        alone = records[1, "jax_ring"]
        self.assertEqual((alone["status"], alone["reason"]),
                         ("skipped", "jax_ring needs a ring: ring_size must be above 1"))
        self.assertEqual(records[2, "dilated/linear"]["status"], "ok")
        self.assertEqual(records[2, "jax_ring"]["status"], "skipped")
        return records[2, "jax_ring"]["reason"]

    def write_module(self, name, text):
        folder = self.program.folder / "modules"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text + "\n")

    def test_python_without_jax(self):
        self.assertRegex(self.ring(), "^no JAX for .*python.*: No module named 'jax'; set HILBENCH_PYTHON")

    def test_jax_too_old(self):
        self.assertEqual(self.ring(version="0.5.3"),
                         "JAX 0.5.3 is too old for flash-attn3-jax, which needs 0.6.0 or newer")

    def test_package_absent_or_broken(self):
        self.assertRegex(self.ring(version="0.6.0"),
                         "^no flash-attn3-jax for .*python.*: pip install --no-deps flash-attn3-jax$")
        for package, reason in (
                ("import einops", "flash-attn3-jax does not load: No module named 'einops'"),
                ("raise ImportError('libcudart.so: no such file')",
                 "flash-attn3-jax does not load with JAX 0.6.0: libcudart.so: no such file"),
                ("import jax; jax.ffi", "flash-attn3-jax does not load with JAX 0.6.0: "
                                        "module 'jax' has no attribute 'ffi'")):
            with self.subTest(reason=reason):
                self.assertEqual(self.ring(version="0.6.0", package=package), reason)

    def test_a_case_on_the_processor(self):
        self.assertEqual(self.ring(version="0.6.0", package="__version__ = '0.2.3'; flash_mha = None"),
                         "'jax_ring' does not run on device cpu here")


def why_no_jax(script):
    """Why the tests with JAX cannot run, or ""."""
    return torch_rivals.absence(ON_CPUS, on_cpus(script, "plain"))


if __name__ == "__main__":
    torch_rivals.main(why_no_jax)
