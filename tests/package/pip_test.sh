#!/usr/bin/env bash
# Builds a wheel of the tree, installs it into a new virtual environment, and uses the program and the package from
# there. Takes minutes, because it builds the program.
# usage: pip_test.sh [FOLDER]     FOLDER: where the wheel stays
# Exit status: 0 passed, 1 failed, 77 skipped: no venv, pandas or scikit-build-core (quickstart.sh --packages --tests).
set -euo pipefail
tree=$(realpath "$(dirname "$0")/../..")
python=$(command -v /usr/bin/python3 || command -v python3)
tools=$tree/build/python-tools

skip() { echo "skipped: $1"; exit 77; }
"$python" -c 'import pandas' 2>/dev/null || skip "no pandas (Debian: python3-pandas)"
PYTHONPATH=$tools "$python" -c 'import scikit_build_core' 2>/dev/null || skip "no scikit-build-core (PyPI)"

[ $# = 0 ] || { mkdir -p "$1" && kept=$(realpath "$1"); }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv --system-site-packages "$scratch/venv" || skip "no venv (Debian: python3-venv)"
cd "$scratch"
PYTHONPATH=$tools venv/bin/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --config-settings=build-dir="${PIP_TEST_BUILD_FOLDER:-$scratch/build}" --wheel-dir wheel "$tree"
venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps wheel/*.whl
[ -z "${kept:-}" ] || cp wheel/*.whl "$kept"

unset PYTHONPATH HILBENCH_PROGRAM
version=$(venv/bin/hilbench --version | sed -n '1s/^hilbench \([^ ]*\) .*/\1/p')
[[ $(ls wheel) == "hilbench-$version-"* ]] || { echo "FAILED: $(ls wheel) holds hilbench $version"; exit 1; }
venv/bin/python - "$tree/reports/published/h200/hybrid-core" <<'PYTHON'
import os
import subprocess
import sys

import hilbench
from hilbench.program import find_program

assert os.path.realpath(find_program()).startswith(os.path.realpath(sys.prefix)), find_program()
results = hilbench.load(sys.argv[1])
assert len(results.records) == 96 and len(results.samples) > 96 and not results.claims.empty, results
said = subprocess.run([find_program(), "--version"], capture_output=True, text=True).stdout.split()
assert hilbench.__version__ == said[1], (hilbench.__version__, said)
print(results, hilbench.__version__)
PYTHON
for file in hilbench/sweeps/quick.yaml man/man1/hilbench.1 bash-completion/completions/hilbench; do
  [ -e "venv/share/$file" ] || { echo "FAILED: no share/$file"; exit 1; }
done
venv/bin/python -m pip uninstall --quiet -y hilbench
[ ! -e venv/bin/hilbench ] || { echo "FAILED: uninstalling leaves the program"; exit 1; }
echo "passed: pip installs the program and the package, and removes them"
