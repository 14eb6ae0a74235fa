"""An external baseline for tests: attention in plain Python, fp32 only, and on demand every fault that a program can
have. Usage: rival.py FAULT [NAME], where FAULT is `none` or what the branches below compare with. If there is a file
requests.log in its folder, it adds a line for its start and for each request: NAME, what, and when it began and ended
(time.monotonic, which all processes share)."""

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
        answer = {"protocol": protocol, "name": "fake", "version": "1.5", "devices": ["cpu", "cuda"],
                  "flags": "-O0"}
        if FAULT in ("profiles", "no_busy_times", "unseen_by_profiler"):
            answer["profiles"] = True
        if FAULT in ("rings", "lies_about_rings"):
            answer["rings"] = True if FAULT == "rings" else "yes"
        if FAULT in ("windows", "lies_about_windows", "bad_permutation"):
            answer["windows"] = "yes" if FAULT == "lies_about_windows" else True
        if FAULT == "masks":
            answer |= {"windows": True, "masks": True}
        if FAULT == "on_gpu":
            answer |= {"devices": ["cuda"], "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}
        if FAULT == "other_protocol":
            answer["protocol"] = 2
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
        self.o, self.lse = attention(case, read(q, case, case["heads"]), read(k, case, case["kv_heads"]),
                                     read(v, case, case["kv_heads"]))
        self.executions = 0
        if FAULT == "masks":
            return {"timer": "fake_clock", "asked": {key: case[key] for key in sorted(case) if key != "mask"}}
        if FAULT in ("windows", "bad_permutation"):
            return {"timer": "fake_clock", "permute_ns": 750.5 if FAULT == "windows" else -1, "asked": case}
        if FAULT == "rings":
            return {"timer": "fake_clock", "ranks": case["ring_size"]}
        return {"timer": 7} if FAULT == "no_timer" else {"timer": "fake_clock", "option": option}

    def run(self, executions):
        self.executions += executions
        if FAULT == "killed_when_timed" and self.executions > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        times = [5e5 + i for i in range(executions)]
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
        return {"gpu_busy_ns": [3e5] * executions if FAULT == "profiles" else []}

    def read(self, o, lse):
        values = array.array("f", self.o)
        if FAULT == "wrong":
            values[3] += 0.01
        if FAULT == "nan":
            values[3] = math.nan
        data = values.tobytes()
        if FAULT == "short":
            data = data[:-4]
        if FAULT == "long":
            data += data
        with open(o, "wb") as file:
            file.write(data)
        if FAULT != "no_lse":
            with open(lse, "wb") as file:
                file.write(array.array("f", self.lse).tobytes())
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
        note(what, begin)
        print(json.dumps(answer))
    sys.stdout.flush()
