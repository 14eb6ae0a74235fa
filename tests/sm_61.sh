#!/usr/bin/env bash
# Checks that the project builds with CUDA 11.8, and with it for Pascal (GTX 1080, sm_61): fetches Debian's packages of
# CUDA 11.8, compiles all CUDA code for sm_61 and sm_80, and links the counters of CUPTI's Event API. Exceptions:
# dilated_mma is for sm_80 only, dilated_wgmma needs CUDA 12. Nothing is run on a GPU.
#   tests/sm_61.sh FOLDER            fetch into FOLDER (0.9 GB of packages, 4 GB unpacked; kept between runs) and build
#   tests/sm_61.sh FOLDER --fetch    fetch only
# Needs a Debian release that has CUDA 11.8 (bookworm) and this project's packages; no root: packages are unpacked, not
# installed.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
toolkit=$folder/usr/lib/nvidia-cuda-toolkit
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcudart11.0 libcupti-dev libcupti11.8
          g++-11 gcc-11 gcc-11-base cpp-11 libgcc-11-dev libstdc++-11-dev)

# Downloads with apt settings of its own: this machine's first mirror, with the component non-free.
fetch() {
  local apt=$folder/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg site release package
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$folder/packages"
  read -r site release < <(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Component: main')
  echo "deb [signed-by=$keyring] $site $release main non-free" >"$apt/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
                 -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update
  (cd "$folder/packages" && apt-get "${options[@]}" download "${packages[@]}")
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder"; done
  rm -r "$apt" "$folder/packages"
}

# Makes the usual layout of a toolkit: Debian's nvcc looks for its parts and its profile under /usr and /etc.
lay_out() {
  local tool
  mkdir -p "$toolkit/nvvm"
  ln -sfn ../libdevice "$toolkit/nvvm/libdevice"
  ln -sfn ../../include "$toolkit/include"
  ln -sfn ../x86_64-linux-gnu "$toolkit/lib64"
  for tool in ptxas fatbinary cudafe++ nvlink bin2c cuobjdump; do ln -sf "../../../bin/$tool" "$toolkit/bin/$tool"; done
  for tool in gcc g++; do ln -sf "../../../bin/$tool-11" "$toolkit/bin/$tool"; done
  rm -f "$toolkit/bin/nvcc.profile"
  cat >"$toolkit/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
PROFILE
}

if [ ! -e "$folder/fetched" ]; then
  fetch
  lay_out
  touch "$folder/fetched"
fi
if [ "${2:-}" = --fetch ]; then exit 0; fi

build=$folder/build
cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHILBENCH_TESTS=OFF \
  -DCUDAToolkit_ROOT="$toolkit" -DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc" \
  -DCMAKE_CUDA_HOST_COMPILER="$folder/usr/bin/g++-11" -DCMAKE_CUDA_ARCHITECTURES="61-real;80-real"
cmake --build "$build" --target hilbench

# Each CUDA object must hold code for these architectures.
objects=$(find "$build" -name '*.cu.o')
[ -n "$objects" ] || { echo "sm_61.sh: the build has no CUDA code" >&2; exit 1; }
for object in $objects; do
  wanted="sm_61 sm_80"
  if [[ $object == */cuda/mma/* ]]; then wanted=sm_80; fi
  found=$("$toolkit/bin/cuobjdump" -lelf "$object" | grep -o 'sm_[0-9a-z]*' | sort -u | xargs)
  [ "$found" = "$wanted" ] || { echo "sm_61.sh: $object: code for '$found', not '$wanted'" >&2; exit 1; }
done
grep -q dilated_mma <<<"$objects" || { echo "sm_61.sh: dilated_mma was not built" >&2; exit 1; }
kernels=$("$build/hilbench" list kernels)
grep -q '^dilated_wgmma .*this build has no sm_90a code: it needs CUDA 12.0 or newer' <<<"$kernels" ||
  { echo "sm_61.sh: dilated_wgmma does not say what it needs" >&2; exit 1; }
# A build without the Event API says so for every counter.
counters=$("$build/hilbench" list counters)
grep -q '^default (cupti_events; compute capability 6.0' <<<"$counters" ||
  { echo "sm_61.sh: no counters for compute capability 6.0" >&2; exit 1; }
if grep -q "this build has no CUPTI Event API" "$build/hilbench"; then
  echo "sm_61.sh: the counters of CUPTI's Event API were left out" >&2
  exit 1
fi
echo "sm_61.sh: built with CUDA 11.8: $(echo "$objects" | wc -l) CUDA objects for sm_61 and sm_80, Event API linked"
