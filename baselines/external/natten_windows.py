"""NATTEN's kernel, which torch_windows.py calls."""

import importlib.util
import sys

import torch_program
from torch_program import TRIALS, Clock, Unsupported


class Natten:
    """NATTEN's compiled kernel for Hopper; its other back ends are FlexAttention, or kernels of older GPUs."""

    def __init__(self, case, inputs):
        self.refuse(case)
        import natten
        import natten.functional
        self.case, self.version = case, natten.__version__
        self.attention = getattr(natten.functional, f"na{len(case.grid)}d")
        self.inputs = [x.view(case.batch, *case.grid, *x.shape[2:]) for x in inputs]
        self.step = self.attend

    @staticmethod
    def refuse(case):
        if importlib.util.find_spec("natten") is None:
            raise Unsupported(f"natten: no package natten for {sys.executable}")
        compiled = ("natten._libnatten", "natten.libnatten")
        if all(importlib.util.find_spec(name) is None for name in compiled):
            raise Unsupported("natten: built without its compiled kernels; what is left of it is FlexAttention")
        if case.device != "cuda" or torch_program.torch.cuda.get_device_capability() != (9, 0):
            raise Unsupported("natten: its Hopper kernel needs a GPU of compute capability 9.0")
        if case.edges != "shift" or case.causal:
            raise Unsupported("natten: has windows with edges: shift and no causal mask over whole positions")

    def attend(self):
        case = self.case
        o, lse = self.attention(*self.inputs, kernel_size=tuple(case.window), stride=tuple(case.window_stride),
                                dilation=tuple(case.window_dilation), is_causal=tuple(case.window_causal),
                                backend="hopper-fna", return_lse=True)
        rows = case.batch, case.sequence_length, case.heads
        return o.reshape(*rows, case.head_dim), lse.reshape(rows)

    def restored(self, output):
        return output

    def description(self):
        return {"backends": ["natten"], "libraries": [f"NATTEN {self.version}, hopper-fna"],
                "permutation": "in the time", **self.permutation()}

    def permutation(self):
        """Its own permutations alone, if this version has them under these names."""
        try:
            from natten.token_permute import token_permute_operation, token_unpermute_operation
        except ImportError:
            return {}
        tile = tuple([8] * len(self.case.grid)) if len(self.case.grid) < 3 else (4, 4, 8)
        dilation = tuple(self.case.window_dilation)

        def move():
            moved = [token_permute_operation(x, tile, dilation=dilation, flip_tiled_dims=True) for x in self.inputs]
            return token_unpermute_operation(moved[0][0], token_layout_shape=moved[0][1], tile_shape=tile,
                                             dilation=dilation, flip_tiled_dims=True)

        return {"token_permutation_ns": min(Clock("cuda", move).times_ns(TRIALS))}
