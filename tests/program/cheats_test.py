"""External programs that cheat, in the whole program: each is caught, and honest ones beside them are not.

Usage: cheats_test.py PATH_OF_HILBENCH PATH_OF_LIBRARY [unittest arguments]. The library is that of fakes/attention.cpp.
HILBENCH_CHEATS=NAME,... in the environment takes those alone.
"""

import os
import re
import shutil
import sys
import time
import unittest

from program import TESTS, Program, running_in, wait_until

sys.path.insert(0, str(TESTS / "fakes"))
import cheats  # noqa: E402

# Executions of some 1 ms. In the small case every row is compared.
SMALL = ("sequence_length: 1024, segments: [256], dilations: [2], heads: 2, head_dim: 32, causal: true, dtype: fp32, "
         "device: cpu, threads: 1")
LARGE = ("sequence_length: 40960, segments: [16], dilations: [2], heads: 2, head_dim: 16, causal: true, dtype: fp32, "
         "device: cpu, threads: 1")
HONEST = ("honest", "honest_too")
SWEEP = """
name: cheats
cases: [{{{case}}}]
external:
{declared}
variants: [{{kernel: dilated, order: [linear, residue]}}]
baselines: [{baselines}]
measure: {{budget_s: {budget_s}, min_rounds: {rounds}, timeout_s: 60, seed: {seed}}}
"""


def waited_long(record):
    """For a core, while the program was asked."""
    requests = record["requests"]
    return bool(requests) and requests["waited_ns"] > 0.1 * requests["wall_ns"]


class CheatsCase(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.addCleanup(lambda: wait_until(lambda: not running_in(self.program.folder), 5, "something is left"))
        shutil.copy(TESTS / "fakes/cheats.py", self.program.folder)

    def run_all(self, case, names, honest=HONEST, rounds=6, budget_s=0.3):
        """The records of all variants; `names` are of cheats, and programs called `honest` stand around them."""
        programs = {name: name for name in names} | {name: "honest" for name in honest}
        sequence = [*honest[:1], *names, *honest[1:]]
        declared = "".join(f"  {name}: {{command: [{sys.executable}, cheats.py, {programs[name]}, {LIBRARY}]}}\n"
                           for name in sequence)
        sweep = self.program.sweep(SWEEP.format(case=case, declared=declared, baselines=", ".join(sequence),
                                                rounds=rounds, budget_s=budget_s, seed=cheats.SEED))
        process = self.program.start("run", sweep, "-o", "out", "--fresh", "--allow-external")
        out, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, (0, 1), out + err)  # 1 if a variant failed, not if all are invalid
        return {record["variant"]: record for record in self.program.records("out")}

    def check_caught(self, records, names):
        for name in names:
            with self.subTest(cheat=name):
                status, reason = cheats.CHEATS[name]
                record = records[name]
                self.assertRegex(record["status"], f"^({status})$",
                                 [record["reason"], record["time_ns"], record["requests"]])
                self.assertRegex(record["reason"], reason)

    def run_until_told(self, case, names):
        """The records of all variants. Where other programs took the cores, clocks tell nothing, and `hilbench check`
        refuses what was measured: then cheats that were not caught are run again."""
        records, left = self.run_all(case, names), names
        for _ in range(2):
            left = [name for name in left if records[name]["status"] == "ok" and waited_long(records[name])]
            if not left:
                break
            time.sleep(5)
            again = self.run_all(case, left)
            records.update({name: again[name] for name in left})
        return records

    def check_honest(self, records, honest=HONEST):
        for name in ("dilated/linear", "dilated/residue", *honest):
            with self.subTest(honest=name):
                self.assertEqual((records[name]["status"], records[name]["reason"]), ("ok", None))
                self.assertLessEqual(records[name]["verify"]["worst"], 1)

    def chosen(self, names):
        """Those of the names that are asked for."""
        asked = os.environ.get("HILBENCH_CHEATS")
        chosen = [name for name in names if not asked or name in asked.split(",")]
        if not chosen:
            self.skipTest("none of them is asked for")
        return chosen


class CheatsTest(CheatsCase):
    def test_honest_programs_are_ok_and_so_is_what_runs_beside_them(self):
        for case in (SMALL, LARGE):
            self.check_honest(self.run_all(case, ()))

    def test_cheats_are_caught(self):
        apart = {*cheats.OF_LARGE_CASES, *cheats.DISTURBING}
        names = self.chosen([name for name in cheats.CHEATS if name not in apart])
        records = self.run_until_told(SMALL, names)
        self.check_caught(records, names)
        self.check_honest(records)

    def test_cheats_in_rows_that_are_not_compared_are_caught(self):
        names = self.chosen(cheats.OF_LARGE_CASES)
        records = self.run_until_told(LARGE, names)
        self.check_caught(records, names)
        self.check_honest(records)

    def test_programs_that_compute_while_others_run_are_caught(self):
        """They void the times of the others, which then are not ok either. Unless they are slow to answer first, because
        they compete with themselves: then they are ended, and the others are timed without them."""
        for name in self.chosen(cheats.DISTURBING):
            records = self.run_all(SMALL, [name], honest=HONEST[:1], rounds=30, budget_s=2)
            self.check_caught(records, [name])
            slow = re.search(cheats.TOO_LITTLE, records[name]["reason"] or "")
            for other in ("dilated/linear", "dilated/residue", *HONEST[:1]):
                with self.subTest(cheat=name, other=other):
                    found = records[other]
                    self.assertEqual(found["status"], "ok" if slow else "invalid", found["reason"])

    def test_each_cheat_is_listed(self):
        """In docs/method.md, for users."""
        text = (TESTS.parent / "docs/method.md").read_text()
        for name in cheats.CHEATS:
            self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    BINARY, LIBRARY = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
