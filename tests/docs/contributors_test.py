"""The version is the same in every file that names it, and what serves contributors names files that the tree has."""

import json
import pathlib
import re
import sys
import unittest

try:
    import yaml
except ImportError as error:
    print(f"skipped: {error}; apt install python3-yaml")
    sys.exit(77)  # CTest's SKIP_RETURN_CODE

TREE = pathlib.Path(__file__).resolve().parents[2]
SECTION = re.compile(r"^## (.*)\n((?:(?!## ).*\n)*)", re.MULTILINE)
MOST_LINES = 80  # of a section of the changelog: read in two minutes
FIELDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}  # of GitHub's issue forms


def text_of(file):
    return (TREE / file).read_text()


def sections(changelog):
    """Title and text of each section of the changelog, the newest first."""
    return SECTION.findall(changelog)


def released(changelog):
    """The newest version of the changelog; a section of what is not released may stand above it."""
    return next((title for title, _ in sections(changelog) if title != "Unreleased"), None)


class Version(unittest.TestCase):
    def setUp(self):
        self.version = re.search(r"project\(hilbench VERSION (\S+)", text_of("CMakeLists.txt"))[1]

    def test_files_agree(self):
        self.assertRegex(self.version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(str(yaml.safe_load(text_of("CITATION.cff"))["version"]), self.version)
        self.assertEqual(released(text_of("CHANGELOG.md")), self.version)

    def test_pip_takes_it_from_cmake(self):
        provider = text_of("pyproject.toml").split("[tool.scikit-build.metadata.version]")[1]
        source = re.search(r'input = "(.*)"', provider)[1]
        pattern = re.search(r"regex = '(.*)'", provider)[1]
        self.assertEqual(re.search(pattern, text_of(source))["value"], self.version)

    def test_a_section_is_short(self):
        for title, text in sections(text_of("CHANGELOG.md")):
            self.assertLessEqual(len(text.splitlines()) + 1, MOST_LINES, title)

    def test_sections_are_found(self):
        changelog = "# Changelog\n\n## Unreleased\n\n- a\n\n## 1.2.3\n\n- b\n- c\n"
        self.assertEqual(sections(changelog), [("Unreleased", "\n- a\n\n"), ("1.2.3", "\n- b\n- c\n")])
        self.assertEqual(released(changelog), "1.2.3")


class Files(unittest.TestCase):
    def test_hooks_start_programs_of_the_tree(self):
        repositories = yaml.safe_load(text_of(".pre-commit-config.yaml"))["repos"]
        for repository in repositories:
            self.assertEqual(repository["repo"], "local", "a hook that is fetched")
            for hook in repository["hooks"]:
                self.assertTrue((TREE / hook["entry"].split()[0]).stat().st_mode & 0o100, hook["entry"])
                re.compile(hook["files"])

    def test_issue_forms(self):
        forms = sorted((TREE / ".github/ISSUE_TEMPLATE").glob("*.yml"))
        self.assertGreaterEqual(len(forms), 4)
        for file in forms:
            with self.subTest(file.name):
                form = yaml.safe_load(file.read_text())
                self.assertLessEqual({"name", "description", "body"}, set(form))
                asked = [field for field in form["body"] if field["type"] != "markdown"]
                self.assertTrue(asked)
                for field in form["body"]:
                    self.assertIn(field["type"], FIELDS)
                    self.assertIn("value" if field["type"] == "markdown" else "label", field["attributes"])
                ids = [field["id"] for field in asked]
                self.assertEqual(len(ids), len(set(ids)))

    def test_files_that_templates_name_exist(self):
        for file in [*(TREE / ".github/ISSUE_TEMPLATE").glob("*.yml"), TREE / ".github/pull_request_template.md"]:
            named = re.findall(r"`([\w./-]+\.(?:md|sh|py)|(?:docs|reports|tests)/[\w./-]*)`", file.read_text())
            self.assertEqual([name for name in named if not (TREE / name).exists()], [], file.name)

    def test_the_devcontainer_is_a_target_of_the_dockerfile(self):
        build = json.loads(text_of(".devcontainer/devcontainer.json"))["build"]
        self.assertEqual((TREE / ".devcontainer" / build["dockerfile"]).resolve(), TREE / "Dockerfile")
        self.assertIn(build["target"], re.findall(r"^FROM \S+ AS (\S+)$", text_of("Dockerfile"), re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
