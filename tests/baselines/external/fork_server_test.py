"""fork_server.py with a fake in the place of PyTorch: by itself, then through the program.

Usage: fork_server_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "program"))
from program import Program, running_in, wait_until  # noqa: E402

PYTHON = shutil.which("python3", path="/usr/bin") or sys.executable  # which other users can run too
OTHER_USER = 65534
SOCKET = "HILBENCH_FORK_SERVER"

# A script as those of baselines/external: it says where it runs, then does what its argument asks for.
SCRIPT_TEXT = """
import json, os, signal, subprocess, sys, time
import fork_server
fork_server.PATIENCE_S = 1
fork_server.hand_over()
with open("began.log", "a") as log:
    print(os.getpid(), file=log)
here = {"pid": os.getpid(), "forked": "torch" in sys.modules, "arguments": sys.argv, "folder": os.getcwd(),
        "path": sys.path, "environment": dict(os.environ), "cores": sorted(os.sched_getaffinity(0))}
print(json.dumps(here), flush=True)
what = sys.argv[1]
if what == "echo":
    print(sys.stdin.read().upper())
if what == "exits":
    sys.exit(7)
if what == "complains":
    sys.exit("no more coffee")
if what == "raises":
    raise ValueError("too much tea")
if what == "crashes":
    os.kill(os.getpid(), signal.SIGSEGV)
if what == "starts":
    subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True, env={})
if what == "is quiet":
    os.close(2)
if what in ("starts", "is quiet"):
    time.sleep(600)
"""


def parent_of(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def close(process):
    process.stdin.close()
    process.wait(timeout=10)
    process.stdout.close()
    process.stderr.close()


class ForkServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)
        for file in (SCRIPT, TESTS / "fakes/torch.py"):
            shutil.copy(file, self.folder)
        scripts = self.folder / "scripts"
        scripts.mkdir()
        shutil.copy(SCRIPT, scripts)
        (scripts / "script.py").write_text(SCRIPT_TEXT)
        for name in ("imports.log", "began.log"):
            (self.folder / name).touch()
            (self.folder / name).chmod(0o666)
        self.socket = None  # for clients
        self.environment = {**os.environ, "TORCH_LOG": str(self.folder / "imports.log")}
        self.addCleanup(self.check_nothing_left)

    def check_nothing_left(self):
        wait_until(lambda: not running_in(self.folder), 5, f"left behind: {running_in(self.folder)}")

    def start_server(self, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.socket, theirs = socket.socketpair(type=socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        with theirs:
            server = subprocess.Popen([PYTHON, "fork_server.py", str(theirs.fileno())], cwd=self.folder, text=True,
                                      env={**self.environment, **options.pop("env", {})},
                                      pass_fds=[theirs.fileno()], **pipes, **options)
        self.addCleanup(close, server)
        self.addCleanup(server.send_signal, signal.SIGCONT)
        self.environment[SOCKET] = str(self.socket.fileno())
        return server

    def start(self, *arguments, **options):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        client = subprocess.Popen([PYTHON, "scripts/script.py", *arguments], cwd=self.folder, text=True,
                                  env=self.environment, pass_fds=[self.socket.fileno()] if self.socket else [],
                                  **pipes, **options)
        self.addCleanup(close, client)
        self.addCleanup(client.kill)
        return client, json.loads(client.stdout.readline())

    def run_script(self, *arguments, given="", **options):
        client, here = self.start(*arguments, **options)
        said, complaints = client.communicate(given, timeout=30)
        return here, client.returncode, said, complaints

    def lines(self, name):
        return len((self.folder / name).read_text().splitlines())

    def test_many_scripts_and_one_import(self):
        self.start_server()
        clients = [self.start("echo") for _ in range(5)]
        for client, here in clients:
            self.assertTrue(here["forked"])
            self.assertNotEqual(here["pid"], client.pid)
            self.assertEqual(client.communicate(f"{client.pid} is here", timeout=30)[0], f"{client.pid} IS HERE\n")
            self.assertEqual(client.returncode, 0)
        self.assertEqual((self.lines("imports.log"), self.lines("began.log")), (1, 5))

    def test_a_fork_is_what_the_script_was(self):
        alone, *_ = self.run_script("tells", "more than one")
        self.assertFalse(alone["forked"])
        self.start_server(env={"CUDA_VISIBLE_DEVICES": "of the server", "ONLY_OF_THE_SERVER": "1"})
        some = sorted(os.sched_getaffinity(0))[:1]
        forked, *_ = self.run_script("tells", "more than one")
        bound, *_ = self.run_script("tells", preexec_fn=lambda: os.sched_setaffinity(0, some))
        self.assertTrue(forked["forked"] and bound["forked"])
        self.assertEqual(bound["cores"], some)
        for each in (alone, forked):
            del each["pid"], each["forked"]
        self.assertEqual(forked, alone)

    def test_it_ends_as_its_fork_ends(self):
        self.start_server()
        for what, code, last_line in (("tells", 0, ""), ("exits", 7, ""), ("complains", 1, "no more coffee"),
                                      ("raises", 1, "ValueError: too much tea"), ("crashes", -signal.SIGSEGV, "")):
            with self.subTest(what=what):
                here, returncode, _, complaints = self.run_script(what)
                self.assertTrue(here["forked"])
                self.assertEqual((returncode, (complaints.splitlines() or [""])[-1]), (code, last_line))

    def test_a_client_that_is_killed_takes_its_fork_along(self):
        server = self.start_server()
        client, here = self.start("starts")
        other, there = self.start("echo")
        wait_until(lambda: len(running_in(self.folder)) == 8, 10, "the fork has not started its session")
        client.kill()
        wait_until(lambda: len(running_in(self.folder)) == 4, 5, f"left: {running_in(self.folder)}")
        self.assertEqual({server.pid, other.pid, there["pid"], parent_of(there["pid"])}, set(running_in(self.folder)))
        self.assertEqual(other.communicate("still there", timeout=30)[0], "STILL THERE\n")

    def test_standard_error_ends_after_all_that_was_started(self):
        self.start_server()
        client, here = self.start("is quiet")
        client.kill()
        client.stderr.read()
        self.assertFalse(pathlib.Path(f"/proc/{here['pid']}").exists())

    def test_a_guardian_that_is_killed(self):
        self.start_server()
        client, here = self.start("is quiet")
        os.kill(parent_of(here["pid"]), signal.SIGKILL)
        _, complaints = client.communicate(timeout=5)
        self.assertEqual((client.returncode, complaints), (1, "the process that ran this script for it was killed\n"))
        wait_until(lambda: len(running_in(self.folder)) == 1, 5, "the fork outlived its guardian")

    def test_a_server_that_is_killed(self):
        server = self.start_server()
        client, here = self.start("echo")
        server.kill()
        server.wait()
        self.assertEqual(client.communicate("go on", timeout=30)[0], "GO ON\n")
        self.assertEqual(client.returncode, 0)
        self.assertFalse(self.run_script("tells")[0]["forked"])

    def test_the_end_of_the_run(self):
        server = self.start_server()
        self.start("starts")
        wait_until(lambda: len(running_in(self.folder)) == 5, 10, "the fork has not started its session")
        server.stdin.close()
        self.assertEqual(server.wait(timeout=5), 0)
        self.check_nothing_left()

    def test_a_server_that_hangs(self):
        server = self.start_server()
        self.assertTrue(self.run_script("tells")[0]["forked"])
        server.send_signal(signal.SIGSTOP)
        self.assertFalse(self.run_script("tells")[0]["forked"])
        server.send_signal(signal.SIGCONT)
        self.assertTrue(self.run_script("tells")[0]["forked"])
        self.assertEqual(self.lines("began.log"), 3)  # nothing ran for the client that had not waited

    def test_a_server_that_cannot_import(self):
        server = self.start_server(env={"TORCH_FAULT": "absent"})
        self.assertFalse(self.run_script("tells")[0]["forked"])
        self.assertEqual(server.wait(timeout=5), 1)
        self.assertFalse(self.run_script("tells")[0]["forked"])

    @unittest.skipIf(os.geteuid() != 0, "only root can be another user")
    def test_other_users(self):
        self.start_server()
        self.assertFalse(self.run_script("tells", user=OTHER_USER)[0]["forked"])
        self.start_server(user=OTHER_USER)
        self.assertFalse(self.run_script("tells")[0]["forked"])
        self.assertTrue(self.run_script("tells", user=OTHER_USER)[0]["forked"])

    def test_who_has_not_inherited_the_socket_gets_nothing(self):
        self.start_server()
        self.assertTrue(self.run_script("tells")[0]["forked"])
        self.assertNotIn("hilbench", pathlib.Path("/proc/net/unix").read_text())
        inherited, self.socket = self.socket, None
        for number in (inherited.fileno(), 1000, "off", "-1"):
            self.environment[SOCKET] = str(number)
            self.assertFalse(self.run_script("tells")[0]["forked"])


POINT = "sequence_length: 24, segments: [12], dilations: [1], heads: 2, threads: 1"
SWEEP = f"""
name: forks
cases: [{{{POINT}, head_dim: 16}}, {{{POINT}, head_dim: 32}}]
variants: [{{kernel: dilated, order: linear}}]
baselines: [torch_sdpa, torch_sdpa.flash, torch_sdpa.math]
measure: {{budget_s: 0.05, min_rounds: 3, timeout_s: TIMEOUT_S}}
"""
PROGRAMS = 6


class ThroughTheProgramTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        shutil.copy(TESTS / "fakes/torch.py", self.program.folder)
        self.log = self.program.folder / "imports.log"
        self.environment = {**os.environ, "PYTHONPATH": str(self.program.folder), "TORCH_LOG": str(self.log),
                            "HILBENCH_PYTHON": PYTHON}
        self.addCleanup(lambda: wait_until(lambda: not running_in(self.program.folder), 5, "something is left"))

    def run_all(self, timeout_s=60, **variables):
        """The rivals' records, and how often their library was imported."""
        self.log.write_text("")
        sweep = self.program.sweep(SWEEP.replace("TIMEOUT_S", str(timeout_s)))
        self.program.run("run", sweep, "-o", "out", "--fresh", "--allow-external", status=1,
                         env={**self.environment, **variables})
        self.assertFalse(running_in(self.program.folder))
        records = [record for record in self.program.records("out") if record["kind"] == "baseline"]
        self.assertEqual(len(records), PROGRAMS)
        self.assertTrue(all(record["status"] == "failed" for record in records))
        return records, len(self.log.read_text().splitlines())

    def test_a_run_imports_once(self):
        for variables, imports in (({}, 1), ({SOCKET: "off"}, PROGRAMS), ({SOCKET: ""}, PROGRAMS)):
            with self.subTest(**variables):
                records, imported = self.run_all(**variables)
                self.assertEqual(imported, imports)
                for record in records:
                    name = record["variant"].partition(".")[0]
                    self.assertEqual(record["reason"],
                                     f"'{name}' reports an error: ValueError: cannot compute with 1 threads")

    def test_faults_cost_what_they_cost_without_a_server(self):
        for fault, reason in (("killed", r"^'torch_sdpa' was killed by signal 9 \(Killed\)$"),
                              ("starts_a_session", "^'torch_sdpa' exited with status 1: gone, but for what it started$")):
            for variables, imports in (({}, 1), ({SOCKET: "off"}, PROGRAMS)):
                with self.subTest(fault=fault, **variables):
                    records, imported = self.run_all(TORCH_FAULT=fault, **variables)
                    self.assertEqual(imported, imports)
                    for record in records:
                        self.assertRegex(record["reason"], reason)

    def test_a_rival_that_hangs(self):
        records, imported = self.run_all(timeout_s=2, TORCH_FAULT="hangs")
        self.assertEqual(imported, 1)
        for record in records:
            self.assertEqual(record["reason"],
                             "verify: no progress for 2 s: the worker counts as hung and was stopped")

    def test_a_run_that_is_stopped(self):
        sweep = self.program.sweep(SWEEP.replace("TIMEOUT_S", "60"))
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number):
                run = self.program.start("run", sweep, "-o", "out", "--fresh", "--allow-external",
                                         env={**self.environment, "TORCH_FAULT": "hangs"})
                wait_until(lambda: self.program.processes(b"sleep"), 20, "no rival hangs")
                run.send_signal(number)
                run.communicate(timeout=10)
                self.assertNotEqual(run.returncode, 0)
                wait_until(lambda: not running_in(self.program.folder), 5, f"left: {running_in(self.program.folder)}")

    def test_a_server_that_is_killed(self):
        sweep = self.program.sweep(SWEEP.replace("TIMEOUT_S", "2"))
        run = self.program.start("run", sweep, "-o", "out", "--fresh", "--allow-external",
                                 env={**self.environment, "TORCH_FAULT": "hangs"})
        wait_until(lambda: self.program.processes(b"sleep"), 20, "no rival hangs")
        os.kill(int(self.log.read_text()), signal.SIGKILL)  # who imported is the server
        run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1)
        # Those of the first worker had been forked; later ones import for themselves.
        self.assertGreater(len(self.log.read_text().splitlines()), PROGRAMS / 2)
        records = [(record["kind"], record["status"]) for record in self.program.records("out")]
        self.assertEqual(sorted(records), [("baseline", "failed")] * PROGRAMS + [("kernel", "ok")] * 2)


if __name__ == "__main__":
    BINARY, SCRIPT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
