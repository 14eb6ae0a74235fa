"""Choices of FlexAttention come from published records, and are found again for the case that a program gets.

Usage: flex_choices_test.py [unittest arguments]
"""

import gzip
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TREE / "reports/publish")]
import flex_choices  # noqa: E402
import published_choices  # noqa: E402 (flex_choices adds its folder)

CASE = {"grid": [64, 32], "window": [13, 13], "window_dilation": [1, 2], "window_stride": [1, 1],
        "window_causal": [False, True], "edges": "shift", "causal": False, "batch": 1, "heads": 16, "kv_heads": 4,
        "head_dim": 128, "dtype": "bf16"}


def record(variant="torch_windows.flex", ns=1000, size=64, options=None, status="ok",
           version="PyTorch 2.11.0+cu130", **params):
    return {"variant": variant, "status": status, "time_ns": {"median": ns},
            "params": {**CASE, "device": "cuda", "ring_size": 1, **params},
            "environment": {"device": {"name": "a GPU"},
                            "library": {"version": version, "block_size": size,
                                        "kernel_options": options or {}}}}


class FlexChoicesTest(unittest.TestCase):
    def choices(self, *records):
        with tempfile.TemporaryDirectory() as folder:
            sweep = pathlib.Path(folder, "h100/windows")
            sweep.mkdir(parents=True)
            with gzip.open(sweep / "records.jsonl.gz", "wt") as file:
                file.writelines(json.dumps(each) + "\n" for each in records)
            return flex_choices.choices(pathlib.Path(folder))

    def test_the_fastest_of_each_case_is_found_again(self):
        tma = {"USE_TMA": True}
        found = self.choices(record(ns=900, size=128, options=tma), record(ns=1000), record(variant="torch_windows.flex_boxes"),
                             record(dtype="fp16", size=256))
        names = {}
        exec("PUBLISHED = {\n" + "".join(flex_choices.lines(found)) + "}", names)
        choice = {"left_out": [], "untried": []}
        with unittest.mock.patch.object(published_choices, "PUBLISHED", names["PUBLISHED"]):
            def chosen(gpu="a GPU", version="2.11.0+cu130", boxes=False, **fields):
                # A program gets further fields, and no empty ones.
                return published_choices.published_choice(gpu, version, {**CASE, "threads": 4, **fields}, boxes)

            self.assertEqual(chosen(), {**choice, "size": 128, "options": tma})
            self.assertEqual(chosen(boxes=True), {**choice, "size": 64, "options": {}})
            self.assertEqual(chosen(dtype="fp16"), {**choice, "size": 256, "options": {}})
            for other in ({"gpu": "another"}, {"version": "2.12.0"}, {"edges": "cut"}, {"heads": 8}, {"window": [13, 15]}):
                self.assertIsNone(chosen(**other), other)

    def test_other_records_are_left_out(self):
        self.assertEqual(self.choices(record(device="cpu"), record(status="failed"), record(grid=None), record(size=None),
                                      record(size=7), record(size=64.0), record(options={"USE_TMA": 3}), record(version=3), record(variant="dilated/linear")), {})

    def test_the_file_is_as_the_records_say(self):
        flex_choices.main("check")


if __name__ == "__main__":
    unittest.main()
