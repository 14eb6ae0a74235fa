"""A program of dense attention's gradients (docs/external.md), in plain Python. Usage: gradients.py WAY.

WAY: right; forward, it says nothing of the backward pass; zeros, it returns zeros; keeps, what it computed first;
no_keys, dK and dV stay empty; swapped, dK for dV.
"""

import array
import json
import math
import sys
import time

WAY = sys.argv[1]
case, tensors, gradients = {}, {}, {}


def read(path):
    values = array.array("f")
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


def row(name, position, head):
    heads, width = case["kv_heads" if name in "kv" else "heads"], case["head_dim"]
    at = (position * heads + head) * width
    return tensors[name][at:at + width]


def compute():
    length, heads, kv_heads, width = (case[key] for key in ("sequence_length", "heads", "kv_heads", "head_dim"))
    found = {name: [0.0] * (length * (heads if name == "d_q" else kv_heads) * width) for name in ("d_q", "d_k", "d_v")}
    scale = 1 / math.sqrt(width)
    for head in range(heads):
        kv_head = head * kv_heads // heads
        for i in range(length):
            q, d_o, o = (row(name, i, head) for name in ("q", "d_o", "o"))
            delta = sum(a * b for a, b in zip(d_o, o))
            to_q = (i * heads + head) * width
            for j in range(i + 1 if case["causal"] else length):
                k, v = row("k", j, kv_head), row("v", j, kv_head)
                p = math.exp(scale * sum(a * b for a, b in zip(q, k)) - tensors["lse"][i * heads + head])
                d_s = scale * p * (sum(a * b for a, b in zip(d_o, v)) - delta)
                to_k = (j * kv_heads + kv_head) * width
                for d in range(width):
                    found["d_q"][to_q + d] += d_s * k[d]
                    found["d_k"][to_k + d] += d_s * q[d]
                    found["d_v"][to_k + d] += p * d_o[d]
    if WAY == "swapped":
        found["d_k"], found["d_v"] = found["d_v"], found["d_k"]
    return {name: array.array("f", [0.0] * len(values) if WAY == "zeros" else values) for name, values in found.items()}


def hello(protocol):
    return {"protocol": 2, "name": "gradients", "version": WAY, "devices": ["cpu"], "backward": WAY != "forward"}


def take(files):
    tensors.update((name, read(path)) for name, path in files.items())


def load(option, **request):
    case.update(request.pop("case"))
    take(request)
    return {"timer": "perf_counter"}


def inputs(changed, **files):
    take({name: files[name] for name in changed})
    return {}


def run(executions):
    times = []
    for _ in range(executions):
        begin = time.perf_counter_ns()
        if WAY != "keeps" or not gradients:
            gradients.update(compute())
        times.append(time.perf_counter_ns() - begin)
    return {"times_ns": times}


def read_output(rows=None, keys=None, **files):
    for name, path in files.items():
        values, numbers = gradients[name], rows if name == "d_q" else keys
        if numbers is not None:
            width = case["head_dim"]
            values = array.array("f", [value for n in numbers for value in values[n * width:(n + 1) * width]])
        if WAY == "no_keys" and name != "d_q":
            continue
        with open(path, "r+b") as file:
            file.write(values.tobytes())
    return {}


ANSWERS = {"hello": hello, "load": load, "inputs": inputs, "run": run, "read": read_output}
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(ANSWERS[request.pop("do")](**request)), flush=True)
