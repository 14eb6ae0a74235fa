"""baselines/external/torch_sdpa.py, named by TORCH_SDPA, with what it calls on a GPU on a processor.

PyTorch's operators of flash, efficient and cudnn have no kernels for processors: here they get some, which hold their
arguments against what the operators are known to want. FlexAttention is not compiled, and what a CUDA graph computes
again is called again.
"""

import importlib.util
import os
import sys

sys.path[0] = os.path.dirname(os.environ["TORCH_SDPA"])  # for the modules that it imports, and no torch.py
import torch  # noqa: E402

PADDED = 32  # efficient rounds the rows of its LSE up to this
NUMBERS = 3, 1  # seed and offset of random numbers


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def attend(q, k, v, causal):
    each = q.shape[1] // k.shape[1]
    s = q.float() @ k.float().repeat_interleave(each, 1).mT * q.shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    lse = s.logsumexp(-1)
    return ((s - lse.unsqueeze(-1)).exp() @ v.float().repeat_interleave(each, 1)).to(q.dtype), lse


def gradients(d_o, q, k, v, o, lse, causal):
    kind, each = q.dtype, q.shape[1] // k.shape[1]
    q, k, v, d_o, o = (x.float() for x in (q, k, v, d_o, o))
    k, v = (x.repeat_interleave(each, 1) for x in (k, v))
    s = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
    p = torch.exp(s - lse.unsqueeze(-1))
    d_s = p * (d_o @ v.mT - (d_o * o).sum(-1, keepdim=True)) * q.shape[-1] ** -0.5
    d_q, d_k, d_v = d_s @ k, d_s.mT @ q, p.mT @ d_o
    d_k, d_v = (x.unflatten(1, (-1, each)).sum(2) for x in (d_k, d_v))
    return tuple(x.to(kind) for x in (d_q, d_k, d_v))


def numbers():
    return tuple(map(torch.tensor, NUMBERS))


def check_numbers(seed, offset):
    expect((seed.item(), offset.item()) == NUMBERS, "seed and offset of the forward pass")


def fused(q, k, v, *rest):
    """Of flash and cudnn, whose last arguments are dropout, causal, and whether to return a mask."""
    dropout, causal, mask = rest[-3:]
    expect(dropout == 0 and not mask, "no dropout")
    o, lse = attend(q, k, v, causal)
    return o, lse, torch.Tensor(), torch.Tensor(), q.shape[2], k.shape[2], *numbers(), torch.Tensor()


def flash(q, k, v, dropout=0.0, causal=False, mask=False, *, scale=None):
    return fused(q, k, v, dropout, causal, mask)


def cudnn(q, k, v, bias, with_lse, dropout=0.0, causal=False, mask=False, *, scale=None):
    expect(bias is None and with_lse, "an LSE, and no bias")
    return fused(q, k, v, dropout, causal, mask)


def flash_backward(d_o, q, k, v, o, lse, starts_q, starts_k, max_q, max_k, dropout, causal, seed, offset, *, scale=None):
    expect((max_q, max_k, dropout) == (q.shape[2], k.shape[2], 0), "lengths")
    expect(lse.is_contiguous() and lse.shape == q.shape[:3], "LSE as the forward pass returns it")
    check_numbers(seed, offset)
    return gradients(d_o, q, k, v, o, lse, causal)


def cudnn_backward(d_o, q, k, v, o, lse, seed, offset, bias, starts_q, starts_k, max_q, max_k, dropout, causal, *,
                   scale=None):
    expect(d_o.stride() == o.stride(), "dO with the strides of O")
    return flash_backward(d_o, q, k, v, o, lse, starts_q, starts_k, max_q, max_k, dropout, causal, seed, offset)


def efficient(q, k, v, bias, with_lse, dropout=0.0, causal=False, *, scale=None):
    expect(bias is None and with_lse and dropout == 0, "an LSE, and no bias")
    expect(q.shape[1] == k.shape[1], "as many K/V heads as heads")
    o, lse = attend(q, k, v, causal)
    return o, torch.nn.functional.pad(lse, (0, -lse.shape[2] % PADDED), value=-7), *numbers()


def efficient_backward(d_o, q, k, v, bias, o, lse, seed, offset, dropout, wanted, causal=False, *, scale=None):
    rows = q.shape[2]
    expect(lse.shape[2] % PADDED == 0 and (lse[..., rows:] == torch.inf).all(), "no probability in further rows")
    expect(o.stride(2) == o.shape[1] * o.shape[3], "rows of O that follow each other")
    expect(list(wanted) == [True, True, True, False] and dropout == 0, "no gradient of a bias")
    check_numbers(seed, offset)
    return *gradients(d_o, q, k, v, o, lse[..., :rows], causal), torch.Tensor()


kernels = torch.library.Library("aten", "IMPL")
for name, forward, backward in (("flash", flash, flash_backward), ("cudnn", cudnn, cudnn_backward),
                                ("efficient", efficient, efficient_backward)):
    kernels.impl(f"_scaled_dot_product_{name}_attention", forward, "CPU")
    kernels.impl(f"_scaled_dot_product_{name}_attention_backward", backward, "CPU")


specification = importlib.util.spec_from_file_location("torch_sdpa", os.environ["TORCH_SDPA"])
torch_sdpa = importlib.util.module_from_spec(specification)
specification.loader.exec_module(torch_sdpa)
sdpa_backends, sdpa_gradients = torch_sdpa.sdpa_backends, torch_sdpa.sdpa_gradients


def chosen(option, q, k, v, causal, gqa, gradients):
    refused = option == "efficient" and gqa
    return (None, "as many K/V heads as heads") if refused else (option, "")


def fused_attention(backend, q, k, v, causal):
    if backend == "flash":  # else it would be the one of processors
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)
    return sdpa_backends.fused_attention(backend, q, k, v, causal)


def gradients_of(piece, q, k, v):
    return sdpa_gradients.fused_gradients(piece.backend, q, k, v, piece.causal)


class FlexGradients(torch_sdpa.FlexGradients):
    """FlexAttention as it is, not compiled; without a graph the forward pass is computed again where it is replayed."""

    def compile(self):
        self.kernel = sdpa_backends.Flex(self.piece, *self.rows(), lse=self.merging)
        self.attend()

    def renew(self):
        with torch.inference_mode(False):
            self.attend()


class Sdpa(torch_sdpa.Sdpa):
    def about(self):
        found = super().about()
        from torch.nn.attention import flex_attention
        flex_attention._validate_device = lambda *_: None
        compiler = torch.compile
        torch.compile = lambda function, **_: compiler(function, backend="aot_eager")
        return found

    def case_of(self, fields, option):
        case = torch_sdpa.Case(fields)
        case.refuse(option)
        if option == "flex":
            torch_sdpa.torch_program.import_flex(case)
        return case


torch_sdpa.chosen_backend, torch_sdpa.gradients_of = chosen, gradients_of
sdpa_gradients.fused_attention, torch_sdpa.FlexGradients = fused_attention, FlexGradients
torch_sdpa.torch_program.main(Sdpa())
