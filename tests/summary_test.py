#!/usr/bin/env python3
"""tests/summary.py counts every test of an entry, whatever became of it.

Usage: summary_test.py [unittest arguments]
"""

import io
import unittest
import xml.sax.saxutils

from summary import Entry, KINDS, read, summary

SUITE = """[==========] Running 4 tests from 2 test suites.
[ RUN      ] Copper.Melts
[       OK ] Copper.Melts (3 ms)
[ RUN      ] Copper.Rusts
a.cpp:3: Skipped
no water
anywhere
[  SKIPPED ] Copper.Rusts (0 ms)
[ RUN      ] All/Copper.Bends/1
a.cpp:5: Failure
[  FAILED  ] All/Copper.Bends/1, where GetParam() = 2 (0 ms)
"""
CRASH = SUITE + "[ RUN      ] Copper.Breaks\nSegmentation fault\n"
CLASS = """test_a (__main__.Tin) ... ok
test_b (__main__.Tin)
What b does. ... skipped 'no Tin here'
test_c (__main__.Tin.test_c) ... FAIL
======
FAIL: test_c (__main__.Tin.test_c) [one]
FAIL: test_c (__main__.Tin.test_c) [two]
Ran 3 tests in 0.1s

FAILED (failures=2, skipped=1)
"""


def results(entry):
    return [list(entry.tests.values()).count(result) for result in ("passed", "failed", "skipped")]


class EntryTest(unittest.TestCase):
    def test_a_suite(self):
        entry = Entry("metals.Copper", "fail", 1, SUITE)
        self.assertEqual((entry.kind, results(entry)), (KINDS[0], [1, 1, 1]))
        self.assertEqual(entry.why, {"Copper.Rusts": "no water"})

    def test_a_crash_is_a_failure_of_the_test_that_ran(self):
        entry = Entry("metals.Copper", "fail", 1, CRASH)
        self.assertEqual(entry.tests["Copper.Breaks"], "failed")
        self.assertEqual(results(entry), [1, 2, 1])

    def test_what_ctest_skips_by_its_words_has_not_failed(self):
        entry = Entry("metals.Copper", "notrun", 1, SUITE)
        self.assertEqual(results(entry), [1, 0, 2])

    def test_a_class(self):
        entry = Entry("tin.Tin", "fail", 1, CLASS)
        self.assertEqual((entry.kind, results(entry)), (KINDS[1], [1, 1, 1]))
        self.assertEqual(entry.why, {"tin.Tin.test_b": "no Tin here"})

    def test_a_class_that_prints_dots(self):
        entry = Entry("tin.Tin", "run", 1, "..s\nRan 3 tests in 0.1s\n\nOK (skipped=1)\n")
        self.assertEqual(results(entry), [2, 0, 1])

    def test_another_program(self):
        for status, counts in (("run", [1, 0, 0]), ("fail", [0, 1, 0]), ("notrun", [0, 0, 1])):
            entry = Entry("lead", status, 1, "looking\nno lead here\n")
            self.assertEqual((entry.kind, results(entry)), (KINDS[2], counts))
        self.assertEqual(entry.why, {"lead": "no lead here"})

    def test_what_fails_beside_its_tests(self):
        passed = SUITE.replace("[  FAILED  ]", "[       OK ]")
        self.assertEqual(results(Entry("metals.Copper", "fail", 1, passed)), [2, 1, 1])
        self.assertEqual(results(Entry("metals.Copper", "fail", 1, "[==========] Running 1 test\n")), [0, 1, 0])


class FileTest(unittest.TestCase):
    def test_names_what_was_slow_skipped_and_failed(self):
        cases = "".join(
            f'<testcase name="{name}" time="{time}" status="{status}">{skipped}'
            f"<system-out>{xml.sax.saxutils.escape(text)}</system-out></testcase>"
            for name, time, status, skipped, text in (
                ("metals.Copper", 3.25, "fail", "", SUITE), ("tin.Tin", 20, "fail", "", CLASS),
                ("lead", 1, "notrun", '<skipped message="SKIP_RETURN_CODE=77"/>', "no lead here"),
                ("gold", 0, "notrun", '<skipped message="Unable to find executable"/>', "Unable to find it")))
        text = summary(read(io.StringIO(f"<testsuite>{cases}</testsuite>")), "metals")
        self.assertEqual(text.splitlines(), """== metals: 4 entries of CTest, 24 s one after another
    3 GoogleTest cases: 1 passed, 1 failed, 1 skipped
    3 Python tests: 1 passed, 1 failed, 1 skipped
    2 other programs: 0 passed, 1 failed, 1 skipped
slowest:
   20.0 s  tin.Tin
    3.2 s  metals.Copper
    1.0 s  lead
    0.0 s  gold
skipped:
  no Tin here (1): tin.Tin.test_b
  no lead here (1): lead
  no water (1): Copper.Rusts
failed: All/Copper.Bends/1
failed: tin.Tin.test_c
failed: gold""".splitlines())


if __name__ == "__main__":
    unittest.main(verbosity=2)
