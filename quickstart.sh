#!/usr/bin/env bash
# Installs what hilbench needs, builds it for this machine, measures sweeps/quick.yaml and writes the report.
# Without an NVIDIA GPU it builds no GPU code; with one, code for that GPU alone.
#   --cuda               build GPU code even if there is no GPU: for all architectures, so that others can run it
#   --cuda 12            the same by CUDA 12.4, which is fetched into build/ (131 MB, on Debian 12 and 13): code for a GTX
#                        1080, an A100 and an H100, without cuBLAS, cuDNN and NCCL. Chosen by itself if there is a GPU from
#                        6.1 to 9.0 and no CUDA toolkit that builds code for it
#   --all-architectures  build GPU code for all architectures even if there is a GPU
#   --no-install         install nothing; say what is missing
#   --packages           stop after installing
#   --setup              stop after installing and building
#   --tests              install what the tests need and build them too; without --cuda and a GPU, GPU code is compiled
#                        only if it is not as tracked in sweeps/ci.costs.json
set -euo pipefail
cd "$(dirname "$0")"

install=yes until=report tests=OFF cuda=no all=no cuda_12=no
while [ $# -gt 0 ]; do
  case $1 in
    --cuda)
      cuda=yes
      case ${2:-} in
        12) cuda_12=yes; shift ;;
        [0-9]*) echo "quickstart.sh: --cuda $2: only CUDA 12 can be fetched; --cuda takes the toolkit that is here" >&2; exit 2 ;;
      esac ;;
    --all-architectures) cuda=yes all=yes ;;
    --no-install) install=no ;;
    --packages) until=packages ;;
    --setup) until=setup ;;
    --tests) tests=ON ;;
    -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown option '$1'; see --help" >&2; exit 2 ;;
  esac
  shift
done

# fail STATUS MESSAGE: one line, and the end.
fail() {
  echo "quickstart.sh: $2" >&2
  exit "$1"
}

# spent SECONDS: "3 min 20 s" since then.
spent() {
  local seconds=$((SECONDS - $1))
  if [ $seconds -lt 60 ]; then echo "$seconds s"; else echo "$((seconds / 60)) min $((seconds % 60)) s"; fi
}

# --- What GPU code is built -------------------------------------------------------------------------------------------

# Compute capabilities of the GPUs here, as "90"; empty: no NVIDIA GPU whose driver works.
capabilities=$({ nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
  sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -nu)
nvcc=${CUDACXX:-$(command -v nvcc || true)}
[ -n "$nvcc" ] || [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc
known=  # lines "sm_90": what nvcc builds code for; nothing if it is older than CUDA 12
[ -z "$nvcc" ] || known=$("$nvcc" --list-gpu-code 2>/dev/null || true)
case $({ "${nvcc:-false}" --version || true; } 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p') in [5-9] | 1[01]) known= ;; esac
# covered KNOWN: the GPUs here that a compiler which knows these builds code for, as "90 90".
covered() {
  local capability
  for capability in $capabilities; do
    ! grep -qE "^sm_$capability[af]?$" <<<"$1" || echo "$capability"
  done
}

# CUDA 12.4 is fetched if asked for, or if it builds code for a GPU here and the toolkit here builds code for none.
toolkit_12=$PWD/build/cuda-12.4
known_12=$(printf 'sm_%s\n' 61 70 72 75 80 86 87 89 90)
why_12="--cuda 12"  # of messages
if [ $cuda_12 = no ] && [ -z "${CUDACXX:-}" ] && [ -z "$(covered "$known")" ] && [ -n "$(covered "$known_12")" ]; then
  if [ -x "$toolkit_12/bin/nvcc" ] || { [ $install = yes ] && grep -qs '^ID=debian$' /etc/os-release; }; then
    cuda_12=yes why_12="CUDA 12, for the GPU here (--no-install builds without)"
  fi
fi
compiler=  # of C++, for both kinds of code; empty: CMake chooses
# fits_12 COMPILER: a g++ that CUDA 12.4 takes, and hilbench.
fits_12() {
  case $({ "${1:-false}" -dumpversion || true; } 2>/dev/null) in 12 | 12.* | 13 | 13.*) ;; *) return 1 ;; esac
}
if [ $cuda_12 = yes ]; then
  for name in CUDACXX CUDAHOSTCXX CUDAFLAGS CUDAToolkit_ROOT NVCC_CCBIN NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS; do
    [ -z "${!name:-}" ] || fail 4 "$why_12: it brings its own toolkit, and $name is ${!name}: unset $name"
  done
  nvcc=$toolkit_12/bin/nvcc known=$known_12
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/CMakeCache.txt 2>/dev/null || true)
  if [ -n "$compiler" ]; then
    fits_12 "$compiler" || fail 4 "$why_12: it needs g++ 12 or 13, and build/ is configured with $compiler: remove that (rm -r build/CMake*) and run this again"
  elif [ -n "${CXX:-}" ]; then
    fits_12 "$CXX" || fail 4 "$why_12: it needs g++ 12 or 13, and CXX is $CXX: unset CXX"
    compiler=$CXX
  else
    for compiler in g++ g++-13 g++-12 ''; do
      ! fits_12 "$compiler" || break
    done
  fi
fi

gpu_code=none about_gpu_code=  # none, compiled or tracked; what is said of it
architectures=()               # none: all that the compiler knows
if [ -n "$nvcc" ] && [ $all = no ]; then
  for capability in $(covered "$known"); do architectures+=("$capability-real"); done
  for capability in $capabilities; do
    [[ " ${architectures[*]} " == *" $capability-real "* ]] ||
      about_gpu_code="the CUDA toolkit builds no code for a GPU of compute capability ${capability%?}.${capability: -1} (docs/machines.md)"
  done
fi
if [ $cuda_12 = yes ]; then
  gpu_code=compiled about_gpu_code="GPU code: by CUDA 12.4"
  if [ ${#architectures[@]} = 0 ]; then
    architectures=(61-real 80-real 90a-real 80-virtual)
  else
    about_gpu_code+=", for the GPU here alone (${architectures[*]%-real}; --all-architectures builds all)"
  fi
  about_gpu_code+="; cuBLAS, cuDNN and NCCL are left out of this build"
elif [ -z "$nvcc" ]; then
  [ $cuda = no ] || fail 4 "--cuda: no CUDA compiler here; install a CUDA toolkit, name its nvcc in CUDACXX, or let --cuda 12 fetch one"
  [ -z "$capabilities" ] ||
    about_gpu_code="there is an NVIDIA GPU, but no CUDA compiler: GPU code is left out; --cuda 12 fetches one (docs/machines.md)"
elif [ $cuda = yes ] || [ ${#architectures[@]} -gt 0 ]; then
  gpu_code=compiled
  if [ ${#architectures[@]} -gt 0 ]; then
    about_gpu_code="GPU code: for the GPU here alone (${architectures[*]%-real}); --all-architectures builds all"
  else
    about_gpu_code="GPU code: for all architectures"
  fi
elif [ $tests = ON ] && [ -z "$capabilities" ]; then
  gpu_code=tracked
fi
if [ $gpu_code = none ] && [ -z "$about_gpu_code" ]; then
  about_gpu_code="no NVIDIA GPU here: GPU code is left out; ./quickstart.sh --cuda builds it"
fi

# --- Packages ---------------------------------------------------------------------------------------------------------

groups='build run'
[ $tests = OFF ] || groups+=' tests'
mapfile -t packages < <(awk -v groups="$groups" 'index(" " groups " ", " " $1 " ") {print $2}' packages.txt)
if [ $cuda_12 = yes ] && [ -z "$compiler" ]; then
  # The g++ of Debian 12 is one that CUDA 12.4 takes, and that of later releases is newer.
  compiler=g++
  if grep -qs '^VERSION_ID="12"' /etc/os-release; then :; else compiler=g++-13; packages+=(g++-13); fi
fi
if [ $gpu_code != none ] && ! python3 -m pip --version >/dev/null 2>&1; then
  packages+=(python3-pip)
fi

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ] && [ $install = yes ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || fail 4 "cannot install without root or sudo; missing: ${missing[*]}"
      as_root=(sudo)
    fi
    echo "== installing: ${missing[*]}"
    began=$SECONDS
    said=$({ "${as_root[@]}" apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; } 2>&1) || {
      why=$(sed -n "/^E: /{s///p;q}" <<<"$said")
      fail 4 "packages cannot be installed: ${why:-apt-get failed}; is there a network? Missing: ${missing[*]}"
    }
    echo "   in $(spent "$began")"
  elif [ ${#missing[@]} -gt 0 ]; then
    echo "quickstart.sh: not installed (--no-install): ${missing[*]}" >&2
  fi
elif [ $install = yes ]; then
  cat >&2 <<'NEEDS'
quickstart.sh: no dpkg here, so nothing is installed. To build, hilbench needs a C++20 compiler, CMake 3.22, Ninja,
pkg-config, fmt, yaml-cpp, Google Benchmark, CLI11, nlohmann-json, SQLite, zlib, Highway, hwloc, md4c and the
headers of Boost; for rings over processes also Open MPI. To run, it uses OpenBLAS; for figures Vega 5,
Node.js and rsvg-convert.
NEEDS
fi

# fetch PYTHON FOLDER PACKAGE...: packages of PyPI. They go into the build folder: this needs neither root nor a virtual
# environment, and changes no package of the machine's Python.
fetch() {
  PIP_ROOT_USER_ACTION=ignore "$1" -m pip install --quiet --disable-pip-version-check --no-compile --target "$2" "${@:3}"
}

if [ $cuda_12 = yes ]; then
  if [ $install = yes ]; then
    [ -e "$toolkit_12/made-from" ] || echo "== fetching CUDA 12.4"
    said=$(.cmake/cuda_12/fetch.sh "$toolkit_12" 2>&1) || fail 4 "$why_12: ${said##*$'\n'}"
    [ -z "$said" ] || echo "   $said"
  elif [ ! -x "$nvcc" ]; then
    fail 4 "--cuda 12: not fetched (--no-install), and build/ does not have it"
  fi
fi

# Headers of the cuDNN baseline; a build without them leaves the baseline out.
if [ $gpu_code != none ] && [ $cuda_12 = no ] && [ ! -e build/cudnn-frontend/include/cudnn_frontend.h ]; then
  if [ $install = yes ]; then
    echo "== fetching the headers of nvidia-cudnn-frontend"
    fetch python3 build/cudnn-frontend --no-deps nvidia-cudnn-frontend==1.32.0 ||
      echo "quickstart.sh: no nvidia-cudnn-frontend: the cudnn baseline is left out" >&2
  else
    echo "quickstart.sh: not fetched (--no-install): nvidia-cudnn-frontend, headers for the cudnn baseline" >&2
  fi
fi

# What builds the Python package, for its test; Debian does not have it.
if [ $tests = ON ] && [ ! -e build/python-tools/scikit_build_core ] && [ $install = yes ]; then
  echo "== fetching scikit-build-core, for tests"
  python=$(command -v /usr/bin/python3 || command -v python3)
  fetch "$python" build/python-tools scikit-build-core==1.1.2 2>/dev/null ||
    echo "quickstart.sh: not fetched: the test of the Python package is skipped" >&2
fi

[ $until != packages ] || exit 0

# --- Building ---------------------------------------------------------------------------------------------------------

log=build/setup.log
# cached NAME: what the build folder is configured with.
cached() { sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt 2>/dev/null || true; }

# why_failed: what the log says of a step that failed, as one line. A full disk may have cut the log short.
why_failed() {
  local why free_mb
  free_mb=$(df -Pm build | awk 'NR == 2 {print $4}')
  if grep -qs 'No space left on device' $log || [ "${free_mb:-1000}" -lt 20 ]; then
    echo "the disk is full ($free_mb MB are free): free some, at most 1 GB is needed, and run this again; it goes on from here"
    return
  fi
  why=$(awk '/^CMake Error/ { found = 1; next } found && /^(--|Call Stack|$)/ && text != "" { exit }
             found && !/^ *$/ { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 } END { print text }' $log)
  [ -n "$why" ] || why=$(grep -m 1 -E '(^|[^a-z])(fatal )?error: |Killed|[Ee]rror [0-9]+' $log || true)
  [ -n "$why" ] || why=$(tail -1 $log)
  [ ${#missing[@]} = 0 ] || [ $install = yes ] || why+="; not installed: ${missing[*]}"
  echo "${why:0:300}; the log is $log"
}

mkdir -p build 2>/dev/null && : 2>/dev/null >$log || fail 4 "cannot write $PWD/build; make it writable, or copy the tree"
options=(-DCMAKE_BUILD_TYPE=Release "-DHILBENCH_TESTS=$tests")
if [ -f build/CMakeCache.txt ]; then
  home=$(cached CMAKE_HOME_DIRECTORY)
  [ -z "$home" ] || [ "$home" -ef "$PWD" ] || fail 4 "build/ is of another tree, $home: remove it (rm -r build) and run this again"
  [ -z "$(cached HILBENCH_SANITIZE)" ] || fail 4 "build/ is configured with sanitizers: remove it (rm -r build) and run this again"
else
  [ -z "$compiler" ] || options+=("-DCMAKE_CXX_COMPILER=$compiler")
  options+=(-G Ninja -DHILBENCH_UNITY=ON)  # from nothing, folders are compiled as one source each
fi
# A folder with GPU code keeps it, unless other code is asked for.
if [ $gpu_code = none ]; then
  case $(cached HILBENCH_CUDA) in
    '') options+=(-DHILBENCH_CUDA=OFF) ;;
    OFF) ;;
    *) about_gpu_code= ;;
  esac
elif [ $gpu_code = tracked ]; then
  options+=(-DHILBENCH_CUDA=AUTO -DHILBENCH_DEVICE_CODE=IF_CHANGED -UCMAKE_CUDA_ARCHITECTURES)
else
  configured=$(cached CMAKE_CUDA_COMPILER)
  [ -z "$configured" ] || [ "$configured" -ef "$nvcc" ] ||
    fail 4 "build/ is configured with another CUDA compiler, $configured: remove that (rm -r build/CMake*) and run this again"
  options+=(-DHILBENCH_CUDA=ON -DHILBENCH_DEVICE_CODE=COMPILED "-DCMAKE_CUDA_COMPILER=$nvcc")
  [ $cuda_12 = no ] || options+=("-DCMAKE_CUDA_HOST_COMPILER=$compiler" -DCUBLAS_INCLUDE_DIR= -DCUDNN_INCLUDE_DIR= -DNCCL_INCLUDE_DIR=)
  if [ ${#architectures[@]} -gt 0 ]; then
    options+=("-DCMAKE_CUDA_ARCHITECTURES=$(IFS=';'; echo "${architectures[*]}")")
  else
    options+=(-UCMAKE_CUDA_ARCHITECTURES)
  fi
fi

echo "== building${about_gpu_code:+; $about_gpu_code}"
began=$SECONDS
cmake -S . -B build "${options[@]}" >$log 2>&1 || fail 4 "cannot configure: $(why_failed)"
sed -n 's/^-- \(GPU code is .*\)/   \1/p' $log
# Ninja's lines are "[12/345] Building ..."; on a terminal the numbers are shown.
if [ -t 1 ]; then
  show() { sed -un 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p' | while read -r step; do printf '\r   %s ' "$step"; done; printf '\r'; }
else
  show() { cat >/dev/null; }
fi
cmake --build build --parallel "$(nproc)" 2>&1 | tee -a $log | show || fail 4 "cannot build: $(why_failed)"
echo "   build/hilbench, in $(spent "$began")"
[ $until != setup ] || exit 0

echo "== measuring sweeps/quick.yaml (about a minute on two cores, more beside other programs; under a minute on a GPU)"
status=0
build/hilbench run sweeps/quick.yaml || status=$?
[ $status -le 1 ] || exit $status
echo "== the report"
build/hilbench report results/quick
exit $status
