"""Cases on pages of a chosen size: measured where the system gives them, skipped with its reason where not.

Usage: pages_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import re
import sys
import unittest

from program import Program, read_npy

SWEEP = """
name: paged
axes: {sequence_length: 2048, segments: [[512]], dilations: [[4]], heads: 2, head_dim: 64, threads: 2,
       pages: [default, 4k, 2m], ring_size: [1, 2]}
variants:
  - {kernel: dilated, order: [linear, hilbert, residue, random]}
  - {kernel: dilated, order: linear, buffers: fresh}
baselines: [gemm, peak]
skip_when: "ring_size > 1 and pages == default"
measure: {budget_s: 0.1, min_rounds: 3}
"""
CASE = "n2048-w512-r4-h2-d64-fp32-p{}-cpu-threads.2{}"


def huge_pages_here(program):
    """Whether `pages: 2m` works here, and what doctor says of it."""
    out, _ = program.run("doctor")
    word, text = re.search(r"^  (works|absent) +huge pages +(.*)$", out, re.M).groups()
    return word == "works", text


class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.huge, cls.why = huge_pages_here(cls.program)
        cls.program.run("run", cls.program.sweep(SWEEP), "-o", "out", "--dump", "dump")
        cls.records = cls.program.records("out")

    def of(self, pages, ring=1):
        return {record["variant"]: record for record in self.records
                if (record["params"]["pages"], record["params"]["ring_size"]) == (pages, ring)}

    def expect_measured(self, records, share):
        """The variants that were measured, if `share` may be that of huge pages in each."""
        names = [name for name, record in records.items() if record["status"] == "ok"]
        for name in names:
            (process,) = records[name]["environment"]["processes"]
            self.assertTrue(share(process["huge_pages"]), f"{name}: {process['huge_pages']}")
        return sorted(names)

    def test_ids_and_parameters_name_the_pages(self):
        for pages in ("4k", "2m"):
            for ring in (1, 2):
                for record in self.of(pages, ring).values():
                    self.assertEqual(record["case"], CASE.format(ring, f"-pages.{pages}"))
        for record in self.of("default").values():
            self.assertEqual(record["case"], CASE.format(1, ""))

    KERNELS = ["dilated/hilbert", "dilated/linear", "dilated/random", "dilated/residue"]

    def test_ordinary_pages(self):
        self.assertEqual(self.expect_measured(self.of("4k"), lambda share: share == 0), self.KERNELS + ["gemm", "peak"])
        self.assertEqual(self.expect_measured(self.of("4k", 2), lambda share: share == 0), self.KERNELS)
        fresh = self.of("4k")["dilated/linear.fresh"]
        self.assertEqual(fresh["status"], "skipped")
        self.assertIn("buffers must be pooled", fresh["reason"])

    def test_huge_pages(self):
        if not self.huge:
            for record in self.of("2m").values():
                self.assertEqual((record["status"], record["time_ns"]), ("skipped", None))
                self.assertRegex(record["reason"], "^pages 2m: ")
            self.skipTest(self.why)
        self.assertEqual(self.expect_measured(self.of("2m"), lambda share: share >= 0.9), self.KERNELS + ["gemm", "peak"])
        self.assertEqual(self.expect_measured(self.of("2m", 2), lambda share: share >= 0.9), self.KERNELS)
        for record in self.of("2m").values():
            if record["variant"] in self.KERNELS[:1] + self.KERNELS[2:]:
                self.assertEqual(record["speedup"]["against"], "dilated/linear")

    def test_what_the_system_gives_is_recorded_if_nothing_is_asked(self):
        self.expect_measured(self.of("default"), lambda share: share is None or 0 <= share <= 1)
        self.assertEqual(self.of("default")["dilated/linear.fresh"]["status"], "ok")

    def test_outputs_are_equal(self):
        dumps = {}
        for folder in (self.program.folder / "dump").iterdir():
            dumps[folder.name] = {kernel: read_npy(folder / kernel.replace("/", "_") / "o.npy")
                                  for kernel in self.KERNELS}
        self.assertEqual(dumps[CASE.format(1, "-pages.4k")], dumps[CASE.format(1, "")])
        if self.huge:
            self.assertEqual(dumps[CASE.format(1, "-pages.2m")], dumps[CASE.format(1, "")])

    def test_reports_name_the_pages(self):
        self.program.run("report", "out", "-o", "report")
        report = self.program.folder / "report"
        for text in ((report / "report.md").read_text(), (report / "report.html").read_text()):
            self.assertRegex(text, r"n 2048, 512/4, h 2, d 64, fp32, threads 2, pages 4k\b")
        self.assertIn('"pages":"4k"', (report / "report.html").read_text())

    def test_unknown_pages_are_refused(self):
        _, err = self.program.run("run", self.program.sweep(SWEEP.replace("2m]", "1g]"), "wrong.yaml"), status=2)
        self.assertRegex(err, r"^hilbench: error: expects one of default, 4k, 2m \(wrong\.yaml:4, axes\.pages.*\n$")
        _, err = self.program.run("plan", "sweep.yaml", "--axis", "pages=4096", status=2)
        self.assertRegex(err, r"^hilbench: error: .*default, 4k, 2m.*\n$")

    def test_an_axis_of_the_command_line_replaces_them(self):
        out, _ = self.program.run("plan", "sweep.yaml", "--axis", "pages=4k", "--axis", "ring_size=1")
        self.assertIn("-pages.4k", out)
        self.assertNotIn("-pages.2m", out)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
