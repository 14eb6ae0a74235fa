#!/usr/bin/env bash
# Builds this tree by `./quickstart.sh --cuda 12` on a clean root of Debian, and reads from the program which GPUs it has
# code for. Fetches packages from the mirrors that this machine uses, and takes a quarter of an hour on two cores or more.
# usage: cuda_12_test.sh [RELEASE...]     RELEASE: bookworm, trixie; default: both
# Exit status: 0 passed, 1 failed, 77 skipped: not root, no mmdebstrap, or no Debian.
set -euo pipefail
tree=$(cd "$(dirname "$0")/../.." && pwd)
releases=("$@")
[ $# -gt 0 ] || releases=(bookworm trixie)
most_fetched_mb=300 most_minutes=25  # of downloads beside Debian's packages; of processor time, fetching and building

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1"; exit 1; }
[ "$(id -u)" = 0 ] || skip "a clean root needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (Debian: mmdebstrap)"
keyring=/usr/share/keyrings/debian-archive-keyring
for suffix in pgp gpg ''; do [ -z "$suffix" ] || [ ! -e "$keyring.$suffix" ] || break; done
[ -n "$suffix" ] || skip "no $keyring.pgp or .gpg (debian-archive-keyring)"
site=$(apt-get indextargets --format '$(SITE) $(LABEL)' 'Created-By: Packages' 'Component: main' |
  awk '$2 == "Debian" {print $1; exit}')
[ -n "$site" ] || skip "apt has no list of a mirror of Debian (apt-get update)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# In a mount namespace of its own, so that /proc and /sys leave with it.
in_root() {
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && exec chroot "$@"' bash \
    "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -c "cd /tree && $1"
}

for release in "${releases[@]}"; do
  root=$scratch/$release
  echo "== a clean root of $release"
  mmdebstrap --quiet --variant=minbase --mode=root --include=ca-certificates,git "$release" "$root" \
    "deb [signed-by=$keyring.$suffix] $site $release main" || skip "mmdebstrap failed here"
  # What pip needs to reach its index from there: names, and certificates that are this machine's own.
  for file in etc/resolv.conf etc/hosts etc/pip.conf etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "/$file" ] || cp "/$file" "$root/$file"
  done
  git clone --quiet "$tree" "$root/tree"
  in_root true || skip "no mount namespaces here"
  in_root "apt-get update -qq && ./quickstart.sh --packages --cuda 12" 2>&1 | tee "$scratch/log" ||
    fail "quickstart.sh --packages --cuda 12 on $release"
  fetched=$(sed -n 's/.*CUDA 12: \([0-9]*\) MB fetched.*/\1/p' "$scratch/log")
  [ "${fetched:-1000}" -le $most_fetched_mb ] || fail "$release: ${fetched:-?} MB were fetched, more than $most_fetched_mb"
  [ -z "$(cd "$root/etc/apt" && find . -name '*.list' -o -name '*.sources' | xargs grep -l non-free)" ] ||
    fail "$release: the configuration of apt was changed"

  in_root "TIMEFORMAT='%U %S'; time ./quickstart.sh --setup --no-install --cuda 12" >"$scratch/log" 2>&1 ||
    { tail -30 "$scratch/log"; fail "quickstart.sh --setup --cuda 12 on $release"; }
  grep 'cuBLAS, cuDNN and NCCL are left out' "$scratch/log" || fail "$release: nothing says what is left out"
  minutes=$(tail -1 "$scratch/log" | awk '{printf "%d", ($1 + $2) / 60}')
  architectures=$(in_root "build/cuda-12.4/bin/cuobjdump -lelf build/hilbench" | grep -o 'sm_[0-9a]*' | sort -u | xargs)
  [ "$architectures" = "sm_61 sm_80 sm_90a" ] || fail "$release: code for '$architectures'"
  in_root "build/hilbench list kernels" >"$scratch/kernels"
  ! grep -E '^dilated_(simt|mma|wgmma) .*this build has no' "$scratch/kernels" || fail "$release: a kernel is left out"
  in_root "build/hilbench list counters --all" | grep -q '^default (cupti_events; compute capability 6.0' ||
    fail "$release: no counters for compute capability 6.0"
  ! grep -q "this build has no CUPTI Event API" "$root/tree/build/hilbench" || fail "$release: no Event API"
  in_root "./quickstart.sh --setup --cuda 12" >"$scratch/log" 2>&1 || { tail "$scratch/log"; fail "$release: the second call"; }
  ! grep -E 'fetching|installing' "$scratch/log" || fail "$release: something is fetched again"
  [ "$minutes" -le $most_minutes ] || fail "$release: $minutes minutes of processor time, more than $most_minutes"
  echo "$release: $fetched MB fetched, $minutes minutes of processor time, code for $architectures"
  rm -rf "$root"
done
echo "passed: CUDA 12 is fetched and builds on clean roots of ${releases[*]}"
