"""A published folder: records of its sweeps, and the tables that the program makes of them."""

import csv
import pathlib
import re
import tempfile

import render


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.sweeps = render.sweeps_of(path)
        self.known_records = {}
        self.scratch = None

    def records(self, sweep):
        """Records of variants. The twin of a reference shows noise alone: it is no variant and is left out."""
        if sweep not in self.known_records:
            records = render.records_of(self.path, sweep)
            self.known_records[sweep] = [record for record in records if not record.get("twin")]
        return self.known_records[sweep]

    def speedups(self, sweep):
        """Of each case and variant that has a speedup: what the program finds from its samples."""
        return {(row["case"], row["variant"]): {"against": row["against"], "ratio": float(row["speedup"]),
                                                "ci": [float(row["speedup_low"]), float(row["speedup_high"])],
                                                "verdict": row["verdict"].partition(",")[0], "margin": row["margin"]}
                for row in self.rows("comparison", sweep) if row["speedup"] and row["speedup_low"]}

    def rows(self, table, sweep=None):
        """Rows of tables/TABLE.csv of one sweep or of all, each with its sweep."""
        for name in [sweep] if sweep else self.sweeps:
            with open(self.tables(name) / f"{table}.csv", newline="") as file:
                for row in csv.DictReader(file):
                    yield {**render.shown(row), "in_sweep": name}

    def tables(self, sweep):
        """Folder of a sweep's tables, made on first use."""
        if self.scratch is None:
            self.scratch = tempfile.TemporaryDirectory()
        out = pathlib.Path(self.scratch.name) / sweep
        if not out.exists():
            render.render_tables(self.path, sweep, out)
        return out / "tables"


def own(rows):
    """Of answers over all cases of a sweep, only those that the claim's own sweep gives."""
    return (row for row in rows if row["case"] or row["in_sweep"] == row["claim"])


def value_of(record, counter):
    """A counter's value; None if it was not read."""
    return (record["counters"].get(counter) or {}).get("value")


class Published:
    """All published folders."""

    def __init__(self, root=render.TREE / "reports/published"):
        self.root = root
        self.known = {}

    def names(self):
        return sorted(path.name for path in self.root.iterdir() if render.sweeps_of(path))

    def folder(self, name):
        if name not in self.known:
            self.known[name] = Folder(self.root / name)
        return self.known[name]

    def folders(self):
        return [self.folder(name) for name in self.names()]

    def claim_titles(self):
        """Of each claim that the program knows, by its id: the title and how many figures it states."""
        lines = render.hilbench("list", "claims").splitlines()
        found = (re.fullmatch(r"(\S+) +(.*) \([\w, ]+\), (\d+) figures?;.*", line) for line in lines)
        return {line[1]: (line[2], line[3]) for line in found if line}
