#!/usr/bin/env python3
"""Runs of parts of a sweep, joined.

Usage: join_test.py HILBENCH [unittest arguments]
"""

import json
import sqlite3

from command_line import CommandLine, SMALL, main, sweep

CASES = sweep(axes="axes: {sequence_length: [64, 96, 128], segments: [32], heads: 2, head_dim: 16, threads: 1}\n")


class Join(CommandLine):
    def parts(self, count=2, text=CASES):
        for part in range(1, count + 1):
            self.measured(text, ["--part", f"{part}/{count}", "-o", f"part{part}"])
        return [f"part{part}" for part in range(1, count + 1)]

    def exported(self, folder):
        result = self.run_it(["export", folder, "--format", "jsonl"])
        self.assert_runs(result)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_every_record_is_there_and_a_run_goes_on(self):
        parts = self.parts()
        result = self.run_it(["join", *parts, "-o", "all"])
        self.assert_runs(result)
        self.assertEqual(result.stdout.decode(), "all/results.sqlite\n")
        self.assertRegex(result.stderr.decode(), r"\A3 cases, \d+ records of 2 runs\n\Z")
        joined = self.exported("all")
        self.assertEqual([record["variant"] for record in joined],
                         [record["variant"] for part in parts for record in self.exported(part)])
        samples = {(record["case"], record["variant"], record["twin"]): record["time_ns"] for record in joined}
        for record in self.exported(parts[1]):
            self.assertEqual(samples[record["case"], record["variant"], record["twin"]], record["time_ns"])
        before = (self.folder / "all/results.sqlite").read_bytes()
        again = self.measured(CASES, ["-o", "all"])
        self.assertIn("3 comparisons were measured before", again.stdout.decode())
        self.assertEqual((self.folder / "all/results.sqlite").read_bytes(), before)

    def test_a_case_of_two_runs_is_refused(self):
        self.parts(1)
        self.refused(["join", "part1", "part1", "-o", "all"], r"two runs hold the case n64.*hilbench compare")

    def test_what_cannot_be_joined(self):
        self.parts(2)
        self.measured(SMALL.replace("name: small", "name: another"), ["-o", "other"])
        (self.folder / "exported").mkdir()
        export = self.run_it(["export", "part1", "--format", "jsonl"])
        self.put("exported/records.jsonl", export.stdout)
        self.refused(["join", "part1", "-o", "all"], r"one run needs no joining")
        self.refused(["join", "part1", "nosuch", "-o", "all"], r"no results here \(nosuch\)")
        self.refused(["join", "part1", "exported", "-o", "all"], r"no store of a run here \(exported\).*`hilbench run`")
        self.refused(["join", "part1", "part2", "-o", "part2"], r"the folder holds results \(-o part2\)")
        self.refused(["join", "part1", "other", "-o", "all"], r"the runs are of different sweeps")
        self.refused(["join", "part1", "part2"], r"-o is required")

    def test_unlike_machines_are_refused_unless_they_are_allowed(self):
        parts = self.parts(2)
        with sqlite3.connect(self.folder / "part2/results.sqlite") as store:
            for number, text in store.execute("SELECT id, json FROM environment").fetchall():
                made = json.loads(text)
                made["host"]["cpu"] = "Another Processor"
                store.execute("UPDATE environment SET json = ? WHERE id = ?", (json.dumps(made), number))
        store.close()
        self.refused(["join", *parts, "-o", "all"], r"unlike machines.*host.cpu differs.*--allow-unlike")
        self.assert_runs(self.run_it(["join", *parts, "-o", "all", "--allow-unlike"]))

    def test_parts(self):
        self.put("sweep.yaml", CASES)
        for part in ("0/2", "3/2", "1", "/2", "1/", "a/b", "1/2/3"):
            self.refused(["plan", "sweep.yaml", "--part", part], r"names no part \(--part\); write 1/4")
        self.refused(["plan", "sweep.yaml", "--part", "4/8"], r"holds no case.*the plan has 3 cases")
        result = self.run_it(["plan", "sweep.yaml", "--part", "2/2"])
        self.assert_runs(result)
        self.assertRegex(result.stdout.decode(), r"n96-.*\n(.*\n)*1 case; ")


if __name__ == "__main__":
    main()
