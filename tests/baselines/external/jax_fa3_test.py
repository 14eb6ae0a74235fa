"""jax_fa3.py: what it refuses, then its results on a processor of JAX.

Usage: jax_fa3_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without JAX in it only the tests that need none run, and the status is 77. If it has
flash-attn3-jax too, the package itself is called, its kernels replaced; else plain functions stand for the package.
"""

import os
import pathlib
import random

import torch_rivals
from program import TESTS  # torch_rivals adds its folder to the path

ON_CPUS = TESTS / "fakes/jax_fa3_on_cpus.py"
CASES = 8
CASE = {"sequence_length": 16, "segments": [16], "dilations": [1], "batch": 1, "heads": 2, "kv_heads": 2,
        "head_dim": 128, "dtype": "bf16", "causal": False, "pass": "backward", "ring_size": 1, "device": "cuda",
        "threads": 2, "queries": "dilated", "head_offset": "modulo", "branch_heads": "all"}
REFUSED = (  # change of CASE, option, reason
    ({}, "fast", "jax_fa3 has no options, so not 'fast'"),
    ({"ring_size": 2}, "", "ring_size 2: jax_fa3 runs on one rank"),
    ({"dtype": "fp32"}, "", "flash-attn3-jax attends in fp16 and bf16, not in fp32"),
    ({"head_dim": 64}, "", "the kernels of flash-attn3-jax take head_dim 128, not 64"),
    ({"causal": True, "queries": "dense", "dilations": [2]}, "", "no causal mask for dense queries and dilated keys"),
    ({"heads": 3}, "", "3 heads do not divide evenly among the 2 K/V heads"))
SWEEP = """
name: jax
cases: [{sequence_length: 64, segments: [64], dilations: [1], heads: 2, head_dim: 16, threads: 2}]
variants: [{kernel: dilated, order: linear}]
baselines: [jax_fa3]
measure: {budget_s: 0.05, min_rounds: 3}
"""


def on_cpus(script, kernels):
    """The environment of fakes/jax_fa3_on_cpus.py."""
    return {**os.environ, "JAX_FA3": str(pathlib.Path(script).resolve()), "KERNELS": kernels}


def random_case(rng, of_pass):
    length, branches = rng.choice([9, 16]), rng.choice([1, 1, 2])
    case = {**CASE, "pass": of_pass, "sequence_length": length, "batch": rng.choice([1, 2]),
            "heads": rng.choice([2, 4]), "kv_heads": rng.choice([1, 2]),
            "segments": [rng.choice([4, length, 2 * length]) for _ in range(branches)],
            "dilations": [rng.choice([1, 1, 2, 3]) for _ in range(branches)], "causal": rng.random() < 0.5,
            "dtype": rng.choice(["bf16", "fp16"]), "queries": rng.choice(["dilated", "dense"]),
            "head_offset": rng.choice(["modulo", "contiguous", "branch"]),
            "branch_heads": rng.choice(["all", "all", "partition"])}
    return {**case, "queries": "dilated"} if case["causal"] else case


class PlainTest(torch_rivals.GradientsTest):
    kernels = "plain"

    def setUp(self):
        self.environment = on_cpus(self.path_of_script, self.kernels)
        self.path_of_script = ON_CPUS
        super().setUp()
        if self.kernels == "package" and "unsupported" in self.hello:
            self.skipTest(self.hello["unsupported"])

    def test_what_it_says_and_what_it_refuses(self):
        self.assertEqual([self.hello[key] for key in ("name", "devices", "backward")], ["jax_fa3", ["cuda"], True])
        for change, option, reason in REFUSED:
            answer = self.script.ask(do="load", case={**CASE, **change}, option=option)
            self.assertEqual(answer, {"unsupported": reason})

    def test_the_forward_pass(self):
        rng = random.Random(3)
        for number in range(CASES):
            case = random_case(rng, "forward")
            with self.subTest(number=number, case=case):
                tensors = self.write_tensors(case, rng)
                answer = self.script.ask(do="load", case=case, option="", **self.files("qkv"))
                self.assertEqual(answer.get("timer"), "perf_counter", answer)
                self.assertTrue(self.check_output(case, tensors))

    def test_the_backward_pass(self):
        rng = random.Random(4)
        for number in range(CASES):
            case = random_case(rng, "backward")
            with self.subTest(number=number, case=case):
                tensors, answer = self.load_gradients(case, "", rng)
                self.assertEqual(answer.get("timer"), "perf_counter", answer)
                self.check_gradients(case, tensors)


class PackageTest(PlainTest):
    kernels = "package"


class ThroughTheProgramTest(torch_rivals.ThroughTheProgramTest):
    def test_python_without_jax(self):
        record, = (record for record in self.run_sweep(SWEEP, env=self.without_pytorch())
                   if record["kind"] == "baseline")
        self.assertEqual(record["status"], "skipped")
        self.assertRegex(record["reason"], "^no JAX for .*python.*: No module named 'jax'; set HILBENCH_PYTHON")


def why_no_jax(script):
    """Why the tests with JAX cannot run, or ""."""
    return torch_rivals.absence(ON_CPUS, on_cpus(script, "plain"))


if __name__ == "__main__":
    torch_rivals.main(why_no_jax)
