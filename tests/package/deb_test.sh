#!/usr/bin/env bash
# Installs the .deb of a build folder on a clean Debian 12, and runs the program there. Takes minutes, and packages from
# the mirrors that this machine uses.
# usage: deb_test.sh BUILD_FOLDER
# Exit status: 0 passed, 1 failed, 77 skipped: not root, or no mmdebstrap.
set -euo pipefail
build=$(realpath "${1:?usage: deb_test.sh BUILD_FOLDER}")

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "a clean root needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (Debian: mmdebstrap)"
command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-shlibdeps (Debian: dpkg-dev)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$build" && cpack -G DEB -B "$scratch/packed" >"$scratch/cpack.log") || { cat "$scratch/cpack.log"; exit 1; }
package=$(ls "$scratch"/packed/*.deb)
dpkg-deb --info "$package" | sed -n 's/^ \(Package\|Version\|Depends\|Recommends\):/  \1:/p'

sources=/etc/apt/sources.list.d/debian.sources
[ -s "$sources" ] || sources=/etc/apt/sources.list
[ -s "$sources" ] || skip "apt has no sources of Debian here"
echo "== a clean root"
mmdebstrap --quiet --variant=minbase --mode=root bookworm "$scratch/root" - <"$sources" || skip "mmdebstrap failed here"

cp "$package" "$scratch/root/tmp/hilbench.deb"
for file in resolv.conf hosts; do cp "/etc/$file" "$scratch/root/etc/$file"; done
# In a mount namespace of its own, so that /proc and /sys leave with it.
in_root() {
  unshare --mount bash -c 'mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && exec chroot "$@"' bash \
    "$scratch/root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
in_root true || skip "no mount namespaces here"
echo "== install"
in_apt() {
  in_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Sandbox::User=root "$@" >>"$scratch/install.log" 2>&1 ||
    { tail -30 "$scratch/install.log"; exit 1; }
}
in_apt update
in_apt install -y --no-install-recommends /tmp/hilbench.deb

echo "== run"
in_root hilbench --version
in_root hilbench list orders | grep -q hilbert
in_root hilbench plan /usr/share/hilbench/sweeps/quick.yaml --device cpu | grep -q 'dilated/hilbert'
cat >"$scratch/root/tmp/small.yaml" <<'SWEEP'
name: small
axes: {sequence_length: 33, segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1, device: cpu}
variants: [{kernel: dilated, order: [linear, hilbert]}]
measure: {budget_s: 0.05, min_rounds: 4}
SWEEP
in_root hilbench run /tmp/small.yaml -o /tmp/out >"$scratch/run.log" 2>&1 || { cat "$scratch/run.log"; exit 1; }
in_root hilbench export /tmp/out --format csv | grep -q 'dilated/hilbert'
for file in share/man/man1/hilbench.1 share/bash-completion/completions/hilbench share/hilbench/sweeps/sweep.schema.json \
  share/doc/hilbench/docs/sweeps.md share/doc/hilbench/LICENSE; do
  ls "$scratch/root/usr/$file"* >/dev/null || { echo "FAILED: no /usr/$file"; exit 1; }
done
in_root dpkg --purge hilbench >/dev/null
[ ! -e "$scratch/root/usr/bin/hilbench" ] || { echo "FAILED: purging leaves the program"; exit 1; }
echo "passed: the package installs, runs and leaves on a clean Debian 12"
