"""The Python package reads stores, published records and addresses; its notebook runs.

usage: python_package.py HILBENCH WRITE_EXPORTS TREE [unittest arguments]
"""

import functools
import http.server
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

SKIPPED = 77
PROGRAM, WRITE_EXPORTS, TREE = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
TREE = pathlib.Path(TREE)
NOTEBOOK = TREE / "reports/python/figures.ipynb"


class QuietServer(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class LoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.store = cls.folder / "store"
        subprocess.run([WRITE_EXPORTS, cls.store, "1.0"], check=True)
        cls.published = TREE / "reports/published/h200/hybrid-core"

    def test_a_store(self):
        results = hilbench.load(self.store)
        self.assertEqual(len(results.all_records), 8)
        self.assertEqual(len(results.records), (~results.all_records["twin"].astype(bool)).sum())
        self.assertEqual(list(results.brief.columns), list(hilbench.results.BRIEF))
        self.assertEqual(list(results.records["params.order"].unique()), ["linear", "hilbert", "random"])
        self.assertEqual(len(results.samples), 2 * 3 * 20)
        hilbert = results.records[results.records["variant"] == "dilated/hilbert"]
        self.assertTrue(hilbert["speedup.ratio"].between(0.85, 0.95).all())
        self.assertTrue((hilbert["speedup.ci.low"] < hilbert["speedup.ci.high"]).all())
        self.assertTrue(results.records["speedup.ratio"].isna().any())
        self.assertEqual(len(results.claims.columns), len(hilbench.load(self.published).claims.columns))

    def test_a_folder_of_runs(self):
        above = self.folder / "history"
        for name, speed, day in (("b", "1.0", 2), ("a", "1.5", 3), ("c", "1.2", 1)):
            subprocess.run([WRITE_EXPORTS, self.folder / f"run-{name}", speed], check=True)
            (above / name).mkdir(parents=True)
            lines = subprocess.run([PROGRAM, "export", self.folder / f"run-{name}", "--format", "jsonl"], check=True,
                                   text=True, stdout=subprocess.PIPE).stdout.splitlines()
            records = [json.loads(line) for line in lines]
            for record in records:
                record["environment"]["time"] = f"2026-11-0{day}T00:00:00Z"
            (above / name / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        history = hilbench.load(above)
        self.assertEqual(list(history.records["run"].unique()), ["c", "b", "a"], "by time")
        self.assertEqual(list(history.brief.columns), ["run", *hilbench.results.BRIEF])
        one = hilbench.load(above / "a")
        self.assertEqual(len(history.records), 3 * len(one.records))
        self.assertEqual(len(history.samples), 3 * len(one.samples))
        self.assertNotIn("run", one.records)
        self.assertIn("of 3 runs", repr(history))

    def test_records_without_ratios_have_the_same_columns(self):
        flat = hilbench.results.flat_records([{"case": "a", "time_ns": None, "speedup": None, "tflops": None}])
        self.assertTrue(flat[["time_ns.median", "time_ns.ci.low", "speedup.ratio", "speedup.ci.high"]].isna().all(None))
        self.assertNotIn("speedup", flat.columns)

    def test_samples_belong_to_their_records(self):
        results = hilbench.load(self.store)
        medians = results.samples[~results.samples["twin"]].groupby(["case", "variant"])["time_ns"].median()
        for row in results.records.dropna(subset=["time_ns.median"]).to_dict("records"):
            self.assertAlmostEqual(medians[row["case"], row["variant"]] / row["time_ns.median"], 1, delta=0.02)

    def test_published_records(self):
        results = hilbench.load(self.published)
        self.assertEqual(set(results.records["environment.device.name"]), {"NVIDIA H200"})
        self.assertFalse(results.claims.empty)
        self.assertIn("verdict", results.claims.columns)

    def test_an_address(self):
        handler = functools.partial(QuietServer, directory=self.published.parent)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        base = f"http://127.0.0.1:{server.server_port}/hybrid-core"
        local = hilbench.load(self.published)
        for address in (base, base + "/", base + "/records.jsonl.gz"):
            results = hilbench.load(address)
            self.assertTrue(results.records.equals(local.records), address)
        self.assertTrue(results.claims.equals(local.claims), "the meta came too")
        with self.assertRaisesRegex(hilbench.HilbenchError, "no results here .*there is no records.jsonl.gz"):
            hilbench.load(f"http://127.0.0.1:{server.server_port}/absent")

    def test_errors_are_one_line(self):
        (self.folder / "empty").mkdir()
        with self.assertRaisesRegex(hilbench.HilbenchError, "^no results here"):
            hilbench.load(self.folder / "empty")
        with self.assertRaisesRegex(hilbench.HilbenchError, "cannot download"):
            hilbench.load("http://127.0.0.1:9/nobody-listens")
        for place in (None, 7, b"store", ["store"], "", 1.5):
            self.refuses(place, "^no place of results")
        self.refuses("a\0b", "cannot run the program")
        self.refuses("http://[half", "no address|cannot download")
        self.refuses("http://127.0.0.1:9/with spaces\nand lines", "cannot download")
        for program, says in (("absent", "cannot run the program"), (".", "cannot run the program"),
                              ("talker", "prints no records .*set HILBENCH_PROGRAM"), ("silent", "exit status 3")):
            self.add_script("talker", "echo hello")
            self.add_script("silent", "exit 3")
            with mock.patch.dict(os.environ, HILBENCH_PROGRAM=str(self.folder / program)):
                self.refuses(self.store, says)

    def add_script(self, name, command):
        (self.folder / name).write_text(f"#!/bin/sh\n{command}\n")
        (self.folder / name).chmod(0o755)

    def refuses(self, place, says):
        with self.assertRaisesRegex(hilbench.HilbenchError, says) as caught:
            hilbench.load(place)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_figures(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no matplotlib (Debian: python3-matplotlib)")
        import matplotlib
        matplotlib.use("agg")
        axes = hilbench.plot.speedups(hilbench.load(self.store))
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["dilated/hilbert"])
        both = hilbench.plot.speedups(hilbench.load(self.published)).get_legend().get_texts()
        self.assertIn("dilated/hilbert, bf16", [text.get_text() for text in both])
        axes = hilbench.plot.windows(hilbench.load(TREE / "reports/published/h100/images"))
        self.assertIn("computed / needed", axes.get_xlabel())
        self.assertGreater(len(axes.get_legend().get_texts()), 2)
        with self.assertRaisesRegex(hilbench.HilbenchError, "no record is of windows"):
            hilbench.plot.windows(hilbench.load(self.store))

    def test_without_pandas_one_line_says_what_is_missing(self):
        program = """import sys
sys.modules["pandas"] = None
import hilbench
try:
    hilbench.load("results")
except hilbench.HilbenchError as error:
    print(error)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, "^hilbench needs pandas: pip install pandas, .*\n$")

    def test_no_temporary_folder(self):
        results = hilbench.load(self.store)
        with mock.patch.object(tempfile, "tempdir", str(self.folder / "absent")):
            with self.assertRaisesRegex(hilbench.HilbenchError, "no temporary folder.*set TMPDIR"):
                _ = results.claims
            self.refuses("http://127.0.0.1:9/", "no temporary folder")

    def test_texts_with_other_ends_of_lines(self):
        out = subprocess.run([PROGRAM, "export", self.store, "--format", "jsonl"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        records = [json.loads(line) for line in out.split("\n") if line]
        for record in records:
            record["reason"] = "one\u2028two\u0085three"
        odd = self.folder / "odd"
        odd.mkdir()
        (odd / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        self.assertEqual(set(hilbench.load(odd).records["reason"]), {"one\u2028two\u0085three"})

    def test_a_download_that_breaks_off(self):
        class Breaks(QuietServer):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b"half")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Breaks)
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}/x"
        self.refuses(address, "cannot download")
        with mock.patch.object(hilbench.download, "MOST_BYTES", 2):
            self.refuses(address, "cannot download .*: it has more than")


class NotebookTest(unittest.TestCase):
    def test_it_holds_no_outputs_and_no_paths(self):
        text = NOTEBOOK.read_text()
        for cell in json.loads(text)["cells"]:
            self.assertFalse(cell.get("outputs"))
            self.assertIsNone(cell.get("execution_count"))
        self.assertIsNone(re.search(r"/(home|root|tmp|usr|work|mnt)\b", text))

    def test_it_runs(self):
        absent = [name for name in ("nbclient", "nbformat", "ipykernel", "matplotlib")
                  if importlib.util.find_spec(name) is None]
        if absent:
            self.skipTest(f"no {', '.join(absent)} (Debian: python3-nbclient, python3-ipykernel, python3-matplotlib)")
        import nbclient
        import nbformat
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        os.environ["HILBENCH_RESULTS"] = str(TREE / "reports/published/h200/hybrid-core")
        with tempfile.TemporaryDirectory() as folder:
            nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                    resources={"metadata": {"path": folder}}).execute()
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertEqual(sum("image/png" in output.get("data", {}) for output in outputs), 3, "three figures")
        self.assertFalse([output for output in outputs if output.output_type == "error"])


if __name__ == "__main__":
    if importlib.util.find_spec("pandas") is None:
        print("skipped: no pandas (Debian: python3-pandas)")
        sys.exit(SKIPPED)
    sys.path.insert(0, str(TREE / "reports/python"))
    os.environ["HILBENCH_PROGRAM"] = PROGRAM
    os.environ["PYTHONPATH"] = str(TREE / "reports/python")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    import hilbench
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
