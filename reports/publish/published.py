"""A published folder: its sweeps, tables and records, and how their values read in Markdown."""

import csv
import gzip
import json
import pathlib
import re


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.sweeps = sorted(p.parent.name for p in self.path.glob("*/records.jsonl.gz"))

    def rows(self, table, sweep=None):
        """Rows of tables/TABLE.csv of one sweep or of all, each with its sweep."""
        for name in [sweep] if sweep else self.sweeps:
            with open(self.path / name / "tables" / f"{table}.csv", newline="") as file:
                for row in csv.DictReader(file):
                    yield {**row, "in_sweep": name}

    def records(self, sweep):
        with gzip.open(self.path / sweep / "records.jsonl.gz", "rt") as file:
            return [json.loads(line) for line in file]


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def number(text, digits=4):
    if text in ("", None):
        return ""
    value = float(text)
    return f"{value:.{digits}g}" if abs(value) < 1 else f"{value:.{max(digits - len(str(int(abs(value)))), 0)}f}"


def span(values, digits=3, sign=""):
    values = [float(value) for value in values if value != ""]
    if not values:
        return ""
    least, most = (f"{end:{sign}.{digits}f}" for end in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def interval(row, key="speedup"):
    if row[key] == "":
        return ""
    return f"{float(row[key]):.3f} [{float(row[key + '_low']):.3f}, {float(row[key + '_high']):.3f}]"


def work(case):
    """n8192-w4096-r2-h8-d64-fp32-p1-cuda as 'n 8192, 4096/2, h 8, d 64, fp32' and what else its id tells."""
    parts = case.split("-")
    segments, dilations = parts[1][1:].split("."), parts[2][1:].split(".")
    pattern = " + ".join(f"{w}/{r}" for w, r in zip(segments, dilations))
    rest = [part.replace(".", " ", 1) for part in parts[8:]]
    return ", ".join([f"n {parts[0][1:]}, {pattern}, h {parts[3][1:]}, d {parts[4][1:]}, {parts[5]}"] + rest)


def own(rows):
    """Of answers over all cases of a sweep those alone that the claim's own sweep gives."""
    return (row for row in rows if row["case"] or row["in_sweep"] == row["claim"])


def chosen(rows, variants):
    """Rows of kernels whose variant, behind the kernel's name, matches `variants`."""
    return [row for row in rows if "/" in row["variant"]
            and re.fullmatch(variants or ".*", row["variant"].split("/", 1)[1])]


def grouped(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
