"""Projects its input, normalises it, and projects what its attention gives."""

import torch

from .dilated_attention import DilatedAttention


class MultiheadDilatedAttention(torch.nn.Module):
    def __init__(self, embed_dim, num_heads, dropout, segment_lengths, dilation_rates, layer_norm, bias):
        super().__init__()
        self.heads = num_heads
        self.projections = torch.nn.ModuleList(torch.nn.Linear(embed_dim, embed_dim, bias=bias) for _ in range(4))
        self.norm = torch.nn.LayerNorm(embed_dim) if layer_norm else torch.nn.Identity()
        self.attention = DilatedAttention(segment_lengths, dilation_rates)

    def forward(self, query, key, value):
        q, k, v = (self.norm(project(x)).unflatten(-1, (self.heads, -1))
                   for project, x in zip(self.projections, (query, key, value)))
        return self.projections[3](self.attention(q, k, v).flatten(-2))
