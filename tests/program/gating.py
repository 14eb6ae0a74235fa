"""`hilbench gate` of small sweeps, and builds that do what a test says, as the tests of gates start them."""

import sys
import unittest

from program import Program

BINARY = None  # each test script sets it
CASES = ("n256", "n512")
SWEEP = """
name: tiny
cases:
%s
variants: [{kernel: dilated, order: [linear, random]}]
reference: dilated/linear
measure: {interval: 0.05, budget_s: 0.2, min_rounds: 3}
"""
UNREADABLE = "the worker's report cannot be read, or is not of this task"
CASE = "  - {sequence_length: %d, segments: [128], dilations: [1], heads: 2, head_dim: 32, threads: 1, device: cpu}"
# A build that does what WHAT says. worker() is the real worker, with `change` made to each report that ends a variant;
# each report, and the process that says it, is given to `seen` first.
# `asked` workers came before this one. All else is the real program's.
BUILD = """#!%s
import json, os, pathlib, signal, subprocess, sys, time
REAL = os.path.join(os.path.dirname(sys.argv[0]), "hilbench")
def say(text):
    os.write(int(sys.argv[3]), text.encode())
def describe(**changes):
    answer = subprocess.run([REAL, *sys.argv[1:]], input="{}", capture_output=True, text=True, check=True).stdout
    print(json.dumps({**json.loads(answer), **changes}))
    sys.exit()
def worker(change, seen=lambda event, real: None):
    task_out, task_in = os.pipe()
    events_out, events_in = os.pipe()
    os.set_inheritable(task_out, True), os.set_inheritable(events_in, True)
    # It inherits all else too, the socket over which the two builds take turns.
    real = subprocess.Popen([REAL, "worker", str(task_out), str(events_in)], close_fds=False)
    os.close(task_out), os.close(events_in)
    with open(int(sys.argv[2])) as task, open(task_in, "w") as pipe:
        pipe.write(task.read())
    for line in open(events_out):
        event = json.loads(line)
        seen(event, real)
        say(json.dumps(change(event) if "record" in event else event) + "\\n")
    sys.exit(real.wait())
counter = pathlib.Path(sys.argv[0] + ".asked")
asked = 0
if sys.argv[1] == "worker":
    asked = len(counter.read_text()) if counter.exists() else 0
    counter.write_text("x" * (asked + 1))
WHAT
os.execv(REAL, ["hilbench", *sys.argv[1:]])
""" % sys.executable


class GateTest(unittest.TestCase):
    def setUp(self):
        self.program = Program(BINARY)
        self.addCleanup(self.program.close)
        self.sweep_of(256, 512)

    def sweep_of(self, *lengths, name="sweep.yaml"):
        return self.program.sweep(SWEEP % "\n".join(CASE % length for length in lengths), name)

    def build(self, what):
        """Name of a build that differs from the real one by these lines."""
        file = self.program.folder / "candidate"
        file.write_text(BUILD.replace("WHAT", what))
        file.chmod(0o755)
        (self.program.folder / "candidate.asked").unlink(missing_ok=True)
        return file.name

    def gate(self, *arguments, statuses, sweep="sweep.yaml", baseline="hilbench", candidate="hilbench"):
        """Exit status, standard output and error; the status must be one of `statuses`."""
        process = self.program.start("gate", sweep, "--baseline", baseline, "--candidate", candidate, *arguments)
        out, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, statuses, f"{arguments}\n{out}\n{err}")
        self.program.wait_until_no_worker()
        return process.returncode, out, err

    def refused(self, *arguments, **sides):
        """The one line of a gate that measures nothing."""
        _, out, err = self.gate(*arguments, statuses=[2], **sides)
        self.assertEqual(out, "")
        self.assertRegex(err, r"\Ahilbench: error: [^\n]+\n\Z")
        return err
