#!/usr/bin/env python3
"""Checks the C++ lines that changed since a commit: clang-format by .clang-format, clang-tidy by .clang-tidy.

Usage: tests/changed_lines.py [--only format|tidy] [BASE]

BASE: a commit; without it, the one where this branch left main. What is not committed counts too, new files as soon as
git knows them (git add). A function counts as changed if one of its lines is. clang-tidy reads headers, and sources
that a build without CUDA compiles.
Exit status: 0 nothing found, 1 something found, 2 wrong usage, 4 a tool is missing.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[1]
DATABASE = TREE / "build/lint"
TO_FORMAT, TO_TIDY = ("*.cpp", "*.hpp", "*.cu", "*.cuh"), ("*.cpp", "*.hpp")
HUNK = re.compile(r"^@@ .*\+(\d+)(?:,(\d+))? @@")
FINDING = re.compile(r"^(?P<file>/[^:]+):(?P<line>\d+):\d+: (?P<kind>warning|error): ")
FUNCTION_LINES = re.compile(r": note: (\d+) lines including whitespace and comments")
MISSING_HEADER = re.compile(r"error: ('\S+' file not found)")


def fail(status, message):
    print(f"changed_lines.py: {message}", file=sys.stderr)
    sys.exit(status)


def run(*command):
    return subprocess.run(command, cwd=TREE, capture_output=True, text=True)


def need(*tools):
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        fail(4, f"no {', '.join(missing)} here; ./quickstart.sh --packages --tests installs what is missing")


def commit_of(base):
    """The commit to compare with."""
    for name in [base] if base else ["origin/main", "main"]:
        if run("git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").returncode == 0:
            return base or run("git", "merge-base", name, "HEAD").stdout.strip()
    fail(2, f"git knows no commit {base}" if base else "no branch main here; name a commit to compare with")


def changed_lines(base, patterns):
    """Of each file the changed lines that it has now, as pairs: first, last."""
    lines, file = {}, None
    diff = run("git", "diff", "-U0", "--no-color", "--no-ext-diff", "--no-prefix", "--diff-filter=d", base, "--",
               *patterns)
    for line in diff.stdout.splitlines():
        hunk = HUNK.match(line)
        if line.startswith("+++ "):
            file = line[4:].rstrip("\t")
        elif hunk and hunk[2] != "0":
            first = int(hunk[1])
            lines.setdefault(file, []).append((first, first + int(hunk[2] or 1) - 1))
    return lines


def check_format(base):
    """The changed lines that clang-format would write otherwise."""
    need("clang-format")
    for file, pairs in changed_lines(base, TO_FORMAT).items():
        ranges = [f"--lines={first}:{last}" for first, last in pairs]
        done = run("clang-format", "--style=file", "--dry-run", *ranges, file)
        yield from done.stderr.splitlines()


def configure():
    """Writes how sources are compiled, without headers that only GCC can read, and returns their paths."""
    need("clang-tidy", "clang++", "cmake", "ninja")
    done = run("cmake", "-S", ".", "-B", DATABASE, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DHILBENCH_CUDA=OFF",
               "-DHILBENCH_UNITY=OFF")
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        fail(4, "cmake cannot configure the tree; ./quickstart.sh --packages --tests installs what it needs")
    return {entry["file"] for entry in json.loads((DATABASE / "compile_commands.json").read_text())}


def findings_of(output):
    """The findings of clang-tidy: path, first and last line that it is about, whether it is an error, and its text."""
    texts = []
    for line in output.splitlines():
        if FINDING.match(line):
            texts.append([])
        if texts:
            texts[-1].append(line)
    for text in texts:
        place = FINDING.match(text[0])
        length = max((int(number[1]) for number in map(FUNCTION_LINES.search, text) if number), default=0)
        first = int(place["line"])
        yield place["file"], first, first + length, place["kind"] == "error", "\n".join(text)


def tidy(file, pairs):
    """What clang-tidy finds in these lines of a file."""
    output = run("clang-tidy", "-p", str(DATABASE), "--quiet", file).stdout
    missing = MISSING_HEADER.search(output)
    if missing:
        print(f"clang-tidy: not checked: {file}: {missing[1]}")
        return []
    return [text for path, first, last, error, text in findings_of(output)
            if error or (path == str(TREE / file) and any(a <= last and first <= b for a, b in pairs))]


def check_tidy(base):
    """What clang-tidy finds in changed lines."""
    lines = changed_lines(base, TO_TIDY)
    compiled = configure() if lines else set()
    for file in [file for file in lines if file.endswith(".cpp") and str(TREE / file) not in compiled]:
        print(f"clang-tidy: not checked: {file}: a build without CUDA does not compile it")
        del lines[file]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(tidy, lines, lines.values()):
            yield from found


CHECKS = {"format": (check_format, "`git clang-format --style file {}` mends it"),
          "tidy": (check_tidy, "CONTRIBUTING.md, Style, says the rules")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CHECKS)
    parser.add_argument("base", nargs="?", metavar="BASE")
    options = parser.parse_args()
    need("git")
    base = commit_of(options.base)
    status = 0
    for name in [options.only] if options.only else CHECKS:
        check, advice = CHECKS[name]
        found = list(check(base))
        print(*found, sep="\n", end="\n" if found else "")
        print(f"== clang-{name} since {base}: {advice.format(base) if found else 'nothing found'}")
        status = max(status, int(bool(found)))
    sys.exit(status)


if __name__ == "__main__":
    main()
