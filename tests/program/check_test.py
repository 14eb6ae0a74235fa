"""`hilbench check`: results that may be published, older ones that may not, and folders that hold no results.

Usage: check_test.py PATH_OF_HILBENCH TREE [unittest arguments]
"""

import pathlib
import shutil
import sqlite3
import sys
import unittest

from program import Program

SWEEP = """
name: tiny
title: a sweep to publish
cases: [{sequence_length: 64, segments: [32], dilations: [2], heads: 2, head_dim: 16, threads: 1}]
variants: [{kernel: dilated, order: [linear, hilbert, random]}]
baselines: [peak]
measure: {budget_s: 0.2, min_rounds: 3}
"""
RULES = ["schema", "names", "failed", "verification", "twins", "controls", "processes", "rounds", "injected", "build",
         "machine", "quiet", "processors", "noise", "private"]
# What the machine of the test, or a checkout with changes, may be blamed for.
OF_THIS_MACHINE = {"build", "quiet", "processors", "noise"}


def rules(out, kind):
    """Of the lines that start with `kind`: the names of the rules."""
    return [line[len(kind):].split(":")[0].strip() for line in out.splitlines() if line.startswith(kind + " ")]


class CheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.program.sweep(SWEEP)
        cls.program.run("run", "sweep.yaml", "--processes", "10", "-o", "out")

    def check(self, folder):
        process = self.program.start("check", folder)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def refused(self, folder, why):
        status, out, err = self.check(folder)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertRegex(err, r"^hilbench: error: .*" + why)

    def test_results_of_enough_processes(self):
        status, out, err = self.check("out")
        wrong = rules(out, "not ok")
        self.assertEqual(err, "")
        self.assertEqual(sorted(rules(out, "ok") + wrong), sorted(RULES), out)
        self.assertLessEqual(set(wrong), OF_THIS_MACHINE, out)
        self.assertEqual(status, 1 if wrong else 0, out)
        end = f"may not be published: {len(wrong)} fault" if wrong else "may be published"
        self.assertRegex(out.splitlines()[-1], f"^out {end}s?$")

    def test_an_export_is_judged_like_its_store(self):
        (self.program.folder / "exported").mkdir()
        self.program.run("export", "out", "--format", "jsonl", "-o", "exported/records.jsonl")
        self.assertEqual(self.check("exported")[1].replace("exported", "out"), self.check("out")[1])

    def test_too_few_processes_and_an_absolute_path(self):
        self.program.run("run", "sweep.yaml", "--processes", "2", "-o", self.program.folder / "few")
        status, out, _ = self.check("few")
        self.assertEqual(status, 1)
        self.assertLessEqual({"processes", "private"}, set(rules(out, "not ok")), out)
        self.assertIn("command (an absolute path)", out)

    def test_what_an_older_version_published(self):
        status, out, _ = self.check(TREE / "reports/published/h200-x2/counters-launched")
        self.assertEqual(status, 1, out)
        self.assertIn("measured by an older version; measure again", out)
        self.assertRegex(out.splitlines()[-1], r" may not be published: \d+ faults$")

    def test_no_results(self):
        (self.program.folder / "file").write_text("text")
        (self.program.folder / "empty").mkdir()
        for folder in ("file", "empty", "missing"):
            with self.subTest(folder):
                self.refused(folder, "no results here|" + folder)

    def test_a_damaged_store(self):
        damaged = pathlib.Path(shutil.copytree(self.program.folder / "out", self.program.folder / "damaged"))
        store = bytearray((damaged / "results.sqlite").read_bytes())
        store[4096:] = b"x" * (len(store) - 4096)
        (damaged / "results.sqlite").write_bytes(store)
        self.refused("damaged", "damaged")

    def test_a_store_without_records(self):
        bare = pathlib.Path(shutil.copytree(self.program.folder / "out", self.program.folder / "bare"))
        with sqlite3.connect(bare / "results.sqlite") as store:
            store.execute("DELETE FROM record")
        store.close()
        self.assertEqual(self.check("bare"), (3, "bare holds no records\n", ""))


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    TREE = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=2)
