#!/usr/bin/env bash
# Keeps Pascal (GTX 1080, sm_61) alive: fetches Debian's CUDA 11.8, the last toolkit in a Debian release that builds
# for it, compiles the project's CUDA code for sm_61 with it and links the counters of CUPTI's Event API.
#   tests/sm_61.sh FOLDER            fetch into FOLDER (883 MB of packages, 3.5 GB unpacked; kept between runs), build
#   tests/sm_61.sh FOLDER --fetch    fetch only
# Needs a Debian release that has CUDA 11.8 (bookworm); no root: packages are unpacked, not installed.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
tree=$(cd "$(dirname "$0")/.." && pwd)
packages=(nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcudart11.0 libcupti-dev libcupti11.8
          g++-11 gcc-11 gcc-11-base cpp-11 libgcc-11-dev libstdc++-11-dev)

# An apt of its own over this machine's first Debian mirror, with the component non-free.
fetch() {
  local apt="$folder/apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$folder/packages"
  read -r site release < <(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Component: main')
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  echo "deb ${keyring:+[signed-by=$keyring]} $site $release main non-free" >"$apt/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
                 -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" -o "APT::Sandbox::User=$(id -un)")
  apt-get "${options[@]}" update
  (cd "$folder/packages" && apt-get "${options[@]}" download "${packages[@]}")
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder"; done
  rm -r "$apt" "$folder/packages"
  touch "$folder/fetched"
}

[ -e "$folder/fetched" ] || fetch
