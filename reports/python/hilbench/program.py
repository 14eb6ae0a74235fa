"""The program `hilbench`: where it is, and running it."""

import os
import pathlib
import shutil
import subprocess
import sysconfig


class HilbenchError(RuntimeError):
    """What hilbench could not do, in one line: what, where, why, what to try."""


def find_program():
    """HILBENCH_PROGRAM if it is set, else the program installed with this package, else the first in PATH."""
    named = os.environ.get("HILBENCH_PROGRAM")
    if named:
        return named
    package = pathlib.Path(__file__).resolve().parent
    places = [package.parent / "bin", pathlib.Path(sysconfig.get_path("scripts"))]  # pip --target, and elsewhere
    for place in places:
        if os.access(place / "hilbench", os.X_OK):
            return str(place / "hilbench")
    found = shutil.which("hilbench")
    if found is None:
        raise HilbenchError("no program hilbench: it is not in the PATH; install the package with pip, or set "
                            "HILBENCH_PROGRAM")
    return found


def run_program(*arguments):
    """Standard output of `hilbench ARGUMENTS`. Raises HilbenchError with the program's own line if it fails."""
    program = find_program()
    try:
        done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", errors="replace")
    except OSError as error:
        raise HilbenchError(f"cannot run the program ({program}): {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise HilbenchError(lines[-1].removeprefix("hilbench: error: "))
    return done.stdout
