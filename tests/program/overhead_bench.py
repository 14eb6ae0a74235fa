"""What the harness itself costs besides measuring: start-up, plans and records. Run by hand on a quiet machine.

usage: overhead_bench.py HILBENCH
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

HILBENCH = pathlib.Path(sys.argv[1]).resolve()
SAMPLE_S = 2e-3  # a timed sample lasts at least so long, after an untimed execution


def seconds(*arguments, runs=1):
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([HILBENCH, *map(str, arguments)], check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
    return best


def sweep(folder, text):
    file = folder / "sweep.yaml"
    file.write_text(text)
    return file


def records(folder):
    text = subprocess.run([HILBENCH, "export", folder, "--format", "jsonl"], check=True, capture_output=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print(f"start-up (--version)              {seconds('--version', runs=20) * 1e3:8.1f} ms")

        plan = sweep(folder, """name: plan
axes: {sequence_length: {range: [4096, 2051072, 2048]}, segments: [[2048, 4096], [1024]], dilations: [[1, 2], [4]],
       heads: [4, 8, 12, 16, 32], head_dim: [64, 128], causal: [false, true], batch: [1, 2]}
variants: [{kernel: dilated, order: [linear, hilbert]}]
""")
        cases = 1000 * 2 * 5 * 2 * 2 * 2
        took = seconds("plan", plan)
        print(f"plan of {cases} cases            {took:8.2f} s   ({took / cases * 1e5:.2f} s for 100,000)")

        skipped = sweep(folder, """name: skipped
axes: {sequence_length: {range: [1024, 2023, 1]}, ring_size: 2}
variants: [{kernel: dilated, order: [linear, hilbert, residue, random], buffers: fresh}]
""")
        took = seconds("run", skipped, "-o", folder / "skipped")
        print(f"record without a worker (skips)   {took / 4000 * 1e3:8.2f} ms")

        tiny = sweep(folder, """name: tiny
axes: {sequence_length: {range: [64, 113, 1]}, segments: 64, heads: 2, head_dim: 16}
variants: [{kernel: dilated, order: [linear, hilbert, residue, random]}]
measure: {min_rounds: 3, budget_s: 0.001, interval: 0.5}
counters: []
""")
        took = seconds("run", tiny, "-o", folder / "tiny")
        found = records(folder / "tiny")
        timed = sum(len(samples) * SAMPLE_S for record in found for samples in record["time_ns"]["samples"])
        print(f"record with its worker            {(took - timed) / len(found) * 1e3:8.2f} ms"
              "   (verification, warm-up and locality of tiny cases included)")


main()
