"""Attention by operations of PyTorch, which reads K and V through `slots`: every order runs the same code."""

import torch

from hilbench.kernel import kernel


@kernel
def mine(q, k, v, slots, case):
    o = torch.zeros_like(q, dtype=torch.float32)
    lse = torch.full(q.shape[:3], -torch.inf, device=q.device)
    positions = torch.arange(case.sequence_length, device=q.device)
    for block in case.blocks():  # one head, one segment; queries and keys are slices of positions
        rows, keys = (slice(None), block.queries, block.head), slots[block.keys]
        scores = q[rows].float() @ k[:, keys, block.kv_head].float().transpose(1, 2) * case.scale
        if case.causal:
            scores.masked_fill_(positions[block.keys] > positions[block.queries, None], -torch.inf)
        part = torch.logsumexp(scores, -1)
        weights = torch.exp(scores - part[..., None]).nan_to_num()  # a query that sees no key
        both = torch.logaddexp(lse[rows], part)
        o[rows] *= torch.exp(lse[rows] - both).nan_to_num()[..., None]
        o[rows] += torch.exp(part - both).nan_to_num()[..., None] * (weights @ v[:, keys, block.kv_head].float())
        lse[rows] = both
    return o, lse


mine.serve()
