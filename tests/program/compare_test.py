#!/usr/bin/env python3
"""`hilbench compare` of two stored runs: what it prints, what it keeps, and its exit status as a gate.

Usage: compare_test.py HILBENCH [unittest arguments]
"""

import csv
import json

from command_line import CommandLine, SMALL, main

QUIET = {"seed": 1, "time": "2026-01-01T00:00:00Z", "seconds": 1.0, "load_average": 0.1, "other_busy_cores": 0.0,
         "steal_s": 0.0, "involuntary_switches": 0}


class CompareTest(CommandLine):
    def setUp(self):
        super().setUp()
        self.measured(SMALL)
        self.export("steady")

    def export(self, name, factors=(), processes=5, cpu=None):
        """The run as an export of a quiet machine: samples close to the median, times a factor for each variant."""
        lines = []
        for line in self.run_it(["export", "results/small", "--format", "jsonl"]).stdout.splitlines():
            record = json.loads(line)
            time = record["time_ns"]
            median = 1e6 * dict(factors).get(record["variant"], 1)
            spread = [1.001 ** (process - (processes - 1) / 2) for process in range(processes)]
            time["samples"] = [[median * of * near for near in (0.999, 1, 1.001)] for of in spread]
            time["median"], time["ci"] = median, [median * 0.99, median * 1.01]
            record["environment"]["processes"] = [QUIET] * processes
            if cpu:
                record["environment"]["host"]["cpu"] = cpu
            lines.append(json.dumps(record) + "\n")
        (self.folder / name).mkdir(parents=True)
        (self.folder / name / "records.jsonl").write_text("".join(lines))

    def compared(self, *arguments, status):
        result = self.run_it(["compare", *arguments])
        self.assert_runs(result, status=status)
        return result.stdout.decode()

    def gate(self, *arguments, status):
        return self.compared(*arguments, "--fail-above", "5%", status=status)

    def test_what_it_prints_and_keeps(self):
        self.export("slow", {"dilated/linear": 3, "dilated/hilbert": 3})
        self.assertIn("2 pairs of the same case and variant: B is faster in 0, slower in 0",
                      self.compared("steady", "steady", status=0))
        text = self.compared("steady", "slow", "-o", "out", "--format", "markdown", status=0)
        self.assertIn("B is slower", text)
        self.assertEqual((self.folder / "out/compare.md").read_text(), text)
        self.assertIn("B is slower", (self.folder / "out/compare.csv").read_text())
        self.assertIn("<h1>hilbench: two runs compared</h1>", (self.folder / "out/compare.html").read_text())

    def test_equal_runs_pass_and_a_slower_one_fails(self):
        self.assertIn("ok: of 1 variants, 0 slower by more than 5 %", self.gate("steady", "steady", status=0))
        self.export("slow", {"dilated/hilbert": 1.2})
        self.assertRegex(self.gate("steady", "slow", "-o", "out", status=1),
                         r"slower: of 1 variants, 1 slower by more than 5 %")
        with open(self.folder / "out/gate.csv", newline="") as file:
            row, = [row for row in csv.DictReader(file) if row["verdict"] == "slower"]
        self.assertEqual(row["variant"], "dilated/hilbert")
        self.assertAlmostEqual(float(row["slowdown"]), 0.2, delta=0.01)
        self.assertIn("1 faster", self.gate("slow", "steady", status=0))

    def test_one_process_shows_nothing(self):
        self.export("once", processes=1)
        self.assertIn("needs several processes in both runs", self.gate("steady", "once", status=3))

    def test_a_reference_that_moved(self):
        self.export("moved", {"dilated/linear": 1.3, "dilated/hilbert": 1.3})
        self.assertIn("the time of the reference itself changed: dilated/linear of n64-",
                      self.gate("steady", "moved", status=3))

    def test_unlike_machines(self):
        self.export("elsewhere", cpu="another")
        self.assertIn("host.cpu differs: ", self.gate("steady", "elsewhere", status=3))
        self.compared("steady", "elsewhere", status=3)
        self.gate("steady", "elsewhere", "--allow-unlike", status=0)
        self.assertIn("host.cpu differs: another / ",
                      self.gate("steady", "steady", "--baseline", "elsewhere", status=3))
        self.gate("steady", "steady", "--baseline", "steady", status=0)

    def test_side_by_side(self):
        """Unlike machines beside each other: table and figures, no verdict, no fault."""
        self.export("elsewhere", {"dilated/linear": 2, "dilated/hilbert": 3}, cpu="another")
        said = self.run_it(["compare", "steady", "elsewhere"]).stderr.decode()
        self.assertIn("--side-by-side shows both without a verdict", said)
        text = self.compared("steady", "elsewhere", "--side-by-side", status=0)
        self.assertIn("B is another", text)
        self.assertIn("Nothing is judged here.", text)
        self.assertNotRegex(text, "faster|slower|inconclusive")
        text = self.compared("steady", "elsewhere", "--side-by-side", "-o", "out", "--format", "markdown", status=0)
        self.assertEqual((self.folder / "out/compare.md").read_text(), text)
        with open(self.folder / "out/compare.csv", newline="") as file:
            ratios = {row["variant"]: float(row["ratio"]) for row in csv.DictReader(file)}
        self.assertAlmostEqual(ratios["dilated/hilbert"], 1 / 3, delta=0.01)
        if (self.folder / "out/figures/rates_side_by_side.svg").exists():
            self.assertEqual((self.folder / "out/compare.html").read_text().count("<svg"), 2)
        for more in (["--fail-above", "5%"], ["--allow-unlike"], ["--filter", "x"], ["--baseline", "steady"]):
            self.refused(["compare", "steady", "elsewhere", "--side-by-side", *more],
                         rf"runs side by side are not judged \(--side-by-side {more[0]}\)")

    def test_a_part_of_the_variants(self):
        self.export("slow", {"dilated/hilbert": 1.2})
        self.gate("steady", "slow", "--filter", "linear", status=3)  # the reference alone is not judged
        self.gate("steady", "slow", "--filter", "hilbert", status=1)
        self.refused(["compare", "steady", "slow", "--filter", "none"], r"'none' matches no variant .*\(--filter\)")
        self.refused(["compare", "steady", "slow", "--filter", "("], r"bad regular expression '\('")

    def test_thresholds(self):
        for text, why in (("10", r"'10' is no share.*write 0.05 or 5%"), ("-1", r"--fail-above"),
                          ("nan", r"--fail-above"), ("0", r"no measurement can show .*\(--fail-above 0\)")):
            self.refused(["compare", "steady", "steady", "--fail-above", text], why)

    def test_runs_without_a_common_time(self):
        self.measured(arguments=["--device", "cuda", "-o", "other"])
        self.gate("results/small", "other", status=3)

    def test_which_published_verdicts_replicate(self):
        """`hilbench agree`: against other runs of the sweep, and never against the run itself."""
        self.export("published/near/small")
        self.export("published/far/again", {"dilated/hilbert": 3})
        said = self.run_it(["agree", "steady", "--with", "published"]).stdout.decode()
        self.assertIn("1 of 1 verdicts in near/small replicate here.", said)
        self.assertIn("0 of 1 verdicts in far/again replicate here. Of the others, ", said)
        self.assertIn("Verdicts that do not replicate", said)
        markdown = self.run_it(["agree", "published/near/small", "--with", "published", "--format", "markdown"]).stdout.decode()
        self.assertNotIn("near/small replicate", markdown)
        self.assertIn("## By published run", markdown)
        self.refused(["agree", "steady", "--with", "nowhere"], r"nowhere")
        self.refused(["agree", "steady", "--with", "steady"], r"nothing is published of the sweep 'small'")
        self.refused(["agree", "nowhere"], r"nowhere")


if __name__ == "__main__":
    main()
