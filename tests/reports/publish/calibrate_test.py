"""`calibrate.sh`, from twins and gates of a tiny sweep to the folder that `publish.sh` makes of them.

Usage: calibrate_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[3]
SWEEP = """name: tiny
cases:
  - {sequence_length: 256, segments: [128], dilations: [1], heads: 2, head_dim: 32, threads: 1, device: cpu}
variants: [{kernel: dilated, order: [linear, random]}]
reference: dilated/linear
measure: {interval: 0.05, budget_s: 0.1, min_rounds: 3}
"""


class Calibrate(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.place = pathlib.Path(held.name)
        self.out = self.place / "out"
        (self.place / "tiny.yaml").write_text(SWEEP)
        self.environment = {**os.environ, "HILBENCH": BINARY, "SWEEP": str(self.place / "tiny.yaml"),
                            "TWINS": "--filter ^n512-w256-r1-h1-d64-fp32-p1-cpu/", "GATE": "--budget 1s", "THRESHOLD": "4%"}

    def start(self, script, *arguments, status=0):
        done = subprocess.run([TREE / "reports/publish" / script, *map(str, arguments)], capture_output=True, text=True,
                              env=self.environment, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def rows(self, file):
        with gzip.open(file, "rt", newline="") as text:
            return list(csv.DictReader(text))

    def test_what_it_measures_is_published(self):
        steps = ["twins=2", "self-test", "equal=2", "injected-10=1", "injected-7.5=1", "busy=1", "runs=2", "pairs"]
        said = self.start("calibrate.sh", self.out, *steps)
        self.assertRegex(said, r"(?m)^equal 2: exit [03], \d+ s; .*of 2 variants")
        self.assertRegex(said, r"(?m)^run 2$")
        self.assertEqual(self.start("calibrate.sh", self.out, "equal=2", "runs=2"), "", "they were measured before")
        folder = self.place / "published"
        self.start("publish.sh", "-o", self.place / "pages", self.out, folder)
        gates = self.rows(folder / "calibration/gates.csv.gz")
        self.assertEqual({(row["kind"], row["gate"]) for row in gates},
                         {("equal", "1"), ("equal", "2"), ("injected-10", "1"), ("injected-7.5", "1"), ("busy", "1")})
        self.assertEqual(len(gates), 5 * 2)
        self.assertEqual({row["threshold"] for row in gates}, {"4%"})
        pairs = self.rows(folder / "calibration/pairs.csv.gz")
        self.assertEqual([(row["kind"], row["first"], row["second"]) for row in pairs], [("quiet", "1", "2")] * 2)
        self.assertIn("gates drawn from", (folder / "calibration/self-test.txt").read_text())
        self.assertTrue((folder / "calibration/records.jsonl.gz").exists())
        checked = subprocess.run([BINARY, "check", folder / "calibration"], capture_output=True, text=True)
        self.assertIn("\nok      private: ", checked.stdout)
        page = (folder / "README.md").read_text()
        for words in ("A twin is the reference measured once more", "| a build and itself | 4 % | 2 |",
                      "itself with 7.5 % more work | 4 % | 1 |", "gates drawn from", "| of one build | 2 |"):
            self.assertIn(words, page)
        before = (folder / "calibration/gates.csv.gz").read_bytes()
        (self.out / "gates.csv").write_text((self.out / "gates.csv").read_text()[:-3])
        said = self.start("publish.sh", "-o", self.place / "pages", self.out, folder, status=1)
        self.assertIn("gates.csv is damaged: its last line is not complete", said)
        self.assertEqual((folder / "calibration/gates.csv.gz").read_bytes(), before)

    def test_bad_usage(self):
        self.assertIn("unknown step 'nothing'", self.start("calibrate.sh", self.out, "nothing", status=2))
        self.assertIn("Usage:", self.start("calibrate.sh", status=2))


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).absolute())
    unittest.main()
