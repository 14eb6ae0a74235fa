"""Runs the Triton template by Triton's interpreter, on a processor, against attention in fp64. Usage: FILE."""

import importlib.util
import sys

import torch
from triton.runtime import interpreter

from hilbench.kernel import Case

# The interpreter of Triton 3.6 makes a number of an array of one element, which newer versions of NumPy refuse.
patch_tensor = interpreter._patch_lang_tensor


def patch_tensor_and_index(tensor, scope):
    patch_tensor(tensor, scope)
    scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())


interpreter._patch_lang_tensor = patch_tensor_and_index

spec = importlib.util.spec_from_file_location("mine", sys.argv[1])
mine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mine)

LENGTH, HEADS, KV_HEADS, DIM = 96, 2, 1, 16
fields = {"batch": 1, "sequence_length": LENGTH, "heads": HEADS, "kv_heads": KV_HEADS, "head_dim": DIM,
          "segments": [64, 96], "dilations": [1, 3], "head_offset": "modulo", "branch_heads": "all", "queries": "dilated",
          "causal": True}
case = Case(fields, {"order": "random", "traversal": "auto"})
torch.manual_seed(1)
q, k, v = (torch.randn(1, LENGTH, heads, DIM) for heads in (HEADS, KV_HEADS, KV_HEADS))
slots = torch.randperm(LENGTH).int()

tiles, seen = [], torch.zeros(2, HEADS, LENGTH, LENGTH, dtype=torch.bool)
for block in case.blocks():  # a tile of hilbench has at most tile_rows queries, and so has one of these
    for first in range(block.queries.start, block.queries.stop, mine.ROWS * block.queries.step):
        stop = min(block.queries.stop, first + mine.ROWS * block.queries.step)
        queries, keys = (range(part.start, part.stop, part.step) for part in (slice(first, stop, block.queries.step),
                                                                              block.keys))
        tiles.append([block.branch, 0, block.head, block.kv_head, first, queries.step, len(queries), keys.start, keys.step,
                      len(keys), 0, block.branch])
        for query in queries:
            for key in keys:
                seen[block.branch, block.head, query, key] = key <= query
case.tiles = torch.tensor(sorted(tiles), dtype=torch.int32)
stored_k, stored_v = torch.empty_like(k), torch.empty_like(v)
stored_k[:, slots.long()], stored_v[:, slots.long()] = k, v
o, lse = mine.mine(q, stored_k, stored_v, slots, case)

scores = torch.einsum("bqhd,bkd->hqk", q.double(), k[:, :, 0].double()) * case.scale
counted = seen.sum(0)  # a pair that both branches select counts twice
weights = scores.exp() * counted
total = weights.sum(-1)
expected = torch.einsum("hqk,bkd->bqhd", weights / total.clamp_min(1e-300)[..., None], v[:, :, 0].double())
assert (o - expected).abs().max() < 1e-5, (o - expected).abs().max()
covered = total > 0
assert (lse[0].T[covered] - total.log()[covered]).abs().max() < 1e-5
assert torch.isinf(lse[0].T[~covered]).all()
print("right")
