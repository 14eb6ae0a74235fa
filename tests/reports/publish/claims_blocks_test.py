"""What pages say of claims, and the picture of them."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
from blocks import claims, picture  # noqa: E402


class TableOfClaims:
    """A folder whose table of claims is given."""

    def __init__(self, rows):
        self.given = rows

    def rows(self, table):
        return iter(self.given)


class Dtypes(unittest.TestCase):
    def test_dtypes_of_one_run_are_no_two_runs(self):
        row = {"claim": "a", "metric": "cache_miss_reduction", "case": "", "level": "L2", "ratio": "1", "claimed": "-20.0 %",
               "against_linear": "+1.0 %", "against_control": "", "counts": "5", "verdict": "no gain", "in_sweep": "a"}
        table = claims.block_caches(TableOfClaims([{**row, "dtype": "bf16"}, {**row, "dtype": "fp32"}])).splitlines()
        self.assertEqual([line.split(" | ")[2::6] for line in table[2:]],
                         [["all cases of its sweep in bf16", "1"], ["all cases of its sweep in fp32", "1"]])


class Legend(unittest.TestCase):
    def test_entries_keep_a_distance(self):
        names = ["AMD EPYC, 2 cores", "Intel Xeon, 16 cores", "NVIDIA H100 80GB HBM3", "NVIDIA H200"]
        for machines in (names, names * 2, ["MMMMMMMMMM"] * 4):
            for row in picture.legend_rows(machines):
                for (_, name, x), (_, _, following) in zip(row, row[1:]):
                    self.assertGreaterEqual(following - x - picture.ENTRY_INDENT - picture.text_width(name), 19.9, name)
                mark, name, x = row[-1]
                self.assertLessEqual(x + picture.ENTRY_INDENT + picture.text_width(name), picture.WIDTH, name)
        self.assertEqual(len(picture.legend_rows(names)), 1)
        # As the browser measures it in DejaVu Sans at 13 pixels.
        self.assertAlmostEqual(picture.text_width("NVIDIA H100 80GB HBM3"), 166, delta=8)


class Picture(unittest.TestCase):
    def test_marks_of_machines_do_not_hide_each_other(self):
        row = "".join(picture.claim_row(100, 2.0, "a case", {0: 1.0, 1: 1.0, 2: 1.0}, 3))
        heights = [float(y) for y in re.findall(r'cy="([0-9.]+)"', row)] + [float(re.search(r'<rect x="[0-9.]+" y="([0-9.]+)"', row)[1])]
        self.assertEqual(len(set(heights)), 2)
        self.assertLess(heights[0], heights[1])


if __name__ == "__main__":
    unittest.main()
