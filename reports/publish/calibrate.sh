#!/usr/bin/env bash
# Measures on this machine how far verdicts can be believed: twins, and gates whose answer is known. It resumes what OUT
# holds. Let nothing else run meanwhile, but for the step busy.
# Usage: reports/publish/calibrate.sh OUT [STEP...]
#   default: twins=10 self-test equal=50 injected-10=7 injected-5=7 injected-2=7 busy=10 runs=23 pairs
#   twins=P      sweeps/calibration.yaml by P processes
#   self-test    `hilbench gate --self-test`
#   equal=N      N gates of this build against itself
#   injected-S=N N gates with S % more work in every variant but rings, which time themselves
#   busy=N       N gates of this build against itself beside a program that keeps a core busy
#   runs=N       N runs of the gates' sweep by this build, each by 30 processes, for 6 s a comparison
#   pairs        every two of these runs, and of those that the busy gates leave, compared at 5 % by `hilbench compare`
# THRESHOLD is that of the gates (2.5% without it); OUT may hold gates of several. Options for hilbench, such as --device
# or --axis, are taken from the variables TWINS, GATE and RUN; the gates' sweep from SWEEP, which is sweeps/ci.yaml
# without it, and on a GPU should be sweeps/ci-gpu.yaml. Afterwards OUT holds calibration.tar.xz, gates.csv, pairs.csv
# and self-test.txt, which reports/publish/publish.sh takes.
set -euo pipefail
if [[ $# -lt 1 || -z $1 || $1 == -h ]]; then
  sed -n '2,17s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")/../.." && pwd -P)
# Relative, so that the command in the records begins with no folder of this machine.
hilbench=./$(realpath --relative-to="$here" "${HILBENCH:-$here/build/hilbench}")
mkdir -p "$1"
out=$(realpath --relative-to="$here" "$1")
shift
cd "$here"
sweep=${SWEEP:-sweeps/ci.yaml}
steps=("$@")
[[ ${#steps[@]} -gt 0 ]] || steps=(twins=10 self-test equal=50 injected-10=7 injected-5=7 injected-2=7 busy=10 runs=23 pairs)
threshold=${THRESHOLD:-2.5%}
read -ra twins_options <<<"${TWINS:-}"
read -ra gate_options <<<"--threshold $threshold ${GATE:-}"
read -ra run_options <<<"${RUN:-}"
scratch=$(mktemp -d)
neighbour=
trap 'rm -rf "$scratch"; [[ -z $neighbour ]] || kill "$neighbour"' EXIT

twins() {
  "$hilbench" run sweeps/calibration.yaml -o "$out/calibration" --processes "$1" "${twins_options[@]}" || [[ $? -eq 1 ]]
  tar cJf "$out/calibration.part" -C "$out" calibration
  mv "$out/calibration.part" "$out/calibration.tar.xz"
}

# sweep_of NUMBER: the sweep with seeds of its own
sweep_of() {
  sed "s/^measure: {/measure: {seed: $((10#$1 * 1000)), /" "$sweep" >"$scratch/sweep.yaml"
}

# gate KIND NUMBER [OPTION...]: each with seeds of its own; a line of gates.csv for each variant
gate() {
  local kind=$1 number=$2 start=$SECONDS status=0
  shift 2
  ! grep -qs "^$kind,$number,$threshold," "$out/gates.csv" || return 0
  sweep_of "$number"
  rm -rf "$scratch/gate"
  "$hilbench" gate "$scratch/sweep.yaml" --baseline "$hilbench" --candidate "$hilbench" -o "$scratch/gate" \
    "${gate_options[@]}" "$@" >"$scratch/gate.txt" 2>&1 || status=$?
  if [[ $status -ne 0 && $status -ne 1 && $status -ne 3 ]]; then
    cat "$scratch/gate.txt" >&2
    exit "$status"
  fi
  [[ -e $out/gates.csv ]] || sed -n '1s/^/kind,gate,threshold,status,seconds,/p' "$scratch/gate/gate.csv" >"$out/gates.csv"
  sed "1d; s/^/$kind,$number,$threshold,$status,$((SECONDS - start)),/" "$scratch/gate/gate.csv" >"$scratch/rows"
  # What the baseline measured is a run like another, to be compared with other runs.
  [[ $kind != busy ]] || keep_run "$kind" "$number" "$scratch/gate/baseline"
  cat "$scratch/rows" >>"$out/gates.csv"
  echo "$kind $number: exit $status, $((SECONDS - start)) s; $(grep -m1 -E 'of [0-9]+ variants' "$scratch/gate.txt")"
}

# keep_run KIND NUMBER FOLDER: whole or not at all, since OUT may lie on another file system
keep_run() {
  mkdir -p "$out/runs/$1"
  rm -rf "$out/runs/part" "$out/runs/$1/$2"
  mv "$3" "$out/runs/part"
  mv "$out/runs/part" "$out/runs/$1/$2"
}

runs() {
  local number status
  for ((number = 1; number <= $1; ++number)); do
    [[ ! -e $out/runs/quiet/$number ]] || continue
    sweep_of "$number"
    rm -rf "$scratch/run"
    status=0
    "$hilbench" run "$scratch/sweep.yaml" --processes 30 --budget 6 -o "$scratch/run" "${run_options[@]}" \
      >"$scratch/run.txt" 2>&1 || status=$?
    if [[ $status -ne 0 && $status -ne 1 ]]; then
      cat "$scratch/run.txt" >&2
      exit "$status"
    fi
    keep_run quiet "$number" "$scratch/run"
    echo "run $number"
  done
}

# Every two of the kept runs of a kind, compared at 5 %: a line of pairs.csv for each variant.
pairs() {
  local kind first second status
  rm -f "$out/pairs.csv"
  for kind in quiet busy; do
    mapfile -t runs < <(find "$out/runs/$kind" -mindepth 1 -maxdepth 1 2>/dev/null | sort -V)
    for first in "${runs[@]}"; do
      for second in "${runs[@]}"; do
        [[ ${first##*/} -lt ${second##*/} ]] || continue
        status=0
        "$hilbench" compare "$first" "$second" --fail-above 5% -o "$scratch/pair" >"$scratch/pair.txt" 2>&1 || status=$?
        if [[ $status -ne 0 && $status -ne 1 && $status -ne 3 ]]; then
          cat "$scratch/pair.txt" >&2
          exit "$status"
        fi
        [[ -e $out/pairs.csv ]] || sed -n '1s/^/kind,first,second,status,/p' "$scratch/pair/gate.csv" >"$out/pairs.csv"
        sed "1d; s/^/$kind,${first##*/},${second##*/},$status,/" "$scratch/pair/gate.csv" >>"$out/pairs.csv"
      done
    done
  done
}

gates() {
  local kind=$1 count=$2 number
  for ((number = 1; number <= count; ++number)); do gate "$kind" "$number" "${@:3}"; done
}

for step in "${steps[@]}"; do
  number=${step#*=}
  case $step in
    twins=*) twins "$number" ;;
    runs=*) runs "$number" ;;
    pairs) pairs ;;
    self-test)
      "$hilbench" gate "$sweep" --candidate "$hilbench" --self-test -o "$out/self-test" "${gate_options[@]}" ||
        [[ $? -eq 3 ]]
      cp "$out/self-test/self-test.txt" "$out/self-test.txt" ;;
    equal=*) gates equal "$number" ;;
    injected-*=*) gates "${step%=*}" "$number" --filter=-p1- --inject ".*=$(cut -d- -f2 <<<"${step%=*}")%" ;;
    busy=*)
      (while [[ -d /proc/$$ ]]; do :; done) &
      neighbour=$!
      gates busy "$number"
      kill "$neighbour"
      neighbour= ;;
    *) echo "calibrate.sh: unknown step '$step'" >&2; exit 2 ;;
  esac
done
