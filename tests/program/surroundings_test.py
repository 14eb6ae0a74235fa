#!/usr/bin/env python3
"""Odd surroundings of the program: closed streams, full disks, damaged stores, strange variables, names as text.

Usage: surroundings_test.py HILBENCH [unittest arguments]
"""

import json
import os
import resource
import sqlite3
import subprocess

from command_line import CommandLine, SMALL, main


class Surroundings(CommandLine):
    def test_lost_standard_output(self):
        self.put("sweep.yaml", SMALL)
        for arguments in (["plan", "sweep.yaml"], ["list", "orders"], ["--version"], ["--help"],
                          ["order", "linear", "--length", "10"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                result = self.run_it(arguments, stdout=full)
                self.assertEqual(result.returncode, 4)
                self.assertRegex(result.stderr.decode(), r"hilbench: error: cannot write to standard output\n\Z")

    def test_closed_streams(self):
        self.put("sweep.yaml", SMALL)
        result = subprocess.run(["sh", "-c", '"$0" run sweep.yaml <&- >&- 2>&-', self.PROGRAM], cwd=self.folder,
                                timeout=120)
        self.assertEqual(result.returncode, 4, "its summary is lost")
        self.assertEqual(self.statuses(), {"ok"})
        result = subprocess.run(["sh", "-c", '"$0" export results/small --format csv >&-', self.PROGRAM],
                                cwd=self.folder, timeout=120, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 4)
        self.assertIn(b"cannot write to standard output", result.stderr)

    def test_variables_that_a_launcher_left(self):
        self.put("sweep.yaml", SMALL)
        # What MPI itself leaves behind when nothing was joined is not looked at.
        stale = dict(os.environ, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1", ASAN_OPTIONS="detect_leaks=0")
        result = self.run_it(["run", "sweep.yaml"], env=stale)
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, rb"note: rank 1 of 2 of an MPI launcher ends: .*(built without MPI|unset the var)")
        result = self.run_it(["plan", "sweep.yaml"], env=stale)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"rank 1 of 2 of an MPI launcher: rank 0 prints the plan", result.stderr)

    def test_lost_standard_error_does_not_stop_a_run(self):
        self.put("sweep.yaml", SMALL)
        with open("/dev/full", "wb") as full:
            self.assert_runs_anyway(self.run_it(["run", "sweep.yaml"], stderr=full))
        self.assertEqual(self.statuses(), {"ok"})
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.run_it(["run", "nosuch.yaml"], stderr=full).returncode, 2)

    def assert_runs_anyway(self, result):
        self.assertEqual(result.returncode, 0)

    def test_export_that_cannot_be_written(self):
        self.measured()
        self.refused(["export", "results/small", "--format", "csv", "-o", "nosuch/x.csv"], r"cannot write")
        self.refused(["export", "results/small", "--format", "csv", "-o", "."], r"cannot write")
        self.refused(["export", "results/small", "--format", "csv", "-o", "/dev/full"], r"cannot write", 4)
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.refused(["export", "results/small", "--format", "csv", "-o", "x.csv"], r"cannot write", 4,
                     preexec_fn=limit)
        self.put("old.csv", "as it was")
        self.refused(["export", "results/small", "--format", "csv", "-o", "old.csv"], r"cannot write", 4,
                     preexec_fn=limit)
        self.assertEqual((self.folder / "old.csv").read_text(), "as it was")
        self.refused(["export", "results/small", "--format", "xml"], r"unknown.*format|format.*unknown|xml")
        with open("/dev/full", "wb") as full:
            self.assert_refused(self.run_it(["export", "results/small", "--format", "csv"], stdout=full),
                                r"cannot write to standard output", 4)

    def test_report_that_cannot_be_written(self):
        self.measured()
        self.refused(["report", "results/small", "-o", "sweep.yaml"], r"sweep\.yaml")
        self.refused(["report", "results/small", "-o", "/proc/hilbench"], r"/proc/hilbench")
        self.refused(["report", "results/small", "-o", "out", "--claims", "nosuch.yaml"], r"nosuch\.yaml")
        self.refused(["report", "results/small", "-o", "out", "--charts", "nosuch.js"], r"nosuch\.js")
        self.put("claims.yaml", "[" * 20000)
        self.refused(["report", "results/small", "-o", "out", "--claims", "claims.yaml"], r"claims\.yaml")
        self.put("claims.yaml", "a: &a [x, x, x, x]\n" +
                 "".join("%s: &%s [*%s, *%s, *%s]\n" % (b, b, a, a, a) for a, b in zip("abcdefgh", "bcdefghi")))
        self.refused(["report", "results/small", "-o", "out", "--claims", "claims.yaml"], r"claims\.yaml")

    def test_file_size_limit(self):
        self.put("sweep.yaml", SMALL)
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        self.refused(["run", "sweep.yaml"], r"results\.sqlite", 4, preexec_fn=limit)

    def test_stores_that_cannot_be_used(self):
        self.measured()
        store = self.folder / "results/small/results.sqlite"
        good = store.read_bytes()
        for commands in (["run", "sweep.yaml"], ["report", "results/small"],
                         ["export", "results/small", "--format", "csv"]):
            with self.subTest(command=commands[0]):
                with sqlite3.connect(store) as db:
                    db.execute("PRAGMA user_version = 99")
                db.close()
                self.refused(commands, r"written by a newer hilbench")
                store.write_bytes(good)
                with sqlite3.connect(store) as db:
                    db.execute("UPDATE meta SET value = 'zzz' WHERE key = 'schema'")
                db.close()
                self.refused(commands, r"damaged.*its schema is 2, its table meta says 'zzz'")
                store.write_bytes(good)
                with sqlite3.connect(store) as db:
                    db.execute("DROP TABLE record")
                db.close()
                self.refused(commands, r"damaged.*it has no table record")
                store.write_bytes(b"this is no database, though it is long enough" * 200)
                self.refused(commands, r"not a store of hilbench")
                store.write_bytes(good[:100] + os.urandom(len(good) - 100))
                self.refused(commands, r"damaged|cannot be used|not a store")
                store.write_bytes(good[:len(good) // 2])
                self.refused(commands, r"damaged|cannot be used|not a store")
                store.write_bytes(good)

    def test_second_run_on_the_same_folder(self):
        self.measured()
        import fcntl
        folder = os.open(self.folder / "results/small", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.refused(["run", "sweep.yaml"], r"another hilbench writes to this folder")
        os.close(folder)

    def test_settings_that_changed(self):
        self.measured()
        self.put("sweep.yaml", SMALL.replace("min_rounds: 3", "min_rounds: 4"))
        self.refused(["run", "sweep.yaml"], r"other settings.*--fresh")

    def test_environment_variables(self):
        for name, values in {"OMP_NUM_THREADS": ["0", "-3", "many", "1", "%d,2" % os.cpu_count(), ""],
                             "BENCHMARK_OUT": ["/proc/x", "bench.json"], "BENCHMARK_REPETITIONS": ["3"],
                             "TMPDIR": ["/nonexistent"], "HOME": [None], "PATH": [""],
                             "LC_ALL": ["de_DE.UTF-8", "xx_XX"]}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    changed = dict(os.environ)
                    changed.pop(name, None)
                    if value is not None:
                        changed[name] = value
                    text = SMALL.replace(", threads: 1", "") if name == "OMP_NUM_THREADS" else SMALL
                    self.measured(text, ["--fresh", "--filter", "linear"], env=changed)
                    self.assertFalse((self.folder / "bench.json").exists())
                    if name == "OMP_NUM_THREADS":
                        continue
                    result = self.run_it(["report", "results/small", "-o", "out"], env=changed)
                    self.assertIn(result.returncode, (0, 2) if name == "TMPDIR" else (0,), result.stderr)

    def test_more_threads_than_the_machine_has(self):
        has = os.cpu_count()
        self.put("sweep.yaml", SMALL.replace(", threads: 1", ""))
        self.put("own.yaml", SMALL.replace("threads: 1", "threads: %d" % (has + 1)))
        self.put("gpu.yaml", SMALL.replace(", threads: 1", ", device: cuda"))
        for value in (str(has + 1), "100000", "%d,2" % (has + 1)):
            with self.subTest(value=value):
                many = dict(os.environ, OMP_NUM_THREADS=value)
                for command in (["run", "sweep.yaml"], ["plan", "sweep.yaml"], ["run", "sweep.yaml", "--dry-run"]):
                    self.refused(command, r"OMP_NUM_THREADS asks for more threads than this machine has, %d "
                                          r"\(OMP_NUM_THREADS=%s\); set it to at most %d, or unset it" % (has, value, has),
                                 env=many)
                # What measures nothing on the processor, or says its own number of threads, goes on.
                for command in (["list", "devices"], ["plan", "gpu.yaml"], ["plan", "own.yaml"], ["doctor"]):
                    self.assert_runs(self.run_it(command, env=many))
        self.measured(SMALL.replace("threads: 1", "threads: %d" % (has + 1)), env=many)
        self.assert_runs(self.run_it(["report", "results/small"], env=many))

    def test_fewer_cores_than_the_machine_has(self):
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("one core")
        one = {"preexec_fn": lambda: os.sched_setaffinity(0, cores[:1]),
               "env": {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}}
        limited = "this process may use 1 of %d cores (affinity mask); " % os.cpu_count()
        for threads, ends in (("", "times are those of 1 core\n"), (", threads: 2", "2 threads wait for each other\n")):
            with self.subTest(threads=threads):
                result = self.measured(SMALL.replace(", threads: 1", threads), ["--fresh", "--processes", "2"], **one)
                said = result.stderr.decode()
                self.assertEqual(said.count("hilbench: warning: "), 1, said)
                self.assertTrue(said.startswith("hilbench: warning: " + limited + ends), said)
                lines = self.run_it(["export", "results/small", "--format", "jsonl"]).stdout.splitlines()
                for record in map(json.loads, lines):
                    self.assertEqual(record["params"]["threads"], 2 if threads else 1)
                    for process in record["environment"]["processes"]:
                        self.assertEqual(process["allowed_cores"], 1)
                        self.assertTrue(0 < (process["processor_share"] or 1) <= 1, process)
        self.assertIn(b" 1 of %d cores in the affinity mask, " % os.cpu_count(), self.run_it(["doctor"], **one).stdout)

    def test_names_stay_text(self):
        title = '<script>alert(1)</script> `touch pwned` $(touch pwned) "\' | [x](javascript:alert(1))'
        hostile = "it's <b> $(touch pwned) \"q\".yaml"
        self.put(hostile, SMALL + "title: '%s'\n" % title.replace("'", "''"))
        self.assert_runs(self.run_it(["run", hostile]))
        self.assert_runs(self.run_it(["report", "results/small"]))
        page = (self.folder / "results/small/report.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<b> $(", page)
        self.assertIn("&lt;script&gt;alert", page)
        self.assertNotIn("<script>alert", (self.folder / "results/small/report.md").read_text())
        self.assertNotIn("pwned", " ".join(self.listing()).replace(hostile, ""))


if __name__ == "__main__":
    main()
