"""When the external programs of a comparison are waited for, as the progress line shows it: on a processor before the
variants of hilbench itself are prepared, on a GPU after they are verified.

Usage: programs_start_test.py PATH_OF_HILBENCH [unittest arguments]
If PATH_OF_HILBENCH is called hilbench_fake_gpus, its GPU is that of tests/fakes/gpus.cpp; else a processor computes.
"""

import os
import pathlib
import pty
import re
import sys
import unittest

from program import Program

OWN = {"dilated/linear", "dilated/linear@twin", "dilated/hilbert"}
PROGRAMS = {"one", "two"}
SWEEP = """
name: start
cases: [{{sequence_length: 8, segments: [8], heads: 1, head_dim: 16, threads: 1, device: {device}}}]
external:
  one: {{command: [{python}, rival.py, none, one]}}
  two: {{command: [{python}, rival.py, none, two]}}
variants: [{{kernel: dilated, order: [linear, hilbert]}}]
baselines: [one, two]
measure: {{budget_s: 0.05, min_rounds: 3}}
"""


class ProgramsStartTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.program.add_rival()

    def verified(self, device):
        """The variants that the progress line names, in sequence, while they are verified."""
        sweep = self.program.sweep(SWEEP.format(device=device, python=sys.executable))
        terminal, line = pty.openpty()
        process = self.program.start("run", sweep, "-o", "out", "--allow-external", stderr=line,
                                     env={**os.environ, "HILBENCH_FAKE_GPUS": "1", "COLUMNS": "200"})
        os.close(line)
        shown = b""
        try:
            while chunk := os.read(terminal, 1 << 16):
                shown += chunk
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn("4 ok", shown.decode(), "all but the twin")
        return re.findall(r", verify ([^\s,:]+)", shown.decode())

    def test_programs_are_waited_for_when_they_disturb_nothing(self):
        gpu = pathlib.Path(BINARY).name == "hilbench_fake_gpus"
        found = self.verified("cuda" if gpu else "cpu")
        own, programs = len(OWN), len(PROGRAMS)
        first = own if gpu else 0  # of the programs
        greeted, loaded = found[first:first + programs], found[own + programs:own + 2 * programs]
        self.assertEqual(set(found[:own] if gpu else found[programs:programs + own]), OWN, found)
        self.assertEqual(set(greeted), PROGRAMS, found)
        self.assertEqual(loaded, greeted, found)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
