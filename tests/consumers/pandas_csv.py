"""pandas reads the csv export with the types that the jsonl export has. usage: pandas_csv.py WRITE_EXPORTS"""

import json
import math
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def agrees(median, time):
    """The csv rounds to the second digit of half the interval: by a twentieth of that half at most."""
    low, high = time["ci"]
    return abs(median - time["median"]) <= (high - low) / 2 / 20


def check_samples(frame, records):
    """A row for each sample, with all digits, in the sequence of the records."""
    flat = [sample for record in records if record["time_ns"] for process in record["time_ns"]["samples"]
            for sample in process]
    check(list(frame["time_ns"]) == flat, "csv-samples: the same samples")
    check(set(frame["process"]) == {0, 1} and set(frame["round"]) == set(range(10)), "csv-samples: process and round")
    check(frame["twin"].dtype == bool and frame["twin"].sum() == 40, "csv-samples: twins are marked")
    check(frame["energy_j"].isna().all(), "csv-samples: no energy")


def main(write_exports):
    try:
        import pandas
    except ImportError:
        print("skipped: no pandas (Debian: python3-pandas; PyPI: pandas)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "store")
        subprocess.run([write_exports, folder, "1.0"], check=True)
        frame = pandas.read_csv(os.path.join(folder, "csv"), float_precision="round_trip")
        with open(os.path.join(folder, "jsonl"), encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        samples = pandas.read_csv(os.path.join(folder, "csv-samples"), float_precision="round_trip")
    check_samples(samples, records)
    check(len(frame) == len(records), "a row for each record")
    check(not any(name.startswith("Unnamed") for name in frame.columns), "every column has a name")
    check(frame.columns.is_unique, "names of columns are unique")
    for name in ("time_median_ns", "time_ci_low_ns", "sequence_length", "threads", "counter_page_faults"):
        check(pandas.api.types.is_numeric_dtype(frame[name]), f"{name} is a number")
    check(frame["causal"].dtype == bool, "causal is true or false")
    for row, record in zip(frame.to_dict("records"), records):
        check(row["variant"] == record["variant"], "rows stand in the records' order")
        time = record["time_ns"]
        check(math.isnan(row["time_median_ns"]) if time is None else agrees(row["time_median_ns"], time),
              "the same median, or none")
        if time is not None:
            check(len(time["samples"]) == 2, "samples of two processes")
            samples = [sample for process in time["samples"] for sample in process]
            check([float(part) for part in row["time_samples_ns"].split()] == samples, "the same samples")
    check(frame.groupby("variant")["time_median_ns"].median().notna().sum() == 3, "grouping works")
    return 0


sys.exit(main(*sys.argv[1:]))
