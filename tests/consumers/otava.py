"""Apache Otava finds a change in a made-up history of runs, by the file and the configuration that we export.

usage: otava.py HILBENCH WRITE_EXPORTS [unittest arguments]
"""

import csv
import datetime
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, WRITE_EXPORTS = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
OTAVA = os.environ.get("HILBENCH_OTAVA") or shutil.which("otava")
RUNS, CHANGE, SLOWER = 24, 14, 1.08  # the run from which on one variant is slower
CHANGED = "dilated/hilbert"


def made_up_history(folder):
    """A folder for each commit, of the last days. The folders' names do not sort by time."""
    store = folder / "store"
    subprocess.run([WRITE_EXPORTS, store, "1.0"], check=True)
    text = subprocess.run([PROGRAM, "export", store, "--format", "jsonl"], check=True, capture_output=True, text=True).stdout
    records, rng = [json.loads(line) for line in text.splitlines()], random.Random(5)
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=RUNS + 1)
    for number in range(RUNS):
        commit = f"{(number * 7919) % 65536:04x}"
        run = folder / "history" / commit
        run.mkdir(parents=True)
        with open(run / "records.jsonl", "w") as file:
            for record in json.loads(json.dumps(records)):
                factor = rng.gauss(1, 0.006) * (SLOWER if number >= CHANGE and record["variant"] == CHANGED else 1)
                if record["time_ns"]:
                    time = record["time_ns"]
                    time["median"] *= factor
                    time["ci"] = [end * factor for end in time["ci"]]
                    time["samples"] = [[sample * factor for sample in samples] for samples in time["samples"]]
                record["environment"]["time"] = (begin + datetime.timedelta(days=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
                record["environment"]["build"]["commit"] = commit
                record["speedup"] = None
                file.write(json.dumps(record) + "\n")
    return folder / "history"


class HistoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(held.cleanup)
        cls.folder = pathlib.Path(held.name)
        cls.history = made_up_history(cls.folder)
        cls.said = cls.export(cls.history, "-o", "history.csv").stderr

    @classmethod
    def export(cls, folder, *arguments, status=0):
        done = subprocess.run([PROGRAM, "export", folder, "--format", "otava", *arguments], capture_output=True, text=True,
                              cwd=cls.folder)
        assert done.returncode == status, done.stderr
        return done

    def test_the_file_has_a_row_a_run_by_time(self):
        with open(self.folder / "history.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), RUNS)
        self.assertEqual(list(rows[0])[:3], ["time", "run", "commit"])
        self.assertEqual([row["time"] for row in rows], sorted(row["time"] for row in rows))
        self.assertEqual([row["run"] for row in rows], [row["commit"] for row in rows])
        metrics = list(rows[0])[3:]
        self.assertTrue(any(metric.endswith("/" + CHANGED) for metric in metrics))
        for row in rows:
            self.assertTrue(all(float(row[metric]) > 0 for metric in metrics))
        self.assertIn(f"{RUNS} runs, {len(metrics)} variants: otava analyze hilbench --config-file history.yaml", self.said)

    def test_the_configuration_names_every_column(self):
        config = json.loads((self.folder / "history.yaml").read_text())["tests"]["hilbench"]
        with open(self.folder / "history.csv", newline="") as file:
            head = next(csv.reader(file))
        self.assertEqual((config["type"], config["file"], config["time_column"]), ("csv", "history.csv", "time"))
        self.assertEqual(config["attributes"], head[1:3])
        self.assertEqual([metric["column"] for metric in config["metrics"].values()], head[3:])
        self.assertEqual({metric["direction"] for metric in config["metrics"].values()}, {-1})

    def test_otava_finds_the_change(self):
        if OTAVA is None:
            self.skipTest("no otava (pip install apache-otava), and HILBENCH_OTAVA names none")
        done = subprocess.run([OTAVA, "analyze", "hilbench", "--config-file", "history.yaml", "--output", "json"],
                              capture_output=True, text=True, cwd=self.folder)
        found = [(change["metric"], point["time"]) for point in json.loads(done.stdout)["hilbench"]
                 for change in point["changes"]]
        with open(self.folder / "history.csv", newline="") as file:
            at = int(datetime.datetime.fromisoformat(list(csv.DictReader(file))[CHANGE]["time"].replace("Z", "+00:00"))
                     .timestamp())
        self.assertTrue(found)
        self.assertEqual({metric.partition("/")[2] for metric, _ in found}, {CHANGED})
        self.assertEqual({time for _, time in found}, {at})

    def test_what_is_left_out_and_what_is_refused(self):
        odd = self.folder / "odd"
        shutil.copytree(self.history, odd)
        first = sorted(odd.iterdir())[0] / "records.jsonl"
        lines = first.read_text().splitlines(keepends=True)
        first.write_text("".join(line for line in lines if f'"variant": "{CHANGED}"' not in line))
        self.assertRegex(self.export(odd).stderr, r"note: \d variants are left out: not timed in every run")
        first.write_text("".join(line.replace('"sweep": "made-up"', '"sweep": "another"') for line in lines))
        self.assertRegex(self.export(odd, status=2).stderr, r"error: the runs are of several sweeps.*'another' and 'made-up'")
        self.assertRegex(self.export(self.history, "-o", "a.yaml", status=2).stderr, r"would replace the runs.*\.csv")
        self.assertEqual(len(self.export(self.history / sorted(os.listdir(self.history))[0]).stdout.splitlines()), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
