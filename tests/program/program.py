"""The program under test, its sweeps and its store, as the end-to-end tests see them. Standard library only."""

import ast
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
# These tests run the program on processors alone and hide any GPU.
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
# Built with a sanitizer: sweeps of many variants then take a part of them, enough to enter all code, as in sanitized.hpp.
SANITIZED = os.environ.get("HILBENCH_TESTS_SANITIZED") == "TRUE"


class Program:
    """`hilbench` in a folder of its own, by which its processes are found again."""

    def __init__(self, binary):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hilbench-test-"))
        self.folder.chmod(0o755)
        self.binary = self.folder / "hilbench"
        self.put(binary)

    def put(self, binary):
        """Makes it the program. Processes without privileges may not reach the build folder, and a copy takes a tenth of
        a second under a sanitizer, so it is the same file: who wants another program puts one, and writes into none."""
        self.binary.unlink(missing_ok=True)
        try:
            os.link(binary, self.binary)
        except OSError:  # on another disk
            shutil.copy(binary, self.binary)

    def close(self):
        shutil.rmtree(self.folder)

    def sweep(self, text, name="sweep.yaml"):
        file = self.folder / name
        file.write_text(text)
        return file.name

    def add_rival(self):
        """Copies tests/fakes/rival.py, an external program, into the folder, with what it imports."""
        for source in ("fakes/rival.py", "program/plain_attention.py"):
            shutil.copy(TESTS / source, self.folder)

    def start(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([self.binary, *map(str, arguments)], cwd=self.folder, text=True, **options)

    def run(self, *arguments, status=0, **options):
        """Waits for the end; the exit status must be `status`, or one of them. Gives standard output and error."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        assert process.returncode in (status if isinstance(status, tuple) else (status,)), f"exit status {process.returncode}, not {status}\n{out}\n{err}"
        return out, err

    def processes(self, word):
        """Process ids of what has `word` in its command line and runs in the program's folder."""
        return [process for process, line in running_in(self.folder).items() if word in line]

    def workers(self):
        """Process ids of the workers that run here."""
        return [process for process, line in running_in(self.folder).items() if line.split(b"\0")[1:2] == [b"worker"]]

    def wait_for_worker(self):
        return wait_until(self.workers, 20, "no worker came up")[0]

    def wait_until_no_worker(self):
        wait_until(lambda: not self.workers(), 2, "a worker outlived its supervisor by 2 s")

    def records(self, folder, twins=False):
        out, _ = self.run("export", folder, "--format", "jsonl")
        records = [json.loads(line, parse_constant=refuse_constant) for line in out.splitlines()]
        return [record for record in records if twins or not record["twin"]]


def running_in(folder, file="cmdline"):
    """What runs in the folder: the content of this file of /proc by process id. A zombie has no folder any more."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # gone since, or another user's
            if entry.name.isdigit() and os.path.samefile(os.readlink(entry / "cwd"), folder):
                found[int(entry.name)] = (entry / file).read_bytes()
    return found


def refuse_constant(name):
    raise AssertionError(f"{name} in JSON")


def wait_until(condition, seconds, complaint):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(complaint)


class Store:
    """What results.sqlite holds, read without the program."""

    def __init__(self, folder):
        connection = sqlite3.connect(pathlib.Path(folder) / "results.sqlite")
        self.integrity = connection.execute("PRAGMA integrity_check").fetchall()
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.meta = self.comparisons = self.processes = {}
        self.rows = []
        if "record" in tables:  # else the program was killed before it made them
            self.meta = dict(connection.execute("SELECT key, value FROM meta"))
            self.comparisons = dict(connection.execute("SELECT id, case_id FROM comparison"))
            self.processes = dict(connection.execute("SELECT case_id, processes FROM comparison"))
            self.rows = connection.execute(
                "SELECT comparison_id, case_id, variant_id, status, reason, json FROM record").fetchall()
        connection.close()

    def texts(self):
        return {(case, variant): text for _, case, variant, _, _, text in self.rows}

    def sound_texts(self):
        """Those of comparisons without a failed variant: no further run changes them."""
        failed = {case for _, case, _, status, *_ in self.rows if status == "failed"}
        return {key: text for key, text in self.texts().items() if key[0] not in failed}

    def samples(self):
        """Of each timed record, by case and variant: the samples of each process."""
        times = {key: json.loads(text)["time_ns"] for key, text in self.texts().items()}
        return {key: time["samples"] for key, time in times.items() if time}


def npy(shape, kind, data, fortran_order=False):
    """The bytes of a .npy file, as NumPy writes it."""
    header = f"{{'descr': '{kind}', 'fortran_order': {fortran_order}, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def write_npy(file, shape, values, kind="<i8"):
    letter = {"<i8": "q", "<f4": "f"}[kind]
    file.write_bytes(npy(shape, kind, struct.pack(f"<{len(values)}{letter}", *values)))


def read_npy(file):
    """Shape and values of an fp32 array."""
    data = file.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    values = struct.unpack(f"<{(len(data) - 10 - length) // 4}f", data[10 + length:])
    return header["shape"], values


def largest_difference(a, b):
    return max(0 if x == y else abs(x - y) for x, y in zip(a, b))
