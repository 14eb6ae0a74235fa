#!/usr/bin/env bash
# Installs the tree by pip into a new virtual environment, and uses the program and the package from there. Builds the
# program, which takes minutes.
# usage: pip_test.sh
# Exit status: 0 passed, 1 failed, 77 skipped: no venv, pandas or scikit-build-core (quickstart.sh --packages --tests).
set -euo pipefail
tree=$(realpath "$(dirname "$0")/../..")
python=$(command -v /usr/bin/python3 || command -v python3)
tools=$tree/build/python-tools

skip() { echo "skipped: $1"; exit 77; }
"$python" -c 'import pandas' 2>/dev/null || skip "no pandas (Debian: python3-pandas)"
PYTHONPATH=$tools "$python" -c 'import scikit_build_core' 2>/dev/null || skip "no scikit-build-core (PyPI)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m venv --system-site-packages "$scratch/venv" || skip "no venv (Debian: python3-venv)"
cd "$scratch"
PYTHONPATH=$tools venv/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --config-settings=build-dir="${PIP_TEST_BUILD_FOLDER:-$scratch/build}" "$tree"

unset PYTHONPATH HILBENCH_PROGRAM
venv/bin/hilbench --version
venv/bin/python - "$tree/reports/published/h200/hybrid-core" <<'PYTHON'
import os
import sys

import hilbench
from hilbench.program import find_program

assert os.path.realpath(find_program()).startswith(os.path.realpath(sys.prefix)), find_program()
results = hilbench.load(sys.argv[1])
assert len(results.records) == 96 and len(results.samples) > 96 and not results.claims.empty, results
assert hilbench.__version__[0].isdigit(), hilbench.__version__
print(results, hilbench.__version__)
PYTHON
for file in hilbench/sweeps/quick.yaml man/man1/hilbench.1 bash-completion/completions/hilbench; do
  [ -e "venv/share/$file" ] || { echo "FAILED: no share/$file"; exit 1; }
done
venv/bin/python -m pip uninstall --quiet -y hilbench
[ ! -e venv/bin/hilbench ] || { echo "FAILED: uninstalling leaves the program"; exit 1; }
echo "passed: pip installs the program and the package, and removes them"
