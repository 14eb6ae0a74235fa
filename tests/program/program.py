"""The program under test, its sweeps and its store, as the end-to-end tests see them. Standard library only."""

import ast
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time

# These tests run the program on processors alone and hide any GPU.
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


class Program:
    """`hilbench` in a folder of its own, by which its processes are found again."""

    def __init__(self, binary):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hilbench-test-"))
        self.folder.chmod(0o755)
        # A copy: processes without privileges may not reach the build folder.
        self.binary = shutil.copy(binary, self.folder / "hilbench")

    def close(self):
        shutil.rmtree(self.folder)

    def sweep(self, text, name="sweep.yaml"):
        file = self.folder / name
        file.write_text(text)
        return file.name

    def start(self, *arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([self.binary, *map(str, arguments)], cwd=self.folder, text=True, **options)

    def run(self, *arguments, status=0, **options):
        """Waits for the end; the exit status must be `status`. Gives standard output and error."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        assert process.returncode == status, f"exit status {process.returncode}, not {status}\n{out}\n{err}"
        return out, err

    def processes(self, word):
        """Process ids of what has `word` in its command line and runs in the program's folder."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                here = entry.name.isdigit() and os.path.samefile(os.readlink(entry / "cwd"), self.folder)
                if here and word in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue  # gone since, or another user's
        return found

    def workers(self):
        """Process ids of the workers that run here."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                here = os.path.samefile(os.readlink(entry / "cwd"), self.folder)
                zombie = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:
                continue  # gone since, or another user's
            if here and not zombie and b"worker" in words[1:2]:
                found.append(int(entry.name))
        return found

    def wait_for_worker(self):
        return wait_until(self.workers, 20, "no worker came up")[0]

    def wait_until_no_worker(self):
        wait_until(lambda: not self.workers(), 2, "a worker outlived its supervisor by 2 s")

    def records(self, folder, twins=False):
        out, _ = self.run("export", folder, "--format", "jsonl")
        records = [json.loads(line, parse_constant=refuse_constant) for line in out.splitlines()]
        return [record for record in records if twins or not record["twin"]]


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


def write_npy(file, shape, values, kind="<i8"):
    header = repr({"descr": kind, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    letter = {"<i8": "q", "<f4": "f"}[kind]
    data = struct.pack(f"<{len(values)}{letter}", *values)
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(file):
    """Shape and values of an fp32 array."""
    data = file.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    values = struct.unpack(f"<{(len(data) - 10 - length) // 4}f", data[10 + length:])
    return header["shape"], values
