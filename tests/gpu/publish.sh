#!/usr/bin/env bash
# Renders the stores that run.sh brought back: for each OUT/SWEEP.tar.xz a folder FOLDER/SWEEP with records.jsonl.gz,
# report, tables and figures.
# Usage: tests/gpu/publish.sh OUT FOLDER      e.g. FOLDER reports/published/h200
set -euo pipefail

if [[ $# -ne 2 ]]; then
  echo "usage: tests/gpu/publish.sh OUT FOLDER" >&2
  exit 2
fi
out=$1
folder=$2
hilbench=$(cd "$(dirname "$0")/../.." && pwd)/build/hilbench
stores=$(mktemp -d)
trap 'rm -rf "$stores"' EXIT

for archive in "$out"/*.tar.xz; do
  name=$(basename "$archive" .tar.xz)
  tar xJf "$archive" -C "$stores"
  rm -rf "${folder:?}/$name"
  mkdir -p "$folder/$name"
  "$hilbench" report "$stores/$name" -o "$folder/$name" >/dev/null
  "$hilbench" export "$stores/$name" --format jsonl | gzip -9n >"$folder/$name/records.jsonl.gz"
  echo "$folder/$name"
done
