"""A store of schema 1: read like any other, never written to, replaced by --fresh.

Usage: old_store_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import json
import sqlite3
import statistics
import sys
import unittest

from program import Program, Store

SWEEP = """
name: old
title: measured long ago
axes: {sequence_length: [33, 34], segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, order: [linear, hilbert, random]}]
measure: {budget_s: 0.05, min_rounds: 4}
"""
# As schema 1 had them: nothing of it may be taken over when the records are read.
STORED_SPEEDUP = {"against": "dilated/linear", "ratio": 77.0, "ci": [76.0, 78.0], "verdict": "faster"}


RECORD_TABLE = """CREATE TABLE record(id INTEGER PRIMARY KEY, comparison_id INTEGER REFERENCES comparison(id),
  case_id TEXT, variant_id TEXT, kind TEXT, status TEXT, reason TEXT, time_median_ns REAL, speedup_ratio REAL,
  environment_id INTEGER REFERENCES environment(id), json TEXT, UNIQUE(case_id, variant_id))"""


def old_record(text):
    """The record as schema 1 had it, its samples as if two processes had taken them."""
    record = json.loads(text)
    time = record["time_ns"]
    samples = sum(time["samples"], [])
    time.update(samples=samples, process_rounds=[2, len(samples) - 2], median=statistics.median(samples))
    record.update(schema=1, speedup=None if record["variant"] == "dilated/linear" else STORED_SPEEDUP)
    del record["twin"], record["asked"]["reference"], record["asked"]["margin"]
    return json.dumps(record)


def age(folder):
    """Makes a store of schema 1 of the one in `folder`."""
    with sqlite3.connect(folder / "results.sqlite") as store:
        store.execute("DELETE FROM record WHERE twin")
        for key, text in store.execute("SELECT id, json FROM record").fetchall():
            store.execute("UPDATE record SET json = ? WHERE id = ?", (old_record(text), key))
        for change in ("DROP VIEW results", "DROP VIEW samples", "ALTER TABLE comparison DROP COLUMN processes", "ALTER TABLE comparison DROP COLUMN retried",
                       "ALTER TABLE record RENAME TO newer", RECORD_TABLE,
                       "INSERT INTO record SELECT id, comparison_id, case_id, variant_id, kind, status, reason, "
                       "time_median_ns, NULL, environment_id, json FROM newer", "DROP TABLE newer",
                       "UPDATE meta SET value = '1' WHERE key = 'schema'", "PRAGMA user_version = 1"):
            store.execute(change)
    store.close()


class OldStoreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.sweep = cls.program.sweep(SWEEP)
        cls.results = cls.program.folder / "out"
        cls.program.run("run", cls.sweep, "-o", "out")
        age(cls.results)
        cls.bytes = (cls.results / "results.sqlite").read_bytes()

    def check_untouched(self):
        self.assertEqual([file.name for file in self.results.iterdir()], ["results.sqlite"])
        self.assertEqual((self.results / "results.sqlite").read_bytes(), self.bytes)

    def test_export_gives_records_of_now(self):
        records = self.program.records("out", twins=True)
        self.assertEqual(len(records), 2 * 3)
        for record in records:
            self.assertEqual((record["schema"], record["twin"], record["status"]), (3, False, "ok"))
            self.assertEqual([len(samples) >= 2 for samples in record["time_ns"]["samples"]], [True, True])
            if record["variant"] == "dilated/linear":
                self.assertIsNone(record["speedup"])
                continue
            self.assertEqual((record["speedup"]["against"], record["speedup"]["processes"]), ("dilated/linear", 2))
            self.assertLess(record["speedup"]["ratio"], 70, "it was found again, from the samples")
        for format in ("csv", "gbench", "bencher"):
            out, _ = self.program.run("export", "out", "--format", format)
            self.assertIn("dilated/hilbert", out)
        self.check_untouched()

    def test_report_shows_them(self):
        self.program.run("report", "out", "-o", "report", "--charts", "none")
        text = (self.program.folder / "report" / "report.md").read_text()
        self.assertIn("measured long ago", text)
        self.assertIn("dilated/hilbert", text)
        self.check_untouched()

    def test_runs_are_refused_in_one_line(self):
        for options in ([], ["--append-process"], ["--mix-builds"], ["--retry-failed"], ["--filter", "hilbert"]):
            with self.subTest(options):
                out, err = self.program.run("run", self.sweep, "-o", "out", *options, status=2)
                self.assertEqual((out, err.count("\n")), ("", 1))
                self.assertRegex(err, r"^hilbench: error: the store was written by an older hilbench and can only be "
                                      r"read \(out\): its schema is 1, this program writes 2; use --fresh ")
                self.check_untouched()

    def test_fresh_replaces_it(self):
        copy = self.program.folder / "copy"
        copy.mkdir()
        (copy / "results.sqlite").write_bytes(self.bytes)
        self.program.run("run", self.sweep, "-o", "copy", "--axis", "sequence_length=33", "--fresh")
        store = Store(copy)
        self.assertEqual((store.integrity, store.meta["schema"]), ([("ok",)], "2"))
        self.assertEqual((list(store.processes.values()), len(store.rows)), ([1], 4))
        out, _ = self.program.run("run", self.sweep, "-o", "copy")  # and it goes on like any other
        self.assertIn("(1 comparisons were measured before)", out)
        self.assertEqual(list(Store(copy).processes.values()), [1, 1])


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
