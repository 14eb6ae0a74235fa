"""The CI kit: the action, the workflows, the GitLab example and docs/ci.md use commands and options that hilbench
documents, and the action's steps do with each exit status of a gate what docs/ci.md says.

Usage: ci_kit_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError as error:
    print(f"skipped: {error}; apt install python3-yaml")
    sys.exit(77)  # CTest's SKIP_RETURN_CODE

TREE = pathlib.Path(__file__).resolve().parents[2]
PAGE = TREE / "docs/ci.md"
ACTION = TREE / ".github/actions/gate/action.yml"
WORKFLOWS = sorted((TREE / ".github/workflows").glob("*.yml"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
SUMMARY = "### hilbench gate: what `$(touch ran)` says\n"
# Answers as `hilbench gate` does: writes gate.md if it comes to a verdict, and notes its arguments.
FAKE = """#!/bin/sh
printf '%s\\n' "$@" > arguments
[ -z "$SAYS" ] || {{ mkdir -p "$OUTPUT" && cp summary "$OUTPUT/gate.md"; }}
exit {status}
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def steps_of(document):
    """All steps of an action or a workflow."""
    jobs = document.get("jobs", {}).values()
    return document.get("runs", {}).get("steps", []) + [step for job in jobs for step in job["steps"]]


def gitlab_job():
    (job,) = [document["gate"] for language, text in BLOCK.findall(PAGE.read_text())
              if language == "yaml" and "gate" in (document := yaml.safe_load(text))]
    return job


def shell_texts():
    """Name and text of each piece of shell in the kit."""
    for file in [ACTION, *WORKFLOWS]:
        for step in steps_of(yaml.safe_load(file.read_text())):
            if "run" in step:
                yield f"{file.name}: {step.get('name')}", step["run"]
    yield "docs/ci.md: GitLab", "\n".join(gitlab_job()["script"])
    for language, text in BLOCK.findall(PAGE.read_text()):
        if not language:
            yield "docs/ci.md", text
    for text in re.findall(r"`(build/hilbench [^`]*)`", PAGE.read_text()):
        yield "docs/ci.md", text.replace("\n", " ")
    yield ".ci/run", (TREE / ".ci/run").read_text()


def commands_of(shell):
    """Words of each command of hilbench: up to the end of its line, a pipe or a redirection."""
    for line in shell.replace("\\\n", " ").splitlines():
        for found in re.finditer(r"(?:\S*/hilbench|\"\$PROGRAM\") ([a-z-]+)(?= |$)([^|>#]*)", line):
            if re.search(r" -\S+ +$", line[:found.start()]):
                continue  # the value of an option
            yield found.group(1), found.group(2)


def documented(help_text):
    """Options of the lines that `--help` gives."""
    lines = [line for line in help_text.splitlines() if line.startswith("  -")]
    return {name for line in lines for name in OPTION.findall(line.split("  ")[1])}


class RunTest(unittest.TestCase):
    def test_times_are_those_of_this_build(self):
        for status, timed in ((0, True), (1, True), (4, False)):
            with self.subTest(status=status), tempfile.TemporaryDirectory() as folder:
                tree = pathlib.Path(folder)
                for place, text in ((".ci/run", (TREE / ".ci/run").read_text()),
                                    ("test.sh", f"#!/bin/sh\nexit {status}\n"),
                                    ("build/hilbench", "#!/bin/sh\necho ratios\n")):
                    (tree / place).parent.mkdir(exist_ok=True)
                    (tree / place).write_text(text)
                    (tree / place).chmod(0o755)
                done = subprocess.run([tree / ".ci/run"], capture_output=True, text=True)
                self.assertEqual(done.returncode, status)
                self.assertEqual("ratios" in done.stdout, timed)
                self.assertEqual("an older build is not measured" in done.stdout, not timed)


class CommandsTest(unittest.TestCase):
    def test_commands_and_options_are_documented(self):
        known = set(re.findall(r"^  ([a-z]+) ", run(BINARY, "--help"), re.MULTILINE))
        options = {}
        seen = []
        for where, shell in shell_texts():
            for command, rest in commands_of(shell):
                seen.append((where, command))
                self.assertIn(command, known, where)
                if command not in options:
                    options[command] = documented(run(BINARY, command, "--help"))
                for option in OPTION.findall(re.sub(r"'[^']*'", "", rest)):
                    self.assertIn(option, options[command], f"{where}: hilbench {command}{rest}")
        for where in ("action.yml: Measure both builds", "docs/ci.md: GitLab", ".ci/run"):
            self.assertIn((where, "gate"), seen)
        self.assertGreaterEqual({command for _, command in seen}, {"gate", "run", "compare", "costs", "export"})

    def test_undocumented_options_are_found(self):
        found = dict(commands_of("x/hilbench gate a.yaml \\\n --baseline old/hilbench --nonsense 3 | tail -1"))
        self.assertEqual(OPTION.findall(found["gate"]), ["--baseline", "--nonsense"])

    def test_shell_is_sound_and_takes_no_expressions(self):
        for where, shell in shell_texts():
            with self.subTest(where):
                if where.startswith(("action.yml", "perf.yml")):
                    self.assertNotIn("${{", shell, "an input would run as shell")
                if ".yml" in where:
                    shell = re.sub(r"\$\{\{.*?\}\}", "value", shell)
                checked = subprocess.run(["bash", "-n", "-c", shell], capture_output=True, text=True)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_inputs_and_outputs_belong_together(self):
        action = yaml.safe_load(ACTION.read_text())
        used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text()))
        self.assertEqual(used, set(action["inputs"]))
        for name, entry in action["inputs"].items():
            self.assertNotEqual(entry.get("required", False), "default" in entry, name)
        given = [step["with"] for file in WORKFLOWS for step in steps_of(yaml.safe_load(file.read_text()))
                 if step.get("uses") == "./.github/actions/gate"]
        given += [step["with"] for language, text in BLOCK.findall(PAGE.read_text())
                  if language == "yaml" and isinstance(steps := yaml.safe_load(text), list) for step in steps]
        self.assertEqual(len(given), 2)
        for arguments in given:
            required = {name for name, entry in action["inputs"].items() if entry.get("required")}
            self.assertLessEqual(required, set(arguments))
            self.assertLessEqual(set(arguments), set(action["inputs"]))

    def test_rights_limits_and_reports(self):
        perf = yaml.safe_load((TREE / ".github/workflows/perf.yml").read_text())
        self.assertEqual(perf["permissions"], {"contents": "read"})
        self.assertTrue(all(job["timeout-minutes"] <= 60 for job in perf["jobs"].values()))
        self.assertTrue(perf["concurrency"]["cancel-in-progress"])
        job = gitlab_job()
        self.assertEqual(job["allow_failure"], {"exit_codes": [3]})
        self.assertEqual(job["artifacts"]["reports"], {"junit": "results/gate/gate.xml"})
        self.assertIn("-o results/gate", job["script"][-1])
        self.assertEqual(job["artifacts"]["when"], "always")


class ActionTest(unittest.TestCase):
    """Runs the action's steps as GitHub does: bash -eo pipefail, expressions replaced, outputs in files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.action = yaml.safe_load(ACTION.read_text())
        (self.folder / "summary").write_text(SUMMARY)

    def step(self, step, values):
        env = {"PATH": "/usr/bin:/bin", "SAYS": self.says, "GITHUB_OUTPUT": "outputs", "GITHUB_STEP_SUMMARY": "shown"}
        for name, text in step.get("env", {}).items():
            env[name] = re.sub(r"\$\{\{(.*?)\}\}", lambda found: self.value(found.group(1), values), text)
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env,
                              cwd=self.folder, capture_output=True, text=True, timeout=20)

    @staticmethod
    def value(expression, values):
        return next((values[name.strip()] for name in expression.split("||") if values[name.strip()]), "")

    def run_action(self, status, says=True, **inputs):
        """Exit status of the job, and all that it printed."""
        self.says = "yes" if says else ""
        program = self.folder / "fake hilbench"
        program.write_text(FAKE.format(status=status))
        program.chmod(0o755)
        inputs = {"candidate": "./fake hilbench", "baseline": "old/hilbench", **inputs}
        values = {f"inputs.{name}": inputs.get(name, str(entry.get("default", "")))
                  for name, entry in self.action["inputs"].items()}
        measure, keep, verdict = self.action["runs"]["steps"]
        self.assertEqual((keep["if"], keep["with"]["path"]), ("always()", "${{ inputs.output }}"))
        first = self.step(measure, values)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.outputs = dict(line.split("=", 1) for line in (self.folder / "outputs").read_text().splitlines())
        for name, entry in self.action["outputs"].items():
            self.assertEqual(entry["value"], "${{ steps.gate.outputs.%s }}" % name)
            values[f"steps.gate.outputs.{name}"] = self.outputs[name]
        second = self.step(verdict, values)
        return second.returncode, first.stdout + second.stdout

    def test_exit_statuses(self):
        for status, job, word, strict in [(0, 0, "ok", "false"), (1, 1, "slower", "false"), (0, 0, "ok", "true"),
                                          (3, 0, "undecided", "false"), (3, 3, "undecided", "true")]:
            with self.subTest(status=status, strict=strict):
                (self.folder / "shown").unlink(missing_ok=True)
                ended, out = self.run_action(status, strict=strict)
                self.assertEqual(ended, job)
                self.assertEqual(self.outputs["exit-status"], str(status))
                self.assertEqual(self.outputs["verdict"], word)
                self.assertEqual((self.folder / "shown").read_text(), SUMMARY)
                self.assertEqual("::error" in out, job != 0)
                self.assertEqual("::warning" in out, (status, job) == (3, 0))
        self.assertFalse((self.folder / "ran").exists())

    def test_no_verdict(self):
        old = self.folder / "results/gate/gate.md"
        for status in (2, 4, 127, 130):
            with self.subTest(status=status):
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_text("of an earlier gate")
                (self.folder / "shown").unlink(missing_ok=True)
                ended, out = self.run_action(status, says=False)
                self.assertEqual((ended, self.outputs), (status, {"exit-status": str(status), "verdict": "error"}))
                self.assertIn(f"exit status {status}", (self.folder / "shown").read_text())
                self.assertIn("::error", out)

    def test_arguments_arrive_whole(self):
        self.run_action(0, sweep="a b.yaml", baseline="first one\n\nsecond; touch ran\n", threshold="$(touch ran)",
                        output='`touch ran`"', budget="90s")
        self.assertEqual((self.folder / "arguments").read_text().splitlines(),
                         ["gate", "a b.yaml", "--baseline", "first one", "--baseline", "second; touch ran",
                          "--candidate", "./fake hilbench", "--threshold", "$(touch ran)", "--budget", "90s",
                          "-o", '`touch ran`"', "--format", "github"])
        self.assertFalse((self.folder / "ran").exists())

    def test_another_program_runs_the_gate(self):
        self.run_action(0, candidate="results/new", program="./fake hilbench")
        self.assertIn("results/new", (self.folder / "arguments").read_text().splitlines())

    def test_a_gate_that_was_cut_off(self):
        self.says = ""
        values = {"steps.gate.outputs.exit-status": "", "inputs.strict": "false"}
        self.assertEqual(self.step(self.action["runs"]["steps"][2], values).returncode, 1)


if __name__ == "__main__":
    BINARY = str(pathlib.Path(sys.argv.pop(1)).absolute())
    unittest.main()
