#!/usr/bin/env bash
# Packs a build for a machine that has a GPU but not the packages that the build needs.
# Usage: reports/publish/pack.sh BUILD ARCHIVE.tar.xz [--allow-stubs]
# The archive holds the programs without symbols, the libraries that they load in addition to the C and C++ runtime, the
# sweeps, and run.sh, which is started there: tar xf ARCHIVE.tar.xz && ./run.sh OUT
set -euo pipefail

if [[ $# -ne 2 && "${3-}" != --allow-stubs ]]; then
  echo "usage: reports/publish/pack.sh BUILD ARCHIVE.tar.xz [--allow-stubs]" >&2
  exit 2
fi
build=$1
archive=$2
if [[ ! -d $build ]]; then
  echo "pack.sh: no folder of a build ($build); build with the preset cuda, and give its folder" >&2
  exit 2
fi
# What CI builds may hold stubs of the GPU code; --allow-stubs is for the test of this script.
program=$(find "$build" -name hilbench -type f -perm -u+x -print -quit)
if [[ -n $program && $# = 2 ]] && "$program" --version | grep -q '^CUDA .* stubs of'; then
  echo "pack.sh: $build has stubs of the GPU code; ./quickstart.sh --setup --tests --cuda builds the code" >&2
  exit 4
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(mktemp -d)
trap 'rm -rf "$bundle"' EXIT

mkdir -p "$bundle/lib" "$bundle/bin" "$bundle/tests/"{program,fakes,baselines/external} "$bundle/baselines/external"
# copy_program NAME: copies the build's program or test program of that name, without symbols.
copy_program() {
  local found
  found=$(find "$build" -name "$1" -type f -perm -u+x -print -quit)
  if [[ -z $found ]]; then
    echo "pack.sh: no $1 in $build; configure with a CUDA compiler and -DHILBENCH_TESTS=ON" >&2
    exit 4
  fi
  strip -o "$bundle/bin/$1" "$found"
}
for program in hilbench cuda_tests cupti_tests cuda_faults_tests cuda_baselines_tests peer_tests ring_gpu_tests \
  ring_multigpu_tests ring_counters_gpu_tests ring_counters_multigpu_tests; do
  copy_program "$program"
done
# Built only if NCCL's header was found.
[[ -z $(find "$build" -name nccl_tests -type f -print -quit) ]] || copy_program nccl_tests
# CUPTI of a toolkit that quickstart.sh fetched: no other machine has it.
for library in "$build"/cuda-12.4/lib64/lib{cupti,nvperf_host,nvperf_target}.so*; do
  [[ ! -f $library || -L $library ]] || cp "$library" "$bundle/lib/"
done
# Libraries that every Linux with a C++ compiler has are left out.
usual='linux-vdso|ld-linux|libc\.so|libm\.so|libgcc_s|libstdc\+\+|libpthread|libdl|librt|libgomp'
for program in "$bundle"/bin/*; do
  ldd "$program" | awk '$3 ~ /^\// {print $3}' | { grep -Ev "/($usual)" || true; } | while read -r library; do
    cp -Lu "$library" "$bundle/lib/"
  done
done
cp -r "$root/sweeps" "$bundle/sweeps"
mkdir "$bundle/fakes"
cp "$build"/tests/fakes/*.so* "$bundle/fakes/"
for script in gpu_surroundings_test kernels_gpu_test kernel_cases launched_gpu_test launched program plain_attention; do
  cp "$root/tests/program/$script.py" "$bundle/tests/program/"
done
cp "$root"/baselines/external/*.py "$bundle/baselines/external/"
cp "$root"/tests/baselines/external/torch_{rivals,windows_test}.py "$bundle/tests/baselines/external/"
cp "$root/tests/fakes/rival.py" "$bundle/tests/fakes/"
cp "$root/reports/publish/run.sh" "$bundle/run.sh"
# The programs share most of their device code: a large dictionary stores it once.
tar c -C "$bundle" . | xz -T1 --lzma2=preset=1,dict=192MiB >"$archive"
echo "packed $(du -h "$archive" | cut -f1)"
