#!/usr/bin/env bash
# Installs what the tests need, builds them, and runs every test that this machine can run. Ends with CTest's summary.
#   --sanitizers   run the tests under the address, undefined-behaviour and thread sanitizers first
#   --no-install   install nothing; say what is missing
#   --unity        compile the sources of a folder as one if there is no build yet: faster, but not after a change
set -euo pipefail
cd "$(dirname "$0")"

install=() unity=() sanitizers=()
for argument in "$@"; do
  case $argument in
    --no-install) install=(--no-install) ;;
    --unity) unity=(--unity) ;;
    --sanitizers) sanitizers=(asan tsan) ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done
jobs=$(nproc)
failed=()
tested=()    # the sanitizer whose tests run in the background, and their process
# What runs in the background gets no Ctrl-C: it must not outlive this script.
trap '[ ${#tested[@]} = 0 ] || kill "${tested[1]}" 2>/dev/null || true' EXIT

# The tests of one sanitizer run while the next build compiles: they wait for processes, and would leave cores idle. The
# build is nice, so that it does not slow them down. None of them checks times.
finish_tests() {
  [ ${#tested[@]} -gt 0 ] || return 0
  echo "== tests under ${tested[0]}"
  wait "${tested[1]}" || failed+=("${tested[0]}")
  grep -vE '^ *[0-9]+/[0-9]+ .*Passed|^ +Start ' "build/${tested[0]}-tests.log" || true
  summarise "${tested[0]}"
  tested=()
}

# keep PRESET: options of CTest, so that its tests leave build/PRESET-tests.xml. Of that summarise PRESET says how many
# tests ran, which were slow, and which were skipped and why.
keep() {
  kept=(--output-junit "$PWD/build/$1-tests.xml" --test-output-size-passed 10000000 --test-output-size-failed 10000000)
}
summarise() {
  python3 tests/summary.py "build/$1-tests.xml" "tests of $1" || true
}

# failures LOG: of a log of CTest, what the tests that failed printed (40 lines of each), and their list.
failures() {
  awk '/^ +Start / { lines = 0 } /^ *[0-9]+\/[0-9]+ Test .*\*\*\*[^S]/ { lines = 41 } lines-- > 0' "$1"
  sed -n '/tests FAILED/,$p' "$1"
}

# sanitize PRESET: builds the tests under this preset, without CUDA code, and starts them. Tests with these labels are
# left out: `times` and `moments` (a sanitizer changes them), `uninstrumented` (a sanitizer refuses what they load),
# `tools` (other people's programs), and `documents` (texts of the tree). The thread sanitizer also leaves out what has
# one thread.
sanitize() {
  echo "== sanitizer: $1"
  local built=yes
  { cmake --preset "$1" && nice cmake --build --preset "$1" --parallel "$jobs"; } >"build/$1.log" 2>&1 || built=no
  finish_tests
  if [ $built = no ]; then
    tail -20 "build/$1.log" >&2
    failed+=("$1 (build)")
    return
  fi
  keep "$1"
  ctest --preset "$1" --parallel "$jobs" "${kept[@]}" >"build/$1-tests.log" 2>&1 &
  tested=("$1" $!)
}

if [ ${#sanitizers[@]} -gt 0 ]; then
  ./quickstart.sh --packages --tests "${install[@]}"
  mkdir -p build
  rm -f build/{asan,tsan}-tests.{log,xml}  # of an earlier run
fi
for sanitizer in "${sanitizers[@]}"; do
  if command -v clang++ >/dev/null; then
    sanitize "$sanitizer"
  else
    echo "== sanitizer: $sanitizer SKIPPED: no clang++ here"
  fi
done

status=0
nice ./quickstart.sh --setup --tests "${install[@]}" "${unity[@]}" || status=$?
finish_tests
if [ $status != 0 ]; then
  echo "test.sh: failed: the build${failed[*]:+ ${failed[*]}}" >&2
  exit $status
fi

echo "== tests that need a GPU and are not run here:"
ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: /  /p'
ctest --test-dir build -N -L gpu | tail -1

echo "== tests"
# One more than cores: many tests wait for processes most of their time. Those that check times run alone (RUN_SERIAL).
keep cpu
ctest --preset cpu --parallel $((jobs + 1)) "${kept[@]}" || failed+=(tests)
summarise cpu
if [ ${#failed[@]} -gt 0 ]; then
  for sanitizer in "${sanitizers[@]}"; do
    [ ! -f "build/$sanitizer-tests.log" ] || failures "build/$sanitizer-tests.log" | sed "s/^/$sanitizer: /" >&2
  done
  echo "test.sh: failed: ${failed[*]}" >&2
  exit 1
fi
