"""torch_sdpa.py on the CPU: by its protocol over random shapes with all options, then through the program.

Usage: torch_sdpa_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch in it only the tests that need none run, and the status is 77.
"""

import os
import pathlib
import random

import torch_rivals
from program import TESTS  # torch_rivals adds its folder to the path

ON_CPUS = TESTS / "fakes/torch_sdpa_on_cpus.py"

RANDOM_CASES = 80
GRADIENT_CASES = 40
NO_CAUSAL = "no causal mask for dense queries and dilated keys"
NO_LSE_OF_FLEX = "flex: returns no LSE on a CPU, which merging branches needs"
NO_LSE = "math returns no LSE, which merging branches needs"

POINT = "sequence_length: 72, heads: 4, head_dim: 16, threads: 1"
SWEEP = f"""
name: torch
cases:
  - {{{POINT}, segments: [32], dilations: [2], kv_heads: 2, causal: true}}
  - {{{POINT}, segments: [32, 72], dilations: [1, 3], batch: 2, dtype: bf16}}
  - {{{POINT}, segments: [36], dilations: [2], queries: dense, dtype: fp16}}
variants: [{{kernel: dilated, order: linear}}]
baselines: [torch_sdpa, torch_sdpa.flash, torch_sdpa.math, torch_sdpa.efficient, torch_sdpa.cudnn, torch_sdpa.fa3,
            torch_sdpa.fa4]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""
FLEX_SWEEP = f"""
name: flex
cases:
  - {{{POINT}, segments: [36], dilations: [2], queries: dense, causal: true, head_offset: none}}
  - {{{POINT}, segments: [32, 72], dilations: [1, 3]}}
variants: [{{kernel: dilated, order: linear}}]
baselines: [torch_sdpa.flex]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""


def random_case(rng):
    heads = rng.choice([1, 3, 4, 8])
    length = rng.choice([16, 33, 48])
    branches = rng.choice([1, 1, 2, 3])
    return {"sequence_length": length,
            "segments": [rng.choice([5, 8, 16, length, 2 * length]) for _ in range(branches)],
            "dilations": [rng.choice([1, 2, 3, 4, 8]) for _ in range(branches)],
            "batch": rng.choice([1, 2]), "heads": heads,
            "kv_heads": rng.choice([g for g in (1, 2, 3, 8) if g <= heads]), "head_dim": rng.choice([8, 16, 24]),
            "dtype": rng.choice(list(torch_rivals.STORE)), "causal": rng.random() < 0.4,
            "queries": rng.choice(["dilated", "dilated", "dense"]),
            "head_offset": rng.choice(["modulo", "contiguous", "none", "branch"]),
            "branch_heads": rng.choice(["all", "partition"]),
            "pass": "forward", "ring_size": 1, "device": "cpu", "threads": 1}


class ProtocolTest(torch_rivals.ProtocolTest):
    def test_hello_names_the_version(self):
        self.assertEqual((self.hello["protocol"], self.hello["name"]), (2, "torch_sdpa"))
        self.assertRegex(self.hello["version"], r"^PyTorch \d+\.\d+")
        self.assertIn("cpu", self.hello["devices"])
        self.assertIs(self.hello["forked"], False)

    def test_another_protocol_is_refused(self):
        self.assertEqual(self.script.ask(do="hello", protocol=1), {"unsupported": "speaks protocol 2, not 1"})

    def load(self, case, option, rng):
        tensors = self.write_tensors(case, rng)
        return tensors, self.script.ask(do="load", case=case, option=option, **self.files("qkv"))

    def test_random_cases(self):
        rng = random.Random(5)
        computed = 0
        for number in range(RANDOM_CASES):
            case, option = random_case(rng), rng.choice(["", "flash", "math"])
            with self.subTest(number=number, option=option, case=case):
                tensors, answer = self.load(case, option, rng)
                if case["causal"] and case["queries"] == "dense" and max(case["dilations"]) > 1:
                    self.assertEqual(answer, {"unsupported": NO_CAUSAL})
                    continue
                if option == "math" and len(case["segments"]) > 1 and case["branch_heads"] == "all":
                    self.assertEqual(answer, {"unsupported": NO_LSE})
                    continue
                self.check_loaded(case, tensors, answer, has_lse=option != "math")
                computed += 1
        self.assertGreater(computed, RANDOM_CASES / 2)

    def check_loaded(self, case, tensors, answer, has_lse):
        self.assertEqual(answer.get("timer"), "perf_counter", answer)
        self.assertEqual(self.check_output(case, tensors), has_lse)

    def test_flex(self):
        rng = random.Random(2)
        plain = {**random_case(rng), "sequence_length": 300, "batch": 1, "heads": 4, "kv_heads": 2, "head_dim": 16,
                 "segments": [300], "dilations": [2], "dtype": "fp32", "head_offset": "modulo", "branch_heads": "all"}
        for change in ({"causal": True, "queries": "dense"},  # masks of several tiles, differing from head to head
                       {"causal": True, "queries": "dilated", "segments": [150], "dtype": "bf16"}):
            with self.subTest(**change):
                case = {**plain, **change}
                tensors, answer = self.load(case, "flex", rng)
                self.skip_without_compiler(answer.get("unsupported"))
                self.assertEqual((answer.get("backends"), answer.get("kernel_options")), (["flex"], [{}]), answer)
                self.check_loaded(case, tensors, answer, has_lse=False)
        _, answer = self.load({**plain, "segments": [32, 64], "dilations": [1, 2]}, "flex", rng)
        self.assertEqual(answer, {"unsupported": NO_LSE_OF_FLEX})

    def test_what_pytorch_cannot_do_is_said(self):
        rng = random.Random(1)
        case = {**random_case(rng), "segments": [16], "dilations": [1], "causal": False}
        for change, option, reason in (({}, "xformers", "torch_sdpa has no option 'xformers', only flash, "),
                                       ({}, "cudnn", "^cudnn: "),
                                       ({}, "fa3", "^fa3: needs a GPU"),
                                       ({"head_dim": 12}, "", "head_dim 12 is not a multiple of 8"),
                                       ({}, "fa4", "^fa4: needs a GPU"),
                                       ({"pass": "backward"}, "fa3", "^fa3: fa3-fwd computes the forward pass only"),
                                       ({"pass": "backward"}, "flex", "^flex: has no backward pass on a CPU"),
                                       ({"pass": "backward"}, "cudnn", "^cudnn: "),
                                       ({"ring_size": 2}, "", "one rank only")):
            with self.subTest(reason=reason):
                _, answer = self.load({**case, **change}, option, rng)
                self.assertRegex(answer.get("unsupported", ""), reason)


class GradientsTest(torch_rivals.GradientsTest):
    def test_random_cases(self):
        rng = random.Random(9)
        for number in range(GRADIENT_CASES):
            case, option = {**random_case(rng), "pass": "backward"}, rng.choice(["", "flash", "math"])
            if case["causal"]:
                case["queries"] = "dilated"
            with self.subTest(number=number, option=option, case=case):
                tensors, answer = self.load_gradients(case, option, rng)
                self.assertEqual(answer.get("timer"), "perf_counter", answer)
                self.assertEqual(answer["backends"], ["math" if option == "math" else "flash"])
                self.check_gradients(case, tensors)


class OperatorsTest(torch_rivals.GradientsTest):
    """How those of a GPU are called, with kernels for processors in their place (fakes/torch_sdpa_on_cpus.py)."""

    def setUp(self):
        self.environment = {**os.environ, "TORCH_SDPA": str(pathlib.Path(self.path_of_script).resolve())}
        self.path_of_script = ON_CPUS
        super().setUp()

    def check(self, options, cases):
        rng = random.Random(11)
        for number in range(cases):
            case, option = {**random_case(rng), "pass": "backward"}, options[number % len(options)]
            if case["causal"] and option != "flex":
                case["queries"] = "dilated"
            with self.subTest(number=number, option=option, case=case):
                tensors, answer = self.load_gradients(case, option, rng)
                self.assertEqual(answer.get("backends"), [option], answer)
                self.check_gradients(case, tensors)

    def test_operators_of_pytorch(self):
        self.check(["flash", "efficient", "cudnn"], GRADIENT_CASES)

    def test_flex(self):
        self.check(["flex"], 10)


class ThroughTheProgramTest(torch_rivals.ThroughTheProgramTest):
    def test_every_backend(self):
        self.skip_without_pytorch()
        records = self.run_sweep(SWEEP)
        self.assertEqual(len(records), 24)
        for record in records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                name, reason = record["variant"], record["reason"]
                if name in ("torch_sdpa.efficient", "torch_sdpa.cudnn", "torch_sdpa.fa3", "torch_sdpa.fa4"):
                    self.assertEqual(record["status"], "skipped")
                    self.assertRegex(reason, "^(efficient|cudnn|fa3|fa4): ")
                elif name == "torch_sdpa.math" and len(record["params"]["segments"]) > 1:
                    self.assertEqual((record["status"], reason), ("skipped", NO_LSE))
                elif name.startswith("torch_sdpa"):
                    self.assertEqual((record["status"], reason), ("ok", None))
                    self.assertEqual(record["time_ns"]["timer"], "external:perf_counter")
                    library = record["environment"]["library"]
                    self.assertRegex(library["version"], "^PyTorch ")
                    self.assertIs(library["forked"], True)
                    self.assertEqual(library["backends"], ["math" if name.endswith("math") else "flash"])
                    self.assertEqual(record["verify"]["lse_max_abs"] is None, name.endswith("math"))

    def test_flex(self):
        self.skip_without_pytorch()
        one, several = (record for record in self.run_sweep(FLEX_SWEEP) if record["variant"] == "torch_sdpa.flex")
        self.assertEqual((several["status"], several["reason"]), ("skipped", NO_LSE_OF_FLEX))
        self.skip_without_compiler(one["reason"])
        self.assertEqual((one["status"], one["reason"]), ("ok", None))
        library = one["environment"]["library"]
        self.assertEqual((library["backends"], library["compiled"], library["forked"]),
                         (["flex"], "max-autotune-no-cudagraphs", True))
        self.assertIsNone(one["verify"]["lse_max_abs"])

    def test_python_without_pytorch(self):
        self.check_python_without_pytorch(SWEEP, "torch_sdpa", cases=3)


if __name__ == "__main__":
    torch_rivals.main()
