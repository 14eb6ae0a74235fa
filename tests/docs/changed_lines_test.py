"""tests/changed_lines.py finds what is wrong in lines that changed, and leaves older lines alone.

The tree of each test is a small one, with the formatter's and the linter's settings of this one.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("git", "clang-format", "clang-tidy", "clang++", "cmake", "ninja")
MISSING = [tool for tool in NEEDED if not shutil.which(tool)]
if MISSING:
    print(f"skipped: no {', '.join(MISSING)}; ./quickstart.sh --packages --tests installs them")
    sys.exit(77)  # CTest's SKIP_RETURN_CODE

BAD_FORMAT = "int   sum( int a,int b ) { return a+b; }\n"
BAD_NAME = "int BadName() { return 1; }\n"
GOOD = "int good() {\n  return 2;\n}\n"
CMAKE = """cmake_minimum_required(VERSION 3.22)
set(CMAKE_CXX_COMPILER_WORKS ON)  # spares the time to try it
project(small CXX)
add_library(small a.cpp)
"""


def long_function(lines):
    return "int long_one() {\n  int sum = 0;\n" + "  ++sum;\n" * (lines - 4) + "  return sum;\n}\n"


class ChangedLines(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.tree = pathlib.Path(held.name).resolve()
        (self.tree / "tests").mkdir()
        for file in (".clang-format", ".clang-tidy", "tests/changed_lines.py"):
            shutil.copy(TREE / file, self.tree / file)
        self.write("CMakeLists.txt", CMAKE)
        self.git("init", "-q", "-b", "main")

    def write(self, name, *parts):
        (self.tree / name).write_text("".join(parts))

    def git(self, *arguments):
        who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *who, *arguments], cwd=self.tree, check=True, capture_output=True)

    def commit(self, name, *parts):
        self.write(name, *parts)
        self.git("add", ".")
        self.git("commit", "-q", "-m", name)

    def check(self, *arguments, **variables):
        return subprocess.run([sys.executable, self.tree / "tests/changed_lines.py", *arguments], capture_output=True,
                              text=True, env={**os.environ, **variables})

    def assert_finds(self, text, done):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(text, done.stdout)

    def assert_quiet(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_format_of_changed_lines_alone(self):
        self.commit("a.cpp", BAD_FORMAT)
        self.commit("a.cpp", BAD_FORMAT, GOOD)
        self.assert_quiet(self.check("--only", "format", "HEAD~1"))
        self.commit("a.cpp", BAD_FORMAT, GOOD, BAD_FORMAT.replace("sum", "difference"))
        self.assert_finds("a.cpp:5:", self.check("--only", "format", "HEAD~1"))
        self.assertNotIn("a.cpp:1:", self.check("--only", "format", "HEAD~1").stdout)

    def test_format_of_device_code_and_of_what_is_not_committed(self):
        self.commit("a.cpp", GOOD)
        self.write("b.cuh", BAD_FORMAT)
        self.git("add", "b.cuh")
        self.assert_finds("b.cuh:1:", self.check("--only", "format", "HEAD"))

    def test_lines_that_are_gone_are_not_checked(self):
        self.commit("a.cpp", GOOD, BAD_FORMAT)
        self.commit("a.cpp", BAD_FORMAT)
        self.git("rm", "-q", "a.cpp")
        self.assert_quiet(self.check("--only", "format", "HEAD~1"))
        self.git("checkout", "-q", "HEAD", "a.cpp")
        self.assert_quiet(self.check("--only", "format", "HEAD~1"))

    def test_names_in_changed_lines_alone(self):
        self.commit("a.cpp", BAD_NAME)
        self.commit("a.cpp", BAD_NAME, GOOD)
        self.assert_quiet(self.check("HEAD~1"))
        self.commit("a.cpp", BAD_NAME, GOOD, "struct bad_type { int BadMember; };\n")
        done = self.check("--only", "tidy", "HEAD~1")
        self.assert_finds("'bad_type'", done)
        self.assertIn("'BadMember'", done.stdout)
        self.assertNotIn("'BadName'", done.stdout)

    def test_names_in_headers(self):
        self.commit("a.cpp", GOOD)
        self.commit("a.hpp", "#pragma once\nclass Counter {\n  int count = 0;\n};\n",
                    "#define SIZE 3\nconstexpr int most = 3;\n")
        done = self.check("--only", "tidy", "HEAD~1")
        for name in ("'count'", "'SIZE'", "'most'"):
            self.assert_finds(name, done)
        self.assertEqual(done.stdout.count("warning: "), 3, done.stdout)

    def test_the_length_of_functions(self):
        self.commit("a.cpp", GOOD)
        self.commit("a.cpp", long_function(40))
        self.assert_quiet(self.check("HEAD~1"))
        self.commit("a.cpp", long_function(42))
        self.assert_finds("'long_one' exceeds recommended size", self.check("--only", "tidy", "HEAD~1"))
        self.commit("a.cpp", long_function(42), GOOD)
        self.assert_quiet(self.check("--only", "tidy", "HEAD~1"))

    def test_what_cannot_be_read_is_said(self):
        self.commit("a.cpp", GOOD)
        self.write("cuda.cpp", BAD_NAME)
        self.write("cuda.hpp", '#pragma once\n#include <none_here.h>\n')
        self.commit("b.hpp", "#pragma once\nint broken(;\n")
        done = self.check("--only", "tidy", "HEAD~1")
        self.assert_finds("b.hpp:2:", done)
        self.assertIn("not checked: cuda.cpp: ", done.stdout)
        self.assertIn("not checked: cuda.hpp: 'none_here.h' file not found", done.stdout)

    def test_the_base_is_where_the_branch_began(self):
        self.commit("a.cpp", GOOD)
        self.git("checkout", "-q", "-b", "mine")
        self.commit("b.cpp", BAD_FORMAT)
        self.commit("b.hpp", "#pragma once\n")
        self.assert_finds("b.cpp:1:", self.check("--only", "format"))

    def test_one_line_says_what_is_missing(self):
        self.commit("a.cpp", GOOD)
        done = self.check("none")
        self.assertEqual((done.returncode, done.stderr), (2, "changed_lines.py: git knows no commit none\n"))
        tools = self.tree / "tools"
        tools.mkdir()
        (tools / "git").symlink_to(shutil.which("git"))
        done = self.check("HEAD", PATH=str(tools))
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"\Achanged_lines.py: no clang-format here; [^\n]+\n\Z")


if __name__ == "__main__":
    unittest.main()
