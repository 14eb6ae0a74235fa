#!/usr/bin/env python3
"""Includes run one way: a file includes only its own room and rooms above it in layers.txt.

A room is a folder with code. The test also checks that layers.txt names every room, that no room holds more than 24
units (a header and its source are one unit), and that no room holds more than a tenth of all lines.

Usage: layers_test.py [TREE]
"""

import collections
import os
import pathlib
import re
import sys

TOPS = ("kernels", "baselines", "reports", "harness")
SUFFIXES = (".hpp", ".cpp", ".cu", ".cuh")
INCLUDE = re.compile(r'\s*#\s*include\s+"((?:%s)/[^"]+)"' % "|".join(TOPS))
# Bans beside the order: the including rooms, the included rooms, why. A test of reports then links no kernel.
BANS = (
    (r"reports\b", r"kernels\b(?!/base/|/case$)", "reports use only base and case of kernels"),
    (r"kernels/cpu\b", r"kernels/cuda\b", "the processor's kernels and the GPU's do not know each other"),
    (r"kernels/cuda\b", r"kernels/cpu\b", "the processor's kernels and the GPU's do not know each other"),
)
MOST_UNITS = 24
MOST_SHARE = 0.1


def read_layers(text):
    """The line of each room: a room may include those with smaller numbers."""
    rooms = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {room: number for number, room in enumerate(rooms)}


def why_not(room, other, layers):
    """Why files of `room` may not include files of `other`, or None."""
    if room == other:
        return None
    if other not in layers:
        return "it is not in tests/layers.txt"
    if layers[other] > layers[room]:
        return "it stands below in tests/layers.txt"
    return next((why for rooms, others, why in BANS if re.match(rooms, room) and re.match(others, other)), None)


def check_includes(file, layers):
    room = file.parent.as_posix()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        include = INCLUDE.match(line)
        other = include and pathlib.PurePosixPath(include[1]).parent.as_posix()
        why = other and why_not(room, other, layers)
        if why:
            yield f"{file}:{number}: {room} must not include {other}: {why}"


def check_tree(layers):
    """Every fault of the tree in the current folder."""
    units, lines = collections.defaultdict(set), collections.Counter()
    for file in sorted(file for top in TOPS for file in pathlib.Path(top).rglob("*") if file.suffix in SUFFIXES):
        room = file.parent.as_posix()
        units[room].add(file.stem)
        lines[room] += len(file.read_text().splitlines())
        if room in layers:
            yield from check_includes(file, layers)
    for room in sorted(units):
        if room not in layers:
            yield f"{room}: this folder holds code and is not in tests/layers.txt"
        if len(units[room]) > MOST_UNITS:
            yield f"{room}: {len(units[room])} units, more than {MOST_UNITS}: split it"
        if lines[room] > MOST_SHARE * lines.total():
            yield f"{room}: {lines[room]} of {lines.total()} lines, more than a tenth: split it"


if __name__ == "__main__":
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    LAYERS = read_layers(pathlib.Path("tests/layers.txt").read_text())
    FAULTS = list(check_tree(LAYERS))
    print("\n".join(FAULTS) or f"{len(LAYERS)} rooms: every include runs up the list")
    sys.exit(bool(FAULTS))
