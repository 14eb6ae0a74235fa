"""Attention as docs/definitions.md defines it, in plain Python: slow and obvious."""

import math


def attention(params, q, k, v):
    """O and LSE of the case in `params` from flat [batch, sequence, heads, head_dim] lists, by docs/definitions.md:
    one softmax over the keys of all branches together is what merging by softmax denominators gives."""
    n, heads, kv_heads, d = (params[name] for name in ("sequence_length", "heads", "kv_heads", "head_dim"))
    branches = list(zip(params["segments"], params["dilations"]))
    o, lse = [], []
    for b in range(params["batch"]):
        for t in range(n):
            for h in range(heads):
                g = h * kv_heads // heads
                keys = []
                for i, (w, r) in enumerate(branches):
                    if params["branch_heads"] == "partition" and i != h * len(branches) // heads:
                        continue
                    offset = {"modulo": g % r, "contiguous": g // -(-kv_heads // r), "none": 0}[params["head_offset"]]
                    begin = t // w * w
                    selected = range(begin + offset, min(begin + w, n), r)
                    if params["queries"] == "dilated" and t not in selected:
                        continue
                    keys += [s for s in selected if not params["causal"] or s <= t]
                at = ((b * n + t) * heads + h) * d
                rows = [((b * n + s) * kv_heads + g) * d for s in keys]
                scores = [sum(q[at + e] * k[row + e] for e in range(d)) / math.sqrt(d) for row in rows]
                top = max(scores, default=-math.inf)
                weights = [math.exp(score - top) for score in scores]
                total = sum(weights)
                o += [sum(w * v[row + e] for w, row in zip(weights, rows)) / total if rows else 0 for e in range(d)]
                lse.append(top + math.log(total) if rows else -math.inf)
    return o, lse
