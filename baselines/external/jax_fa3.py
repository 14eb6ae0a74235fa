"""FlashAttention-3 (arXiv 2407.08608) of flash-attn3-jax on one GPU, forward and backward, as an external baseline of
hilbench (docs/external.md).

The kernels are called as the package's own rule for gradients calls them. The backward kernel takes O and LSE, so those
of all branches are given. Rows of a branch are gathered, every segment is an entry of the batch, and results are
scattered into zeros: added up in fp32 where a row is in several calls. JAX compiles all of it as one function before
anything is timed, and its executions are timed in a row by the host's clock, as jax_ring.py times them.

Not computed: rings, fp32, other head dimensions than the package's kernels, causal masks with dense queries at
dilations above 1, query heads that do not divide evenly among the K/V heads of a call.
"""

import jax_ring
from branch_case import BranchCase
from jax_ring import HEAD_DIM, PACKAGE, UNTIMED, WARM_UP, first_line, import_package, ring_gpus, run_in_a_row
from request_loop import PROTOCOL, Unsupported, agree, serve

NAME = "jax_fa3"
INPUTS = "q", "k", "v", "d_o", "o", "lse"  # the last three with gradients alone

jax = None  # imported by hello, so that the answer can say what is missing


class Case(BranchCase):
    def refuse(self, option):
        """Refuses what can be refused without JAX."""
        dense = self.queries == "dense"
        for holds, reason in (
                (option, f"{NAME} has no options, so not '{option}'"),
                (self.ring_size > 1, f"ring_size {self.ring_size}: {NAME} runs on one rank"),
                (self.dtype == "fp32", f"{PACKAGE} attends in fp16 and bf16, not in fp32"),
                (self.head_dim != HEAD_DIM, f"the kernels of {PACKAGE} take head_dim {HEAD_DIM}, not {self.head_dim}"),
                (self.causal and dense and max(self.dilations) > 1,
                 "no causal mask for dense queries and dilated keys")):
            if holds:
                raise Unsupported(reason)

    def pieces(self):
        found = []
        for branch, (length, dilation) in enumerate(zip(self.segments, self.dilations)):
            full, rest = divmod(self.sequence_length, length)
            for begin, segments, rows in ((0, full, length), (full * length, 1, rest)):
                groups = {}
                for head in (h for h in range(self.heads) if self.runs(h, branch)) if segments else ():
                    count = len(range(self.offset(branch, self.kv_head(head)), rows, dilation))
                    if count:
                        groups.setdefault(count, []).append(head)
                found += [Piece(self, branch, (begin, segments, rows), heads) for heads in groups.values()]
        return found


class Rows:
    """The rows of some heads in `segments` stretches: [segments * count, heads] positions."""

    def __init__(self, stretch, heads, offsets, step, whole):
        import numpy
        begin, segments, length = stretch
        count = len(range(offsets[0], length, step))
        at = begin + length * numpy.arange(segments)[:, None] + step * numpy.arange(count)
        self.positions = (at.reshape(-1, 1) + numpy.array(offsets)).astype(numpy.int32)
        self.heads, self.segments, self.whole = numpy.array(heads, numpy.int32), segments, whole

    def take(self, x):
        """[batch * segments, count, heads, ...]"""
        rows = x if self.whole else x[:, self.positions, self.heads]
        return rows.reshape(x.shape[0] * self.segments, -1, *rows.shape[2:])

    def add(self, x, rows):
        """x with the rows added."""
        rows = rows.reshape(x.shape[0], -1, *rows.shape[2:]).astype(x.dtype)
        return x + rows if self.whole else x.at[:, self.positions, self.heads].add(rows, unique_indices=True)

    def put(self, x, rows):
        """x with the rows in place of its own."""
        rows = rows.reshape(x.shape[0], -1, *rows.shape[2:]).astype(x.dtype)
        return rows if self.whole else x.at[:, self.positions, self.heads].set(rows, unique_indices=True)


class Piece:
    """Heads of one branch that select equally many rows, over equal segments: one call of a kernel."""

    def __init__(self, case, branch, stretch, heads):
        dilation, dense = case.dilations[branch], case.queries == "dense"
        kv_heads = [case.kv_head(h) for h in heads]
        shared = sorted(set(kv_heads))
        if kv_heads != [g for g in shared for _ in range(len(heads) // len(shared))]:
            raise Unsupported(f"{case.heads} heads do not divide evenly among the {case.kv_heads} K/V heads")
        offsets = [case.offset(branch, g) for g in kv_heads]
        whole = dilation == 1 and stretch[1] * stretch[2] == case.sequence_length
        self.q = Rows(stretch, heads, [0] * len(heads) if dense else offsets, 1 if dense else dilation,
                      whole and len(heads) == case.heads)
        self.kv = Rows(stretch, shared, [case.offset(branch, g) for g in shared], dilation,
                       whole and len(shared) == case.kv_heads)
        self.options = case.head_dim ** -0.5, case.causal, (-1, -1)

    def attend(self, q, k, v):
        """O, and LSE as [.., rows, heads]."""
        from flash_attn3_jax import flash_hlo
        o, lse = flash_hlo._flash_mha_fwd_hlo(self.q.take(q), self.kv.take(k), self.kv.take(v), *self.options)
        return o, lse.swapaxes(1, 2)

    def gradients(self, q, k, v, d_o, o, lse):
        from flash_attn3_jax import flash_hlo
        return flash_hlo._flash_mha_bwd_hlo(
            self.q.take(d_o), self.q.take(q), self.kv.take(k), self.kv.take(v), self.q.take(o),
            self.q.take(lse).swapaxes(1, 2), *self.options)


def forward(case, pieces):
    """A function of Q, K and V that returns O and LSE. Branches are weighted by their share of the softmax denominator
    (LongNet, arXiv 2307.02486, Eqs. 9-10)."""
    def compute(q, k, v):
        jnp = jax.numpy
        parts = [piece.attend(q, k, v) for piece in pieces]
        lse = jnp.full(q.shape[:3], -jnp.inf, jnp.float32)
        o = jnp.zeros_like(q, dtype=jnp.float32 if case.merges() else q.dtype)
        for piece, (_, part) in zip(pieces, parts):
            lse = piece.q.put(lse, jnp.logaddexp(piece.q.take(lse), part) if case.merges() else part)
        for piece, (part_o, part) in zip(pieces, parts):
            if case.merges():
                share = jnp.exp(part - piece.q.take(lse))[..., None]
                o = piece.q.add(o, share * part_o.astype(jnp.float32))
            else:
                o = piece.q.put(o, part_o)
        return o.astype(q.dtype), lse
    return compute


def backward(case, pieces):
    """A function of INPUTS that returns dQ, dK and dV."""
    once = not case.merges(), len(case.segments) == 1, len(case.segments) == 1  # whether a row is in one piece alone

    def compute(*inputs):
        jnp = jax.numpy
        sums = [jnp.zeros_like(x, dtype=x.dtype if alone else jnp.float32) for x, alone in zip(inputs, once)]
        for piece in pieces:
            parts = piece.gradients(*inputs)
            for i, (rows, part) in enumerate(zip((piece.q, piece.kv, piece.kv), parts)):
                sums[i] = rows.put(sums[i], part) if once[i] else rows.add(sums[i], part)
        return [x.astype(inputs[0].dtype) for x in sums]
    return compute


class OneGpu:
    """One method for each request; it returns the answer."""

    def hello(self, protocol):
        global jax
        agree(protocol)
        self.version, version = import_package()
        jax = jax_ring.jax
        return {"protocol": PROTOCOL, "name": NAME, "version": f"{PACKAGE} {self.version}, JAX {version}",
                "devices": ["cuda"], "backward": True}

    def load(self, case, option, **files):
        self.case = Case(case)
        self.case.refuse(option)
        pieces = self.case.pieces()
        self.device, = ring_gpus(1)
        self.tensors = [None] * (len(INPUTS) if self.case.backward() else 3)
        try:
            self.place(files, INPUTS)
            self.compile((backward if self.case.backward() else forward)(self.case, pieces))
            self.run(WARM_UP)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise Unsupported(f"does not fit: {first_line(error)}")
            raise
        atomics = {"deterministic": False} if self.case.backward() else {}
        return {"timer": "perf_counter", "untimed": UNTIMED,
                "libraries": [f"FlashAttention-3, {PACKAGE} {self.version}"],
                "calls": len(pieces), **atomics}

    def place(self, files, names):
        """Brings those of the inputs that are in `names` to the GPU."""
        import numpy
        case, jnp = self.case, jax.numpy
        for i, name in enumerate(INPUTS[:len(self.tensors)]):
            if name in names:
                kind = numpy.float32 if name == "lse" else {"bf16": jnp.bfloat16, "fp16": jnp.float16}[case.dtype]
                shape = case.batch, case.sequence_length, case.kv_heads if name in "kv" else case.heads
                shape += () if name == "lse" else (case.head_dim,)
                self.tensors[i] = None  # there may be no memory for both
                stored = numpy.fromfile(files[name], numpy.dtype(kind)).reshape(shape)
                self.tensors[i] = jax.device_put(stored, self.device)
        jax.block_until_ready(self.tensors)

    def inputs(self, changed, **files):
        self.place(files, changed)
        return {}

    def compile(self, function):
        try:
            step = jax.jit(function).lower(*self.tensors).compile()
        except Exception as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise
            raise Unsupported(f"JAX {jax.__version__} does not compile it: {first_line(error)}")
        self.start = lambda: step(*self.tensors)

    def run(self, executions):
        if executions == 0:
            return {"times_ns": []}
        times, self.output = run_in_a_row(self.start, jax.block_until_ready, executions)
        return {"times_ns": times}

    def write(self, x, file, rows):
        import numpy
        if rows is not None:
            x = x[numpy.unravel_index(numpy.array(rows, numpy.int64), x.shape[:3])]
        numpy.asarray(x).astype(numpy.float32).tofile(file)

    def read(self, o=None, lse=None, rows=None, d_q=None, d_k=None, d_v=None, keys=None):
        numbered = ((d_q, rows), (d_k, keys), (d_v, keys)) if self.case.backward() else ((o, rows), (lse, rows))
        for x, (file, chosen) in zip(self.output, numbered):
            self.write(x, file, chosen)
        return {} if self.case.backward() else {"lse": True}


if __name__ == "__main__":
    serve(OneGpu(), first_line)
