"""Holds every sweep of the tree, and a set of bad ones, against sweeps/sweep.schema.json."""

import copy
import json
import pathlib
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error}; apt install python3-jsonschema python3-yaml")
    sys.exit(SKIPPED)

SWEEPS = pathlib.Path(__file__).resolve().parents[3] / "sweeps"

GOOD = {"name": "a", "external": {"rival": {"command": ["python3", "rival.py", 1]}}, "baselines": ["rival.fast"],
        "kernels": {"mine": {"library": "./libmine.so"}},
        "axes": {"sequence_length": 8192}, "variants": [{"kernel": "dilated", "order": "linear"}]}

# The same for GOOD: other forms that are accepted.
ALSO_GOOD = [
    (["axes", "sequence_length"], ["8k", 9000, "1M"]),
    (["axes", "sequence_length"], {"range": ["8k", "32k", "8k"]}),
    (["axes", "patterns"], ["4096/1", "2k/1+4k/2", "2048/1 + 4096/2", 4096]),
    (["axes", "patterns"], "4096/4"),
    (["axes", "segments"], ["2k", 4096]),
    (["axes", "window"], [["1k", 3], [3, 3]]),
    (["axes", "mask"], ["a.npy", "b.npy"]),
    (["axes", "mask_block"], {"pow2": [5, 7]}),
    (["cases"], [{"mask": "a.npy", "mask_block": "1k", "grid": [8, 8]}]),
    (["cases"], [{"sequence_length": "16k", "patterns": "4k/2"}]),
    (["variants"], [{"kernel": "dilated", "order": "hilbert.4k", "order_chunk": "4k", "traversal": "grouped.1k"}]),
    (["question"], "Does order help?"),
    (["chain"], {"steps": ["a", {"b": "c"}],
                 "of": ["time", "memory"], "protocol": {"runs": [1, 10], "end": ["last", "interleaved"], "cache": "cold"}}),
    (["axes", "dtype"], ["fp32", "auto"]),
    (["baselines"], [{"gemm": "cpu"}, {"cudnn": "cuda"}, "peak"]),
    (["kernels", "mine"], {"command": ["python3", "mine.py", 1]}),
    (["kernels", "mine"], {"command": "mine"}),
]

# Path into GOOD and what stands there instead: one fault each, all refused by the program too.
BAD = [
    (["name"], "Upper"),
    (["kernels", "mine"], {}),
    (["kernels", "mine"], {"library": ""}),
    (["kernels", "mine"], {"library": "a", "command": "b"}),
    (["kernels", "mine"], {"libary": "a"}),
    (["kernels", "Mine"], {"library": "a"}),
    (["name"], ""),
    (["name"], "a" * 101),
    (["title"], ["a", "list"]),
    (["sequnce_length"], 1),
    (["axes"], [8192]),
    (["axes", "sequnce_length"], 8192),
    (["axes", "sequence_length"], []),
    (["axes", "sequence_length"], 0),
    (["axes", "sequence_length"], -8),
    (["axes", "sequence_length"], 2**40 + 1),
    (["axes", "sequence_length"], "8192"),
    (["axes", "sequence_length"], {"pow2": [10]}),
    (["axes", "sequence_length"], {"pow2": [10, 41]}),
    (["axes", "sequence_length"], {"range": [1, 2, 0]}),
    (["axes", "sequence_length"], {"pow2": [1, 2], "range": [1, 2, 1]}),
    (["axes", "segments"], [[]]),
    (["axes", "segments"], [[4096], 2048]),
    (["axes", "segments"], {"pow2": [10, 12]}),
    (["axes", "sequence_length"], "8K"),
    (["axes", "sequence_length"], "8kB"),
    (["axes", "sequence_length"], "08k"),
    (["axes", "patterns"], "4096/"),
    (["axes", "patterns"], ["4096/1+"]),
    (["axes", "patterns"], [[4096, 1]]),
    (["cases"], [{"patterns": ["4096/1"]}]),
    (["question"], ""),
    (["question"], "two\nlines"),
    (["axes", "grid"], 64),
    (["axes", "grid"], [64]),
    (["axes", "grid"], [8, 8, 8, 8]),
    (["axes", "window"], [[3, 3], 3]),
    (["axes", "window_causal"], [1, 0]),
    (["axes", "edges"], "wrap"),
    (["axes", "mask"], 7),
    (["axes", "mask"], [["a.npy"]]),
    (["axes", "mask_block"], 0),
    (["cases"], [{"mask": ["a.npy"]}]),
    (["variants"], [{"kernel": "dilated", "order": "boxes.8"}]),
    (["variants"], [{"kernel": "dilated", "order": "residue_boxes.8"}]),
    (["variants"], [{"kernel": "dilated", "order": "hilbert.8.8"}]),
    (["axes", "causal"], "yes"),
    (["axes", "dtype"], "fp8"),
    (["baselines"], [{"gemm": "auto"}]),
    (["baselines"], [{"gemm": "cpu", "cudnn": "cuda"}]),
    (["baselines"], [{}]),
    (["axes", "kernel"], "dilated"),
    (["cases"], []),
    (["cases"], [{"segments": [[4096]]}]),
    (["cases"], [{"sequence_length": [1, 2]}]),
    (["cases"], [{"buffers": "fresh"}]),
    (["variants"], [{"order": "linear"}]),
    (["variants"], [{"kernel": "dilated", "order": "hilbert.x"}]),
    (["variants"], [{"kernel": "dilated", "buffers": "old"}]),
    (["external"], {"Rival": {"command": "rival"}}),
    (["external"], {"rival": "rival"}),
    (["external"], {"rival": {}}),
    (["external"], {"rival": {"command": []}}),
    (["external"], {"rival": {"command": ["rival"], "cwd": "there"}}),
    (["measure"], {"interval": 1}),
    (["measure"], {"interval": 0}),
    (["measure"], {"min_rounds": 2}),
    (["measure"], {"processes": 0}),
    (["measure"], {"seed": -1}),
    (["measure"], {"cache": "hot"}),
    (["measure"], {"steady": "yes"}),
    (["measure"], {"steady": True, "cache": "cold"}),
    (["measure"], {"steady": True, "steady_s": 0.05}),
    (["measure"], {"steady_s": 2}),
    (["chain"], {"steps": ["a", {"b": "c"}], "of": []}),
    (["chain"], {"steps": ["a", {"b": "c"}], "protocol": {"runs": 1, "end": "first"}}),
    (["chain"], {"steps": ["a", {"b": "c"}], "protocol": {"runs": 0, "end": "first", "cache": "warm"}}),
    (["chain"], {"steps": ["a", {"b": "c"}], "protocol": {"runs": 1, "end": "second", "cache": "warm"}}),
    (["chain"], {"steps": ["a", {"b": "c"}], "protocol": {"runs": [2, 2], "end": "first", "cache": "warm"}}),
    (["inputs"], {"source": "npy", "q": "q.npy"}),
    (["inputs"], {"source": "random", "q": "q.npy"}),
]


def changed(path, value):
    sweep = copy.deepcopy(GOOD)
    place = sweep
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return sweep


def main():
    schema = json.loads((SWEEPS / "sweep.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    faults = []
    files = sorted(SWEEPS.rglob("*.yaml"))
    for file in files:
        for error in validator.iter_errors(yaml.safe_load(file.read_text())):
            faults.append(f"{file}: {error.message}")
    if not validator.is_valid(GOOD):
        faults.append("the good sweep is refused")
    for path, value in ALSO_GOOD:
        for error in validator.iter_errors(changed(path, value)):
            faults.append(f"refused: {'.'.join(path)} = {value!r}: {error.message}")
    for path, value in BAD:
        if validator.is_valid(changed(path, value)):
            faults.append(f"accepted: {'.'.join(path)} = {value!r}")
    without_cases = {key: value for key, value in GOOD.items() if key != "axes"}
    if validator.is_valid(without_cases):
        faults.append("accepted: neither axes nor cases")
    print("\n".join(faults))
    print(f"{len(files)} sweeps, {len(BAD) + 1} bad ones, {len(faults)} faults")
    return 1 if faults or len(files) < 3 else 0


sys.exit(main())
