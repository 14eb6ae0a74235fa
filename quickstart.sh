#!/usr/bin/env bash
# Installs what hilbench needs, builds it, measures sweeps/quick.yaml on this machine and writes the report.
#   --no-install   install nothing; say what is missing
#   --packages     stop after installing
#   --setup        stop after installing and building
#   --tests        install what the tests need and build them too
#   --unity        compile the sources of a folder as one if there is no build yet: faster, but not after a change
set -euo pipefail
cd "$(dirname "$0")"

install=yes until=report tests=OFF unity=()
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --packages) until=packages ;;
    --setup) until=setup ;;
    --tests) tests=ON ;;
    --unity) unity=(-DHILBENCH_UNITY=ON) ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown option '$argument'; see --help" >&2; exit 2 ;;
  esac
done

groups='build run'
[ $tests = OFF ] || groups+=' tests'
mapfile -t packages < <(awk -v groups="$groups" 'index(" " groups " ", " " $1 " ") {print $2}' packages.txt)

has_cuda=no
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  has_cuda=yes
  python3 -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
fi

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ] && [ $install = yes ]; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || { echo "quickstart.sh: cannot install without root or sudo; missing: ${missing[*]}" >&2; exit 4; }
      as_root=(sudo)
    fi
    echo "== installing: ${missing[*]}"
    said=$({ "${as_root[@]}" apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; } 2>&1) || {
      why=$(sed -n "/^E: /{s///p;q}" <<<"$said")
      echo "quickstart.sh: packages cannot be installed: ${why:-apt-get failed}; is there a network? Missing: ${missing[*]}" >&2
      exit 4
    }
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

# Headers of the cuDNN baseline; a build without them leaves the baseline out. They go into the build folder: this needs
# neither root nor a virtual environment, and changes no package of the machine's Python.
if [ $has_cuda = yes ] && [ ! -e build/cudnn-frontend/include/cudnn_frontend.h ]; then
  if [ $install = yes ]; then
    echo "== fetching the headers of nvidia-cudnn-frontend"
    PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --target build/cudnn-frontend \
      nvidia-cudnn-frontend==1.32.0 || echo "quickstart.sh: no nvidia-cudnn-frontend: the cudnn baseline is left out" >&2
  else
    echo "quickstart.sh: not fetched (--no-install): nvidia-cudnn-frontend, headers for the cudnn baseline" >&2
  fi
fi

# Tools of others that tests run, and that Debian does not have: NVIDIA's comparison of exports, and what builds the
# Python package. They go into the build folder too.
if [ $tests = ON ] && [ ! -e build/python-tools/scikit_build_core ] && [ $install = yes ]; then
  echo "== fetching cuda-bench and scikit-build-core, for tests"
  python=$(command -v /usr/bin/python3 || command -v python3)
  PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-compile --target build/python-tools \
    'cuda-bench[compare]==0.3.0' scikit-build-core==1.1.2 2>/dev/null ||
    echo "quickstart.sh: not fetched: their tests are skipped" >&2
fi

[ $until != packages ] || exit 0

echo "== building"
generator=()
[ -f build/CMakeCache.txt ] || generator=(-G Ninja "${unity[@]}")
cmake -S . -B build "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DHILBENCH_TESTS=$tests >build-setup.log 2>&1 ||
  { tail -20 build-setup.log >&2; exit 4; }
cmake --build build --parallel "$(nproc)" >>build-setup.log 2>&1 ||
  { grep -m 20 -E 'error|Error' build-setup.log >&2 || true; tail -5 build-setup.log >&2; exit 4; }
mv build-setup.log build/setup.log
[ $until != setup ] || exit 0

echo "== measuring sweeps/quick.yaml (two minutes to ten)"
status=0
build/hilbench run sweeps/quick.yaml || status=$?
[ $status -le 1 ] || exit $status
echo "== the report"
build/hilbench report results/quick
exit $status
