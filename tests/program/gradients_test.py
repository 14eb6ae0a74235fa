#!/usr/bin/env python3
"""Gradients from the command line: what is measured, verified, written and refused.

Usage: gradients_test.py HILBENCH [unittest arguments]
"""

import json
import math
import pathlib
import struct
import sys

from command_line import CommandLine, main
from program import npy, read_npy

FAKES = pathlib.Path(__file__).resolve().parents[1] / "fakes"
SWEEP = """
name: small
axes: {{pass: [{passes}], causal: [false, true]}}
variants: [{{kernel: dilated, order: [linear, hilbert], order_tensors: [kv, qkv]}}]
{more}
measure: {{budget_s: 0.1, min_rounds: 3}}
"""
CASE = "sequence_length: [96], segments: [[32, 96]], dilations: [[1, 2]], heads: [2], kv_heads: [1], head_dim: [16]"


def sweep(passes="backward, both", more="", case=CASE):
    return SWEEP.format(passes=passes, more=more).replace("causal: [false, true]", "causal: [false, true], " + case)


class Measured(CommandLine):
    def exported(self):
        out = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout
        return [json.loads(line) for line in out.splitlines()]

    def test_every_order_and_pass_is_verified(self):
        self.measured(sweep(passes="forward, backward, both"))
        self.assertEqual(self.statuses(), {"ok"}, self.records())
        names = {"forward": None, "backward": ["dQ", "dK", "dV"], "both": ["O", "dQ", "dK", "dV"]}
        records = self.exported()
        flops = {}
        for record in records:
            of_pass = record["params"]["pass"]
            for check in (record["verify"], record["verify"]["after"]):
                tensors = check["tensors"] and [tensor["name"] for tensor in check["tensors"]]
                self.assertEqual(tensors, names[of_pass])
                for tensor in check["tensors"] or []:
                    self.assertLessEqual(tensor["worst"], 1)
                    self.assertGreater(tensor["rows"], 0)
            self.assertGreater(record["verify"]["probed_rows"], 0)
            flops.setdefault((record["params"]["causal"], of_pass), record["flops"])
        for causal in (False, True):
            self.assertAlmostEqual(flops[causal, "backward"] / flops[causal, "forward"], 2.5)
            self.assertAlmostEqual(flops[causal, "both"] / flops[causal, "forward"], 3.5)

    def test_dropout_and_recomputation(self):
        text = sweep(passes="forward, backward, both", case=CASE + ", dropout: [0.125, 0.5], dropout_seed: 7")
        self.measured(text.replace("order_tensors: [kv, qkv]", "key_visit: [position, slot], saved: [statistics, inputs]"))
        for record in self.exported():
            of_pass, saved = record["params"]["pass"], record["params"]["saved"]
            if of_pass == "forward" and saved == "inputs":
                self.assertEqual(record["status"], "skipped")
                continue
            self.assertEqual(record["status"], "ok", record["reason"])
            self.assertLessEqual(record["verify"]["worst"], 1)
            if of_pass == "forward":
                self.assertGreater(record["verify"]["probed_rows"], 0)
                self.assertIsNone(record["held_bytes"])
                continue
            self.assertIsNone(record["verify"]["probed_rows"])
            rows, width = 96, 16
            inputs = 4 * rows * width * (2 + 2)  # Q of two heads, K and V of one
            output = 4 * rows * 2 * (width + 1)
            self.assertEqual(record["held_bytes"], inputs + (0 if saved == "inputs" else output))
            self.assertGreater(record["peak_bytes"], 2 * inputs + output)

    def test_dump(self):
        """O is linear in V, so the sum of dV V is that of dO O."""
        self.measured(sweep(passes="both"), arguments=["--dump", "dumped"])
        folders = {file.parent for file in (self.folder / "dumped").rglob("dv.npy")}
        self.assertEqual(len(folders), 8)  # two cases, two orders of two tensors
        for folder in folders:
            self.assertEqual({file.stem for file in folder.iterdir()},
                             {"q", "k", "v", "o", "lse", "do", "dq", "dk", "dv"})
            shape, values = read_npy(folder / "dv.npy")
            self.assertEqual(list(shape), [1, 96, 1, 16])
            slope = sum(a * b for a, b in zip(values, read_npy(folder / "v.npy")[1]))
            loss = sum(a * b for a, b in zip(read_npy(folder / "do.npy")[1], read_npy(folder / "o.npy")[1]))
            self.assertTrue(math.isclose(slope, loss, rel_tol=1e-3, abs_tol=1e-3), (slope, loss))

    def test_tensors_of_files(self):
        def tensor(heads, shift):
            count = 96 * heads * 16
            return npy((1, 96, heads, 16), "<f4",
                       struct.pack(f"<{count}f", *(math.sin(i * 0.7 + shift) for i in range(count))))
        for name, heads in {"q": 2, "k": 1, "v": 1, "d_o": 2}.items():
            self.put(name + ".npy", tensor(heads, len(name)))
        self.measured(sweep(more="inputs: {source: npy, q: q.npy, k: k.npy, v: v.npy, d_o: d_o.npy}"))
        self.assertEqual(self.statuses(), {"ok"}, self.records())
        self.put("d_o.npy", tensor(1, 0))
        self.refused(["run", "sweep.yaml", "--fresh"], r"tensor of another shape .*inputs\.d_o")


class Programs(CommandLine):
    """A program of its own, of one small dense case."""

    def told(self, way):
        """Status and reason of the program, and the tensors that were compared."""
        text = sweep(passes="backward", case="sequence_length: [24], segments: [[24]], heads: [2], kv_heads: [1], "
                     "head_dim: [16]", more="baselines: [theirs]\nexternal: {theirs: {command: [%s, %s, %s]}}"
                     % (sys.executable, FAKES / "gradients.py", way))
        self.put("sweep.yaml", text.replace("order: [linear, hilbert], order_tensors: [kv, qkv]", "order: linear"))
        self.run_it(["run", "sweep.yaml", "--allow-external", "--fresh"])
        return {(status, reason) for variant, status, reason in self.records() if variant.startswith("theirs")}

    def test_a_right_one_is_verified(self):
        self.assertEqual(self.told("right"), {("ok", "")})

    def test_one_without_a_backward_pass_is_skipped(self):
        self.assertEqual(self.told("forward"), {("skipped", "theirs computes the forward pass only")})

    def test_wrong_ones_fail(self):
        for way, says in {"zeros": "error .* of dQ", "swapped": "of dK", "keeps": "exceed|probe", "no_keys": "0 bytes"}.items():
            told = self.told(way)
            self.assertEqual({status for status, _ in told}, {"failed"}, (way, told))
            for _, reason in told:
                self.assertRegex(reason, says)


class Skipped(CommandLine):
    def reasons(self, text):
        self.measured(text)
        self.assertEqual(self.statuses(), {"skipped"}, self.records())
        return {reason for _, _, reason in self.records()}

    def test_what_has_no_gradients_says_so(self):
        text = sweep(passes="backward", case=CASE + ", ring_size: [2]")
        self.assertEqual(self.reasons(text), {"rings compute only the forward pass"})

    def test_orders_of_tokens(self):
        text = sweep(passes="both").replace("order_tensors: [kv, qkv]", "order_scope: tokens")
        self.assertEqual(self.reasons(text.replace("order: [linear, hilbert]", "order: hilbert")),
                         {"order_scope tokens computes another function, and only its forward pass"})

    def test_baselines(self):
        text = sweep(passes="both").replace("variants: [{kernel: dilated, order: [linear, hilbert], "
                                            "order_tensors: [kv, qkv]}]", "baselines: [gemm]")
        self.assertEqual(self.reasons(text), {"gemm computes the forward pass only"})


if __name__ == "__main__":
    main()
