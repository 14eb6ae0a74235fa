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


class PackagesTest(unittest.TestCase):
    def test_each_line_is_a_group_and_a_package(self):
        for line in listed():
            self.assertEqual(len(line), 2, line)
            self.assertIn(line[0], GROUPS)
        names = [name for _, name in listed()]
        self.assertEqual(len(names), len(set(names)), "a package is there twice")

    def test_quickstart_asks_for_these(self):
        for options, groups in (([], ("build", "run")), (["--tests"], GROUPS)):
            with tempfile.TemporaryDirectory() as folder:
                nothing = pathlib.Path(folder, "dpkg-query")  # no package is installed
                nothing.write_text("#!/bin/sh\nexit 1\n")
                nothing.chmod(0o755)
                done = subprocess.run([TREE / "quickstart.sh", "--no-install", "--packages", *options],
                                      env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                                      capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            asked = re.search(r"not installed \(--no-install\): (.*)", done.stderr).group(1).split()
            wanted = [name for group, name in listed() if group in groups]
            self.assertEqual([name for name in asked if name in wanted], wanted)
            self.assertLessEqual(set(asked) - set(wanted), {"python3-pip"}, "for a GPU, pip fetches headers")

    def test_the_dockerfile_names_no_package_itself(self):
        text = (TREE / "Dockerfile").read_text().replace("\\\n", " ")
        installs = re.findall(r"apt-get install ([^&]*)&&", text)
        self.assertEqual(len(installs), 4)
        for install in installs:
            rest, lists = re.subn(r"""\$\(awk '\$1 == "(build|run)" \{print \$2\}' (/tmp/)?packages\.txt\)""", "", install)
            self.assertEqual(lists, 1, install)
            words = {word for word in rest.split() if not word.startswith("-") and word != "/tmp/*.deb"}
            self.assertLessEqual(words, OF_IMAGES)


if __name__ == "__main__":
    unittest.main()
