"""The transport `mpi` in four processes. Usage: mpi_test.py MPIRUN MPI_RANKS exchange|FAULT

`exchange` runs the tests of MPI_RANKS; a fault must end all processes soon, with a line that gives the reason.
"""

import os
import subprocess
import sys
import time

RANKS = 4
PATIENCE_S = 60  # the ranks themselves wait 2 s; the rest is for a loaded machine
LINES = {
    "kill": ["process rank 2", "signal 9"],
    "hang": [" waited 2 s for ", "rank 2"],
    "abort": ["rank 2 cannot allocate"],
    "size": ["rank 2 sends 1000 bytes to rank 3, which expects 1048576"],
}


def run(mpirun, arguments, limit_s):
    command = [mpirun, "-n", str(RANKS), "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", *arguments]
    # Open MPI has leaks of its own: the address sanitizer is to look at memory accesses only.
    surroundings = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=limit_s)


def main(mpirun, program, what):
    if what == "exchange":
        done = run(mpirun, [program], 280)
        print(done.stdout)
        return done.returncode
    begin = time.monotonic()
    done = run(mpirun, [program, "--fault", what], PATIENCE_S)
    print(f"{done.stdout}exit {done.returncode} after {time.monotonic() - begin:.1f} s")
    if done.returncode == 0:
        return "the failure is not in the exit status"
    if not any(all(part in line for part in LINES[what]) for line in done.stdout.splitlines()):
        return f"no line contains {LINES[what]}"
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
