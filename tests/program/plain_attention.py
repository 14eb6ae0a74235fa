"""Attention as docs/definitions.md defines it, in plain Python: slow and obvious."""

import itertools
import math


def line_of_window(params, d, at):
    """Coordinates that dimension d of the windows selects for a query at coordinate `at` (docs/definitions.md)."""
    n, w, step, stride = (params[name][d] for name in ("grid", "window", "window_dilation", "window_stride"))
    group = list(range(at % step, n, step))
    index = group.index(at)
    first = index - index % stride  # of the queries that share a window
    if params["window_causal"][d]:
        leader = min(first + stride - 1, len(group) - 1)
        return group[max(leader - w + 1, 0):index + 1]
    start = min(first + stride // 2, len(group) - 1) - w // 2
    if params["edges"] == "shift":
        start = max(min(start, len(group) - w), 0)
    return group[max(start, 0):start + w]


def keys_of_windows(params, t):
    """Positions that position t sees."""
    query = list(itertools.product(*map(range, params["grid"])))[t]
    keys = []
    for cell in itertools.product(*(line_of_window(params, d, at) for d, at in enumerate(query))):
        position = 0
        for coordinate, extent in zip(cell, params["grid"]):
            position = position * extent + coordinate
        keys.append(position)
    return [s for s in keys if not params["causal"] or s <= t]


def keys_of_mask(params, t):
    """The same by a mask of blocks: params["mask"] has its rows."""
    block, last = params["mask_block"], t if params["causal"] else params["sequence_length"] - 1
    return [s for s in range(last + 1) if params["mask"][t // block][s // block]]


def keys_of(params, t, h):
    if params.get("mask_block"):
        return keys_of_mask(params, t)
    return keys_of_windows(params, t) if params.get("grid") else keys_of_branches(params, t, h)


def keys_of_branches(params, t, h):
    """Positions that position t of head h sees; a position once for each branch that selects it."""
    heads, kv_heads = params["heads"], params["kv_heads"]
    branches = list(zip(params["segments"], params["dilations"]))
    g = h * kv_heads // heads
    keys = []
    for i, (w, r) in enumerate(branches):
        if params["branch_heads"] == "partition" and i != h * len(branches) // heads:
            continue
        offset = {"modulo": g % r, "contiguous": g // -(-kv_heads // r), "none": 0, "branch": i % r}[params["head_offset"]]
        begin = t // w * w
        selected = range(begin + offset, min(begin + w, params["sequence_length"]), r)
        if params["queries"] == "dilated" and t not in selected:
            continue
        keys += [s for s in selected if not params["causal"] or s <= t]
    return keys


def attention(params, q, k, v):
    """O and LSE of the case in `params` from flat [batch, sequence, heads, head_dim] lists, by docs/definitions.md:
    one softmax over the keys of all branches together is what merging by softmax denominators gives."""
    n, heads, kv_heads, d = (params[name] for name in ("sequence_length", "heads", "kv_heads", "head_dim"))
    o, lse = [], []
    for b in range(params["batch"]):
        for t in range(n):
            for h in range(heads):
                g = h * kv_heads // heads
                keys = keys_of(params, t, h)
                at = ((b * n + t) * heads + h) * d
                rows = [((b * n + s) * kv_heads + g) * d for s in keys]
                scores = [sum(q[at + e] * k[row + e] for e in range(d)) / math.sqrt(d) for row in rows]
                top = max(scores, default=-math.inf)
                weights = [math.exp(score - top) for score in scores]
                total = sum(weights)
                o += [sum(w * v[row + e] for w, row in zip(weights, rows)) / total if rows else 0 for e in range(d)]
                lse.append(top + math.log(total) if rows else -math.inf)
    return o, lse


def gradients(params, q, k, v, d_o, o, lse):
    """dQ, dK and dV, as flat lists in the shapes of Q, K and V (docs/definitions.md)."""
    n, heads, kv_heads, d = (params[name] for name in ("sequence_length", "heads", "kv_heads", "head_dim"))
    d_q, d_k, d_v = ([0.0] * len(x) for x in (q, k, v))
    for number in range(params["batch"] * n * heads):
        b, t, h = number // heads // n, number // heads % n, number % heads
        at = number * d
        delta = sum(d_o[at + e] * o[at + e] for e in range(d))
        for s in keys_of(params, t, h):
            row = ((b * n + s) * kv_heads + h * kv_heads // heads) * d
            p = math.exp(sum(q[at + e] * k[row + e] for e in range(d)) / math.sqrt(d) - lse[number])
            d_s = p * (sum(d_o[at + e] * v[row + e] for e in range(d)) - delta) / math.sqrt(d)
            for e in range(d):
                d_q[at + e] += d_s * k[row + e]
                d_k[row + e] += d_s * q[at + e]
                d_v[row + e] += p * d_o[at + e]
    return d_q, d_k, d_v
