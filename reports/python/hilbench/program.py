"""The program `hilbench`: where it is, and running it."""

import os
import pathlib
import shutil
import subprocess
import sysconfig


class HilbenchError(RuntimeError):
    """What hilbench could not do, in one line: what, where, why, what to try."""

    @classmethod
    def of_one_line(cls, text):
        return cls(" ".join(text.split()))


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
    except (OSError, ValueError) as error:  # ValueError: a name holds a zero byte
        why = getattr(error, "strerror", None) or error
        raise HilbenchError.of_one_line(f"cannot run the program ({program}): {why}") from error
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise HilbenchError.of_one_line(last.removeprefix("hilbench: error: ") or
                                        f"the program failed ({program}): exit status {done.returncode}")
    return done.stdout
