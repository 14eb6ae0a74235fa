"""The exports of an invented store, for the tests of this folder."""

import os
import subprocess
import tempfile

SKIPPED = 77


class Exports:
    """A folder with an export of every format, named after it, and the store."""

    def __init__(self, write_exports, speed="1.0"):
        self.parent = tempfile.TemporaryDirectory()
        self.folder = os.path.join(self.parent.name, "store")
        subprocess.run([write_exports, self.folder, speed], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.parent.cleanup()

    def file(self, name):
        return os.path.join(self.folder, name)


def check(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")
