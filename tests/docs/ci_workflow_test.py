"""The workflow of docs/ci.md for a project that is not hilbench, executed: in an empty folder, with a kernel in C in two
versions, as GitHub would. Its commands and those of .github/actions/gate are run as they stand there.

Usage: ci_workflow_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import os
import pathlib
import re
import shutil
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
WORKFLOW = re.compile(r"^```yaml\n(name: performance\n.*?)^```", re.DOTALL | re.MULTILINE)
# Steps that are not executed here, by their name or by the action that they use, and what stands in their place.
SKIPPED = {
    "actions/checkout@v4": "a repository of two commits, and links to this tree and its program",
    "Build hilbench": "it installs packages: the program is the one that is tested",
    "Keep the results": "GitHub keeps them",
}
SWEEP = """
name: mine
cases: [{sequence_length: 256, segments: [256], dilations: [1], heads: 2, head_dim: 32, threads: 1, device: cpu}]
kernels: {mine: {library: ./libmine.so}}
variants: [{kernel: mine}]
measure: {budget_s: 0.3, timeout_s: 60}
"""
# Each row is computed twice.
SLOWER = (("q < tile->query_count", "q < 2 * tile->query_count"), ("(int64_t)q *", "(int64_t)(q / 2) *"))


@unittest.skipUnless(shutil.which("cc") and shutil.which("git"), "no C compiler, or no git")
class WorkflowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "project"
        (self.folder / "hilbench/build").mkdir(parents=True)
        (self.folder / "hilbench/.github").symlink_to(TREE / ".github")
        (self.folder / "hilbench/build/hilbench").symlink_to(BINARY)
        self.project.mkdir()
        subprocess.run([BINARY, "init", "--kernel", "c"], cwd=self.project, check=True, capture_output=True)
        (self.project / "mine.yaml").write_text(SWEEP)
        self.git("init", "-q")
        self.values = {"github.event.pull_request.base.sha": self.commit()}
        self.executed, self.skipped = [], []

    def git(self, *words):
        author = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(["git", *words], cwd=self.project, env=os.environ | author, check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a version")
        return self.git("rev-parse", "HEAD")

    def value(self, text):
        def of(found):
            names = [name.strip() for name in found.group(1).split("||")]
            return next((self.values[name] for name in names if self.values[name]), "")
        return re.sub(r"\$\{\{(.*?)\}\}", of, text)

    def execute(self, step, shell):
        """Exit status of a step's commands. `shell`: as GitHub starts it."""
        place = self.folder / step.get("working-directory", ".")
        files = {"GITHUB_OUTPUT": str(self.folder / "outputs"), "GITHUB_STEP_SUMMARY": str(self.folder / "summary")}
        env = os.environ | files | {name: self.value(text) for name, text in step.get("env", {}).items()}
        done = subprocess.run([*shell, "-c", step["run"]], cwd=place, env=env, capture_output=True, text=True, timeout=120)
        self.printed += done.stdout + done.stderr
        return done.returncode

    def run_steps(self, steps, shell):
        """Exit status of the first step that fails. Steps that say so run after that too."""
        status = 0
        for step in steps:
            name = step.get("name", step.get("uses"))
            if name in SKIPPED:
                self.skipped.append(name)
            elif status == 0 or step.get("if") == "always()":
                self.executed.append(name)
                status = status or (self.run_action(step) if "uses" in step else self.execute(step, shell))
        return status

    def run_action(self, step):
        action = yaml.safe_load((self.folder / step["uses"] / "action.yml").read_text())
        given = step["with"] | {"budget": self.budget}  # by default three minutes
        self.assertLessEqual(set(given), set(action["inputs"]))
        for name, entry in action["inputs"].items():
            self.assertTrue(name in given or not entry.get("required"), name)
            chosen = given.get(name, entry.get("default", ""))
            self.values[f"inputs.{name}"] = str(chosen).lower() if isinstance(chosen, bool) else str(chosen)
        measure, *rest = action["runs"]["steps"]
        bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # what `shell: bash` means
        self.assertEqual(self.run_steps([measure], bash), 0, self.printed)
        for line in (self.folder / "outputs").read_text().splitlines():
            name, said = line.split("=", 1)
            self.values[f"steps.{measure['id']}.outputs.{name}"] = said
        return self.run_steps(rest, bash)

    def run_workflow(self, budget):
        """Exit status of the job, and the verdict that its gate gave."""
        self.printed, self.budget = "", budget
        (text,) = WORKFLOW.findall((TREE / "docs/ci.md").read_text())
        (job,) = yaml.safe_load(text)["jobs"].values()
        status = self.run_steps(job["steps"], ["bash", "-e"])
        return status, self.values.get("steps.gate.outputs.verdict")

    def change(self, *changes):
        source = self.project / "mine.c"
        text = source.read_text()
        for before, after in changes:
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        source.write_text(text)
        self.commit()

    def test_an_equal_version_passes(self):
        self.change(("static int32_t launch(", "/* the same */ static int32_t launch("))
        status, verdict = self.run_workflow("4s")
        self.assertIn(verdict, ("ok", "undecided"), self.printed)  # both are no failure
        self.assertEqual(status, 0, self.printed)
        self.assertEqual(self.executed, ["Build both versions of the kernel", "./hilbench/.github/actions/gate",
                                         "Measure both builds", "Verdict"])
        self.assertEqual(set(self.skipped), set(SKIPPED))
        summary = (self.folder / "summary").read_text()
        self.assertIn("mine=before/libmine.so", summary)
        self.assertIn("mine/linear", summary)
        for name in ("gate.md", "gate.csv", "gate.xml"):
            self.assertTrue((self.folder / "results/gate" / name).exists(), name)

    def test_a_slower_version_fails(self):
        self.change(*SLOWER)
        status, verdict = self.run_workflow("40s")
        if "disturbed" in self.printed:  # then the verdict is withheld
            self.skipTest("other programs disturbed the measurement")
        self.assertEqual((status, verdict), (1, "slower"), self.printed)
        self.assertIn("::error title=hilbench gate::the candidate is slower", self.printed)

    def test_a_version_that_does_not_compile_fails_before(self):
        self.change(("static int32_t launch(", "static int32_t launch(("))
        status, verdict = self.run_workflow("4s")
        self.assertEqual((status, verdict), (1, None), self.printed)
        self.assertEqual(self.executed, ["Build both versions of the kernel"])

    def test_a_version_that_is_no_kernel_is_no_slow_one(self):
        self.change(("hilbench_kernel_table(void)", "another_table(void)"))
        status, verdict = self.run_workflow("4s")
        self.assertEqual((status, verdict), (2, "error"), self.printed)
        self.assertIn("it exports no hilbench_kernel_table", self.printed)


if __name__ == "__main__":
    BINARY = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
