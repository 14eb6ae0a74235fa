#!/usr/bin/env bash
# Packs a build for a machine that has a GPU but lacks the packages it was built with.
# Usage: tests/gpu/pack.sh BUILD BUNDLE
# BUNDLE becomes a folder with the programs (stripped), the libraries they load beyond the C and C++ runtime,
# the sweeps and tests/gpu/run.sh, which runs there.
set -euo pipefail

if [[ $# -ne 2 ]]; then
  echo "usage: tests/gpu/pack.sh BUILD BUNDLE" >&2
  exit 2
fi
build=$1
bundle=$2
root=$(cd "$(dirname "$0")/../.." && pwd)

rm -rf "$bundle"
mkdir -p "$bundle/lib" "$bundle/bin"
for program in "$build/hilbench" "$build"/tests/kernels/cuda/cuda_tests; do
  [[ -x $program ]] && strip -o "$bundle/bin/$(basename "$program")" "$program"
done
# What every Linux with a C++ compiler has stays out.
usual='linux-vdso|ld-linux|libc\.so|libm\.so|libgcc_s|libstdc\+\+|libpthread|libdl|librt|libgomp'
for program in "$bundle"/bin/*; do
  ldd "$program" | awk '$3 ~ /^\// {print $3}' | grep -Ev "/($usual)" | while read -r library; do
    cp -Lu "$library" "$bundle/lib/"
  done
done
cp -r "$root/sweeps" "$bundle/sweeps"
cp "$root/tests/gpu/run.sh" "$bundle/run.sh"
du -sh "$bundle" | awk '{print "packed " $1}'
