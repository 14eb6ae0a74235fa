#!/usr/bin/env bash
# Installs the .deb of a build folder on a clean root of this release of Debian or Ubuntu, and runs the program there.
# Takes minutes, and packages from the mirrors that this machine uses.
# usage: deb_test.sh BUILD_FOLDER [WHEEL]     WHEEL: tried on the same root, with the libraries that the package needs
# Exit status: 0 passed, 1 failed, 77 skipped: not root, or no mmdebstrap.
set -euo pipefail
build=$(realpath "${1:?usage: deb_test.sh BUILD_FOLDER [WHEEL]}")
wheel=${2:+$(realpath "$2")}

skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" = 0 ] || skip "a clean root needs root"
command -v mmdebstrap >/dev/null || skip "no mmdebstrap (Debian: mmdebstrap)"
command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-shlibdeps (Debian: dpkg-dev)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$build" && cpack -G DEB -B "$scratch/packed" >"$scratch/cpack.log") || { cat "$scratch/cpack.log"; exit 1; }
package=$(ls "$scratch"/packed/*.deb)
dpkg-deb --info "$package" | sed -n 's/^ \(Package\|Version\|Depends\|Recommends\):/  \1:/p'

release=$(. /etc/os-release && echo "$ID ${VERSION_CODENAME:-}")
sources=/etc/apt/sources.list.d/${release% *}.sources
[ -s "$sources" ] || sources=/etc/apt/sources.list
[ -s "$sources" ] || skip "apt has no sources of $release here"
echo "== a clean root of $release"
mmdebstrap --quiet --variant=minbase --mode=root "${release#* }" "$scratch/root" - <"$sources" || skip "mmdebstrap failed here"

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
version=$(in_root hilbench --version | sed -n 1p)
echo "$version"
[[ $version == "hilbench $(dpkg-deb -f "$package" Version) "* ]] ||
  { echo "FAILED: the package has another version"; exit 1; }
in_root hilbench list orders | grep -q hilbert
in_root hilbench plan /usr/share/hilbench/sweeps/quick.yaml --device cpu | grep -q 'dilated/hilbert'
in_empty_folder() { in_root bash -c 'mkdir -p /tmp/empty && cd /tmp/empty && exec hilbench "$@"' bash "$@"; }
measure() { in_empty_folder "$@" >"$scratch/run.log" 2>&1 || { cat "$scratch/run.log"; exit 1; }; }
measure run quick --budget 0.1
in_empty_folder export results/quick --format csv | grep -q 'dilated/hilbert'
measure report results/quick
grep -q 'libjs-vega' "$scratch/run.log" || { cat "$scratch/run.log"; echo "FAILED: nothing says what figures need"; exit 1; }
echo "== with what it recommends"
in_apt install -y --no-install-recommends $(dpkg-deb -f "$package" Recommends | tr -d ,)
measure run quick --fresh --budget 0.1
measure report results/quick
for figure in rates times speedup_length; do
  for kind in svg png; do
    [ -s "$scratch/root/tmp/empty/results/quick/figures/$figure.$kind" ] ||
      { cat "$scratch/run.log"; echo "FAILED: no figure $figure.$kind"; exit 1; }
  done
done
grep -q 'const vega' "$scratch/root/tmp/empty/results/quick/report.html" || { echo "FAILED: no charts"; exit 1; }
for file in share/man/man1/hilbench.1 share/bash-completion/completions/hilbench share/hilbench/sweeps/sweep.schema.json \
  share/doc/hilbench/docs/sweeps.md share/doc/hilbench/LICENSE; do
  ls "$scratch/root/usr/$file"* >/dev/null || { echo "FAILED: no /usr/$file"; exit 1; }
done
in_root dpkg --purge hilbench >/dev/null
[ ! -e "$scratch/root/usr/bin/hilbench" ] || { echo "FAILED: purging leaves the program"; exit 1; }

if [ -n "$wheel" ]; then
  echo "== the wheel"
  cp "$wheel" "$scratch/root/tmp"
  in_apt install -y --no-install-recommends python3-pandas python3-pip
  in_root env PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --no-index \
    "/tmp/$(basename "$wheel")"
  [ "$(in_root hilbench --version | sed -n 1p)" = "$version" ] ||
    { echo "FAILED: the wheel has another version or commit than the package"; exit 1; }
  in_root python3 -c 'import hilbench; assert len(hilbench.load("/tmp/empty/results/quick").records)'
fi
echo "passed: the package installs, runs and leaves on a clean root of $release"
