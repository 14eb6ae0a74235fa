#!/usr/bin/env python3
"""Reads what a store of results holds beside its records.

store.py meta STORE FILE   writes what a report needs of a store beside its records, as JSON
store.py name STORE        prints what a folder for results of the store's machine is called

STORE is a results.sqlite.
"""

import json
import pathlib
import re
import sqlite3
import sys

META_KEYS = ("sweep", "title", "question", "description", "sweep_file", "claims", "command")


def meta(store):
    known = dict(store.execute("select key, value from meta"))
    return json.dumps({key: known[key] for key in META_KEYS if key in known}, indent=1) + "\n"


def machine_name(store):
    """"Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" with 16 cores: intel-xeon-platinum-8481c-16core."""
    hosts = (json.loads(text)["host"] for text, in store.execute("select json from environment"))
    host = max(hosts, key=lambda one: one["cores"])
    words = re.sub(r"\((r|tm)\)|@.*|\b(cpu|processor|\d+-core)\b", " ", host["cpu"].lower())
    return "-".join(re.findall(r"[a-z0-9]+", words) + [f"{host['cores']}core"])


def main(command, path, *file):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        if command == "meta":
            pathlib.Path(*file).write_text(meta(store))
        else:
            print(machine_name(store))


if __name__ == "__main__":
    if len(sys.argv) != {"meta": 4, "name": 3}.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except (OSError, sqlite3.Error, KeyError, TypeError, ValueError) as error:
        sys.exit(f"store.py: {sys.argv[2]}: {error!r}")
