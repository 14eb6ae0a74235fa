"""Damaged tables of gates are refused, not believed."""

import gzip
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
import gate_tables  # noqa: E402
from blocks import calibration  # noqa: E402
from published import Folder  # noqa: E402


class GateTables(unittest.TestCase):
    def test_a_damaged_table_of_gates_is_refused_in_a_line(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        folder = Folder(pathlib.Path(held.name))
        table = folder.path / "calibration/gates.csv.gz"
        table.parent.mkdir()
        rows = b"kind,gate,status,seconds,verdict\nequal,1,0,60,ok\nequal,2,0,61,ok\n"
        whole = gzip.compress(rows)
        changed = bytearray(whole)
        changed[-5] ^= 1  # of the checksum
        for content, said in ((b"", "its end is missing"), (whole[:-9], "its end is missing"),
                              (whole + b"\0", "bytes follow"), (whole + whole, "bytes follow"), (rows, "not compressed"),
                              (bytes(changed), "was changed since"), (gzip.compress(rows[:-1]), "its last line"),
                              (gzip.compress(b""), "its last line"), (gzip.compress(b"\xff\n"), "it is no text"),
                              (gzip.compress(rows[:-4] + b"\n"), "line 3 has not as many fields"),
                              (gzip.compress(rows + b"equal,3,0,62,ok,ok\n"), "line 4 has not as many fields"),
                              (gzip.compress(rows.replace(b"verdict", b"word")), "has no column verdict")):
            table.write_bytes(content)
            with self.subTest(said), self.assertRaisesRegex(gate_tables.DamagedTable, said) as refused:
                calibration.block_gates(folder)
            self.assertIn(str(table), str(refused.exception))
        table.write_bytes(whole)
        self.assertIn("| a build and itself | 2.5 % | 2 |", calibration.block_gates(folder))


if __name__ == "__main__":
    unittest.main()
