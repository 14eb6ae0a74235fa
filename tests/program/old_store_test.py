"""A store of schema 1: refused in one line that says which version reads it, and left as it is.

Usage: old_store_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import sqlite3
import sys
import unittest

from program import Program

SWEEP = """
name: old
axes: {sequence_length: 33, segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, order: [linear, hilbert]}]
measure: {budget_s: 0.05, min_rounds: 4}
"""


class OldStoreTest(unittest.TestCase):
    def test_it_is_refused(self):
        program = Program(BINARY)
        self.addCleanup(program.close)
        sweep = program.sweep(SWEEP)
        program.run("run", sweep, "-o", "out")
        file = program.folder / "out" / "results.sqlite"
        store = sqlite3.connect(file)
        with store:
            store.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
            store.execute("PRAGMA user_version = 1")
        store.close()
        before = file.read_bytes()
        for arguments in (["run", sweep, "-o", "out"], ["run", sweep, "-o", "out", "--fresh"],
                          ["report", "out", "-o", "page"], ["export", "out", "--format", "jsonl"], ["check", "out"],
                          ["gate", sweep, "--baseline", "out", "--candidate", "hilbench"]):
            with self.subTest(arguments):
                out, err = program.run(*arguments, status=2)
                self.assertEqual((out, err.count("\n")), ("", 1))
                self.assertRegex(err, r"^hilbench: error: the store was written by an older hilbench \(schema 1, this one "
                                      r"reads 2\) \(out/results.sqlite\)[:;] `hilbench export --format jsonl` of version "
                                      r"0\.1\.0 makes records of it that this version reads")
                self.assertEqual(file.read_bytes(), before)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
