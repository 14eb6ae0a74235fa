#!/usr/bin/env python3
"""What is published of a store of results, a results.sqlite, and of gates.

store.py meta STORE FILE       writes what a report needs of a store beside its records, as JSON
store.py take ARCHIVE FILE     takes NAME/results.sqlite of NAME.tar.xz, a regular file, and nothing else; FILE is new
store.py name STORE            prints what a folder for results of the store's machine is called
store.py records JSONL FILE    writes exported records as they are published, compressed: numbers that are no integers
                               have seven digits; those behind them are noise, and fill a quarter of the file
store.py gates CSV FILE        writes gates.csv or pairs.csv of calibrate.sh compressed; FILE stays as it is if CSV is
                               damaged
"""

import gzip
import json
import lzma
import pathlib
import re
import shutil
import sqlite3
import sys
import tarfile

import gate_tables

LARGEST_STORE = 1 << 30
META_KEYS = ("sweep", "title", "question", "description", "sweep_file", "claims", "chain", "command")


def take(archive, file):
    """A stranger's archive may hold links, devices, or paths out of its folder: only the bytes of one file are read."""
    wanted = f"{pathlib.Path(archive).name.removesuffix('.tar.xz')}/results.sqlite"
    with tarfile.open(archive, "r|xz") as members, open(file, "xb") as target:
        for member in members:
            if member.name.removeprefix("./") != wanted:
                continue
            if not member.isreg():
                raise ValueError(f"{wanted} is no regular file")
            if member.size > LARGEST_STORE:
                raise ValueError(f"{wanted} has {member.size} bytes, which no store has")
            shutil.copyfileobj(members.extractfile(member), target)
            return
    raise ValueError(f"it holds no {wanted}")


def meta(store):
    known = dict(store.execute("select key, value from meta"))
    return json.dumps({key: known[key] for key in META_KEYS if key in known}, indent=1) + "\n"


def machine_name(store):
    """"Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" with 16 cores: intel-xeon-platinum-8481c-16core."""
    hosts = (json.loads(text)["host"] for text, in store.execute("select json from environment"))
    host = max(hosts, key=lambda one: one["cores"])
    words = re.sub(r"\((r|tm)\)|@.*|\b(cpu|processor|\d+-core)\b", " ", host["cpu"].lower())
    return "-".join(re.findall(r"[a-z0-9]+", words) + [f"{host['cores']}core"])


def with_seven_digits(value):
    if isinstance(value, float):
        return value if value.is_integer() else float(f"{value:.7g}")
    if isinstance(value, list):
        return [with_seven_digits(each) for each in value]
    if isinstance(value, dict):
        return {key: with_seven_digits(each) for key, each in value.items()}
    return value


def records(lines):
    """The same bytes for the same records."""
    for line in lines:
        yield json.dumps(with_seven_digits(json.loads(line)), separators=(",", ":"), ensure_ascii=False) + "\n"


def write_records(path, file):
    with open(path, encoding="utf-8") as lines, open(file, "wb") as target:
        with gzip.GzipFile("", "wb", 9, target, mtime=0) as packed:
            for line in records(lines):
                packed.write(line.encode())


def main(command, path, *file):
    if command == "records":
        return write_records(path, *file)
    if command == "take":
        return take(path, *file)
    if command == "gates":
        return gate_tables.publish(path, *file)
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        store.text_factory = lambda text: text.decode(errors="replace")  # commands name folders, in whatever bytes
        if command == "meta":
            pathlib.Path(*file).write_text(meta(store))
        else:
            print(machine_name(store))


if __name__ == "__main__":
    if len(sys.argv) != {"gates": 4, "meta": 4, "name": 3, "records": 4, "take": 4}.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except gate_tables.DamagedTable as error:
        sys.exit(f"store.py: {error}")
    except (OSError, sqlite3.Error, tarfile.TarError, lzma.LZMAError, KeyError, TypeError,
            ValueError) as error:
        sys.exit(f"store.py: {sys.argv[2]}: {error!r}")
