"""Dense queries; Q, K and V are copied through a snake, and the output back."""

import torch
import torch.nn.functional as functional


class HilbertDilatedAttention(torch.nn.Module):
    def __init__(self, hidden_dim, num_heads, segment_size, dilation_rate, dropout, use_flash):
        super().__init__()
        self.heads, self.segment, self.dilation, self._mapping_cache = num_heads, segment_size, dilation_rate, {}
        self.qkv = torch.nn.Linear(hidden_dim, 3 * hidden_dim, bias=False)
        self.out = torch.nn.Linear(hidden_dim, hidden_dim, bias=False)

    def get_mapping(self, length, device):
        grid = torch.arange(length, device=device).view(-1, 64).clone()
        grid[1::2] = grid[1::2].flip(1)
        return self._mapping_cache.setdefault(length, grid.flatten())

    def compute_dilated_attention(self, q, k, v, use_hilbert=True):
        order = self.get_mapping(q.shape[2], q.device)
        if use_hilbert:
            q, k, v = q[:, :, order], k[:, :, order], v[:, :, order]
        q, k, v = (x.unflatten(2, (-1, self.segment)).transpose(1, 2) for x in (q, k, v))
        found = functional.scaled_dot_product_attention(q, k[..., ::self.dilation, :], v[..., ::self.dilation, :])
        found = found.transpose(1, 2).flatten(2, 3)
        return found[:, :, torch.argsort(order)] if use_hilbert else found

    def forward(self, x, use_hilbert=True):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.out(self.compute_dilated_attention(q, k, v, use_hilbert).transpose(1, 2).flatten(-2))
