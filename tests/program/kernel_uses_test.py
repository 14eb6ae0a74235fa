"""Kernels of users: what `init` writes, gates of two versions, and libraries that cheat.

Usage: kernel_uses_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

from kernel_cases import COMPILER, PLAIN, KernelCase, LibraryCase, PythonCase
from program import TESTS


@unittest.skipUnless(COMPILER, "no C compiler")
class CheatTest(LibraryCase):
    """Libraries that cheat, and what catches each. An execution takes some milliseconds."""

    CASE = "sequence_length: 512, segments: [512], dilations: [1], heads: 1, head_dim: 32, threads: 1, device: cpu"
    ROWS = "exceeds the tolerance|exceed theirs"
    TIMES = "less than half|does not compute in each|on new inputs|above the peak|peak of"
    INVALID = ("caches_by_inputs",)  # its rate may be above the peak: then the run itself has not failed
    CHEATS = {
        "once": "NaN",
        "caches_by_inputs": TIMES,
        "half_of_the_rows": f"{ROWS}",
        "last_key_of_each_tile": f"{ROWS}|keys",
        "low_precision": ROWS,
        "ignores_causal": f"{ROWS}|keys",
        "linear_always": f"{ROWS}|keys",
        "keeps_old_v": f"did not change with its inputs|{ROWS}|keys",
        "wrong_lse": "LSE",
        "coarse_after_30": f"{ROWS}|after the timing",
        "two_threads": "cores while it was timed|computed while it was not asked",
        "spins": "computed while it was not asked|cores while it was timed",
        "every_third_time": f"key probe: .*counts -?nan|as it is timed: .*{ROWS}|{TIMES}",
        "computes_later": f"NaN|key probe|{TIMES}|computed while it was not asked|{ROWS}"}

    def test_cheats_are_caught(self):
        for name, reason in self.CHEATS.items():
            with self.subTest(name):
                kernels = {name: self.build(name, "-O2", f"-DFAULT={name.upper()}")}
                # Without a mask, a kernel that reads all keys of the sequence may read them in any order.
                causal = ", causal: true" if name in ("ignores_causal", "linear_always") else ""
                records = self.measure(kernels, [f"kernel: {name}, order: random"], case=self.CASE + causal, budget_s=2,
                                       min_rounds=20, status=(0, 1) if name in self.INVALID else 1)
                record = records[f"{name}/random"]
                self.assertIn(record["status"], ("failed", "invalid"), record["reason"])
                self.assertRegex(record["reason"], reason)

    def test_honest_ones_are_ok(self):
        for name, fault in (("honest", "NONE"), ("uneven", "UNEVEN")):
            with self.subTest(name):
                records = self.measure({name: self.build(name, "-O2", f"-DFAULT={fault}")}, [f"kernel: {name}, order: random"],
                                       case=self.CASE, budget_s=2, min_rounds=20)
                self.assertEqual(records[f"{name}/random"]["status"], "ok", records[f"{name}/random"]["reason"])

    def test_threads_that_spin_after_they_have_computed_are_no_further_cores(self):
        case = self.CASE.replace("threads: 1", "threads: 2").replace("segments: [512]", "segments: [24]")
        records = self.measure({"lingers": self.build("lingers", "-O2", "-DFAULT=LINGERS")}, ["kernel: lingers, order: random"],
                               case=case, budget_s=2, min_rounds=20)
        self.assertEqual(records["lingers/random"]["status"], "ok", records["lingers/random"]["reason"])

    def test_each_cheat_is_listed(self):
        text = (TESTS.parent / "docs/kernels.md").read_text()
        for name in self.CHEATS:
            self.assertIn(f"`{name}`", text)


class TemplateTest(PythonCase):
    """What `init --kernel` and `--rival` write runs as it is, and is right."""

    def init(self, *options):
        out, _ = self.program.run("init", *options)
        self.assertEqual("test: hilbench run mine-test.yaml --allow-external --fresh\n" in out, "--kernel" in options)
        return [line.removeprefix("next: ").strip() for line in out.splitlines() if line.startswith(("next: ", "   "))]

    def check(self, sweep, python="python3"):
        """Runs the first two cases of the sweep, short: all is right."""
        file = self.program.folder / sweep
        text = file.read_text().replace("[python3,", f"[{python},").replace("heads: 4", "heads: 4\n  threads: 1", 1)
        file.write_text(re.sub("budget_s: 5", "budget_s: 0.1, min_rounds: 3", text))
        self.program.run("run", sweep, "-o", "out", "--fresh", "--allow-external", "--axis", "sequence_length=96")
        records = self.program.records("out")
        self.assertEqual({record["status"] for record in records}, {"ok"})
        return {record["variant"] for record in records}

    def check_kernel(self, python="python3"):
        self.assertEqual(self.check("mine.yaml", python),
                         {"mine/linear", "mine/hilbert", "mine/residue", "mine/random", "dilated/linear"})
        file = self.program.folder / "mine-test.yaml"
        file.write_text(file.read_text().replace("[python3,", f"[{python},"))
        self.program.run("run", "mine-test.yaml", "-o", "test", "--allow-external", "--axis", "sequence_length=96")

    @unittest.skipUnless(COMPILER, "no C compiler")
    def test_c(self):
        commands = self.init("--kernel", "c", "-o", "mine")
        self.assertEqual(commands[1:], ["hilbench run mine.yaml --allow-external", "hilbench report results/mine"])
        subprocess.run(commands[0], shell=True, check=True, cwd=self.program.folder)  # it begins with `cd mine`
        for file in (self.program.folder / "mine").glob("*mine*"):
            file.replace(self.program.folder / file.name)
        self.check_kernel()

    def test_numpy(self):
        self.init("--kernel", "numpy")
        self.check_kernel(self.python_with("numpy"))

    def test_torch(self):
        python = self.python_with("torch")
        self.init("--kernel", "torch")
        self.check_kernel(python)

    def test_rival(self):
        python = self.python_with("torch")
        self.init("--rival")
        self.assertEqual(self.check("rival.yaml", python), {"dilated/linear", "dilated/random", "theirs"})

    @unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "no nvcc")
    def test_cuda_compiles(self):
        commands = self.init("--kernel", "cuda", "-o", "mine")
        command = commands[0].removeprefix("cd mine && ").replace("-arch=native", "-arch=sm_80 -O1")  # no GPU here
        environment = os.environ | {"PATH": os.environ["PATH"] + ":/usr/local/cuda/bin"}
        subprocess.run(command, shell=True, check=True, cwd=self.program.folder / "mine", env=environment)
        (self.program.folder / "mine/mine.yaml").replace(self.program.folder / "mine.yaml")
        (self.program.folder / "mine/libmine.so").replace(self.program.folder / "libmine.so")
        out, _ = self.program.run("plan", "mine.yaml", "--allow-external")
        self.assertIn("mine/hilbert", out)

    def test_triton_compiles(self):
        self.init("--kernel", "triton")
        compile((self.program.folder / "mine.py").read_text(), "mine.py", "exec")
        python = self.python_with("triton")
        checker = TESTS / "program/interpreted_triton.py"
        environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": str(TESTS.parent / "reports/python")}
        done = subprocess.run([python, checker, self.program.folder / "mine.py"], env=environment, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertIn("right", done.stdout)

    def test_nothing_is_overwritten(self):
        self.program.sweep("mine", "mine.yaml")
        _, err = self.program.run("init", "--kernel", "numpy", status=2)
        self.assertIn("the file exists (mine.yaml): init overwrites nothing", err)
        self.assertFalse((self.program.folder / "mine.py").exists(), "nothing was written before")
        self.program.run("init", "--kernel", "c", "--rival", status=2)
        _, err = self.program.run("init", "--kernel", "rust", status=2)
        self.assertIn("triton", err)


@unittest.skipUnless(COMPILER, "no C compiler")
class GateTest(LibraryCase):
    CASE = "sequence_length: 256, segments: [256], dilations: [2], heads: 2, head_dim: 32, threads: 1, device: cpu"

    def setUp(self):
        super().setUp()
        for name, flags in (("old", ()), ("new", ()), ("slow", ("-DTWICE_OF_10=10",))):
            self.build("mine", "-O2", *flags)
            (self.program.folder / name).mkdir()
            (self.program.folder / "libmine.so").replace(self.program.folder / name / "libmine.so")
        self.file = self.sweep({"mine": "{library: ./libmine.so}"},
                               ["kernel: mine", "kernel: dilated"], case=self.CASE,
                               more="baselines: [gemm]")

    def gate(self, *arguments, statuses):
        process = self.program.start("gate", self.file, *arguments)
        out, err = process.communicate(timeout=300)
        self.assertIn(process.returncode, statuses, out + err)
        return out, err

    def rows(self):
        with open(self.program.folder / "out/gate.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_slowed_copy_is_caught(self):
        out, _ = self.gate("--allow-external", "--baseline", "mine=old", "--candidate", "mine=slow/libmine.so",
                           "--threshold", "20%", "--budget", "100s", "-o", "out", statuses=(1, 3))
        judged = [row for row in self.rows() if row["variant"].startswith("mine/")]
        self.assertEqual([row["variant"] for row in judged], ["mine/linear"])
        if "disturbed" not in out:  # then the verdict is withheld
            self.assertEqual({row["verdict"] for row in judged}, {"slower"}, out)
        self.assertFalse([row for row in self.rows() if row["variant"].startswith("dilated")], "it has one version")
        self.assertEqual([row["verdict"] for row in self.rows() if row["variant"] == "gemm"], ["rival, not judged"])
        self.assertIn("Baseline: mine=old. Candidate: mine=slow/libmine.so.", out)
        self.assertTrue((self.program.folder / "out/gate.xml").exists())

    def test_an_equal_copy_is_not(self):
        out, _ = self.gate("--allow-external", "--baseline", "mine=old/libmine.so", "--candidate", "mine=new", "--threshold",
                           "20%", "--budget", "20s", "-o", "out", statuses=(0, 3))
        self.assertNotIn("slower", {row["verdict"] for row in self.rows()}, out)

    def test_self_test_takes_a_kernel(self):
        out, _ = self.gate("--allow-external", "--self-test", "--candidate", "mine=new", "--threshold", "50%", "--budget",
                           "40s", statuses=(0, 3))
        self.assertRegex(out, "This machine (supports a threshold|is too noisy)")

    def test_a_command_has_versions_too(self):
        for name in ("old", "new"):
            (self.program.folder / name / "plain.py").write_text(PLAIN)
        self.file = self.sweep({"mine": f"{{command: [{sys.executable}, plain.py]}}"}, ["kernel: mine"])
        self.gate("--allow-external", "--baseline", "mine=old", "--candidate", f"mine={sys.executable} new/plain.py",
                  "--budget", "5s", "--threshold", "50%", "-o", "out", statuses=(0, 1, 3))
        self.assertEqual([row["variant"] for row in self.rows()], ["mine/linear"])

    def test_a_version_that_does_not_start_is_bad_input(self):
        folder = self.program.folder / "it's new"
        folder.mkdir()
        for place in (self.program.folder, folder):
            (place / "plain.py").write_text(PLAIN)
        (self.program.folder / "broken.so").write_text("no library")
        right = f"mine={sys.executable} plain.py"
        self.refused("mine=old", "mine=broken.so", "broken.so")
        self.file = self.sweep({"mine": f"{{command: [{sys.executable}, plain.py]}}"}, ["kernel: mine"])
        self.refused(right, f"mine=false {'a' * 5000}", "'mine' exited with status 1")
        self.refused(right, "mine=./nosuch", r"cannot start '\./nosuch' for 'mine'.*No such file")
        self.refused("mine=python3 nosuch.py", right, "'mine' exited with status 2")
        self.refused(right, "mine=sh -c 'exit 3'", "'mine' exited with status 3")
        self.refused(right, "mine=echo '{}'", "hello needs protocol")
        self.refused(f"{right} rival", right, "hello of a kernel needs `kernel` true")
        self.refused(right, "mine=sh -c 'exit 3", "a quote that is not closed")
        quoted = shlex.quote(str(folder / "plain.py"))  # with a blank and a quote in its name
        self.gate("--allow-external", "--baseline", right, "--candidate", f"mine={sys.executable} {quoted}",
                  "--budget", "1s", statuses=(0, 3))

    def refused(self, baseline, candidate, complaint):
        out, err = self.gate("--allow-external", "--baseline", baseline, "--candidate", candidate, statuses=(2,))
        self.assertEqual(out, "")
        self.assertRegex(err, rf"\Ahilbench: error: [^\n]*{complaint}[^\n]*\n\Z")

    def test_bad_calls_are_refused(self):
        allowed = ("--allow-external",)
        for arguments, complaint in (
                ((*allowed, "--baseline", "mine=old", "--candidate", "other=new"), "measures no kernel 'other'"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=none.so"), "there is no such library"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=new", "--candidate", "mine=slow"),
                 "'mine' has two versions"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine= "), "is no version of a kernel"),
                ((*allowed, "--baseline", "old/libmine.so", "--candidate", "mine=new"), "is no version of a kernel"),
                ((*allowed, "--baseline", "mine=old", "--candidate", "mine=new", "--inject", "n=10%"),
                 "time themselves"),
                (("--baseline", "mine=old", "--candidate", "mine=new"), "--allow-external")):
            with self.subTest(complaint):
                _, err = self.gate(*arguments, statuses=(2,))
                self.assertIn(complaint, err)


if __name__ == "__main__":
    KernelCase.binary = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
