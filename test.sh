#!/usr/bin/env bash
# Installs what the tests need, builds them, and runs every test that this machine can run. Ends with the seconds of each
# stage, and what passed.
#   --sanitizers   run the tests under the address, undefined-behaviour and thread sanitizers too
#   --cuda         compile the GPU code for all architectures; without it and without a GPU, only if it has changed
#   --long         run the long tests too; with --sanitizers also the whole program under the thread sanitizer
#   --no-install   install nothing; say what is missing
set -euo pipefail
cd "$(dirname "$0")"

setup=() install=() sanitizers=() long=no
for argument in "$@"; do
  case $argument in
    --no-install) install=(--no-install) ;;
    --cuda) setup=(--cuda) ;;
    --long) long=yes ;;
    --sanitizers) sanitizers=(asan tsan) ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "test.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done
jobs=$(nproc)
failed=()
tested=()    # the name of the tests that run in the background, and their process
stages=build/stages.txt
mkdir -p build
: >$stages
# What runs in the background gets no Ctrl-C: it must not outlive this script.
trap '[ ${#tested[@]} = 0 ] || kill "${tested[1]}" 2>/dev/null || true' EXIT

# staged NAME COMMAND...: runs it, and notes the seconds that passed and those of the processors.
staged() {
  local name=$1 status=0 TIMEFORMAT="$1 %R %U %S"
  shift
  # In a shell of its own, so that the seconds of the processors are those of its children.
  (time "$@" 2>&3) 3>&2 2>>$stages || status=$?
  return $status
}

# Tests run while the next build compiles: they wait for processes, and would leave cores idle, so that there are also
# two more at once than cores. The build is nice, so that it does not slow them down. None of these checks times.
#
# start_tests NAME PRESET: starts these tests in the background. finish_tests waits for them and says what they found.
start_tests() {
  keep "$1"
  staged "tests-$1" ctest --preset "$2" --parallel $((jobs + 2)) "${kept[@]}" >"build/$1-tests.log" 2>&1 &
  tested=("$1" $!)
}
finish_tests() {
  [ ${#tested[@]} -gt 0 ] || return 0
  echo "== tests of ${tested[0]}"
  wait "${tested[1]}" || failed+=("${tested[0]}")
  grep -vE '^ *[0-9]+/[0-9]+ .*Passed|^ +Start ' "build/${tested[0]}-tests.log" || true
  summarise "${tested[0]}"
  tested=()
}

# keep NAME: options of CTest, so that its tests leave build/NAME-tests.xml. Of that summarise NAME says how many tests
# ran, which were slow, and which were skipped and why.
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

# sanitize PRESET: builds the tests under this preset, without CUDA code, and starts them. Which tests are left out, and
# why, says CMakePresets.json.
sanitize() {
  echo "== sanitizer: $1"
  local built=yes
  local options=()
  [ "$1" != tsan ] || options=(-DHILBENCH_TSAN_PROGRAM=$([ $long = yes ] && echo ON || echo OFF))
  { cmake --preset "$1" "${options[@]}" &&
    staged "build-$1" nice cmake --build --preset "$1" --parallel "$jobs"; } >"build/$1.log" 2>&1 || built=no
  finish_tests
  if [ $built = no ]; then
    tail -20 "build/$1.log" >&2
    failed+=("$1 (build)")
    return
  fi
  start_tests "$1" "$1"
}

rm -f build/*-tests.{log,xml}  # of an earlier run
status=0
staged packages ./quickstart.sh --packages --tests "${install[@]}" "${setup[@]}" || status=$?
[ $status = 0 ] || exit $status
staged build ./quickstart.sh --setup --tests "${install[@]}" "${setup[@]}" || status=$?
if [ $status != 0 ]; then
  echo "test.sh: failed: the build" >&2
  exit $status
fi

gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
if [ "$gpus" = 0 ]; then
  echo "== tests that need a GPU and are not run here:"
  ctest --test-dir build -N -L gpu | sed -n 's/^ *Test *#[0-9]*: /  /p'
  ctest --test-dir build -N -L gpu | tail -1
fi

if [ ${#sanitizers[@]} -gt 0 ]; then
  # Release's own tests first, beside the first sanitizer's build. Those that check times run alone, at the end.
  start_tests cpu untimed
  for sanitizer in "${sanitizers[@]}"; do
    if command -v clang++ >/dev/null; then
      sanitize "$sanitizer"
    else
      echo "== sanitizer: $sanitizer SKIPPED: no clang++ here"
    fi
  done
  finish_tests
  echo "== tests that check times"
  keep times
  # What these tests need was made by those before.
  staged tests-times ctest --preset times --fixture-exclude-any '.*' "${kept[@]}" | tee build/times-tests.log ||
    failed+=(times)
  summarise times
else
  echo "== tests"
  keep cpu
  # Nothing is built beside them.
  staged tests-cpu ctest --preset cpu --parallel $((jobs + 4)) "${kept[@]}" | tee build/cpu-tests.log || failed+=(cpu)
  summarise cpu
fi
if [ "$gpus" != 0 ]; then
  echo "== tests that need a GPU"
  keep gpu
  staged tests-gpu ctest --test-dir build --output-on-failure -L '^gpu$' "${kept[@]}" || failed+=("tests on the GPU")
  summarise gpu
fi
if [ "$gpus" -gt 1 ]; then
  echo "== tests that need several GPUs"
  keep multigpu
  staged tests-multigpu ctest --test-dir build --output-on-failure -L '^multigpu$' "${kept[@]}" ||
    failed+=("tests on several GPUs")
  summarise multigpu
fi
if [ $long = yes ]; then
  echo "== long tests"
  keep long
  staged tests-long ctest --preset night "${kept[@]}" || failed+=("long tests")
  summarise long
fi

echo "== seconds of each stage, and of the processors in it"
awk '{ printf "   %-12s %7.0f %7.0f\n", $1, $2, $3 + $4 }' $stages
grep -H ' tests passed, ' build/*-tests.log | sed 's|^build/\(.*\)-tests.log:|\1: |'
if [ ${#failed[@]} -gt 0 ]; then
  [ ${#sanitizers[@]} = 0 ] ||  # what failed in the background was not seen
    for log in build/*-tests.log; do
      failures "$log" | sed "s|^|$(basename "$log" -tests.log): |" >&2
    done
  echo "test.sh: failed: ${failed[*]}" >&2
  exit 1
fi
