#!/usr/bin/env python3
"""`hilbench costs`: instructions counted again are equal, accepted costs are held, bad input is refused.

Usage: costs_test.py HILBENCH [unittest arguments]
"""

import json
import os
import shutil
import unittest

from command_line import CommandLine, SMALL, main

RING = SMALL.replace("threads: 1", "threads: 2, ring_size: 2").replace("segments: [32]", "segments: [64]")
# Work enough that the allocator does not count: what it does depends on the blocks that lie free, which is chance, and
# is up to 1,000 instructions an execution.
LARGE = SMALL.replace("sequence_length: 64", "sequence_length: 2048").replace("segments: [32]", "segments: [128]")
ALLOCATOR = 1000
NO_VALGRIND = dict(os.environ, PATH="/nowhere")


class Costs(CommandLine):
    def costs(self, *arguments, status=0, **options):
        result = self.run_it(["costs", "sweep.yaml", *arguments], **options)
        self.assert_runs(result, status=status)
        return result.stdout.decode()

    def accepted(self):
        return json.loads((self.folder / "sweep.costs.json").read_text())

    def change(self, **costs):
        """Changes costs of the first accepted variant."""
        accepted = self.accepted()
        for name, factor in costs.items():
            accepted["variants"][0][name] *= factor
        self.put("sweep.costs.json", json.dumps(accepted))


class WithoutCountingTest(Costs):
    COUNT = ("--instructions", "none")

    def setUp(self):
        super().setUp()
        self.put("sweep.yaml", SMALL)

    def test_accepted_costs_are_held(self):
        self.assertIn("accepted: sweep.costs.json", self.costs("--accept", *self.COUNT))
        held = ("--accepted", "sweep.costs.json", *self.COUNT)
        self.assertIn("all are as accepted", self.costs(*held))
        self.change(memory_bytes=0.5)
        text = self.costs(*held, status=1)
        self.assertRegex(text, r"(?m)^worse: n64-\S+/dilated/linear memory_bytes grew from \d+ to \d+ \(\+100 %\)$")
        self.change(memory_bytes=4)
        text = self.costs(*held)
        self.assertRegex(text, r"(?m)^better: .* memory_bytes shrank .*\(-50 %\)$")
        self.assertIn("`--accept` makes", text)
        self.costs("--accept", *self.COUNT)
        self.assertIn("all are as accepted", self.costs(*held))

    def test_what_lacks_and_what_is_new(self):
        self.costs("--accept", *self.COUNT)
        held = ("--accepted", "sweep.costs.json", *self.COUNT)
        self.put("sweep.yaml", SMALL.replace("hilbert", "random"))
        text = self.costs(*held, status=1)
        self.assertRegex(text, r"(?m)^lacks: n64-\S+/dilated/hilbert: it is not there any more$")
        self.assertRegex(text, r"(?m)^new: n64-\S+/dilated/random$")
        self.assertIn("all are as accepted", self.costs(*held, "--filter", "linear"))

    def test_absent_counts_have_a_reason(self):
        text = self.costs("-o", "out.json", env=NO_VALGRIND)
        rows = json.loads((self.folder / "out.json").read_text())["variants"]
        counts = {row["instructions"] for row in rows}
        if counts == {None}:  # else this machine counts by hardware
            self.assertRegex(text, r"no instructions: callgrind: .*; hardware: .*")
        self.assertNotIn(0, counts)

    def test_bad_input(self):
        self.costs("--accept", *self.COUNT)
        good = (self.folder / "sweep.costs.json").read_text()
        for text, message in [("", r"cannot be read"), (good[:200], r"cannot be read"), ("{}", r"not a file of accepted costs"),
                              (good.replace('"flops"', '"flops":"x","flop"', 1), r"'flops' of .* is no cost"),
                              (good.replace('"schema": 1', '"schema": 9'), r"its schema is 9, this program reads 1"),
                              (good.replace('"small"', '"other"'), r"of the sweep 'other', not 'small'")]:
            self.put("bad.json", text)
            self.refused(["costs", "sweep.yaml", "--accepted", "bad.json", *self.COUNT], message)
        for arguments, message in [(["--accepted", "nosuch.json"], r"no such"), (["--accepted", "."], r"not a"),
                                   (["-o", "no/such/f.json"], r"cannot write the costs \(no/such/f\.json\)"),
                                   (["-o", "."], r"cannot write the costs"),
                                   (["--accept", "--accepted", "no/such.json"], r"cannot write the costs"),
                                   (["--accept", "--filter", "linear"], r"a whole sweep .*--accept"),
                                   (["--accept", "--memory", "1GB"], r"a whole sweep .*--accept"),
                                   (["--instructions", "guess"], r"guess"), (["--accepted", ""], r"must not be empty")]:
            self.refused(["costs", "sweep.yaml", *self.COUNT[:0 if "guess" in arguments else 2], *arguments], message)
        self.assertEqual((self.folder / "sweep.costs.json").read_text(), good)

    def test_named_counter_that_is_not_here(self):
        self.refused(["costs", "sweep.yaml", "--instructions", "callgrind"], r"cannot be counted this way here", 4,
                     env=NO_VALGRIND)
        if self.run_it(["costs", "sweep.yaml", "--instructions", "hardware"]).returncode != 0:
            self.refused(["costs", "sweep.yaml", "--instructions", "hardware"],
                         r"cannot be counted this way here \(--instructions\): ", 4)


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind here")
class CallgrindTest(Costs):
    def count(self, sweep):
        self.put("sweep.yaml", sweep)
        self.costs("--instructions", "callgrind", "-o", "out.json")
        return {row["variant"]: row["instructions"]
                for row in json.loads((self.folder / "out.json").read_text())["variants"]}

    def setUp(self):
        super().setUp()
        if None in self.count(SMALL).values():
            self.skipTest("this build has no marks for callgrind")

    def test_counts_the_execution_alone(self):
        once = self.count(LARGE)
        for variant, count in self.count(LARGE).items():
            self.assertAlmostEqual(once[variant], count, delta=ALLOCATOR)
        # Twice the segments are twice the work, whatever the start of the program takes.
        twice = self.count(LARGE.replace("sequence_length: 2048", "sequence_length: 4096"))
        for variant, count in once.items():
            self.assertAlmostEqual(twice[variant] / count, 2, delta=0.1)

    def test_a_ring_is_counted_in_all_ranks(self):
        for count in self.count(RING).values():
            self.assertGreater(count, 1000)

    def test_grown_counts_are_found(self):
        self.put("sweep.yaml", LARGE)
        self.costs("--accept")
        self.assertIn("all are as accepted", self.costs("--accepted", "sweep.costs.json"))
        self.change(instructions=0.99)
        text = self.costs("--accepted", "sweep.costs.json", status=1)
        self.assertRegex(text, r"(?m)^worse: .* instructions grew from .* \(\+(1|1\.0\d) %\)$")
        accepted = self.accepted()
        accepted["instructions_taken_with"]["compiler"] = "Fortran 77"
        self.put("sweep.costs.json", json.dumps(accepted))
        text = self.costs("--accepted", "sweep.costs.json")
        self.assertRegex(text, r"(?m)^not judged: instructions: accepted with compiler 'Fortran 77', here it is '")


if __name__ == "__main__":
    main()
