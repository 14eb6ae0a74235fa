"""Strict readers of Python read every export. usage: formats.py WRITE_EXPORTS"""

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


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_trackers(other, timed):
    """What Bencher (its Metric Format) and github-action-benchmark (its custom tools) read."""
    names = {record["case"] + "/" + record["variant"]: record for record in timed}
    check(set(other["bencher"]) == set(names), "bencher: a benchmark for each timed record")
    for name, measures in other["bencher"].items():
        check(0 < len(name) <= 1024 and measures, "bencher: names and measures")
        for measure, metric in measures.items():
            check(len(measure) <= 64 and set(metric) <= {"value", "lower_value", "upper_value"}, "bencher: a metric")
            check("value" in metric and all(map(number, metric.values())), "bencher: numbers")
        latency, time = measures["latency"], names[name]["time_ns"]
        check([latency["lower_value"], latency["upper_value"]] == time["ci"], "bencher: the interval")
        check(latency["value"] == time["median"], "bencher: the median in ns")
    rows = other["github"]
    check(sorted(row["name"] for row in rows) == sorted(names), "github: a row for each timed record")
    for row in rows:
        check(number(row["value"]) and isinstance(row["unit"], str), "github: value and unit")
        check(all(isinstance(row.get(key, ""), str) for key in ("range", "extra")), "github: texts")


def main(write_exports):
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "store")
        subprocess.run([write_exports, folder, "1.0"], check=True)
        with open(os.path.join(folder, "jsonl"), encoding="utf-8") as file:
            records = [json.loads(line, parse_constant=refuse) for line in file]
        with open(os.path.join(folder, "csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        other = {}
        for name in ("gbench", "bencher", "github"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                other[name] = json.load(file, parse_constant=refuse)
    check_trackers(other, [record for record in records if record["status"] == "ok" and not record["twin"]])
    check(len(records) == len(rows) == 8, "eight records")
    check(sum(record["twin"] for record in records) == 2, "two twins")
    keys = set(records[0])
    for record, row in zip(records, rows):
        check(set(record) == keys, "keys differ from record to record")
        check(None not in row and None not in row.values(), "a row has as many fields as the header")
        check(row["variant"] == record["variant"], "rows stand in the records' order")
        check(row["twin"] == json.dumps(record["twin"]), "twins are marked")
        check(row["reason"] == (record["reason"] or ""), "text survives quoting")
        median = record["time_ns"] and record["time_ns"]["median"]
        check((row["time_median_ns"] != "") == (median is not None), "a median, or none")
        if median is not None:  # rounded to the second digit of half its interval
            low, high = record["time_ns"]["ci"]
            check(abs(float(row["time_median_ns"]) - median) <= (high - low) / 2 / 20, "the same median")
            check(len(row["time_median_ns"].rstrip("0")) <= 5, "no digits that are noise: the interval has about 1 %")
        check(row["hostname"] == "made-up-host", "the machine's name")


main(*sys.argv[1:])
