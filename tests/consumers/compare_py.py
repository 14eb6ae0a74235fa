"""compare.py of Google Benchmark reads two exports. usage: compare_py.py WRITE_EXPORTS"""

import os
import subprocess
import sys
import tempfile

COMPARE = "/usr/share/benchmark/compare.py"
SKIPPED = 77
NAMES = [
    f"n{length}-w2048-r1-h8-d64-fp32-p1-cpu/dilated/{order}"
    for length in (8192, 16384)
    for order in ("linear", "hilbert")
]


def main(write_exports):
    if not os.path.exists(COMPARE):
        print(f"skipped: no {COMPARE} (Debian: libbenchmark-tools)")
        return SKIPPED
    try:
        import scipy  # noqa: F401  compare.py needs it
    except ImportError:
        print("skipped: no SciPy (Debian: python3-scipy)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, speed in (("a", "1.0"), ("b", "1.3")):
            subprocess.run([write_exports, os.path.join(folder, name), speed], check=True)
            files.append(os.path.join(folder, name + ".json"))
            os.rename(os.path.join(folder, name, "gbench"), files[-1])
        done = subprocess.run(
            [sys.executable, COMPARE, "--no-color", "benchmarks", *files], capture_output=True, text=True
        )
    print(done.stdout, done.stderr)
    if done.returncode != 0:
        print(f"FAILED: compare.py ended with {done.returncode}")
        return 1
    missing = [name for name in NAMES if name not in done.stdout]
    if "_pvalue" not in done.stdout:
        missing.append("_pvalue: the U test did not run")
    if "+0.3" not in done.stdout:
        missing.append("+0.3: the slowdown of the second export")
    for text in missing:
        print("FAILED: not in the output:", text)
    return 1 if missing else 0


sys.exit(main(*sys.argv[1:]))
