"""Attention in Triton: a program for each tile of queries, with an online softmax (arXiv 2307.08691). K and V are read
through `slots`, so every order runs the same code. head_dim is a power of two from 16 to 128."""

import torch
import triton
import triton.language as tl

from hilbench.kernel import Unsupported, kernel

ROWS = KEYS = 64


@triton.jit
def attend(q, k, v, o, lse, slots, tiles, length, heads, kv_heads, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
           ROWS: tl.constexpr, KEYS: tl.constexpr):
    tile = tiles + tl.program_id(0) * 12
    batch, head, kv_head = tl.load(tile + 1).to(tl.int64), tl.load(tile + 2), tl.load(tile + 3)
    query, query_step, query_count = tl.load(tile + 4), tl.load(tile + 5), tl.load(tile + 6)
    key, key_step, key_count = tl.load(tile + 7), tl.load(tile + 8), tl.load(tile + 9)
    i, j, d = tl.arange(0, ROWS), tl.arange(0, KEYS), tl.arange(0, D)
    position = query + i * query_step
    live = i < query_count
    row = (batch * length + position) * heads + head
    x = tl.load(q + row[:, None] * D + d, mask=live[:, None], other=0)
    top = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, D], tl.float32)
    for first in range(0, key_count, KEYS):
        at = key + (first + j) * key_step
        real = first + j < key_count
        slot = tl.load(slots + at, mask=real, other=0)
        source = ((batch * length + slot) * kv_heads + kv_head)[:, None] * D + d
        scores = tl.dot(x, tl.trans(tl.load(k + source, mask=real[:, None], other=0)), input_precision="ieee") * scale
        seen = real[None, :] & live[:, None]
        if CAUSAL:
            seen = seen & (at[None, :] <= position[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        base = tl.where(new == -float("inf"), 0.0, new)  # no key seen so far
        weights, shrink = tl.exp(scores - base[:, None]), tl.exp(top - base)
        values = tl.load(v + source, mask=real[:, None], other=0)
        sums = sums * shrink[:, None] + tl.dot(weights.to(values.dtype), values, input_precision="ieee")
        total = total * shrink + tl.sum(weights, 1)
        top = new
    found = live & (total > 0)
    mine = top + tl.log(tl.where(found, total, 1.0))
    before = tl.load(lse + row, mask=found, other=-float("inf"))  # of an earlier launch
    most = tl.maximum(before, mine)
    share, kept = tl.exp(mine - most), tl.exp(before - most)
    place = o + row[:, None] * D + d
    old = tl.load(place, mask=found[:, None], other=0)
    merged = (old * kept[:, None] + sums * (share / tl.where(found, total, 1.0))[:, None]) / (share + kept)[:, None]
    tl.store(place, merged, mask=found[:, None])
    tl.store(lse + row, most + tl.log(share + kept), mask=found)


def launches(case):
    """First tile and number of tiles of each launch. Found once: a graph of CUDA cannot ask the device."""
    if not hasattr(case, "launches"):
        _, counts = torch.unique_consecutive(case.tiles[:, 0], return_counts=True)
        ends = torch.cumsum(counts, 0).tolist()
        case.launches = [(end - count, count) for end, count in zip(ends, counts.tolist())]
    return case.launches


@kernel(devices=["cuda"], tile_rows=ROWS)
def mine(q, k, v, slots, case):
    if case.head_dim not in (16, 32, 64, 128):
        raise Unsupported(f"head_dim {case.head_dim}: this kernel has 16, 32, 64 and 128")
    o = torch.zeros_like(q, dtype=torch.float32)
    lse = torch.full(q.shape[:3], -torch.inf, device=q.device)
    for first, count in launches(case):
        attend[(count,)](q, k, v, o, lse, slots, case.tiles[first:], case.sequence_length, case.heads, case.kv_heads,
                         case.scale, case.causal, case.head_dim, ROWS, KEYS)
    return o, lse


if __name__ == "__main__":
    mine.serve()
