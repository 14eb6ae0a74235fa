#!/usr/bin/env bash
# Makes a toolkit of CUDA 12.4 in FOLDER (bin, include, lib64, nvvm) of packages that are fetched by name: the compiler of
# Debian 13 (non-free), from the mirror that this machine uses, and the wheels of wheels.txt. It builds what has code of
# its own; cuBLAS, cuDNN and NCCL are not in it. Nothing is installed, and apt's configuration stays as it is.
# Usage: fetch.sh FOLDER
# A folder that is complete stays as it is; downloads that stopped half-way go on. Exit status: 0, or 4 with one line.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
toolkit=${1:?usage: fetch.sh FOLDER}
packages=(nvidia-cuda-toolkit libnvvm4)
keyring=/usr/share/keyrings/debian-archive-keyring

fail() {
  echo "CUDA 12: $1" >&2
  exit 4
}

made_from=$(cat "$here/fetch.sh" "$here/wheels.txt" | sha256sum | cut -d' ' -f1)
[ "$(cat "$toolkit/made-from" 2>/dev/null || true)" != "$made_from" ] || exit 0
[ "$(uname -m)" = x86_64 ] || fail "its packages are for x86-64, and this is $(uname -m)"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
  fail "its packages are fetched by apt-get, on Debian 12 or 13; elsewhere install a CUDA toolkit of 12.0 to 12.9"
for suffix in pgp gpg ''; do
  [ -z "$suffix" ] || [ ! -e "$keyring.$suffix" ] || break
done
[ -n "$suffix" ] || fail "no $keyring.pgp or .gpg: Debian's package debian-archive-keyring has it"
python3 -m pip --version >/dev/null 2>&1 || fail "no pip of python3: Debian's package python3-pip has it"

parts=$toolkit.parts  # what is fetched: debs, wheels; removed when the toolkit is complete
mkdir -p "$parts/debs" "$parts/wheels"
parts=$(cd "$parts" && pwd)

# fetch_debs: Debian's packages. apt has a configuration of its own there: one mirror, Debian 13, non-free.
fetch_debs() {
  local apt=$parts/apt site said
  # The first mirror of Debian itself that apt has lists of.
  site=$(apt-get indextargets --format '$(SITE) $(LABEL)' 'Created-By: Packages' 'Component: main' 2>/dev/null |
    awk '$2 == "Debian" {print $1; exit}')
  [ -n "$site" ] || fail "apt has no list of a mirror of Debian: run apt-get update as root, and this again"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  echo "deb [signed-by=$keyring.$suffix arch=amd64] $site trixie non-free" >"$apt/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
                 -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
                 -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" -o "APT::Sandbox::User=$(id -un)"
                 -o Acquire::Languages=none -o APT::Update::Error-Mode=any)
  said=$({ apt-get "${options[@]}" update && cd "$parts/debs" &&
    apt-get "${options[@]}" download "${packages[@]}"; } 2>&1 </dev/null) || {
    said=$(sed -n '/^E: /{s///p;q}' <<<"$said")
    fail "Debian's packages cannot be fetched: ${said:-apt-get failed}; is there a network?"
  }
  rm -r "$apt"
}

# fetch_wheel LINE: a wheel of wheels.txt.
fetch_wheel() {
  local said name=${1%% *}
  echo "$1" >"$parts/wheel.txt"
  said=$(python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --dest "$parts/wheels" --requirement "$parts/wheel.txt" 2>&1 </dev/null) || {
    ! grep -q 'DO NOT MATCH THE HASHES' <<<"$said" ||
      fail "$name has another hash than $here/wheels.txt says, and is not used"
    said=$(sed -n '/^ERROR: /{s///p;q}' <<<"$said")
    fail "$name cannot be fetched: ${said:-pip failed}; is there a network?"
  }
}

# with_noexcept FOLDER: glibc 2.41 declares these functions with noexcept, and the headers in FOLDER/crt without it.
with_noexcept() {
  local headers=("$1/crt/math_functions.h" "$1/crt/math_functions.hpp") names='(sinpi|cospi|rsqrt)f?' mended
  sed -Ei -e "s/^(extern __DEVICE_FUNCTIONS_DECL__ .*\\<$names\\((double|float) x\\));/\\1 noexcept(true);/" \
    -e "s/^(__func__\\((double|float) $names\\((const )?(double|float) a\\))\\)/\\1 noexcept(true))/" "${headers[@]}"
  mended=$(cat "${headers[@]}" | grep -c 'noexcept(true)')
  [ "$mended" = 18 ] || fail "the headers are not as they were ($mended of 18 declarations were mended for glibc 2.41)"
}

# lay_out FOLDER: a toolkit as NVIDIA lays it out.
lay_out() {
  local package wheel
  mkdir -p "$1"/{bin,include,lib64,nvvm/bin}
  for package in "$parts"/debs/*.deb; do dpkg-deb -x "$package" "$1/deb"; done
  for wheel in $(sed -n 's/^\([a-z][a-z0-9-]*\)==\([0-9.]*\) .*/\1-\2/p' "$here/wheels.txt" | tr - _); do
    python3 -m zipfile -e "$parts"/wheels/"${wheel%_*}-${wheel##*_}"-*.whl "$1/wheel"
    find "$1/wheel" -name '__init__.py' -delete
    for folder in "$1"/wheel/nvidia/*/; do
      # The second runtime gives its libraries alone.
      [ ! -d "$folder/include" ] || [ -e "$1/include/$(ls "$folder/include" | head -1)" ] ||
        cp -r "$folder/include/." "$1/include"
      [ ! -d "$folder/lib" ] || find "$folder/lib" -maxdepth 1 -type f -exec cp -t "$1/lib64" {} +
    done
    rm -r "$1/wheel"
  done
  local from=$1/deb/usr/lib/nvidia-cuda-toolkit tool
  mv "$from/bin/nvcc" "$from/bin/crt" "$1/bin"
  for tool in ptxas fatbinary cudafe++ nvlink bin2c cuobjdump nvdisasm; do mv "$1/deb/usr/bin/$tool" "$1/bin"; done
  mv "$from/bin/cicc" "$1/nvvm/bin"
  mv "$from/libdevice" "$1/nvvm"
  mv "$1/deb/usr/lib/x86_64-linux-gnu" "$1/nvvm/lib64"
  rm -r "$1/deb"
  # nvcc names this library when it links. Nothing here starts kernels from kernels, and 12.4 cannot link that of 12.9.
  rm "$1/lib64/libcudadevrt.a"
  ar qc "$1/lib64/libcudadevrt.a"
  ln -s libcudart.so.12 "$1/lib64/libcudart.so"
  ln -s libcupti.so.12 "$1/lib64/libcupti.so"
  with_noexcept "$1/include"
  cat >"$1/bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/nvvm/lib64:
PATH += $(CICC_PATH):$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
PROFILE
}

if [ ! -e "$parts/debs/complete" ]; then
  fetch_debs
  touch "$parts/debs/complete"
fi
while read -r line; do
  mark=$parts/wheels/$(sha256sum <<<"$line" | cut -c1-16).complete
  [ -e "$mark" ] || { fetch_wheel "$line" && touch "$mark"; }
done < <(grep -v '^#' "$here/wheels.txt")
fetched=$(du -cm "$parts"/debs/*.deb "$parts"/wheels/*.whl | tail -1 | cut -f1)
rm -rf "$toolkit" "$parts/toolkit"
lay_out "$parts/toolkit"
echo "$made_from" >"$parts/toolkit/made-from"
mv "$parts/toolkit" "$toolkit"
rm -r "$parts"
echo "CUDA 12: $fetched MB fetched, $(du -sm "$toolkit" | cut -f1) MB unpacked in $toolkit"
