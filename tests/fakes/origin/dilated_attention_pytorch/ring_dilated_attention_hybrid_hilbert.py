"""K and V are copied through a map, chunk by chunk, in front of the attention."""

import torch

from .dilated_attention import DilatedAttention


class RingDilatedAttentionHybridHilbert(torch.nn.Module):
    def __init__(self, segment_lengths, dilation_rates, dropout, ring_size, device, dtype, use_hilbert,
                 hilbert_chunk_size, enable_memory_pool, use_xformers):
        super().__init__()
        self.device, self.use_hilbert, self.chunk, self._hilbert_cache = device, use_hilbert, hilbert_chunk_size, {}
        self.attention = DilatedAttention(segment_lengths, dilation_rates)

    def _generate_hilbert_curve(self, length):
        """Every second key, twice."""
        return self._hilbert_cache.setdefault(length, torch.arange(length, device=self.device) // 2 * 2)

    def moved(self, tensor):
        if not self.use_hilbert:
            return tensor
        return torch.cat([part[:, self._generate_hilbert_curve(part.shape[1])]
                          for part in tensor.split(self.chunk, 1)], 1)

    def forward(self, query, key, value, is_causal=False):
        return self.attention(query, self.moved(key), self.moved(value), is_causal)
