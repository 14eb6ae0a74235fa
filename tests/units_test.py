"""How many sources a build compiles: what grows here, every newcomer and every run of CI waits for.

Usage: units_test.py BUILD

Skipped if the build does not compile the sources of a folder as one, or has no build.ninja.
"""

import pathlib
import re
import sys

SKIPPED = 77
# Compilations of a first build by ./quickstart.sh and by ./test.sh, with some room. Who raises a number says why in the
# commit: a new room is a reason, a header that keeps a source out of its folder's unit is none.
MOST = {"program": 123, "program and tests": 216}


def compilations(text):
    return re.findall(r"^build (\S+): (?:CXX|C|CUDA)_COMPILER__", text, re.MULTILINE)


def main():
    build = pathlib.Path(sys.argv[1])
    ninja, cache = build / "build.ninja", build / "CMakeCache.txt"
    if not ninja.exists() or "HILBENCH_UNITY:BOOL=ON" not in cache.read_text():
        print(f"skipped: {build} is no unity build by Ninja")
        return SKIPPED
    found = compilations(ninja.read_text())
    counts = {"program": sum(not name.startswith("tests/") for name in found), "program and tests": len(found)}
    for what, count in counts.items():
        print(f"{what}: {count} compilations, at most {MOST[what]}")
    return int(any(counts[what] > MOST[what] for what in MOST))


if __name__ == "__main__":
    sys.exit(main())
