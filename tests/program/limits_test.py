#!/usr/bin/env python3
"""What the system refuses: locks, inodes, threads. Each message names its cause, and the exit status is 4.

Usage: limits_test.py HILBENCH NO_LOCKS NO_RECORD_LOCKS [unittest arguments]; the latter two are of fakes/no_locks.cpp
"""

import os
import resource
import subprocess
import sys

from command_line import CommandLine, SMALL, main

OTHER_USER = 65532  # whom no other test takes: the limit counts all processes of a user


class Limits(CommandLine):
    def refused_by_the_system(self, arguments, pattern, **options):
        result = self.run_it(arguments, **options)
        said = result.stderr.decode()
        self.assertEqual(result.returncode, 4, said)
        self.assertRegex(said, r"(?m)^hilbench: error: " + pattern)
        self.assertNotIn("install", said)

    def test_no_locks(self):
        """Over a network, perhaps. A store that another program holds is not what is wrong."""
        self.measured()
        self.put("sweep.yaml", SMALL)
        for library in (NO_LOCKS, NO_RECORD_LOCKS):
            preloaded = dict(os.environ, LD_PRELOAD=library)
            for arguments in (["run", "sweep.yaml"], ["run", "sweep.yaml", "-o", "new"], ["report", "results/small"]):
                if library == NO_LOCKS and arguments[0] == "report":
                    continue  # reads without a lock of the folder, and has those of SQLite to say
                with self.subTest(library=library, arguments=arguments):
                    self.refused_by_the_system(arguments, r"the file system has no locks, or cannot reach who keeps "
                                               r"them \(\S+\); give a folder on a disk of this machine with -o", env=preloaded)

    def test_no_inodes(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m,nr_inodes=20", "tmpfs", disk],
                          capture_output=True).returncode != 0:
            self.skipTest("a disk of its own cannot be mounted here: it needs root")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        with self.assertRaises(OSError):
            for number in range(100):
                (disk / str(number)).touch()
        self.put("sweep.yaml", SMALL)
        for left in range(3):  # for the folder, the store, its journal
            with self.subTest(left=left):
                self.refused_by_the_system(["run", "sweep.yaml", "-o", str(disk / "out")],
                                           r".*(no inode left|no inode is left).*remove files there")
                (disk / str(left)).unlink()

    def test_no_more_threads(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        self.folder.chmod(0o777)
        self.put("sweep.yaml", SMALL.replace("threads: 1", "threads: 2") + "baselines: [cublas]\n")
        refused = 0
        for most in (1, 2, 3, 4):
            result = self.run_it(["run", "sweep.yaml", "-o", f"out{most}"], user=OTHER_USER, preexec_fn=lambda: (
                resource.setrlimit(resource.RLIMIT_NPROC, (most, most))))
            said = result.stderr.decode()
            self.assertIn(result.returncode, (0, 4), said)
            self.assertNotIn("install", said + result.stdout.decode())
            if result.returncode == 4:
                refused += 1
                self.assertRegex(said, r"cannot start .*; raise the limit on processes and threads \(ulimit -u")
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    NO_LOCKS, NO_RECORD_LOCKS = sys.argv.pop(2), sys.argv.pop(2)
    main()
