"""Reads published records, and makes tables of them with the program itself."""

import gzip
import json
import os
import pathlib
import re
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]


# What a terminal or a page may obey instead of showing it: controls, breaks of lines, changes of direction.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MARKUP = re.compile(r"([<\[|])")


class RenderError(Exception):
    """The program is missing, or refused the records."""


def program():
    """Path of hilbench: HILBENCH of the environment, or what the tree's build folder holds."""
    path = pathlib.Path(os.environ.get("HILBENCH") or TREE / "build/hilbench").absolute()
    if not os.access(path, os.X_OK):
        raise RenderError(f"no {path}; build it, or name it by HILBENCH")
    return path


def sweeps_of(folder):
    """Names of the sweeps whose records a published folder holds."""
    return sorted(path.parent.name for path in pathlib.Path(folder).glob("*/records.jsonl.gz"))


def shown(value):
    """Text of a record, or all texts in it, as Markdown that shows them: a record may come from a stranger."""
    if isinstance(value, str):
        return MARKUP.sub(r"\\\1", OBEYED.sub(" ", value))
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return {shown(key): shown(each) for key, each in value.items()}
    return value


def records_of(folder, sweep):
    """Records as they were stored, without twins. Speedups and verdicts are found by the program: see Folder."""
    with gzip.open(pathlib.Path(folder) / sweep / "records.jsonl.gz", "rt") as file:
        return [shown(record) for record in map(json.loads, file) if not record.get("twin")]


def render_tables(folder, sweep, out):
    """Writes tables, and a page without figures, which take most of the time."""
    hilbench("report", folder / sweep, "-o", out, "--charts", "none")


def hilbench(*arguments, **options):
    """What the program prints; its notes are dropped unless it fails."""
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RenderError(f"hilbench {' '.join(map(str, arguments))} ended with status {done.returncode}: "
                          f"{done.stderr.strip()}")
    return done.stdout
