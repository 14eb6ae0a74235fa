#!/usr/bin/env bash
# Installs what the tests need, builds them, and runs every test that this machine can run. Ends with CTest's summary.
#   --sanitizers   run the tests under the address, undefined-behaviour and thread sanitizers first
#   --no-install   install nothing; say what is missing
set -euo pipefail
cd "$(dirname "$0")"

setup=() sanitizers=()
for argument in "$@"; do
  case $argument in
    --no-install) setup+=(--no-install) ;;
    --sanitizers) sanitizers=(asan tsan) ;;
    -h | --help) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done
./quickstart.sh --setup --tests "${setup[@]}"

jobs=$(nproc)
failed=()

# sanitize PRESET: builds the tests under this preset, without CUDA code, and runs them. Tests with these labels are left
# out: `exact` (they check times or speed, or load libraries that a sanitizer refuses), `tools` (other people's programs),
# and `documents` (texts of the tree). The thread sanitizer also leaves out what has one thread.
sanitize() {
  echo "== sanitizer: $1"
  if ! { cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs"; } >"build/$1.log" 2>&1; then
    tail -20 "build/$1.log" >&2
    failed+=("$1 (build)")
    return
  fi
  ctest --preset "$1" --parallel "$jobs" 2>&1 | tee "build/$1-tests.log" |
    grep -vE '^ *[0-9]+/[0-9]+ .*Passed|^ +Start ' || failed+=("$1")
}

for sanitizer in "${sanitizers[@]}"; do
  if command -v clang++ >/dev/null; then
    sanitize "$sanitizer"
  else
    echo "== sanitizer: $sanitizer SKIPPED: no clang++ here"
  fi
done

echo "== tests that need a GPU and are not run here:"
ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: /  /p'
ctest --test-dir build -N -L gpu | tail -1

echo "== tests"
ctest --preset cpu --parallel "$jobs" || failed+=(tests)
if [ ${#failed[@]} -gt 0 ]; then
  echo "test.sh: failed: ${failed[*]}" >&2
  exit 1
fi
