#!/usr/bin/env bash
# Publishes results: writes the records of each sweep and the generated parts of the findings page FOLDER/README.md into
# the tree, and a site of FOLDER outside of it (hilbench site).
# Usage: reports/publish/publish.sh [-o SITE] OUT FOLDER   from the stores that run.sh wrote, OUT/SWEEP.tar.xz, and
#                                                           from what calibrate.sh wrote
#        reports/publish/publish.sh [-o SITE] FOLDER       from the records in FOLDER
# FOLDER is e.g. reports/published/h200; with OUT it can be auto: reports/published/ and the processor's name. Sweeps
# that OUT does not hold keep their records. SITE: where the site goes; default: build/site.
# The program is build/hilbench, or the one that HILBENCH names.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  echo "usage: reports/publish/publish.sh [-o SITE] [OUT] FOLDER" >&2
  exit 2
}
site=$here/../../build/site
[[ ${1:-} != --help ]] || set -- -h
while getopts o:h option; do
  case $option in
    o) site=$OPTARG ;;
    h) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[[ $# -eq 1 || $# -eq 2 ]] || usage
folder=${*: -1}
[[ -n $folder ]] || usage
export HILBENCH=${HILBENCH:-$here/../../build/hilbench}
if [[ ! -x $HILBENCH ]]; then
  echo "publish.sh: no $HILBENCH; build it, or name it by HILBENCH" >&2
  exit 4
fi
stores=$(mktemp -d)
trap 'rm -rf "$stores"' EXIT

# take ARCHIVE: its store, alone, into a folder of its own below $stores. Who made the archive may be a stranger.
take() {
  local name
  name=$(basename "$1" .tar.xz)
  if [[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9._-]*$ ]]; then
    echo "publish.sh: '$1' is not named as run.sh names the archive of a sweep" >&2
    exit 2
  fi
  mkdir "$stores/$name"
  python3 "$here/store.py" take "$1" "$stores/$name/results.sqlite"
  # hilbench refuses what is no store, before anything else opens it.
  "$HILBENCH" export "$stores/$name" --format jsonl >"$stores/records.jsonl"
}

# publish_store ARCHIVE: a store becomes records.jsonl.gz and meta.json, which is all that a report needs.
publish_store() {
  local name
  name=$(basename "$1" .tar.xz)
  take "$1"
  python3 "$here/store.py" meta "$stores/$name/results.sqlite" "$stores/meta.json"
  python3 "$here/store.py" records "$stores/records.jsonl" "$stores/records.jsonl.gz"
  mkdir -p "$folder/$name"
  mv "$stores/records.jsonl.gz" "$stores/meta.json" "$folder/$name/"
  rm -r "${stores:?}/$name"
  "$HILBENCH" check "$folder/$name" >"$stores/check" ||
    { echo 'publish.sh: note: `hilbench check` finds:'; sed -n 's/^not ok/  &/p; $s/^/  /p' "$stores/check"; } >&2
}

# publish_gates OUT: what calibrate.sh found of gates.
publish_gates() {
  local table
  for table in gates pairs; do
    [[ ! -e $1/$table.csv ]] ||
      python3 "$here/store.py" gates "$1/$table.csv" "$folder/calibration/$table.csv.gz"
  done
  [[ ! -e $1/self-test.txt ]] || cp "$1/self-test.txt" "$folder/calibration/"
}

if [[ $# -eq 2 ]]; then
  archives=("$1"/*.tar.xz)
  if [[ ! -e ${archives[0]} ]]; then
    echo "publish.sh: '$1' holds no stores of run.sh" >&2
    exit 2
  fi
  if [[ $folder == auto ]]; then
    take "${archives[0]}"
    folder=$here/../../reports/published/$(python3 "$here/store.py" name "$stores"/*/results.sqlite)
    rm -r "${stores:?}"/*
  fi
  for archive in "${archives[@]}"; do publish_store "$archive"; done
  publish_gates "$1"
fi
"$HILBENCH" site "$folder" -o "$site"
python3 "$here/generated_blocks.py" fill "$folder"
[[ ! $folder/.. -ef $here/../published ]] || python3 "$here/flex_choices.py" fill  # FlexAttention's, of all folders
