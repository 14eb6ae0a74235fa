"""nvbench_compare.py of NVIDIA's nvbench reads two exports. usage: nvbench_compare.py WRITE_EXPORTS FOLDER

It comes with the package cuda-bench of PyPI, which quickstart.sh --tests puts into FOLDER."""

import importlib.util
import os
import subprocess
import sys

from exports import SKIPPED, Exports, check

VARIANTS = ("dilated/linear", "dilated/hilbert")
CASES = tuple(f"n{length}-w2048-r1-h8-d64-fp32-p1-cpu" for length in (8192, 16384))


def compare(module, folder, *files):
    environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-m", module, "--no-color", *files], capture_output=True, text=True,
                          env=environment)


def main(write_exports, folder):
    sys.path.insert(0, folder)
    missing = [name for name in ("cuda.bench", "tabulate", "jsondiff", "colorama")
               if importlib.util.find_spec(name.split(".")[0]) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)} (PyPI: cuda-bench[compare])")
        return SKIPPED
    with Exports(write_exports) as before, Exports(write_exports, "1.3") as after:
        done = compare("cuda.bench.scripts.nvbench_compare", folder, before.file("nvbench"), after.file("nvbench"))
        print(done.stdout, done.stderr)
        check("Traceback" not in done.stderr and "WARNING" not in done.stdout, "it reads the files")
        for case in CASES:
            for variant in VARIANTS:
                rows = [line for line in done.stdout.splitlines() if f" {case} " in line and f" {variant} " in line]
                check(len(rows) == 1, f"a row for {case}/{variant}")
                check("SLOW" in rows[0], f"{case}/{variant} is slower by 30 %")
        same = compare("cuda.bench.scripts.nvbench_compare", folder, before.file("nvbench"), before.file("nvbench"))
        check(same.returncode == 0 and "SLOW" not in same.stdout, "an export is not slower than itself")
    return 0


sys.exit(main(*sys.argv[1:]))
