"""Python's strict readers read the jsonl, csv and gbench exports. usage: formats.py WRITE_EXPORTS"""

import csv
import json
import os
import subprocess
import sys
import tempfile


def refuse(constant):
    raise ValueError(f"not JSON: {constant}")


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def main(write_exports):
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "store")
        subprocess.run([write_exports, folder, "1.0"], check=True)
        with open(os.path.join(folder, "jsonl"), encoding="utf-8") as file:
            records = [json.loads(line, parse_constant=refuse) for line in file]
        with open(os.path.join(folder, "csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        for name in ("gbench", "gbench-summary"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                json.load(file, parse_constant=refuse)
        try:
            import pandas

            frame = pandas.read_csv(os.path.join(folder, "csv"))
            check(len(frame) == len(records), "pandas reads another number of rows")
            check(frame["time_median_ns"].dropna().gt(0).all(), "pandas reads no times")
        except ImportError:
            print("no pandas here: the csv module alone has read the csv export")
    check(len(records) == len(rows) == 6, "six records")
    keys = set(records[0])
    for record, row in zip(records, rows):
        check(set(record) == keys, "keys differ from record to record")
        check(None not in row and None not in row.values(), "a row has as many fields as the header")
        check(row["variant"] == record["variant"], "rows stand in the records' order")
        check(row["reason"] == (record["reason"] or ""), "text survives quoting")
        median = record["time_ns"] and record["time_ns"]["median"]
        check((float(row["time_median_ns"]) if row["time_median_ns"] else None) == median, "the same median")


main(*sys.argv[1:])
