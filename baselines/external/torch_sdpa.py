"""PyTorch's scaled_dot_product_attention as an external baseline of hilbench (docs/external.md).

`torch_sdpa` uses the backend that PyTorch chooses; the options flash (FlashAttention-2), efficient (xFormers' kernels),
math and cudnn ask for one. The option fa3 is FlashAttention-3 (arXiv 2407.08608) of the package fa3-fwd, which writes
the rows of a single branch where they belong. The option flex is FlexAttention (arXiv 2412.05496), compiled and tuned
by torch.compile before anything is measured. Rows of a branch are selected by strided views, or gathered by index if
there is no such view and gathering is faster. Every segment is one entry of the batch. Rows are put back into a zeroed
output, and branches are merged by their LSE in fp32. The measured time includes all of this; on a GPU it is one CUDA
graph, timed by events, on a CPU it is timed by perf_counter.

The option fa4 is FlashAttention-4 of the package flash-attn-4, which compiles its kernels itself.

The backward pass takes the O and LSE of all branches, piece by piece (sdpa_gradients.py). Gradients of branches, and of
heads that share a K/V head where a kernel does not share it, are added up in fp32.

Not computed: ring_size above 1, causal masks with dense queries at dilations above 1 (PyTorch would have to store such
a mask; only flex need not), merging with `math`, or with `flex` on a CPU (they return no LSE), head_dim that is not a
multiple of 8, gradients with `fa3`, or with `flex` on a CPU.
"""

import sdpa_backends
import sdpa_gradients
import selected_rows
import torch_program
from branch_case import BranchCase
from sdpa_backends import (BACKENDS, FA3, FA4, FA4_PACKAGE, FLEX, Flex, attend, attend_fa3, attend_fa4, chosen_backend,
                           load_fa3, load_fa4, load_flex, tried_fa4)
from sdpa_gradients import FlexGradients, gradients_of
from selected_rows import Rows
from torch_program import (FLEX_MODE, TRIALS, Clock, Search, Unsupported, available_bytes, cudnn_version,
                           package_version)

torch = None  # imported late, so that the answer to hello can say that it is missing


class Piece:
    """Heads of one branch that select the same number of rows, over equal segments: one call of attention."""

    def __init__(self, case, stretch, heads, counts, device):
        branch, begin, segments, length, dilation = stretch
        self.case, self.device = case, device
        self.heads = heads
        queries, self.keys = counts
        offsets = [case.offset(branch, case.kv_head(h)) for h in heads]
        dense = case.queries == "dense"
        self.q = Rows(begin, segments, length, heads, [0] * len(heads) if dense else offsets, 1 if dense else dilation,
                      queries, case.heads, device)
        self.causal = case.causal
        # Query i sees keys j with offset + j * dilation <= i, counted in selected rows if queries are dilated too.
        self.mask_offsets, self.mask_dilation = (offsets, dilation) if dense else ([0] * len(heads), 1)
        self.blind = self.causal and max(self.mask_offsets) > 0  # some queries see no key
        self.full = dilation == 1 and segments * length == case.sequence_length and len(heads) == case.heads
        self.stretch = stretch
        self.score_bytes = case.batch * segments * len(heads) * queries * self.keys * case.element_bytes

    def select_keys(self, kv_heads):
        branch, begin, segments, length, dilation = self.stretch
        offsets = [self.case.offset(branch, g) for g in kv_heads]
        return Rows(begin, segments, length, kv_heads, offsets, dilation, self.keys, self.case.kv_heads, self.device)

    def choose(self, option, q, k, v):
        """Chooses the backend, and whether it shares K/V heads among query heads or needs them repeated."""
        self.backend = None
        repeated = [self.case.kv_head(h) for h in self.heads]
        shared = sorted(set(repeated))
        self.each = len(repeated) // len(shared)  # query heads of a K/V head; 0 if not of all as many
        if repeated != [g for g in shared for _ in range(self.each)]:
            self.each = 0
        self.shared = self.select_keys(shared)
        sharing = self.each > 1 and not (self.case.backward() and self.device.type == "cpu")
        for kv_heads in ([shared] if sharing else []) + [repeated]:
            self.gqa, self.kv = len(kv_heads) < len(repeated), self.select_keys(kv_heads)
            if option in (FA3, FA4):
                self.backend = option
                return
            tensors = self.q.take(q), self.kv.take(k), self.kv.take(v)
            if option == FLEX:
                self.backend = FLEX
                self.flex = None if self.case.backward() else Flex.of(self, *tensors)
                return
            self.backend, against = chosen_backend(option, *tensors, self.causal, self.gqa, self.case.backward())
            repeats = self.gqa and self.backend == "math" and self.case.backward()
            if self.backend and not repeats:
                return
        raise Unsupported(f"{option or 'no backend'}: {against}")

    def keys_of(self, gradient):
        """Rows of dK or dV, and the rows of K/V that they are added to."""
        if self.gqa or self.each <= 1:
            return gradient, self.kv
        return gradient.unflatten(1, (-1, self.each)).sum(2, dtype=torch.float32), self.shared

    def attend(self, q, k, v, output=None):
        """O and LSE; O is None if it was written to `output`, which has the shape of Q."""
        if self.backend == FA3:
            out = self.q.rows_of(output)
            o, lse = attend_fa3(self.q.take(q), self.kv.take(k), self.kv.take(v), self.causal, out)
            return None if out is not None else o, lse
        if self.backend == FA4:
            return attend_fa4(self.q.take(q), self.kv.take(k), self.kv.take(v), self.causal)
        if self.backend == FLEX:
            return self.flex.attend(self.q.take(q), self.kv.take(k), self.kv.take(v))
        return attend(self.backend, self.q.take(q), self.kv.take(k), self.kv.take(v), self.causal, self.gqa)


class Case(BranchCase):
    def __init__(self, fields):
        super().__init__(fields)
        self.element_bytes = 4 if self.dtype == "fp32" else 2

    def stretches(self, length):
        """(begin, segments, length) of the full segments and of the short last one."""
        full = self.sequence_length // length
        rest = self.sequence_length - full * length
        return ([(0, full, length)] if full else []) + ([(full * length, 1, rest)] if rest else [])

    def pieces(self, device, grouping):
        """`together`: heads that select equally many rows make one piece; `apart`: only if their offset is equal."""
        pieces = []
        for branch, (segment, dilation) in enumerate(zip(self.segments, self.dilations)):
            for begin, segments, length in self.stretches(segment):
                groups = {}
                for head in (h for h in range(self.heads) if self.runs(h, branch)):
                    offset = self.offset(branch, self.kv_head(head))
                    keys = len(range(offset, length, dilation))
                    if keys:
                        groups.setdefault((keys, offset if grouping == "apart" else 0), []).append(head)
                stretch = branch, begin, segments, length, dilation
                for (keys, _), heads in groups.items():
                    counts = length if self.queries == "dense" else keys, keys
                    pieces.append(Piece(self, stretch, heads, counts, device))
        return pieces

    def refuse(self, option):
        if self.backward() and option == FA3:
            raise Unsupported("fa3: fa3-fwd computes the forward pass only")
        if self.ring_size > 1:
            raise Unsupported("torch_sdpa runs on one rank only")
        if self.head_dim % 8:
            raise Unsupported(f"head_dim {self.head_dim} is not a multiple of 8")
        if option != FLEX and self.causal and self.queries == "dense" and any(r > 1 for r in self.dilations):
            raise Unsupported("no causal mask for dense queries and dilated keys")


class Attention:
    """A case made ready: pieces with their row selections, and the clock that executes them."""

    def __init__(self, case, option, inputs, grouping):
        self.case, self.inputs, self.grouping = case, inputs, grouping
        self.device = torch.device(case.device)
        self.pieces = case.pieces(self.device, grouping)
        for piece in self.pieces:
            piece.choose(option, *self.inputs[:3])
        self.gathers = any(rows.index is not None for piece in self.pieces for rows in (piece.q, piece.kv))
        self.backends = sorted({piece.backend for piece in self.pieces})
        self.merging = case.merges()
        self.check_math()
        self.make_ready()
        self.clock = self.made_clock()

    def renew(self):
        pass

    def make_ready(self):
        if FA4 in self.backends:
            for piece in self.pieces:
                tried_fa4(piece.attend, *self.inputs)

    def made_clock(self):
        try:
            return Clock(self.case.device, self.execute)
        except RuntimeError:
            if FA4 not in self.backends:
                raise
            return Clock(self.case.device, self.execute, graph=False)  # its launches need not be what a graph takes

    def check_math(self):
        if "math" not in self.backends:
            return
        if self.merging and not self.case.backward():
            raise Unsupported("math returns no LSE, which merging branches needs")
        scores = max(piece.score_bytes for piece in self.pieces)
        wanted = 3 * (scores * 4 // self.case.element_bytes if self.case.backward() else scores)
        if self.device.type == "cpu" and wanted > available_bytes():
            raise Unsupported(f"math needs about {wanted / 2**30:.1f} GiB for its scores")

    def blank(self, width, value, kind):
        case = self.case
        return torch.full((case.batch, case.sequence_length, case.heads, width), value, dtype=kind, device=self.device)

    def execute(self):
        """O [batch, sequence, heads, head_dim], LSE [batch, sequence, heads, 1] or None."""
        q = self.inputs[0]
        if self.backends == [FA3] and not self.merging and not (len(self.pieces) == 1 and self.pieces[0].full):
            output = self.blank(self.case.head_dim, 0, q.dtype)
            results = [(piece, *piece.attend(*self.inputs, output)) for piece in self.pieces]
            return self.collect(results, output)
        results = [(piece, *piece.attend(*self.inputs)) for piece in self.pieces]
        if len(results) == 1 and self.pieces[0].full:
            _, o, lse = results[0]
            return o.transpose(1, 2), None if lse is None else lse.transpose(1, 2)
        if self.merging:
            return self.merge(results)
        return self.collect(results, self.blank(self.case.head_dim, 0, q.dtype))

    def collect(self, results, output):
        lse = None
        if all(part is not None for _, _, part in results):
            lse = self.blank(1, float("-inf"), torch.float32)
        for piece, o, part in results:
            if o is not None:
                piece.q.put(output, o)
            if lse is not None:
                piece.q.put(lse, part)
        return output, lse

    def merge(self, results):
        """Branches weighted by their share of the softmax denominator (LongNet, arXiv 2307.02486, Eqs. 9-10)."""
        total = self.blank(1, float("-inf"), torch.float32)
        for piece, _, part in results:
            piece.q.put(total, torch.logaddexp(piece.q.take(total), part.float()))
        output = self.blank(self.case.head_dim, 0, torch.float32)
        for piece, o, part in results:
            weight = torch.exp(part.float() - piece.q.take(total))
            if piece.blind:
                weight = weight.nan_to_num(nan=0)  # of rows that no branch lets see a key
            piece.q.put(output, torch.addcmul(piece.q.take(output), o.float(), weight))
        return output.to(self.inputs[0].dtype), total


class Gradients(Attention):
    """dQ, dK and dV, a piece at a time."""

    def make_ready(self):
        with torch.inference_mode(False), torch.no_grad():  # autograd takes no tensors of the inference mode
            for piece in self.pieces:
                self.make_ready_for(piece)

    def make_ready_for(self, piece):
        if piece.backend == FLEX:
            piece.flex = FlexGradients(piece, self.inputs, self.merging)
            piece.gradients = piece.flex.gradients
            return
        piece.gradients = gradients_of(piece, *self.operands(piece)[1:4])
        if piece.backend == FA4:
            tried_fa4(piece.gradients, *self.operands(piece))

    def operands(self, piece):
        """Rows of dO, Q, K, V, O and LSE."""
        q, k, v, d_o, o, lse = self.inputs
        keys = [piece.kv.take(x) for x in (k, v)]
        return piece.q.take(d_o), piece.q.take(q), *keys, piece.q.take(o), piece.q.take(lse)

    def execute(self):
        with torch.inference_mode(False), torch.no_grad():
            return self.computed()

    def computed(self):
        kind = self.inputs[0].dtype
        if len(self.pieces) == 1 and self.pieces[0].full and self.pieces[0].each:
            piece = self.pieces[0]
            d_q, *keys = piece.gradients(*self.operands(piece))[:3]
            return [part.to(kind).transpose(1, 2) for part in (d_q, *(piece.keys_of(part)[0] for part in keys))]
        # Whether a row is in one piece alone: of Q, and of K and V.
        keys_once = len(self.case.segments) == 1 and all(piece.each for piece in self.pieces)
        once = not self.merging, keys_once, keys_once
        sums = [torch.zeros_like(x, dtype=kind if alone else torch.float32) for x, alone in zip(self.inputs, once)]
        for piece in self.pieces:
            d_q, d_k, d_v = piece.gradients(*self.operands(piece))[:3]
            for to, alone, (part, rows) in zip(sums, once, ((d_q, piece.q), piece.keys_of(d_k), piece.keys_of(d_v))):
                if alone:
                    rows.put(to, part.to(kind))
                else:
                    rows.add(to, part)
        return [gradient.to(kind) for gradient in sums]

    def renew(self):
        for piece in self.pieces:
            if piece.backend == FLEX:
                piece.flex.renew()


def fastest_attention(case, option, inputs):
    """If rows would be gathered by index, one call for each offset may be faster: tries both."""
    Flex.made, Flex.search = {}, Search()
    made = Gradients if case.backward() else Attention
    together = made(case, option, inputs, "together")
    if not together.gathers:
        return together
    try:
        apart = made(case, option, inputs, "apart")
    except torch.OutOfMemoryError:
        return together
    return min((together, apart), key=lambda attention: min(attention.clock.times_ns(TRIALS)))


class Sdpa(torch_program.Program):
    NAME, OPTIONS = "torch_sdpa", ("", *BACKENDS, FA3, FA4, FLEX)

    def about(self):
        global torch
        torch = sdpa_backends.torch = sdpa_gradients.torch = selected_rows.torch = torch_program.torch
        gpu = torch.cuda.is_available() and torch.backends.cudnn.is_available()
        return {"cudnn": cudnn_version() if gpu else None, "backward": True}

    def case_of(self, fields, option):
        case = Case(fields)
        case.refuse(option)
        if option == FA3:
            load_fa3(case)
        if option == FA4:
            load_fa4(case)
        if option == FLEX:
            load_flex(case)
        return case

    def prepare(self, case, option, inputs):
        self.attention = fastest_attention(case, option, inputs)
        self.clock = self.attention.clock
        return {**self.libraries(case.device), "backends": self.attention.backends,
                "selection": "index" if self.attention.gathers else "views", "calls": len(self.attention.pieces)}

    def output(self):
        return self.clock.output

    def renew(self):
        self.attention.renew()

    def libraries(self, device):
        """What computes beside PyTorch itself, for the record."""
        backends, found = self.attention.backends, {}
        if device == "cuda":
            names = {"flash": "FlashAttention-2", "efficient": "xFormers", "cudnn": f"cuDNN {cudnn_version()}",
                     FA3: f"FlashAttention-3, fa3-fwd {package_version('fa3-fwd')}",
                     FA4: f"FlashAttention-4, {FA4_PACKAGE} {package_version(FA4_PACKAGE)}",
                     FLEX: f"FlexAttention, Triton {package_version('triton')}"}
            found["libraries"] = [names[backend] for backend in backends if backend in names]
        if self.attention.case.backward():
            found["deterministic"] = device == "cpu" or set(backends) <= {"math", FLEX}  # others add by atomics
        if FA3 in backends:
            found["fa3_fwd"] = package_version("fa3-fwd")
        if FLEX in backends:
            found["compiled"] = FLEX_MODE
            options = [piece.flex.options for piece in self.attention.pieces]
            found["kernel_options"] = [each for i, each in enumerate(options) if each not in options[:i]]
            found.update(Flex.search.description())
        return found


if __name__ == "__main__":
    torch_program.main(Sdpa())
