"""An external baseline for tests: attention in plain Python, fp32 only, and on demand every fault that a program can
have. Usage: rival.py FAULT [NAME], where FAULT is `none` or what the branches below compare with. If there is a file
requests.log in its folder, it adds a line for its start and for each request: NAME, what (`runs` if it is a run of
several executions), and when it began and ended (time.monotonic, which all processes share).

It computes when it gets inputs. An execution takes 0.5 ms in which it sleeps."""

import array
import json
import math
import os
import signal
import subprocess
import sys
import time

from plain_attention import attention

FAULT = sys.argv[1]
NAME = sys.argv[-1]
EXECUTION_NS = 5e5


def note(what, begin):
    if os.path.exists("requests.log"):
        with open("requests.log", "a") as log:
            print(NAME, what, begin, time.monotonic(), file=log)  # one write, which is added as a whole


def read(path, case, heads):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    assert len(values) == case["batch"] * case["sequence_length"] * heads * case["head_dim"]
    return values


def read_mask(path, case):
    """Rows of the mask, a byte for each block of keys."""
    blocks = -(-case["sequence_length"] // case["mask_block"])
    with open(path, "rb") as file:
        data = file.read()
    assert len(data) == blocks * blocks and set(data) <= {0, 1}
    return [list(data[first:first + blocks]) for first in range(0, len(data), blocks)]


class Rival:
    def hello(self, protocol):
        if FAULT == "hangs_at_hello":
            subprocess.Popen(["sleep", "600"])
            time.sleep(600)
        answer = {"protocol": 1 if FAULT == "protocol_1" else protocol, "name": "fake", "version": "1.5",
                  "devices": ["cpu", "cuda"], "flags": "-O0"}
        if FAULT in ("profiles", "no_busy_times", "unseen_by_profiler"):
            answer["profiles"] = True
        if FAULT in ("rings", "lies_about_rings"):
            answer["rings"] = True if FAULT == "rings" else "yes"
        if FAULT in ("windows", "lies_about_windows", "bad_permutation"):
            answer["windows"] = "yes" if FAULT == "lies_about_windows" else True
        if FAULT == "masks":
            answer |= {"windows": True, "masks": True}
        if FAULT == "says_so_in_hello":
            answer["other_function"] = "the answer to load says nothing of it"
        if FAULT == "on_gpu":
            answer |= {"devices": ["cuda"], "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
        if FAULT == "other_protocol":
            answer["protocol"] = 3
        if FAULT == "no_version":
            del answer["version"]
        if FAULT == "other_device":
            answer["devices"] = ["abacus"]
        if FAULT == "devices_of_letters":
            answer["devices"] = "cpu"
        if FAULT == "devices_by_name":
            answer["devices"] = {"first": "cpu"}
        if FAULT == "talkative":
            answer["flags"] = "-O0" * 5000
        return answer

    def load(self, case, option, q, k, v, mask=None):
        if FAULT == "intrudes":  # on whatever else it was given
            for fd in range(3, 64):
                try:
                    os.write(fd, b"junk\n")
                except OSError:
                    continue
        if FAULT == "changes_its_inputs":  # which other programs read too
            with open(k, "r+b") as file:
                file.write(bytes(16))
        if FAULT == "dies_on_load":
            sys.exit("the first line\nno more coffee")
        if FAULT == "hangs":
            subprocess.Popen(["sleep", "600"])
            time.sleep(600)
        if FAULT in ("starts_a_session", "starts_a_session_and_hangs"):
            subprocess.Popen(["setsid", "sleep", "600"], start_new_session=True, env={})
            if FAULT.endswith("hangs"):
                time.sleep(600)
        if FAULT == "error":
            raise ValueError("two lines\nof trouble")
        if FAULT == "unsupported" or option not in ("", "twice"):
            return {"unsupported": f"no option '{option}'"}
        if mask is not None:
            case["mask"] = read_mask(mask, case)
        self.case, self.values = case, {}
        self.compute({"q": q, "k": k, "v": v}, "qkv")
        if FAULT == "masks":
            return {"timer": "fake_clock", "asked": {key: case[key] for key in sorted(case) if key != "mask"}}
        if FAULT in ("windows", "bad_permutation"):
            return {"timer": "fake_clock", "permute_ns": 750.5 if FAULT == "windows" else -1, "asked": case}
        if FAULT == "rings":
            return {"timer": "fake_clock", "ranks": case["ring_size"]}
        if FAULT == "bad_untimed":
            return {"timer": "fake_clock", "untimed": 2}
        if FAULT.startswith("another_function"):
            why = "" if FAULT.endswith("reason") else "its first value is larger"
            return {"timer": "fake_clock", "other_function": why}
        return {"timer": 7} if FAULT == "no_timer" else {"timer": "fake_clock", "option": option}

    def compute(self, paths, changed):
        for name in changed:
            self.values[name] = read(paths[name], self.case, self.case["heads" if name == "q" else "kv_heads"])
        self.o, self.lse = attention(self.case, *(self.values[name] for name in "qkv"))

    def inputs(self, q, k, v, changed):
        if FAULT == "protocol_1":
            raise ValueError("protocol 1 has no inputs")
        if FAULT == "dies_on_inputs":
            sys.exit("no more sugar")
        if FAULT == "error_on_inputs":
            raise ValueError("too many inputs")
        if FAULT == "unsupported_inputs":
            return {"unsupported": "its inputs are compiled into it"}
        if FAULT == "rereads_v_alone":
            changed = [name for name in changed if name == "v"]
        if FAULT != "keeps_its_inputs":
            self.compute({"q": q, "k": k, "v": v}, changed)
        return {}

    def run(self, executions):
        if executions == 0:
            if FAULT == "protocol_1":
                raise ValueError("protocol 1 has no empty run")
            return {"times_ns": [EXECUTION_NS] if FAULT == "time_of_nothing" else []}
        if FAULT == "killed_when_timed" and executions > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        times = [EXECUTION_NS + i for i in range(executions)]
        time.sleep(sum(times) / 1e9)
        if FAULT == "no_times":
            times = []
        if FAULT == "time_travel":
            times[0] = -1
        if FAULT == "null_time":
            times[0] = None
        if FAULT == "endless_time":
            times[0] = math.inf
        if FAULT == "least_time":
            times[0] = 5e-324
        if FAULT == "greatest_time":
            times[0] = sys.float_info.max
        if FAULT == "bad_time_among_good":
            times = [-1, *times]
        if FAULT == "times_by_name":
            times = {str(i): time for i, time in enumerate(times)}
        return {"times_ns": times}

    def profile(self, executions):
        if FAULT == "unseen_by_profiler":
            return {"unsupported": "no profiler here"}
        time.sleep(executions * EXECUTION_NS / 1e9)
        return {"gpu_busy_ns": [3e5] * executions if FAULT == "profiles" else []}

    def read(self, o, lse, rows=None):
        if rows is not None and FAULT == "protocol_1":
            raise ValueError("protocol 1 reads no rows")
        values, sums = array.array("f", self.o), array.array("f", self.lse)
        if FAULT in ("wrong", "another_function"):
            values[3] += 0.01
        if FAULT in ("nan", "another_function_and_nan"):
            values[3] = math.nan
        if rows is not None and FAULT != "reads_all_rows":
            if FAULT == "reads_rows_beside":
                rows = [(row + 1) % len(sums) for row in rows]
            d = self.case["head_dim"]
            values = array.array("f", (x for row in rows for x in values[row * d:(row + 1) * d]))
            sums = array.array("f", (sums[row] for row in rows))
        data = values.tobytes()
        if FAULT == "short" or FAULT == "short_rows" and rows is not None:
            data = data[:-4]
        if FAULT == "long":
            data += data
        with open(o, "wb") as file:
            file.write(data)
        if FAULT != "no_lse":
            with open(lse, "wb") as file:
                file.write(sums.tobytes())
        return {"lse": FAULT != "no_lse"}


note("start", time.monotonic())
if FAULT == "dies_at_start":
    sys.exit("no beans")
if FAULT == "starts_slowly":
    time.sleep(2)
rival = Rival()
for line in sys.stdin:
    request = json.loads(line)
    what = request.pop("do")
    begin = time.monotonic()
    if FAULT == "garbage":
        print("Segmentation\x1b[2J fault")
    elif FAULT == "list":
        print("[1, 2]")
    elif FAULT == "not_utf8":
        sys.stdout.buffer.write(b'{"error": "\xff"}\n')
    elif FAULT == "flood" and what == "run":
        sys.stdout.write("9" * (17 << 20))
    elif FAULT == "deep":
        print('{"error": ' + "[" * 200000 + "]" * 200000 + "}")
    elif FAULT == "brackets":  # in text they nest nothing
        print(json.dumps({"error": '"' + "[" * 100 + "\\"}))
    elif FAULT == "leaves_a_child":
        subprocess.Popen(["sleep", "600"])
        sys.exit("gone, but for what it started")
    elif FAULT == "key_twice":
        print('{"protocol": 1, "name": "a", "version": "1", "name": "b", "devices": ["cpu"]}')
    elif FAULT == "no_reason":
        print('{"error": ""}')
    elif FAULT == "two_lines":
        print("{}\n{}")
    elif FAULT == "closes_output":
        os.close(1)
        time.sleep(600)
    else:
        if FAULT == "noise":
            sys.stderr.write("a line of many\n" * 20000)
            sys.stderr.flush()
        try:
            answer = getattr(rival, what)(**request)
        except ValueError as error:
            answer = {"error": str(error)}
        note("runs" if request.get("executions", 0) > 1 and what == "run" else what, begin)
        print(json.dumps(answer))
    sys.stdout.flush()
