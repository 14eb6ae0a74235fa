"""kept_choice.py: what is read of a file that anybody may have written. Usage as of the others (torch_rivals.py)."""

import importlib.util
import json
import math
import os
import pathlib
import tempfile

import torch_rivals


class KeptChoiceTest(torch_rivals.RivalTest):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("kept_choice", self.path_of_script)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def test_what_is_kept_must_be_a_choice(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = object.__new__(self.module.KeptChoice)
            kept.file = pathlib.Path(folder, "choice.json")

            def read(text):
                kept.file.write_text(text)
                return kept.read(size=(64, 128), options=({}, {"USE_TMA": True}), left_out=self.module.TEXTS)

            good = {"size": 64, "options": {"USE_TMA": True}, "left_out": ["blocks of 256"]}
            self.assertEqual(read(json.dumps(good)), good)
            self.assertEqual(read(json.dumps({**good, "further": 1})), good)
            for wrong in ({"size": 7}, {"size": 64.0}, {"size": None}, {"options": {"ROWS_GUARANTEED_SAFE": True}},
                          {"options": 3}, {"left_out": math.nan}, {"left_out": "text"}, {"left_out": [3]},
                          {"left_out": ["\ud800"]}, {"left_out": ["\n"]}):
                self.assertIsNone(read(json.dumps({**good, **wrong})), wrong)
            for text in ("", "no JSON", "3", "[" * 200000, '{"size": 64, "options": {}}', " " * (1 << 21)):
                self.assertIsNone(read(text), text[:20])
            kept.file.unlink()
            os.mkfifo(kept.file)
            self.assertIsNone(kept.read())


if __name__ == "__main__":
    torch_rivals.main(absence=lambda script: "")
