#!/usr/bin/env python3
"""What a run of CTest did, from its JUnit file: how many tests of each kind passed, failed and were skipped, the
slowest entries, and the names of what failed and what was skipped, by reason.

CTest counts entries: an entry holds a suite of GoogleTest or a class of Python's unittest. Here every test counts.

Usage: summary.py FILE.xml [NAME_OF_THE_RUN]
The file comes from `ctest --output-junit FILE.xml`, with --test-output-size-passed and --test-output-size-failed so
large that no output is cut.
"""

import re
import sys
import xml.etree.ElementTree

SLOWEST = 10
KINDS = ("GoogleTest cases", "Python tests", "other programs")
GTEST_END = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+)[^\n]*\(\d+ ms\)")
GTEST_WHY = re.compile(r"Skipped\n([^\n]*)(?:(?!Skipped\n).)*?\[  SKIPPED \] (\S+) \(", re.DOTALL)
PYTHON_SKIP = re.compile(r"^(\w+) \((?:__main__\.)?([\w.]+)\)(?:\n[^\n]*)? \.\.\. skipped (.*)$", re.MULTILINE)
PYTHON_FAIL = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([^)]*)\)", re.MULTILINE)


class Entry:
    """One entry of CTest: its tests by name, each with "passed", "failed" or "skipped", and why those were skipped."""

    def __init__(self, name, status, seconds, text):
        self.name, self.seconds, self.why = name, seconds, {}
        if "[==========] Running" in text:
            self.kind, self.tests = KINDS[0], self.of_gtest(text)
        elif re.search(r"^Ran \d+ tests? in", text, re.MULTILINE):
            self.kind, self.tests = KINDS[1], self.of_unittest(text)
        else:
            self.kind, self.tests = KINDS[2], {name: {"run": "passed", "notrun": "skipped"}.get(status, "failed")}
            lines = text.strip().splitlines()
            self.why[name] = lines[-1] if lines else "no reason given"
        if status == "notrun":  # CTest found the words by which a test says that it cannot run here
            self.tests = {test: "skipped" if result == "failed" else result for test, result in self.tests.items()}
        if status == "fail" and "failed" not in self.tests.values():
            self.tests[f"{name} (beside its tests)"] = "failed"

    def of_gtest(self, text):
        # A test that began and did not end has crashed, or hung until CTest stopped it.
        tests = dict.fromkeys(re.findall(r"\[ RUN      \] (\S+)", text), "failed")
        for word, test in GTEST_END.findall(text):
            tests[test] = {"OK": "passed", "SKIPPED": "skipped"}.get(word, "failed")
        self.why = {test: why for why, test in GTEST_WHY.findall(text)}
        return tests

    def of_unittest(self, text):
        tests = {f"{self.name}.{test}": "failed" for test, _ in PYTHON_FAIL.findall(text)}
        for test, _, why in PYTHON_SKIP.findall(text):
            tests[f"{self.name}.{test}"] = "skipped"
            self.why[f"{self.name}.{test}"] = why.strip("'\"")
        said = re.search(r"skipped=(\d+)", text)
        for number in range(list(tests.values()).count("skipped"), int(said[1]) if said else 0):
            tests[f"{self.name} (skipped, unnamed {number + 1})"] = "skipped"
        # Those that passed have no names here: some scripts print dots.
        ran = sum(map(int, re.findall(r"^Ran (\d+) tests? in", text, re.MULTILINE)))
        for number in range(len(tests), ran):
            tests[f"{self.name} #{number + 1}"] = "passed"
        return tests


def read(file):
    entries = []
    for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        status, skipped = case.get("status"), case.find("skipped")
        if status == "notrun" and skipped is not None and not skipped.get("message", "").startswith("SKIP_"):
            status = "fail"  # its program is not there
        entries.append(Entry(case.get("name"), status, float(case.get("time") or 0), case.findtext("system-out") or ""))
    return entries


def count_text(entries, kind):
    results = [result for entry in entries if entry.kind == kind for result in entry.tests.values()]
    parts = [f"{results.count(result)} {result}" for result in ("passed", "failed", "skipped")]
    return f"{len(results):5d} {kind}: {', '.join(parts)}"


def summary(entries, name):
    seconds = sum(entry.seconds for entry in entries)
    lines = [f"== {name}: {len(entries)} entries of CTest, {seconds:.0f} s one after another"]
    lines += [count_text(entries, kind) for kind in KINDS]
    lines.append("slowest:")
    slowest = sorted(entries, key=lambda entry: -entry.seconds)[:SLOWEST]
    lines += [f"{entry.seconds:7.1f} s  {entry.name}" for entry in slowest]
    skipped = {}
    for entry in entries:
        for test in (test for test, result in entry.tests.items() if result == "skipped"):
            skipped.setdefault(entry.why.get(test, "no reason given"), []).append(test)
    lines += ["skipped:"] if skipped else []
    lines += [f"  {why} ({len(tests)}): {', '.join(tests)}" for why, tests in sorted(skipped.items())]
    failed = [test for entry in entries for test, result in entry.tests.items() if result == "failed"]
    lines += [f"failed: {test}" for test in failed]
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        print(summary(read(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "tests"))
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        sys.exit(f"summary.py: no summary: {error}")
