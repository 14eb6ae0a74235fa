"""The kernels of the backward pass that torch_sdpa.py calls for tensors of one shape.

PyTorch's operators and FlashAttention-4 take O and LSE as operands, so those of all branches are given. `math` is the
same by tensor operations in fp32, as PyTorch's own math computes for 16-bit tensors. FlexAttention has its gradients
from autograd alone: it computes a forward pass of its own when inputs are given, outside of the time.
"""

from sdpa_backends import FA4, Flex, fused_attention
from torch_program import Unsupported, first_line

torch = None  # torch_sdpa.py sets it


def gradients_of(piece, q, k, v):
    """A function of rows of dO, Q, K, V, O and LSE. It returns dQ, dK and dV, and perhaps more."""
    if piece.backend == "math":
        return lambda *operands: math_gradients(*operands, piece.causal)
    if piece.backend == FA4:
        return lambda *operands: fa4_gradients(*operands, piece.causal)
    if q.device.type == "cpu":
        backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
        return lambda d_o, q, k, v, o, lse: backward(d_o, q, k, v, o, lse.squeeze(-1), 0.0, piece.causal)
    return fused_gradients(piece.backend, q, k, v, piece.causal)


def fused_gradients(backend, q, k, v, causal):
    """A forward pass of the same shape says how the backend stores its LSE, and what its backward operator wants
    besides: nothing of it depends on values without dropout."""
    _, stored, *others = fused_attention(backend, q, k, v, causal)
    stats = torch.full_like(stored, float("inf"))  # in rows that the backend adds at the end: no probability there
    aten = torch.ops.aten

    def gradients(d_o, q, k, v, o, lse):
        stats.flatten(2)[..., :q.shape[2]].copy_(lse.squeeze(-1))  # cuDNN's has one column more
        if backend == "efficient":
            o = o.transpose(1, 2).contiguous().transpose(1, 2)  # it takes the stride of the rows of O for granted
            seed, offset = others
            return aten._scaled_dot_product_efficient_attention_backward(
                d_o, q, k, v, None, o, stats, seed, offset, 0.0, [True, True, True, False], causal)
        lengths, (seed, offset) = others[:4], others[4:6]
        if backend == "flash":
            return aten._scaled_dot_product_flash_attention_backward(
                d_o, q, k, v, o, stats, *lengths, 0.0, causal, seed, offset)
        return aten._scaled_dot_product_cudnn_attention_backward(
            d_o, q, k, v, o, stats, seed, offset, None, *lengths, 0.0, causal)

    return gradients


def math_gradients(d_o, q, k, v, o, lse, causal):
    """FlashAttention-2, arXiv 2307.08691, section 3.1.2."""
    kind, scale = q.dtype, q.shape[-1] ** -0.5
    d_o, q, k, v, o = (x.float() for x in (d_o, q, k, v, o))
    p = (q @ k.mT).mul_(scale).sub_(lse).exp_()
    if causal:
        p.tril_()
    d_s = (d_o @ v.mT).sub_((d_o * o).sum(-1, keepdim=True)).mul_(p).mul_(scale)
    return [x.to(kind) for x in (d_s @ k, d_s.mT @ q, p.mT @ d_o)]


def fa4_gradients(d_o, q, k, v, o, lse, causal):
    from flash_attn.cute import interface
    rows = (x.transpose(1, 2) for x in (q, k, v, o, d_o))
    parts = interface._flash_attn_bwd(*rows, lse.squeeze(-1).contiguous(), causal=causal)
    return [part.transpose(1, 2) for part in parts[:3]]


class FlexGradients:
    """The gradients of FlexAttention for a piece. A CUDA graph computes O and LSE of the piece, from which autograd
    goes back. If branches are merged, O_b of a branch is weighted by s = exp(LSE_b - LSE), so dO_b = s dO and
    dLSE_b = s dO.(O_b - O)."""

    def __init__(self, piece, inputs, merging):
        import torch._functorch.config
        torch._functorch.config.donated_buffer = False  # else autograd could go back only once
        self.piece, self.inputs, self.merging = piece, inputs[:3], merging
        self.options = {}
        try:
            self.compile()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            raise Unsupported(f"flex: does not compile: {first_line(error)}")

    def compile(self):
        self.kernel = Flex(self.piece, *self.rows(), lse=self.merging)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.attend()
            torch.autograd.grad(self.o, self.leaves, torch.zeros_like(self.o))
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.attend()
        self.graph.replay()

    def rows(self):
        with torch.no_grad():
            q, *keys = self.inputs
            return self.piece.q.take(q), *(self.piece.kv.take(x) for x in keys)

    def attend(self):
        self.leaves = [x.detach().requires_grad_() for x in self.rows()]
        with torch.enable_grad():
            self.o, self.lse = self.kernel.attend(*self.leaves)

    def renew(self):
        self.graph.replay()

    def gradients(self, d_o, q, k, v, o, lse):
        """As gradients_of() returns."""
        outputs, gradients = (self.o,), (d_o,)
        if self.merging:
            share = torch.exp(self.lse - lse).nan_to_num(nan=0)  # of rows that see no key
            apart = (d_o.float() * (self.o.float() - o.float())).sum(-1, keepdim=True)
            outputs, gradients = (self.o, self.lse), ((share * d_o).to(d_o.dtype), share * apart)
        return torch.autograd.grad(outputs, self.leaves, gradients, retain_graph=True)
