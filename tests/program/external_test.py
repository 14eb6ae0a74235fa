"""External baselines in the whole program: a right one in plain Python, and one for every fault.

Usage: external_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import contextlib
import os
import signal
import sys
import unittest

from program import Program, running_in, wait_until

# Every key of windows at another value than its default, each in its own dimension.
WINDOWS = ("grid: [4, 9, 5], window: [3, 4, 2], window_dilation: [1, 2, 1], window_stride: [1, 1, 2], "
           "window_causal: [true, false, false], heads: 2, head_dim: 16, threads: 1")
POINT = "sequence_length: 24, segments: [12, 24], dilations: [1, 2], heads: 2, head_dim: 16, threads: 1"
SWEEP = """
name: external
cases: [{{{point}{more}}}]
external:
{declared}
variants: [{{kernel: dilated, order: linear}}]
baselines: [{baselines}]
measure: {{budget_s: 0.05, min_rounds: 3, timeout_s: {timeout_s}}}
"""

# Fault of fakes/rival.py: status and reason. Those that hang have tests of their own.
FAULTS = {
    "none": ("ok", "^$"),
    "protocol_1": ("ok", "^$"),
    "unsupported_inputs": ("ok", "^$"),
    "noise": ("ok", "^$"),
    "intrudes": ("ok", "^$"),
    "no_lse": ("ok", "^$"),
    "profiles": ("ok", "^$"),
    "another_function": ("ok", "^$"),
    "says_so_in_hello": ("ok", "^$"),
    "another_function_and_nan": ("failed", "1 of 768 output values are NaN"),
    "another_function_without_reason": ("failed", "other_function of load must say why it is another function"),
    "unseen_by_profiler": ("ok", "^$"),
    "no_busy_times": ("failed", "profile needs 5 gpu_busy_ns from 0.001 to 1e18"),
    "starts_a_session": ("ok", "^$"),
    "unsupported": ("skipped", "^no option ''$"),
    "other_device": ("skipped", "'other_device' does not run on device cpu here"),
    "other_protocol": ("failed", "'other_protocol' breaks the protocol: hello needs protocol 2, or 1, found"),
    "no_version": ("failed", "hello needs a name and a version"),
    "devices_of_letters": ("failed", "hello needs a list of devices"),
    "devices_by_name": ("failed", "hello needs a list of devices"),
    "talkative": ("failed", "its description may have at most 4000 characters"),
    "no_timer": ("failed", "load needs the name of a timer"),
    "bad_untimed": ("failed", "untimed of load is how many executions go before the timed ones: 0 or 1"),
    "no_times": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "time_travel": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "null_time": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "endless_time": ("failed", "an answer must be a JSON object on one line"),
    "least_time": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "greatest_time": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "bad_time_among_good": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "times_by_name": ("failed", "run needs 1 times_ns from 0.001 to 1e18"),
    "time_of_nothing": ("failed", "run needs 0 times_ns"),
    "dies_on_inputs": ("failed", "^'dies_on_inputs' exited with status 1: no more sugar$"),
    "error_on_inputs": ("failed", "^'error_on_inputs' reports an error: too many inputs$"),
    "keeps_its_inputs": ("failed", "did not change with its inputs|exceeds the tolerance|keys"),
    "rereads_v_alone": ("failed", "did not change with its inputs|exceeds the tolerance|keys"),
    "short_rows": ("failed", r"'short_rows' wrote \d+ bytes of output, not \d+"),
    "reads_all_rows": ("ok", "^$"),  # that is as good
    "reads_rows_beside": ("failed", "exceeds the tolerance|keys|differ"),
    "deep": ("failed", "an answer may nest at most 100 levels"),
    "brackets": ("failed", "reports an error: \"\\[+\\\\$"),
    "leaves_a_child": ("failed", "^'leaves_a_child' exited with status 1: gone, but for what it started$"),
    "dies_at_start": ("failed", "^'dies_at_start' exited with status 1: no beans$"),
    "changes_its_inputs": ("failed", "exited with status 1: PermissionError: .*Operation not permitted$"),
    "dies_on_load": ("failed", "^'dies_on_load' exited with status 1: no more coffee$"),
    "killed_when_timed": ("failed", r"^time: 'killed_when_timed' was killed by signal 9 \(Killed\)$"),
    "closes_output": ("failed", "^'closes_output' closed its output$"),
    "error": ("failed", "^'error' reports an error: two lines of trouble$"),
    "garbage": ("failed", "an answer must be a JSON object on one line, found .*Segmentation"),
    "list": ("failed", "an answer must be a JSON object on one line"),
    "not_utf8": ("failed", "an answer must be a JSON object on one line"),
    "key_twice": ("failed", "an answer has the key 'name' twice"),
    "no_reason": ("failed", "reports an error: it gives no reason"),
    "two_lines": ("failed", "'two_lines' answered with more than one line: {}"),
    "flood": ("failed", "'flood' gave an answer of more than 16 MiB"),
    "wrong": ("failed", "exceeds the tolerance"),
    "nan": ("failed", "1 of 768 output values are NaN"),
    "short": ("failed", "'short' wrote 3068 bytes of output, not 3072"),
    "long": ("failed", "'long' wrote 6144 bytes of output, not 3072"),
}


class ExternalCase(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.program.add_rival()

    def sweep(self, faults, baselines=None, more="", timeout_s=60, extra="", point=POINT):
        declared = "".join(f"  {fault}: {{command: [{sys.executable}, rival.py, {fault}]}}\n" for fault in faults)
        return self.program.sweep(SWEEP.format(point=point, more=more, declared=declared + extra, timeout_s=timeout_s,
                                               baselines=", ".join(baselines or faults)))

    def run_all(self, sweep, *options, status=0):
        self.program.run("run", sweep, "-o", "out", "--fresh", "--allow-external", *options, status=status)
        return {record["variant"]: record for record in self.program.records("out")}

    def processes(self):
        """Process ids and command lines of all that runs in the folder: programs and what they started."""
        return running_in(self.program.folder)

    def check_right(self, record):
        self.assertEqual((record["kind"], record["params"]["kernel"]), ("baseline", "none"))
        time = record["time_ns"]
        self.assertEqual(time["timer"], "external:fake_clock")
        for sample in sum(time["samples"], []):
            self.assertAlmostEqual(sample, 500002.5, places=3, msg="the mean of 4 after an untimed one")
        self.assertLessEqual(record["verify"]["worst"], 1)
        self.assertLess(record["verify"]["lse_max_abs"], 1e-4)
        self.assertEqual(record["speedup"]["against"], "dilated/linear")
        library = record["environment"]["library"]
        self.assertEqual((library["name"], library["version"], library["flags"]), ("fake", "1.5", "-O0"))


    def check_other_function(self, record):
        self.assertEqual(record["verify"]["other_function"], "its first value is larger")
        self.assertGreater(record["verify"]["worst"], 1, "an error is a distance")
        self.assertIsNone(record["verify"]["probed_rows"])
        self.assertIsNone(record["tflops"])
        self.assertEqual(record["speedup"]["verdict"], "different function")


class ExternalTest(ExternalCase):
    def test_each_fault_costs_its_variant_alone(self):
        records = self.run_all(self.sweep(FAULTS), "--dump", "dump", status=1)
        self.assertEqual(records["dilated/linear"]["status"], "ok", records["dilated/linear"]["reason"])
        for fault, (status, reason) in FAULTS.items():
            with self.subTest(fault=fault):
                record = records[fault]
                self.assertEqual(record["status"], status, record["reason"])
                self.assertRegex(record["reason"] or "", reason)
                self.assertNotIn("\n", record["reason"] or "")
                self.assertEqual(record["time_ns"] is None, status != "ok")
        self.check_right(records["none"])
        self.assertIsNone(records["no_lse"]["verify"]["lse_max_abs"])
        self.check_other_function(records["another_function"])
        self.assertIsNone(records["says_so_in_hello"]["verify"]["other_function"], "only load counts")
        self.assertNotIn("other_function", records["says_so_in_hello"]["environment"]["library"])
        dumped = {file.parent.name for file in (self.program.folder / "dump").rglob("lse.npy")}
        self.assertIn("none", dumped)
        self.assertNotIn("no_lse", dumped)
        self.assertFalse(self.processes())

    def test_cases_of_every_kind_reach_the_program(self):
        for more in ("causal: true", "queries: dense", "head_offset: contiguous, kv_heads: 1", "batch: 2",
                     "branch_heads: partition", "dtype: bf16"):
            with self.subTest(more=more):
                status = 1 if "dtype" in more else 0
                record = self.run_all(self.sweep(["none"], more=", " + more), status=status)["none"]
                if "dtype" in more:  # the fake reads fp32
                    self.assertRegex(record["reason"], "exited with status 1: AssertionError")
                else:
                    self.assertEqual(record["status"], "ok", record["reason"])

    def test_options_and_cold_caches(self):
        text = (self.program.folder / self.sweep(["none"], ["none.twice", "none.thrice"])).read_text()
        records = self.run_all(self.program.sweep(text.replace("min_rounds: 3", "min_rounds: 3, cache: cold")))
        self.assertEqual(records["none.twice"]["status"], "ok")
        self.assertEqual(records["none.twice"]["environment"]["library"]["option"], "twice")
        self.assertEqual((records["none.thrice"]["status"], records["none.thrice"]["reason"]),
                         ("skipped", "no option 'thrice'"))

    def test_steady_samples(self):
        text = (self.program.folder / self.sweep(["none"])).read_text()
        steady = text.replace("min_rounds: 3", "min_rounds: 3, steady: true, steady_s: 0.1")
        record = self.run_all(self.program.sweep(steady))["none"]
        self.assertEqual((record["status"], record["params"]["steady_s"]), ("ok", 0.1), record["reason"])
        (samples,) = record["time_ns"]["samples"]
        self.assertEqual(len(samples), 3)
        # Its clock says 0.5 ms and one ns more in each execution of a request; 210 of them are 0.105 s.
        self.assertTrue(all(abs(ns - (5e5 + 209 / 2)) < 1e-3 for ns in samples), samples)
        self.assertEqual(record["energy_j"]["median"] is None, bool(record["energy_j"]["reason"]))

    def test_a_program_may_know_how_long_its_device_works(self):
        records = self.run_all(self.sweep(["none", "profiles"]))
        self.assertNotIn("gpu_busy_ns", records["none"]["counters"])
        busy = records["profiles"]["counters"]["gpu_busy_ns"]
        self.assertEqual((busy["value"], busy["unit"]), (3e5, "ns"))
        self.assertTrue(busy["source"].startswith("external:"))
        unseen = self.run_all(self.sweep(["unseen_by_profiler"]))["unseen_by_profiler"]
        self.assertEqual(unseen["status"], "ok")
        busy = unseen["counters"]["gpu_busy_ns"]
        self.assertEqual((busy["value"], busy["reason"]), (None, "no profiler here"))

    def test_a_ring_is_for_programs_that_say_so(self):
        records = self.run_all(self.sweep(["none", "rings", "lies_about_rings"], more=", ring_size: 2"))
        self.assertEqual(records["rings"]["status"], "ok", records["rings"]["reason"])
        self.assertEqual(records["rings"]["environment"]["library"]["ranks"], 2)
        self.assertEqual(records["rings"]["speedup"]["against"], "dilated/linear")
        for name in ("ring_algorithm", "comm_bytes"):
            self.assertIsNone(records["rings"].get(name, records["rings"]["params"].get(name)))
        for name in ("none", "lies_about_rings"):
            self.assertEqual((records[name]["status"], records[name]["reason"]),
                             ("skipped", f"ring_size 2: {name} runs on one rank"))

    def test_windows_are_for_programs_that_say_so(self):
        for edges in ("shift", "cut"):
            with self.subTest(edges=edges):
                faults = ["none", "windows", "lies_about_windows", "bad_permutation"]
                sweep = self.sweep(faults, ["torch_sdpa", *faults], more=f", edges: {edges}", point=WINDOWS)
                records = self.run_all(sweep, status=1)
                record = records["windows"]
                self.assertEqual(record["status"], "ok", record["reason"])
                self.assertLessEqual(record["verify"]["worst"], 1)
                self.assertEqual(record["verify"]["rows"], 4 * 9 * 5 * 2)
                self.assertEqual(record["permute_ns"]["median"], 750.5)
                asked = record["environment"]["library"]["asked"]
                self.assertEqual((asked["grid"], asked["window"], asked["edges"]), ([4, 9, 5], [3, 4, 2], edges))
                self.assertEqual((asked["window_dilation"], asked["window_stride"]), ([1, 2, 1], [1, 1, 2]))
                self.assertEqual((asked["window_causal"], asked["sequence_length"]), ([True, False, False], 180))
                self.assertFalse({"segments", "dilations", "queries", "head_offset", "branch_heads"} & set(asked))
                for name in ("none", "lies_about_windows", "torch_sdpa"):
                    self.assertEqual((records[name]["status"], records[name]["reason"]),
                                     ("skipped", f"windows: not on {name}"))
                self.assertRegex(records["bad_permutation"]["reason"], "permute_ns of load must be a number from 0.001 to 1e18")

    def test_what_windows_need_is_not_asked_for_branches(self):
        records = self.run_all(self.sweep(["windows"], ["windows", "torch_windows"]))
        self.assertEqual(records["windows"]["status"], "ok", records["windows"]["reason"])
        asked = records["windows"]["environment"]["library"]["asked"]
        self.assertEqual((asked["segments"], asked["dilations"]), ([12, 24], [1, 2]))
        self.assertFalse({"grid", "window", "edges"} & set(asked))
        self.assertEqual(records["torch_windows"]["reason"], "torch_windows computes windows on a grid only")

    def test_counters_of_this_process_are_not_the_programs(self):
        sweep = self.sweep(["none"])
        self.program.sweep((self.program.folder / sweep).read_text() + "counters: [software]\n")
        counters = self.run_all(sweep)["none"]["counters"]
        self.assertTrue(counters)
        for counter in counters.values():
            self.assertEqual((counter["value"], counter["reason"]), (None, "runs in a process of its own"))

    def test_nothing_is_started_without_the_flag(self):
        extra = "  trap: {command: [touch, touched]}\n"
        sweep = self.sweep(["none"], ["none", "trap", "gemm", "torch_sdpa.math"], extra=extra)
        self.program.run("run", sweep, "-o", "out")
        records = {record["variant"]: record for record in self.program.records("out")}
        for name in ("none", "trap", "torch_sdpa.math"):
            self.assertEqual((records[name]["status"], records[name]["reason"]),
                             ("skipped", "runs another program: needs --allow-external"))
        self.assertEqual(records["dilated/linear"]["status"], "ok", records["dilated/linear"]["reason"])
        self.assertFalse((self.program.folder / "touched").exists())
        planned, _ = self.program.run("plan", sweep)
        self.assertIn("needs --allow-external", planned)
        planned, _ = self.program.run("plan", sweep, "--allow-external")
        self.assertNotIn("needs --allow-external", planned)
        self.assertFalse((self.program.folder / "touched").exists())
        _, err = self.program.run("run", sweep, "-o", "out", "--allow-external", status=2)
        self.assertIn("measured with other settings", err)

    def test_programs_that_cannot_be_started(self):
        (self.program.folder / "text").write_text("no program")
        extra = "  absent: {command: no-such-program}\n  no_program: {command: [./text, 1]}\n"
        records = self.run_all(self.sweep(["none"], ["absent", "none", "no_program"], extra=extra), status=1)
        self.assertRegex(records["absent"]["reason"], "cannot start 'no-such-program' for 'absent' .*No such file")
        self.assertRegex(records["no_program"]["reason"], "cannot start './text' for 'no_program' .*Permission denied")
        self.assertEqual(records["none"]["status"], "ok")

    def test_a_program_that_hangs_is_stopped_with_what_it_started(self):
        records = self.run_all(self.sweep(["hangs", "none"], timeout_s=2), status=1)
        self.assertRegex(records["hangs"]["reason"], "^verify: no progress for 2 s: the worker counts as hung and was stopped$")
        self.assertEqual(records["none"]["status"], "ok")
        wait_until(lambda: not self.processes(), 5, "something outlived the run")

    def hanging_session(self, timeout_s):
        """Starts a run whose program hangs, after it started a session of its own."""
        sweep = self.sweep(["starts_a_session_and_hangs"], timeout_s=timeout_s)
        process = self.program.start("run", sweep, "-o", "out", "--fresh", "--allow-external")
        wait_until(lambda: any(b"sleep" in line for line in self.processes().values()), 20, "nothing sleeps")
        return process

    def test_a_session_of_its_own_ends_with_the_program(self):
        process = self.hanging_session(timeout_s=2)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertFalse(self.processes())

    def test_a_session_of_its_own_ends_with_the_worker_and_the_run(self):
        process = self.hanging_session(timeout_s=60)
        os.kill(self.program.wait_for_worker(), signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertFalse(self.processes())
        process = self.hanging_session(timeout_s=60)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertFalse(self.processes())

    def test_programs_die_with_the_supervisor(self):
        process = self.program.start("run", self.sweep(["hangs"]), "-o", "out", "--allow-external")
        wait_until(lambda: any(b"sleep" in line for line in self.processes().values()), 20, "nothing hangs")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        wait_until(lambda: not any(b"rival.py" in line for line in self.processes().values()), 5,
                   "the program outlived its supervisor")
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)  # what the hanging program had started is out of reach then


class StartTest(ExternalCase):
    def test_a_program_that_hangs_at_any_request_costs_its_variant_alone(self):
        faults = ["hangs_at_hello", "dies_at_start", "hangs", "none"]
        records = self.run_all(self.sweep(faults, timeout_s=3), status=1)
        for fault in ("hangs_at_hello", "hangs"):
            self.assertEqual((records[fault]["status"], records[fault]["reason"]),
                             ("failed", "verify: no progress for 3 s: the worker counts as hung and was stopped"))
        self.assertEqual((records["dies_at_start"]["status"], records["dies_at_start"]["reason"]),
                         ("failed", "'dies_at_start' exited with status 1: no beans"))
        self.assertEqual(records["dilated/linear"]["status"], "ok", records["dilated/linear"]["reason"])
        self.check_right(records["none"])
        self.assertFalse(self.processes())

    def rivals(self):
        """Process ids of the programs."""
        return {pid for pid, line in self.processes().items() if b"rival.py" in line}

    def requests(self):
        """What the programs of requests.log did: name, what, begin and end in s, in the sequence of their ends."""
        lines = (self.program.folder / "requests.log").read_text().splitlines()
        return [(name, what, float(begin), float(end)) for name, what, begin, end in map(str.split, lines)]

    def test_programs_start_at_the_same_time_and_are_loaded_in_turn(self):
        (self.program.folder / "requests.log").touch()
        names = ["one", "two", "three"]
        extra = "".join(f"  {name}: {{command: [{sys.executable}, rival.py, starts_slowly, {name}]}}\n" for name in names)
        records = self.run_all(self.sweep([], names, extra=extra))
        for name in names:
            self.assertEqual(records[name]["status"], "ok", records[name]["reason"])
        requests = self.requests()
        starts = {name: begin for name, what, begin, _ in requests if what == "start"}
        greeted = {name: end for name, what, _, end in requests if what == "hello"}
        self.assertEqual((set(starts), set(greeted)), (set(names), set(names)))
        self.assertLess(max(greeted.values()) - min(starts.values()), 2 * 2, "each starts in 2 s")
        # Nothing is loaded or runs beside another program, not even beside one that starts.
        busy = sorted((begin, end, name) for name, what, begin, end in requests if what not in ("start", "hello"))
        self.assertLess(max(greeted.values()), busy[0][0])
        for (_, end, name), (begin, _, after) in zip(busy, busy[1:]):
            self.assertLessEqual(end, begin, f"{name} and {after}")
        self.assertLess(max(end for _, what, _, end in requests if what == "load"),
                        min(begin for _, what, begin, _ in requests if what == "runs"),
                        "single executions are verified, several are timed")

    def test_a_stop_while_programs_start_leaves_none_behind(self):
        sweep = self.sweep(["hangs_at_hello", "none", "starts_slowly"])
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.program.start("run", sweep, "-o", "out", "--fresh", "--allow-external")
                wait_until(lambda: len(self.rivals()) == 3, 20, "not all programs start")
                process.send_signal(number)
                process.communicate(timeout=30)
                self.assertEqual(process.returncode, 128 + number)
                self.assertFalse(self.processes())

    def test_a_worker_that_is_killed_while_programs_start_leaves_none_behind(self):
        names = ["one", "two"]
        extra = "".join(f"  {name}: {{command: [{sys.executable}, rival.py, hangs_at_hello, {name}]}}\n" for name in names)
        process = self.program.start("run", self.sweep([], names, extra=extra), "-o", "out", "--allow-external")
        seen = set()
        while process.poll() is None:
            wait_until(lambda: process.poll() is not None or self.rivals() - seen, 20, "no program starts")
            seen |= self.rivals()
            for worker in self.program.workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertFalse(self.processes())
        for record in self.program.records("out"):
            if record["variant"] in names:
                self.assertRegex(record["reason"], "^(prepare|verify): the worker was killed by signal 9")


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
