"""published_choices.py: what torch_windows.py makes of it. Usage as of the others (torch_rivals.py)."""

import json
import os
import pathlib
import subprocess
import tempfile

import torch_rivals

CASE = {"grid": [4, 16], "window": [3, 3], "window_dilation": [1, 1], "window_stride": [1, 1],
        "window_causal": [False, False], "edges": "shift", "causal": False, "batch": 1, "heads": 1, "kv_heads": 1,
        "head_dim": 16, "dtype": "fp32", "device": "cpu", "sequence_length": 64}
# Prints where the choice of the case is from, if one of this block size is published.
TUNED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import published_choices, torch, torch_windows
torch_windows.torch = torch_windows.window_pairs.torch = torch_windows.torch_program.torch = torch
case = torch_windows.Case(json.loads(sys.argv[2]))
published_choices.PUBLISHED = {(torch_windows.processor_name(), str(torch.__version__)): {
    published_choices.case_key(vars(case), False): (int(sys.argv[3]), {})}}
try:
    print(torch_windows.fastest_flex(case, [torch.zeros(1, 64, 1, 16) for _ in range(3)], False).tuned)
except torch_windows.Unsupported as reason:
    print(reason)
"""


class PublishedChoicesTest(torch_rivals.RivalTest):
    def test_a_published_choice_is_taken_if_it_works(self):
        self.skip_without_pytorch()
        for size, wanted in (64, "in published records"), (-1, "in this process"):
            with tempfile.TemporaryDirectory() as cache:
                tuned = subprocess.run(
                    [torch_rivals.PYTHON, "-c", TUNED, str(pathlib.Path(self.path_of_script).parent), json.dumps(CASE), str(size)],
                    stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache})
            self.skip_without_compiler(tuned.stdout)
            self.assertEqual(tuned.stdout.strip(), wanted)


if __name__ == "__main__":
    torch_rivals.main(lambda script: torch_rivals.absence(pathlib.Path(script).with_name("torch_windows.py")))
