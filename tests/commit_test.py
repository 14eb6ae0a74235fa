"""A program knows the commit that it was built from, and whether there were changes (.cmake/commit.cmake)."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[1] / ".cmake/commit.cmake"


class CommitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source = self.folder / "source"
        self.source.mkdir()
        (self.source / "file").write_text("one\n")
        (self.folder / "from").write_text("@HILBENCH_COMMIT@\n")

    def git(self, *arguments):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], cwd=self.source,
                              check=True, capture_output=True, text=True).stdout.strip()

    def written(self):
        subprocess.run(["cmake", f"-DSOURCE={self.source}", f"-DFROM={self.folder}/from", f"-DTO={self.folder}/to", "-P",
                        SCRIPT], check=True, capture_output=True)
        return (self.folder / "to").read_text().strip()

    def test_commit(self):
        self.assertEqual(self.written(), "unknown")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "one")
        commit = self.git("rev-parse", "--short=7", "HEAD")
        self.assertEqual(self.written(), commit)
        before = (self.folder / "to").stat().st_mtime_ns
        self.assertEqual(self.written(), commit)
        self.assertEqual((self.folder / "to").stat().st_mtime_ns, before, "what depends on it would be built again")
        (self.source / "file").write_text("two\n")
        self.assertEqual(self.written(), commit + "-dirty")


if __name__ == "__main__":
    unittest.main()
