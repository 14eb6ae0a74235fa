#!/usr/bin/env bash
# Writes a published folder anew: report, tables, figures and records of each sweep, what `predict` makes of rings, and
# the generated parts of the findings page FOLDER/README.md.
# Usage: reports/publish/publish.sh OUT FOLDER   from the stores that run.sh brought back, OUT/SWEEP.tar.xz
#        reports/publish/publish.sh FOLDER       from the records that FOLDER holds: what a changed report makes of them
# e.g. FOLDER reports/published/h200; auto: reports/published/ and the processor's name. Sweeps of FOLDER that OUT does not
# hold are rendered from their records.
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 ]]; then
  echo "usage: reports/publish/publish.sh [OUT] FOLDER" >&2
  exit 2
fi
folder=${*: -1}
here=$(cd "$(dirname "$0")" && pwd)
hilbench=${HILBENCH:-$here/../../build/hilbench}
if [[ ! -x $hilbench ]]; then
  echo "publish.sh: no $hilbench; build it, or name it by HILBENCH" >&2
  exit 4
fi
stores=$(mktemp -d)
trap 'rm -rf "$stores"' EXIT

if [[ $folder == auto ]]; then
  archives=("$1"/*.tar.xz)
  tar xJf "${archives[0]}" -C "$stores"
  folder=$here/../../reports/published/$(python3 "$here/findings.py" name "$stores"/*/results.sqlite)
  rm -r "${stores:?}"/*
fi

# A store becomes records.jsonl.gz and meta.json, which is all that a report needs.
if [[ $# -eq 2 ]]; then
  archives=("$1"/*.tar.xz)
  if [[ ! -e ${archives[0]} ]]; then
    echo "publish.sh: '$1' holds no stores of run.sh" >&2
    exit 2
  fi
  for archive in "${archives[@]}"; do
    name=$(basename "$archive" .tar.xz)
    tar xJf "$archive" -C "$stores"
    "$hilbench" export "$stores/$name" --format jsonl >"$stores/records.jsonl"
    python3 "$here/findings.py" meta "$stores/$name/results.sqlite" "$stores/meta.json"
    gzip -9n "$stores/records.jsonl"
    mkdir -p "$folder/$name"
    mv "$stores/records.jsonl.gz" "$stores/meta.json" "$folder/$name/"
    rm -r "${stores:?}/$name"
  done
fi
shopt -s nullglob
published=("$folder"/*/records.jsonl.gz)
if [[ -z $folder || ${#published[@]} -eq 0 ]]; then
  echo "publish.sh: '$folder' holds no published records" >&2
  exit 2
fi
for records in "${published[@]}"; do
  name=$(basename "$(dirname "$records")")
  mkdir -p "$stores/$name"
  gunzip -c "$records" >"$stores/$name/records.jsonl"
  cp "$folder/$name/meta.json" "$stores/$name/"
  "$hilbench" report "$stores/$name" -o "$stores/page" --charts none >/dev/null  # the library stays out of the tree
  if grep -q '"ring_size":2' "$stores/$name/records.jsonl"; then
    fitted=0
    "$hilbench" predict "$stores/$name" --format markdown >"$stores/page/predict.md" 2>"$stores/why" || fitted=$?
    cat "$stores/why" >&2
    if [[ $fitted -ne 0 ]]; then
      grep -q 'no model can be fitted' "$stores/why" || exit 1
      rm "$stores/page/predict.md"
    fi
  fi
  rm -rf "${folder:?}/$name/"{tables,figures,predict.md}
  cp -r "$stores/page/." "$folder/$name/"
  rm -r "$stores/page"
  echo "$folder/$name"
done
python3 "$here/findings.py" page "$folder"
