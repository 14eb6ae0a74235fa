#!/usr/bin/env python3
"""What a person at a terminal sees: rows, widths and colours, first sweeps, sweeps by name, examples.

Usage: terminal_test.py HILBENCH [unittest arguments]
"""

import fcntl
import json
import os
import pty
import re
import select
import sqlite3
import struct
import subprocess
import termios
import time

from command_line import CommandLine, HEAD, MEASURE, SMALL, VARIANTS, axes, main, sweep

TWO_CASES = sweep(axes="axes: {sequence_length: [64, 96], segments: [32], heads: 2, head_dim: 16, threads: 1}\n")
COMMANDS = ("run", "plan", "init", "show", "report", "site", "compare", "agree", "check", "join", "export", "predict",
            "order", "list", "doctor", "gate", "costs")


class Terminal(CommandLine):
    def on_terminal(self, arguments, columns, **variables):
        """Runs on a terminal of that width. Gives what it shows, with its escapes."""
        environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
        environment.update({"TERM": "xterm"}, **variables)
        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([self.PROGRAM, *arguments], cwd=self.folder, env=environment, stdin=terminal,
                                   stdout=terminal, stderr=terminal)
        os.close(terminal)
        shown, end = b"", time.monotonic() + 120
        while time.monotonic() < end:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0, shown)
        return shown.decode().replace("\r\n", "\n")

    def bare(self, text):
        return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)

    def test_all_tables_fit_the_terminal(self):
        self.measured(TWO_CASES)
        for arguments in (["plan", "sweep.yaml"], ["plan", "quick2d"], ["plan", "sweep.yaml", "--longest"],
                          ["compare", "results/small", "results/small"]):
            for width in (72, 80, 140):
                with self.subTest(arguments, width=width):
                    lines = self.bare(self.on_terminal(arguments, width)).split("\r")[-1].split("\n")
                    self.assertLessEqual(max(map(len, lines)), width, "\n".join(lines))
                    self.assertGreater(len(lines), 4)

    def test_a_site_says_how_far_it_is(self):
        self.measured(TWO_CASES)
        (self.folder / "pages").mkdir()
        text = self.on_terminal(["site", "results", "-o", "pages", "--charts", "none"], 100)
        self.assertIn("1 sweep of 1 machine", self.bare(text))

    def test_rows_fit_the_terminal_and_have_colours(self):
        self.measured(TWO_CASES)
        for width in (80, 140):
            text = self.on_terminal(["show", "results/small"], width)
            self.assertIn("\x1b[1m", text)
            lines = self.bare(text).split("\n")
            self.assertLessEqual(max(map(len, lines)), width, text)
            self.assertEqual("time [95 %]" in text, width == 140, text)
            self.assertEqual(sum(line.startswith("  dilated/linear ") for line in lines), 2)
        for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b[", self.on_terminal(["show", "results/small"], 80, **variables))
        piped = self.run_it(["show", "results/small"]).stdout
        self.assertNotIn(b"\x1b", piped)
        self.assertIn(b"time [95 %]", piped)

    def test_a_run_shows_each_comparison_and_ends_with_all(self):
        self.put("sweep.yaml", TWO_CASES)
        text = self.on_terminal(["run", "sweep.yaml"], 100)
        screen = self.bare(text)
        self.assertRegex(screen, r"\[1/2\] (about|less than) [0-9 minsh]+ left, \w+( \S+)?( round \d+)?: n64-")
        self.assertEqual(len(re.findall(r"^  dilated/hilbert ", screen, re.M)), 4, screen)  # as it goes, and at the end
        self.assertIn("ratio: time of dilated/linear / time of the variant", screen)
        self.assertRegex(screen, r"(?s)\nfound: .*\nlimits: 1 process, where 10 show .*\n"
                                 r"next: hilbench report results/small\n"
                                 r" +hilbench run sweep.yaml --processes 10   \(about \d+ (s|min)\)\s*\Z")
        again = self.run_it(["run", "sweep.yaml"])
        self.assertEqual(again.stdout.count(b"\n  dilated/hilbert "), 2, "a run that resumes shows what is there")

    def test_a_single_comparison_is_shown_once(self):
        result = self.measured()
        self.assertEqual((result.stdout + result.stderr).count(b"\n  dilated/hilbert "), 1)


class Show(CommandLine):
    def test_sorts_and_filters(self):
        self.measured(TWO_CASES)
        text = self.run_it(["show", "results/small", "--sort", "time"]).stdout.decode()
        times = re.findall(r"^  [12]  dilated/\S+ +([\d.]+) (ns|us|ms)", text, re.M)
        scale = {"ns": 1, "us": 1e3, "ms": 1e6}
        times = [float(number) * scale[unit] for number, unit in times]
        self.assertEqual(len(times), 4, text)
        self.assertEqual(times, sorted(times))
        self.assertIn("  1: n64-", text)
        text = self.run_it(["show", "results/small", "--filter", "n96.*/dilated/hilbert$"]).stdout.decode()
        self.assertNotIn("\n  dilated/linear ", text)
        self.assertEqual(text.count("\n  dilated/hilbert"), 1)
        exported = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout
        (self.folder / "sent").mkdir()
        self.put("sent/records.jsonl", exported)
        rows = self.run_it(["show", "sent"]).stdout
        self.assertEqual(rows.count(b"  dilated/"), 4, "exported records are shown too")

    def test_refusals(self):
        self.measured()
        self.refused(["show", "nowhere"], r"no results here|no such|nowhere")
        self.refused(["show"], r"DIR is required")
        self.refused(["show", "results/small", "--sort", "speed"], r"--sort: speed not in \{case,time,ratio")
        self.refused(["show", "results/small", "--filter", "nothing"], r"no record matches 'nothing' \(--filter\)")
        self.refused(["show", "results/small", "--filter", "("], r"bad regular expression")
        self.refused(["show", "results/small", "more"], r"takes no argument 'more'")


class FirstSweep(CommandLine):
    def test_init_writes_a_sweep_that_runs_here(self):
        result = self.run_it(["init", "-o", "My first.yaml"])
        self.assert_runs(result)
        self.assertRegex(result.stdout.decode(), r"\AMy first\.yaml: 6 cases, \d+ variants each; a run takes about ")
        self.assertIn("next: hilbench run 'My first.yaml'", result.stdout.decode())
        text = (self.folder / "My first.yaml").read_text()
        self.assertIn("name: my-first ", text)
        plan = self.run_it(["plan", "My first.yaml"])
        self.assert_runs(plan)
        self.assertRegex(plan.stdout.decode(), r"6 cases; \d+ variants to measure, 0 skipped")
        self.refused(["init", "-o", "My first.yaml"], r"the file exists \(My first\.yaml\): init overwrites nothing")
        self.assertEqual((self.folder / "My first.yaml").read_text(), text)
        (self.folder / "link.yaml").symlink_to("nowhere")
        self.refused(["init", "-o", "link.yaml"], r"the file exists")
        self.refused(["init", "-o", "no/folder.yaml"], r"no/folder\.yaml", status=2)
        self.refused(["init", "-o", ""], r"must not be empty")
        for name in ("-", "~.yaml", "null.yaml"):  # words of YAML
            self.assert_runs(self.run_it(["init", "-o", name]))
        self.assert_runs(self.run_it(["init"]))
        self.assertTrue((self.folder / "first.yaml").exists())

    def test_sweeps_of_the_program_run_by_name_in_any_folder(self):
        for name in ("quick", "cache/cpu-order", "cpu-order", "quick2d", "hybrid-core"):
            self.assert_runs(self.run_it(["plan", name]))
        small = ["--axis", "sequence_length=256", "--axis", "patterns=64/1", "--axis", "heads=1", "--budget", "0.05"]
        self.assert_runs(self.run_it(["run", "quick", *small, "--filter", "hilbert$"]))
        with sqlite3.connect(self.folder / "results/quick/results.sqlite") as store:
            meta = dict(store.execute("SELECT key, value FROM meta"))
        self.assertEqual(meta["sweep_file"], "quick", "the command of the report finds it again")
        self.assertEqual(meta["question"], "Does the order of memory change dilated attention on this machine?")
        self.assertIn("question: " + meta["question"], meta["sweep_text"])
        listed = self.run_it(["list", "sweeps"]).stdout.decode()
        self.assertRegex(listed, r"(?m)^windows/quick2d +\S")
        self.refused(["run", "qick"], r"no sweep 'qick': .*did you mean 'quick'\?")
        self.refused(["run", "quick.yaml"], r"no such sweep file|quick\.yaml")
        self.refused(["plan", "cache"], r"no sweep 'cache'")

    def test_a_file_comes_before_a_name(self):
        self.put("quick", SMALL)
        self.assertIn(b"n64-w32-r2", self.run_it(["plan", "quick"]).stdout)
        (self.folder / "quick").unlink()
        (self.folder / "quick").mkdir()
        self.assertIn(b"n8192-", self.run_it(["plan", "quick"]).stdout)

    def test_the_schema_is_printed(self):
        schema = json.loads(self.run_it(["list", "schema"]).stdout)
        self.assertIn("patterns", schema["properties"]["axes"]["properties"])


class Budgets(CommandLine):
    def test_a_budget_holds_and_the_rows_say_what_it_cost(self):
        result = self.measured(SMALL.replace("min_rounds: 3", "min_rounds: 10"), ["--budget", "0.0001"])
        self.assertIn(b"1 of 6 rounds: the budget was spent", result.stdout)
        lines = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout.splitlines()
        for record in map(json.loads, lines):
            self.assertEqual(len(record["time_ns"]["samples"][0]), 1)
            self.assertEqual(record["environment"]["processes"][0]["rounds_wanted"], 6)
        shown = self.run_it(["show", "results/small"]).stdout
        self.assertEqual(shown.count(b"all variants: 1 of 6 rounds"), 1)
        self.assertEqual(shown.count(b"1 of 6 rounds"), 1)
        self.measured(SMALL, ["--fresh", "--budget", "2"])
        self.assertNotIn(b"rounds", self.run_it(["show", "results/small"]).stdout)

    def test_the_plan_says_how_long_a_run_takes(self):
        self.put("sweep.yaml", TWO_CASES)
        text = self.run_it(["plan", "sweep.yaml", "--budget", "30", "--processes", "2"]).stdout.decode()
        self.assertIn("A run takes about 1 min ", text)
        self.assertIn("at most 1 min 0 s of timing", text)

    def test_a_run_that_must_measure(self):
        self.put("sweep.yaml", SMALL)
        result = self.run_it(["run", "sweep.yaml", "--device", "cuda", "--require-measured"])
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"nothing was measured\n", result.stdout)
        self.assert_runs(self.run_it(["run", "sweep.yaml", "--device", "cuda", "--fresh"]))
        self.assert_runs(self.run_it(["run", "sweep.yaml", "--fresh", "--require-measured"]))


class Help(CommandLine):
    def test_every_help_ends_with_examples(self):
        listed = self.run_it(["--help"]).stdout.decode()
        self.assertIn("Examples:\n  hilbench init ", listed)
        for command in COMMANDS:
            self.assertIn("  " + command + " ", listed)
            text = self.run_it([command, "--help"]).stdout.decode()
            examples = text[text.find("Examples:\n"):]
            self.assertIn("  hilbench " + command + " " if command not in ("init", "doctor") else "  hilbench " + command,
                          examples)
            self.assertLessEqual(max(map(len, examples.split("\n"))), 120)

    def test_examples_of_plans_work(self):
        for arguments in (["quick"], ["longest", "--longest", "--memory", "80GB"],
                          ["quick", "--axis", "sequence_length=8k,16k", "--axis", "patterns=2048/1,4096/4"]):
            self.assert_runs(self.run_it(["plan", *arguments]))

    def test_counters_of_other_machines_are_asked_for(self):
        here, everything = (self.run_it(["list", "counters", *more]).stdout for more in ([], ["--all"]))
        self.assertIn(b"sets more that this machine has not: hilbench list counters --all\n", here)
        self.assertGreater(len(everything), len(here))
        self.refused(["list", "orders", "--all"], r"'orders' lists all that there is \(--all\)")


class Forms(CommandLine):
    def test_bad_forms_are_answered_with_good_ones(self):
        size, pattern = r"write digits alone, or k, M or G behind them: 8192 or 8k", r"write SEGMENT/DILATION, joined by \+"
        for text, says in (
                ("{sequence_length: 8K}", size), ("{sequence_length: 8kB}", size), ("{sequence_length: 0.5M}", size),
                ("{sequence_length: eight}", size), ("{sequence_length: 64, patterns: [32/]}", pattern),
                ("{sequence_length: 64, patterns: 32x2}", pattern), ("{sequence_length: 64, patterns: [[32, 2]]}", pattern),
                ("{sequence_length: 64, patterns: [32/64]}", r"dilation 64 is larger than its segment 32"),
                ("{sequence_length: 64, patterns: 32/1, segments: 32}", r"leave one of the two out"),
                ("{sequence_length: 64, segments: [32], dilations: [1, 2]}", r"patterns: \[32/1\+32/2\] if the branches")):
            self.put("sweep.yaml", axes(text))
            self.refused(["plan", "sweep.yaml"], says)
        self.put("sweep.yaml", SMALL)
        for axis, says in (("sequence_length=8K", size), ("patterns=32/1,32:2", pattern), ("patterns=", r"empty list"),
                           ("pattern=32/1", r"did you mean 'patterns'\?")):
            self.refused(["plan", "sweep.yaml", "--axis", axis], says)
        self.refused(["plan", "sweep.yaml", "--axis", "patterns=32/1", "--axis", "segments=32"],
                     r"patterns and segments \(--axis patterns=32/1, patterns\)|leave one of the two out")
        self.put("sweep.yaml", HEAD + "question: [a]\ncases: [{sequence_length: 64}]\n" + VARIANTS + MEASURE)
        self.refused(["plan", "sweep.yaml"], r"sweep\.yaml:2, question")


if __name__ == "__main__":
    main()
