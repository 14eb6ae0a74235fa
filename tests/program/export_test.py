"""Exports into files that cannot be written, and what is installed beside the program.

Usage: export_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import csv
import io
import re
import shutil
import socket
import subprocess
import sys
import unittest

from program import Program

SWEEP = """
name: small
axes: {sequence_length: 33, segments: [[16]], dilations: [[2]], heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, order: [linear, hilbert]}]
measure: {budget_s: 0.05, min_rounds: 4}
"""
HELP = re.compile(r"^  ([a-z_]+) +\S", re.MULTILINE)


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.program.run("run", cls.program.sweep(SWEEP), "-o", "out")
        _, err = cls.program.run("export", "out", "--format", "x", status=2)
        cls.formats = re.search(r"the formats are ([a-z, -]+)", err).group(1).split(", ")

    def test_the_csv_names_the_machine_and_records_do_not(self):
        out, _ = self.program.run("export", "out", "--format", "csv")
        self.assertEqual({row["hostname"] for row in csv.DictReader(io.StringIO(out))}, {socket.gethostname()})
        (self.program.folder / "sent").mkdir()
        self.program.run("export", "out", "--format", "jsonl", "-o", "sent/records.jsonl")
        self.assertNotIn("hostname", (self.program.folder / "sent/records.jsonl").read_text())
        out, _ = self.program.run("export", "sent", "--format", "csv")
        self.assertEqual({row["hostname"] for row in csv.DictReader(io.StringIO(out))}, {""})

    def test_nothing_is_half_written(self):
        for format in self.formats:
            with self.subTest(format):
                (self.program.folder / "old").write_text("as it was")
                def no_room():
                    import resource
                    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
                out, err = self.program.run("export", "out", "--format", format, "-o", "old", status=4,
                                            preexec_fn=no_room)
                self.assertEqual((out, err.count("\n")), ("", 1), err)
                self.assertRegex(err, r"^hilbench: error: cannot write the file \(old\): ")
                self.assertEqual((self.program.folder / "old").read_text(), "as it was")
                self.assertEqual(list(self.program.folder.glob("old.*")), [])

    def test_a_full_device(self):
        for format in self.formats:
            with self.subTest(format):
                _, err = self.program.run("export", "out", "--format", format, "-o", "/dev/full", status=4)
                self.assertRegex(err, r"\Ahilbench: error: cannot write the file \(/dev/full\): No space left.*\n\Z")
                with open("/dev/full", "w", encoding="utf-8") as full:
                    _, err = self.program.run("export", "out", "--format", format, status=4, stdout=full)
                self.assertRegex(err, r"\Ahilbench: error: cannot write to standard output\n\Z")


class TextsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        help_text, _ = cls.program.run("--help")
        cls.commands = HELP.findall(help_text[help_text.index("Subcommands:"):help_text.index("Examples:")])

    def test_the_version_names_compiler_and_toolkits(self):
        out, _ = self.program.run("--version")
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^hilbench \d+\.\d+\.\d+ \(commit \S+\)$")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["compiler", "CUDA", "toolkits", "libraries"])
        self.assertRegex(lines[1], r"^compiler +\S+ \d+\.\d+")
        self.assertRegex(lines[2], r"^CUDA +(none|\d+\.\d+.*, (code|stubs of the code) for \d+)")
        self.assertRegex(lines[3], r"CUPTI \S+, NCCL \S+, cuDNN frontend \S+, MPI \S+")
        self.assertRegex(lines[4], r"^libraries .*\bfmt \d+\.\d+.*\bsqlite \d+\.\d+")

    def test_the_man_page_has_every_command_and_option(self):
        page, _ = self.program.run("describe_commands", "man")
        self.assertTrue(page.startswith(".TH HILBENCH 1 "))
        plain = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-").replace("\\e", "\\")
        for command in self.commands:
            with self.subTest(command):
                section = re.search(rf'^\.SS "hilbench {command}"\n(.*?)(?=^\.S[SH]|\Z)', plain, re.M | re.S).group(1)
                help_text, _ = self.program.run(command, "--help")
                options = re.findall(r"^  (-\S+)", help_text, re.MULTILINE)
                self.assertTrue(options)
                for option in options:
                    self.assertIn("\n.TP\n" + option.replace(",", ", "), section)
        self.assertNotIn("describe_commands", page)
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-ww", "-z"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        for line in page.splitlines():
            self.assertRegex(line, r"^(\.(TH|SH|SS|TP|PP)\b|[^.'])", "no text is taken for a request")

    def test_bash_completes(self):
        script, _ = self.program.run("describe_commands", "bash")
        (self.program.folder / "completion").write_text(script)
        (self.program.folder / "sweep.yaml").touch()

        def completed(*words):
            done = subprocess.run(
                ["bash", "-c", '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hilbench; '
                 'printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words],
                cwd=self.program.folder, capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

        self.assertEqual(sorted(word for word in completed("hilbench", "") if not word.startswith("-")),
                         sorted(self.commands))
        self.assertEqual(completed("hilbench", "exp"), ["export"])
        self.assertEqual(completed("hilbench", "export", "--f"), ["--format"])
        self.assertIn("sweep.yaml", completed("hilbench", "run", "sw"))


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
