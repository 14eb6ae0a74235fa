#!/usr/bin/env python3
"""Holds the costs of a sweep against the accepted ones beside it. Skipped if instructions cannot be judged here, or
changed GPU code, which this build has not compiled.

Usage: costs_of_ci_test.py HILBENCH SWEEP.yaml
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE

program, sweep = sys.argv[1], pathlib.Path(sys.argv[2])
accepted = sweep.with_suffix(".costs.json")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
result = subprocess.run([program, "costs", sweep, "--accepted", accepted], stdout=subprocess.PIPE, text=True)
print(result.stdout)
if result.returncode != 0:
    print(f"If this is meant: {program} costs {sweep} --accept")
    sys.exit(1)
tree = pathlib.Path(__file__).resolve().parents[2]
changed = [file for file, accepted_hash in json.loads(accepted.read_text())["device_code"]["sources"].items()
           if not (tree / file).exists() or hashlib.sha256((tree / file).read_bytes()).hexdigest() != accepted_hash]
if changed and "not judged: GPU kernels" in result.stdout:
    print(f"skipped: GPU code has changed, and this build has not compiled it: {', '.join(changed)}")
    sys.exit(SKIPPED)
if "not judged: instructions" in result.stdout:
    print("skipped: instructions cannot be judged here, see above; all other costs are as accepted or better")
    sys.exit(SKIPPED)
