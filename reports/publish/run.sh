#!/usr/bin/env bash
# Tests and measures on this machine, from the bundle that pack.sh makes or from a built tree; the steps tests, sanitize
# and ring-tests need the bundle. Logs and stores go to OUT; a summary is printed last and written to OUT/summary.txt.
# Usage: ./run.sh OUT [STEP...]     default: tests sanitize peak simt longest cache claims, which need one GPU
#   tests       every test that needs a GPU; some fail if anything else uses it
#   sanitize    the four tools of compute-sanitizer over the kernels
#   kernels     kernels of users: what `hilbench init` writes, built by nvcc, run, counted, gated, sanitized
#   peak, simt, longest, cache, claims   the sweeps of that name; each becomes a store, OUT/SWEEP.tar.xz
#   steady      what kernels and rivals sustain, with joules, measured and checked as `contribute`: about eight minutes
#   cpu         on the processor: its peak and the order studies
#   cpu-rivals  on the processor: the kernel against PyTorch of the Python that HILBENCH_PYTHON names
#   cpu-claims  on the processor: the claims, at sizes that it can run
#   threads     on the processor: rings of threads
#   chains      what the reports compared, step by step, with their own programs from the clone that HILBENCH_ORIGIN
#               names; measured and checked as `contribute`
#   windows, cpu-windows   windows on a GPU, or on the processor, beside PyTorch's; measured and checked as `contribute`
#   published   all that a folder of a GPU under reports/published/ holds: rivals, caches, claims, every case by as many
#               processes as `hilbench check` asks for. Stopped, it goes on from where it was
#   contribute  the claims as they are published, on the GPU if there is one, otherwise on the processor: every case by
#               as many processes as `hilbench check` asks for. Stopped, it goes on from where it was. Only what may be
#               published becomes OUT/SWEEP.tar.xz; OUT/SWEEP.check.txt says why, or why not
# On a machine with 2 GPUs or more:
#   ring-tests  the tests that need several GPUs
#   ring-peer, ring-nccl   rings over that transport
#   ring-rivals   rings against PyTorch's and JAX's, rings under counters, and the rings that a claim projects
#   ring-published   all that a folder of rings under reports/published/ holds, every case by as many processes as
#               `hilbench check` asks for. Ring sizes that this machine lacks are skipped, with the reason
# RUN_LIMIT_S=540 ./run.sh OUT STEP... stops `published`, `contribute` and `ring-published` after so many seconds; the same
# command goes on from there.
set -uo pipefail
if [[ $# -lt 1 || -z $1 ]]; then
  echo "usage: ./run.sh OUT [STEP...]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd) || exit 4
shift
[[ -d $here/sweeps ]] || here=$(cd "$here/../.." && pwd)  # in the tree
hilbench=bin/hilbench
[[ -x $here/$hilbench ]] || hilbench=build/hilbench
if [[ ! -x $here/$hilbench ]]; then
  echo "run.sh: no $here/$hilbench" >&2
  exit 4
fi
cd "$here" || exit 4  # so that the command in the records contains no path of this machine
cores=$(nproc)
steps=("$@")
[[ ${#steps[@]} -gt 0 ]] || steps=(tests sanitize peak simt longest cache claims)
# The bundle holds only the program's own libraries; a framework that a sweep starts has its own.
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} NCCL_NVLS_ENABLE=0
trap 'kill $(jobs -p) 2>/dev/null' EXIT  # who is stopped leaves nothing running
summary=()
note() { summary+=("$(printf '%-28s %s' "$1" "$2")"); }
finish() {
  printf '%s\n' "${summary[@]}" | tee "$out/summary.txt"
  exit "$1"
}

# run_programs PROGRAM...: each as `parts` processes side by side, which share its tests
parts=1
run_programs() {
  local program part job status
  for program; do
    [[ -x $here/bin/$program ]] || continue  # nccl_tests: built only if NCCL's header was found
    for ((part = 0; part < parts; ++part)); do
      GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part timeout 600 "$here/bin/$program" --gtest_brief=1 \
        >"$out/$program.part$part" 2>&1 &
    done
    status=0
    for job in $(jobs -p); do wait "$job" || status=$?; done
    cat "$out/$program".part* >"$out/$program.log" && rm "$out/$program".part*
    note "$program" "exit $status, $(grep -E 'PASSED|FAILED' "$out/$program.log" | tr -s ' \n' ' ' | cut -c1-120)"
  done
}

run_tests() {
  parts=$((cores > 24 ? 12 : (cores + 1) / 2)) run_programs cuda_tests  # mostly the oracle, on one core each
  run_programs cupti_tests cuda_faults_tests cuda_baselines_tests peer_tests ring_gpu_tests ring_counters_gpu_tests nccl_tests
  timeout 300 python3 tests/program/gpu_surroundings_test.py bin/hilbench fakes >"$out/gpu_surroundings.log" 2>&1
  note gpu_surroundings "exit $?, $(tail -1 "$out/gpu_surroundings.log")"
  HILBENCH_WINDOWS_DEVICE=cuda timeout 900 python3 tests/baselines/external/torch_windows_test.py bin/hilbench \
    baselines/external/torch_windows.py >"$out/torch_windows.log" 2>&1
  note torch_windows "exit $?, $(tail -1 "$out/torch_windows.log"); 77: no PyTorch here"
}

run_kernels() {
  timeout 900 python3 tests/program/kernels_gpu_test.py "$hilbench" >"$out/kernels.log" 2>&1
  note kernels "exit $?, $(tail -1 "$out/kernels.log")"
}

# check NAME TOOL PROGRAM FILTER [OPTION...]
check() {
  timeout 500 compute-sanitizer --tool "$2" "${@:5}" "$here/bin/$3" --gtest_filter="$4" >"$out/$1.log" 2>&1
  echo "exit $?, $(grep -E 'SUMMARY' "$out/$1.log" | tail -1 | tr -s '=' ' '), \
$(grep -E '^\[  (PASSED|FAILED)' "$out/$1.log" | head -1)" >"$out/$1.verdict"
}

# Nothing is timed here, so all checks run at once, except the rings: their time limits do not allow for other programs.
# One of the rings' tests asks for more memory than there is, which is no error of the program.
sanitize() {
  local name tool
  for tool in memcheck racecheck synccheck initcheck; do
    check "$tool" "$tool" cuda_tests 'CudaForwardSmall.*:CudaForward.*:CudaWindowsSmall.*' &
    check "$tool-steep" "$tool" cuda_tests '*CudaForwardSteep*' &
  done
  [[ ! -x bin/peer_tests ]] || check memcheck-peer memcheck peer_tests '*' &
  wait
  check memcheck-ring memcheck ring_gpu_tests '-*AtTheRateOfACopy' --report-api-errors no
  for name in "$out"/*.verdict; do note "$(basename "$name" .verdict)" "$(cat "$name")"; done
}

# keep NAME: moves the store results/NAME into OUT
keep() {
  [[ -d results/$1 ]] || return 0
  tar cJf "$out/$1.part" -C results "$1" && mv "$out/$1.part" "$out/$1.tar.xz" && rm -r "results/${1:?}"
}

# measure NAME FILE [OPTION...]
measure() {
  local name=$1 start status
  start=$(date +%s)
  timeout 540 "${pinned[@]}" "$hilbench" run "${@:2}" >>"$out/$name.log" 2>&1
  status=$?
  note "$name" "exit $status, $(($(date +%s) - start)) s, $(grep 'records ok' "$out/$name.log" | tail -1)"
}
pinned=()  # command that starts a process on chosen processors

name_of() { sed -n 's/^name: //p' "$1"; }
measured() {
  [[ -e results/$1 ]] && note "$1" "skipped: results/$1 exists already"
}

# sweep FILE [OPTION...]
sweep() {
  local name
  name=$(name_of "$1")
  ! measured "$name" || return 0
  measure "$name" "$@"
  keep "$name"
}

no_windows() { "$hilbench" list devices | grep -q '^cuda:.* compute capability [67]\.'; }
# The sweeps of the reports' claims, then those of papers, whose windows take longest on an old GPU.
claim_files() {
  local papers='/(hilbert-local|neighborhood|sawtooth|sliding-tile)\.yaml$'
  printf '%s\n' sweeps/claims/*.yaml | grep -vE "$papers"
  printf '%s\n' sweeps/claims/*.yaml | grep -E "$papers"
}
# Claims about time and caches are measured in bf16 too, with the kernels of the tensor cores. Claims about memory and
# options do not depend on the dtype, one claim names fp16, and the cases of two claims are in other sweeps.
# No kernel computes windows below compute capability 8.0: claims about them are left out there.
# gpu_claims MEASURE [OPTION...]: calls MEASURE FILE OPTION... for the sweep of each claim.
gpu_claims() {
  local file
  for file in $(claim_files); do
    case $(basename "$file" .yaml) in
      chain-*) ;;  # the step chains
      hilbert-local | neighborhood | sliding-tile)
        no_windows || "$1" "$file" --device cuda "${@:2}" ;;
      analysis-theory | dilated-kernel | guide-speedup | hybrid-core | scaling-threshold)
        "$1" "$file" --device cuda --axis dtype=fp32,bf16 "${@:2}" ;;
      *) "$1" "$file" --device cuda "${@:2}" ;;
    esac
  done
}

# rings TRANSPORT LENGTHS...: one store for each transport; each command takes less than ten minutes
rings() {
  local transport=$1 length status
  shift
  if [[ -e results/ring-$transport ]]; then
    note "ring-$transport" "skipped: results/ring-$transport exists already"
    return
  fi
  for length; do
    timeout 540 "$hilbench" run sweeps/ring/nccl.yaml -o "results/ring-$transport" --axis "transport=$transport" \
      --axis "sequence_length=$length" >>"$out/ring-$transport.log" 2>&1
    status=$?
    note "ring-$transport $length" "exit $status, $(grep 'records ok' "$out/ring-$transport.log" | tail -1)"
  done
  keep "ring-$transport"
}

# Tests with one process for each of two GPUs.
launched() {
  if ! command -v mpirun >"$out/mpirun.txt"; then
    note launched_gpu "skipped: no mpirun here"
    return
  fi
  timeout 500 python3 tests/program/launched_gpu_test.py bin/hilbench "$(<"$out/mpirun.txt")" >"$out/launched_gpu.log" 2>&1
  note launched_gpu "exit $?, $(tail -1 "$out/launched_gpu.log")"
}

# several_gpus STEP: true if there are two or more; otherwise the summary says that the step was skipped
several_gpus() {
  [[ $("$hilbench" list devices | grep -c 'cuda:') -ge 2 ]] || { note "$1" "skipped: one GPU here"; return 1; }
}

# The rings of counters.yaml, with one process for each of two GPUs.
launched_counters() {
  local status
  if ! command -v mpirun >"$out/mpirun.txt"; then
    note counters-launched "skipped: no mpirun here"
    return
  fi
  if [[ -e results/counters-launched ]]; then
    note counters-launched "skipped: results/counters-launched exists already"
    return
  fi
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 200 mpirun -n 2 "$hilbench" run \
    sweeps/ring/counters.yaml --axis ring_size=2 --axis transport=nccl -o results/counters-launched \
    >"$out/counters-launched.log" 2>&1
  status=$?
  note counters-launched "exit $status, $(grep 'records ok' "$out/counters-launched.log")"
  keep counters-launched
}

ring_tests() {
  several_gpus ring-tests || return 0
  run_programs peer_tests nccl_tests ring_multigpu_tests ring_counters_multigpu_tests
  launched
}

ring_rivals() {
  several_gpus ring-rivals || return 0
  sweep sweeps/ring/rivals.yaml --allow-external
  sweep sweeps/ring/counters.yaml
  launched_counters
  sweep sweeps/claims/analysis-projection.yaml --device cuda
}

# The steps for processors take ten minutes on 2 cores, and less on many cores, whose executions are shorter.
few_cores() { [[ $cores -le 4 ]]; }

# Prints the processor on which one thread multiplies fastest now: on a shared machine others use units of the cores.
quiet_processor() {
  local processor file=$out/quiet.yaml
  cat >"$file" <<'SWEEP'
name: quiet
title: Which processor is quiet?
cases:
  - {device: cpu, dtype: bf16, sequence_length: 1024, segments: [1024], dilations: [1], heads: 1, head_dim: 64, threads: 1}
variants: []
baselines: [peak]
measure: {budget_s: 0.2, min_rounds: 5}
SWEEP
  for ((processor = 0; processor < cores; ++processor)); do
    rm -rf "$out/quiet"
    taskset -c "$processor" "$hilbench" run "$file" -o "$out/quiet" >"$out/quiet.log" 2>&1
    echo "$("$hilbench" export "$out/quiet" --format jsonl | sed -n 's/.*"tflops":\([0-9.]*\).*/\1/p') $processor"
  done | sort -rn | tee "$out/quiet.txt" | awk 'NR == 1 {print $2}'
  rm -rf "$out/quiet" "$file"
}

# sweep_threads THREADS FILE [OPTION...]: on few cores the sweep with these counts of threads; on many cores first with
# one thread on a quiet core, then with all threads.
sweep_threads() {
  local few=$1 name
  shift
  if few_cores; then
    sweep "$@" --axis "threads=$few"
    return
  fi
  name=$(name_of "$1")
  ! measured "$name" || return 0
  pinned=(taskset -c "$(quiet_processor)")
  measure "$name" "$@" --axis threads=1
  pinned=()
  measure "$name" "$@" --axis "threads=$cores"
  keep "$name"
}

# The kernel against the processor's limit, and the order studies.
cpu() {
  local budget=3
  few_cores || budget=2
  sweep_threads "1,2,$cores" sweeps/cpu-peak.yaml --budget "$budget" --execution-limit 1
  sweep sweeps/cache/cpu-order.yaml --budget "$budget"
  sweep sweeps/cache/cpu-working-set.yaml --budget "$budget"
}

# The claims. Cases of which one execution would take longer than `limit` seconds are skipped, with the reason. Three
# claims are left out: two are about the memory of GPUs, one about rings of GPUs. Two more are about the memory that a
# variant holds, which two orders and their control suffice to show.
# cpu_claims MEASURE [OPTION...]: as gpu_claims
cpu_claims() {
  local budget=2 limit=0.4 file
  few_cores || { budget=1 limit=0.15; }
  for file in $(claim_files); do
    case $(basename "$file" .yaml) in
      chain-*) ;;  # the step chains
      analysis-projection | scaling-max-sequence | scaling-projection) ;;
      neighborhood | sawtooth | sliding-tile) ;;  # claims of papers about work that no processor does in minutes
      guide-memory | hybrid-memory)
        "$1" "$file" --device cpu --budget "$budget" --execution-limit "$limit" \
          --filter '/dilated/(linear|hilbert|random)$' "${@:2}" ;;
      *) "$1" "$file" --device cpu --budget "$budget" --execution-limit "$limit" "${@:2}" ;;
    esac
  done
}

# within_limit COMMAND...: interrupts it when RUN_LIMIT_S seconds have passed since this script began.
within_limit() {
  [[ -n ${RUN_LIMIT_S:-} ]] || { "$@"; return; }
  local left=$((RUN_LIMIT_S - SECONDS))
  [[ $left -gt 0 ]] || return 130
  timeout --preserve-status -s INT "$left" "$@"
}

# contribute_sweep FILE [OPTION...]: measures a sweep, or goes on with it, and checks the results.
contribute_sweep() { contribute_store "$(name_of "$1")" "$@"; }

# contribute_store NAME FILE [OPTION...]: the same, as a store of that name.
contribute_store() {
  local name=$1 store status
  shift
  store=results/contribute/$name
  within_limit "$hilbench" run "$@" -o "$store" >>"$out/$name.log"
  status=$?
  if [[ $status -ge 128 ]]; then
    note "$name" "stopped; the same command goes on from here"
    finish "$status"
  fi
  if "$hilbench" check "$store" >"$out/$name.check.txt" 2>&1 && [[ $status -le 1 ]]; then
    tar cJf "$out/$name.part" -C results/contribute "$name" && mv "$out/$name.part" "$out/$name.tar.xz"
  else
    rm -f "$out/$name.tar.xz"
    left_out=1
  fi
  note "$name" "exit $status, $(tail -1 "$out/$name.check.txt")"
  while read -r line; do note "" "$line"; done < <(grep '^not ok' "$out/$name.check.txt")
}

contribute() {
  local device
  device=$("$hilbench" list devices | grep -m1 'cuda:')
  if [[ -z $device ]] && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    echo "run.sh: an NVIDIA GPU is here, but this build cannot use it: see $hilbench doctor" >&2
    exit 4
  fi
  echo "measuring on ${device:-the processor}"
  if [[ -n $device ]]; then
    gpu_claims contribute_sweep --processes 5 --budget 10
  else
    cpu_claims contribute_sweep --processes 10
  fi
}

# The rivals are programs of Python, which --allow-external lets run.
published() {
  local file
  gpu_claims contribute_sweep --processes 5 --budget 1.5
  for file in sweeps/cache/c[ao][cn]*.yaml sweeps/gpu-simt.yaml sweeps/quick.yaml; do
    contribute_sweep "$file" --device cuda --processes 5
  done
  for file in sweeps/{gpu-peak,head-dims,data}.yaml; do contribute_sweep "$file" --allow-external; done
  steady
}

# On a processor the longest cases are left out.
chains() {
  local file
  for file in sweeps/claims/chain-*.yaml; do
    if "$hilbench" list devices | grep -q 'cuda:'; then
      contribute_sweep "$file" --allow-external --processes 5
    else
      contribute_sweep "$file" --allow-external --processes 10 --execution-limit 1
    fi
  done
}

# One round of each process, since a round takes two seconds for each variant.
steady() { contribute_sweep sweeps/steady.yaml --allow-external --processes 5 --budget 60; }

# windows_sweeps PROCESSES FILE...: the rivals are programs of Python here too
windows_sweeps() {
  local file
  for file in "${@:2}"; do contribute_sweep "$file" --allow-external --processes "$1"; done
}

# Rings over both transports, in one launch a rank, over a slow link between groups, and beside those of others; the
# rings that a claim projects. What answers most comes first. Dense attention over 262144 positions takes most of the time: stores of its
# own hold it, with the algorithms that differ most.
ring_published() {
  local long='^n262144-.*(/dilated/linear(/allgather|/ring_packed|/ulysses|\.striped)?|context_parallel.*|jax_ring)$'
  several_gpus ring-published || return 0
  ring_store ring-peer sweeps/ring/nccl.yaml --axis sequence_length=16384,65536 --axis transport=peer
  ring_store rivals sweeps/ring/rivals.yaml --allow-external --filter '^n(16384|65536)-'
  ring_store outer-link sweeps/ring/outer-link.yaml --axis sequence_length=16384,65536
  ring_store launch sweeps/ring/launch.yaml --axis sequence_length=16384,65536 --budget 1
  ring_store small sweeps/ring/small.yaml
  ring_store ring-peer-long sweeps/ring/nccl.yaml --axis transport=peer --filter "$long"
  ring_store rivals-long sweeps/ring/rivals.yaml --allow-external --filter "$long"
  ring_store ring-nccl sweeps/ring/nccl.yaml --axis sequence_length=16384,65536 --axis transport=nccl
  ring_store analysis-projection sweeps/claims/analysis-projection.yaml --device cuda
}
ring_store() { contribute_store "$@" --processes 5; }

for step in "${steps[@]}"; do
  case $step in
    tests) run_tests ;;
    sanitize) sanitize ;;
    kernels) run_kernels ;;
    peak) sweep sweeps/gpu-peak.yaml --allow-external ;;
    simt) sweep sweeps/gpu-simt.yaml ;;
    steady) steady ;;
    longest)
      for memory in 8GB 80GB; do
        "$hilbench" plan sweeps/longest.yaml --longest --memory "$memory" >"$out/longest-$memory.txt" 2>&1
      done
      sweep sweeps/longest.yaml
      ;;
    cache) for file in sweeps/cache/cache-*.yaml; do sweep "$file"; done ;;
    cpu) cpu ;;
    cpu-rivals)
      sweep_threads "1,$cores" sweeps/cpu-rivals.yaml --allow-external --budget 2 --execution-limit 1
      ;;
    cpu-claims) cpu_claims sweep ;;
    published) published ;;
    contribute) contribute ;;
    chains) chains ;;
    threads) sweep sweeps/ring/threads.yaml ;;
    windows) windows_sweeps 5 sweeps/windows/{images,videos,shapes,dilated-windows,window-rivals}.yaml ;;
    cpu-windows) windows_sweeps 10 sweeps/windows/cpu-*.yaml ;;
    ring-tests) ring_tests ;;
    ring-peer | ring-nccl) ! several_gpus "$step" || rings "${step#ring-}" 16384,65536 262144 ;;
    ring-rivals) ring_rivals ;;
    ring-published) ring_published ;;
    claims) gpu_claims sweep ;;
    *) unknown=2 && note "$step" "unknown step" ;;
  esac
done
finish "${unknown:-${left_out:-0}}"
