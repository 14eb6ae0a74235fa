"""Dilated queries; heads shared among the branches; all heads of a branch begin at one row; divided by the branches."""

import torch
import torch.nn.functional as functional


class DilatedAttention(torch.nn.Module):
    def __init__(self, segment_lengths, dilation_rates, attention_dropout=0.0, enable_memory_pool=False):
        super().__init__()
        self.branches = list(zip(segment_lengths, dilation_rates))

    def forward(self, query, key, value, is_causal=False):
        batch, length, heads, width = query.shape
        each, output = heads // len(self.branches), torch.zeros_like(query)
        for branch, (segment, dilation) in enumerate(self.branches):
            own = slice(branch * each, (branch + 1) * each)
            rows = torch.arange(length, device=query.device).view(-1, segment)[:, branch % dilation::dilation]

            def picked(tensor):
                return tensor[:, rows][..., own, :].flatten(0, 1).transpose(1, 2)

            found = functional.scaled_dot_product_attention(picked(query), picked(key), picked(value), is_causal=is_causal)
            output[:, rows.flatten(), own] = found.transpose(1, 2).reshape(batch, -1, each, width)
        return output / len(self.branches)
