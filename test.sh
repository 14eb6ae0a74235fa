#!/usr/bin/env bash
# Installs what the tests need, builds, and runs every test that this machine can run: the suite under the address,
# undefined-behaviour and thread sanitizers, then the suite itself. Ends with CTest's summary of the latter.
#   --no-install   install nothing; say what is missing
#   --quick        leave the sanitizers out
set -euo pipefail
cd "$(dirname "$0")"

setup=() sanitizers=yes
for argument in "$@"; do
  case $argument in
    --no-install) setup+=(--no-install) ;;
    --quick) sanitizers=no ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done
./quickstart.sh --setup --tests "${setup[@]}"

jobs=$(nproc)
failed=()

# sanitize PRESET: builds the suite under the preset, without CUDA code, and runs it. Tests labelled `exact` check timing
# or speed, or load libraries that a sanitizer refuses: they are left out.
sanitize() {
  echo "== sanitizer: $1"
  if ! { cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs"; } >"build/$1.log" 2>&1; then
    tail -20 "build/$1.log" >&2
    failed+=("$1 (build)")
    return
  fi
  ctest --test-dir "build-$1" --output-on-failure -LE 'gpu|exact|tools' --parallel "$jobs" 2>&1 | tee "build/$1-tests.log" |
    grep -vE '^ *[0-9]+/[0-9]+ .*Passed|^ +Start ' || failed+=("$1")
}

if [ $sanitizers = yes ]; then
  export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
  sanitize asan
  if command -v clang++ >/dev/null; then
    archer=$(find /usr/lib -name libarcher.so 2>/dev/null | head -1)
    export TSAN_OPTIONS=ignore_noninstrumented_modules=1 OMP_TOOL_LIBRARIES=$archer
    sanitize tsan
    unset OMP_TOOL_LIBRARIES
  else
    echo "== sanitizer: tsan SKIPPED: no clang++ here"
  fi
fi

echo "== tests that need a GPU and are not run here:"
ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: /  /p'
ctest --test-dir build -N -L gpu | tail -1

echo "== tests"
ctest --test-dir build --output-on-failure -LE gpu --parallel "$jobs" || failed+=(tests)
if [ ${#failed[@]} -gt 0 ]; then
  echo "test.sh: failed: ${failed[*]}" >&2
  exit 1
fi
