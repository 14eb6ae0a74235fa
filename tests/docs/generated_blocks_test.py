"""The generated blocks of Markdown pages, and the pictures of README.md and docs, are what records and program say.

Usage: generated_blocks_test.py PATH_OF_HILBENCH PATH...
PATH: as generated_blocks.py takes it, from the root of the tree.
"""

import os
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]

if __name__ == "__main__":
    program, *paths = sys.argv[1:]
    sys.exit(subprocess.run([sys.executable, "reports/publish/generated_blocks.py", "check", *paths], cwd=TREE,
                            env={**os.environ, "HILBENCH": os.path.abspath(program)}).returncode)
