"""packages.txt is the one list of Debian's packages: quickstart.sh asks for exactly these, and Dockerfile reads it."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
GROUPS = ("build", "run", "tests")
# What the Dockerfile needs besides: the commit of the build, and what cpack runs.
OF_IMAGES = {"git", "file", "dpkg-dev"}


def listed():
    lines = (TREE / "packages.txt").read_text().splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def quickstart(programs, *options):
    """Runs quickstart.sh with these programs, name and text, before all others."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            program = pathlib.Path(folder, name)
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        return subprocess.run([TREE / "quickstart.sh", "--packages", *options],
                              env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                              capture_output=True, text=True)


class PackagesTest(unittest.TestCase):
    def test_each_line_is_a_group_and_a_package(self):
        for line in listed():
            self.assertEqual(len(line), 2, line)
            self.assertIn(line[0], GROUPS)
        names = [name for _, name in listed()]
        self.assertEqual(len(names), len(set(names)), "a package is there twice")

    def test_quickstart_asks_for_these(self):
        for options, groups in (([], ("build", "run")), (["--tests"], GROUPS)):
            done = quickstart({"dpkg-query": "exit 1"}, "--no-install", *options)  # no package is installed
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = re.search(r"not installed \(--no-install\): (.*)", done.stderr).group(1).split()
            wanted = [name for group, name in listed() if group in groups]
            self.assertEqual([name for name in asked if name in wanted], wanted)
            self.assertLessEqual(set(asked) - set(wanted), {"python3-pip"}, "for a GPU, pip fetches headers")

    def test_packages_that_cannot_be_installed(self):
        programs = {"dpkg-query": "exit 1", "sudo": 'exec "$@"'}
        error = "E: Unable to fetch some archives, maybe run apt-get update"
        for apt, why in (("exit 100", "apt-get failed"),
                         (f'[ "$1" = update ] || {{ echo "W: cold"; echo "{error}"; exit 100; }} >&2', error[3:])):
            done = quickstart({**programs, "apt-get": apt})
            self.assertEqual(done.returncode, 4)
            self.assertRegex(done.stderr, rf"\Aquickstart.sh: packages cannot be installed: {why}; is there a network\? "
                                          r"Missing: [^\n]+\n\Z")

    def test_the_dockerfile_names_no_package_itself(self):
        text = (TREE / "Dockerfile").read_text().replace("\\\n", " ")
        installs = re.findall(r"apt-get install ([^&]*)&&", text)
        self.assertEqual(len(installs), 6)
        for install in installs:
            rest, lists = re.subn(r"""\$\(awk '(\$1 == "(build|run)"|!/\^#/) \{print \$2\}' (/tmp/)?packages\.txt\)""", "",
                                  install)
            self.assertEqual(lists, 1, install)
            words = {word for word in rest.split() if not word.startswith("-") and word != "/tmp/*.deb"}
            self.assertLessEqual(words, OF_IMAGES)


if __name__ == "__main__":
    unittest.main()
