"""What pages say of claims."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
from blocks import claims  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
