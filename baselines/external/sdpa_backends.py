"""The kernels that torch_sdpa.py calls for tensors of one shape: those of PyTorch, FlashAttention-3 and 4, and
FlexAttention. Those of the backward pass are in sdpa_gradients.py."""

import glob
import importlib.util
import os
import sys
import warnings

from torch_program import FLEX_MODE, Unsupported, captured, first_line, gpu_times_ns, import_flex, lse_request

BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH", "cudnn": "CUDNN_ATTENTION"}

FA3 = "fa3"
FA3_HEAD_DIMS = (64, 128)  # that the package has

FA4 = "fa4"
FA4_PACKAGE = "flash-attn-4"

FLEX = "flex"
FLEX_TILE = 128  # rows and columns of a block of the mask
FLEX_TRIALS = 10
FLEX_DTYPES = ("fp32", "fp16", "bf16")

torch = None  # torch_sdpa.py sets it


def fused_attention(backend, q, k, v, causal):
    """All that PyTorch's operator returns: O, LSE, and what its backward operator wants to have besides."""
    aten = torch.ops.aten
    if backend == "flash" and q.device.type == "cpu":
        return aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal)
    if backend == "flash":
        return aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False)
    if backend == "efficient":
        return aten._scaled_dot_product_efficient_attention(q, k, v, None, True, 0.0, causal)
    return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal, False)


def attend(backend, q, k, v, causal, gqa):
    """O [batch, heads, rows, head_dim] and LSE [batch, heads, rows, 1], or None if the backend has none."""
    if backend == "math":
        math = torch.ops.aten._scaled_dot_product_attention_math
        return math(q, k, v, None, 0.0, causal, enable_gqa=gqa)[0], None
    o, lse = fused_attention(backend, q, k, v, causal)[:2]
    lse = lse.reshape(o.shape[0], o.shape[1], -1)[..., :o.shape[2]]  # efficient pads its rows
    return o, lse.unsqueeze(-1)


def with_gradients(x):
    """A tensor like it, of which autograd wants the gradient."""
    return (x.clone() if x.is_inference() else x.detach()).requires_grad_()


def chosen_backend(option, q, k, v, causal, gqa, gradients):
    """Name of the backend that PyTorch runs for these tensors, or None and why PyTorch runs none."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    if gradients:
        with torch.inference_mode(False):
            return chosen_backend(option, *map(with_gradients, (q, k, v)), causal, gqa, gradients=False)
    backends = {name: SDPBackend.__members__[member] for name, member in BACKENDS.items()}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            if option:
                with sdpa_kernel(backends[option]):
                    number = torch._fused_sdp_choice(q, k, v, None, 0.0, causal, scale=None, enable_gqa=gqa)
            else:
                number = torch._fused_sdp_choice(q, k, v, None, 0.0, causal, scale=None, enable_gqa=gqa)
        except RuntimeError as error:
            reasons = [str(each.message).split(" (Triggered")[0] for each in said]
            own = [text for text in reasons if not text.endswith("because:") and "runtime disabled" not in text]
            return None, " ".join(own) or str(error).split("\n")[0]
    return {int(backend): name for name, backend in backends.items()}[number], ""


def load_fa3(case):
    """Makes torch.ops.fa3_fwd known, or raises Unsupported."""
    if case.device != "cuda":
        raise Unsupported("fa3: needs a GPU of compute capability 9.0")
    major, minor = torch.cuda.get_device_capability()
    if (major, minor) != (9, 0):
        raise Unsupported(f"fa3: needs compute capability 9.0, this GPU has {major}.{minor}")
    if case.dtype != "bf16" or case.head_dim not in FA3_HEAD_DIMS:
        raise Unsupported(f"fa3: fa3-fwd computes bf16 with head_dim 64 and 128, not {case.dtype} with {case.head_dim}")
    found = importlib.util.find_spec("fa3_fwd")
    library = [file for folder in (found.submodule_search_locations or [] if found else [])
               for file in glob.glob(os.path.join(folder, "_C*.so"))]
    if not library:
        raise Unsupported(f"fa3: no package fa3-fwd for {sys.executable}: pip install --no-deps fa3-fwd")
    try:
        torch.ops.load_library(library[0])
    except OSError as error:
        raise Unsupported(f"fa3: fa3-fwd does not load: {str(error).splitlines()[0]}")


def attend_fa3(q, k, v, causal, out=None):
    """As attend(); `out` [batch, rows, heads, head_dim] is a view to write to."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    empty = [None]
    o, lse = torch.ops.fa3_fwd.fwd(
        q, k, v, *empty * 3, out, *empty * 16, q.shape[-1] ** -0.5, causal, -1, -1, 0, 0.0, True, None, 1, None, 0)[:2]
    return o.transpose(1, 2), lse.unsqueeze(-1)


def load_fa4(case):
    """Raises Unsupported if there is no flash-attn-4, or it does not compute the case."""
    if case.device != "cuda":
        raise Unsupported("fa4: needs a GPU of compute capability 9.0 or more")
    if torch.cuda.get_device_capability() < (9, 0):
        raise Unsupported("fa4: needs compute capability 9.0 or more, this GPU has {}.{}".format(
            *torch.cuda.get_device_capability()))
    if case.dtype == "fp32":
        raise Unsupported("fa4: computes fp16 and bf16, not fp32")
    os.environ.setdefault("FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED", "1")  # of compiled kernels, on disk
    try:
        import flash_attn.cute.interface  # noqa: F401
    except ModuleNotFoundError as error:
        raise Unsupported(f"fa4: no {FA4_PACKAGE} for {sys.executable}, or not all that it needs: {first_line(error)}")
    except Exception as error:
        raise Unsupported(f"fa4: {FA4_PACKAGE} does not load: {first_line(error)}")


def attend_fa4(q, k, v, causal):
    """As attend()."""
    from flash_attn.cute import interface
    rows = (x.transpose(1, 2) for x in (q, k, v))
    o, lse = interface._flash_attn_fwd(*rows, causal=causal, return_lse=True)[:2]
    return o.transpose(1, 2), lse.unsqueeze(-1)


def tried_fa4(call, *tensors):
    """What it returns; raises Unsupported if the package does not compile its kernel."""
    try:
        return call(*tensors)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise Unsupported(f"fa4: {FA4_PACKAGE} does not compute it: {first_line(error)}")


def load_flex(case):
    """Raises Unsupported if PyTorch's FlexAttention cannot compute the case."""
    if case.dtype not in FLEX_DTYPES:
        raise Unsupported(f"flex: computes {', '.join(FLEX_DTYPES)}, not {case.dtype}")
    import_flex(case)
    if case.device == "cpu" and case.backward():
        raise Unsupported("flex: has no backward pass on a CPU")
    if case.device == "cpu" and case.merges():
        raise Unsupported("flex: returns no LSE on a CPU, which merging branches needs")


def flex_mask(queries, keys, offsets, dilation, device):
    """The mask by which query i of head h sees key j if offsets[h] + j * dilation <= i. Its lists of tiles come from
    arithmetic, because create_block_mask would first store a byte for every score."""
    from torch.nn.attention.flex_attention import BlockMask
    alike, first = len(set(offsets)) == 1, offsets[0]
    of_head = torch.tensor(offsets[:1] if alike else offsets, device=device)
    if alike:
        def visible(batch, head, i, j):
            return i >= j * dilation + first
    else:
        def visible(batch, head, i, j):
            return i >= j * dilation + of_head[head]
    row = torch.arange(0, queries, FLEX_TILE, device=device)  # first of each tile
    column = torch.arange(-(-keys // FLEX_TILE), device=device)

    def seen(rows):  # [1, heads, tiles]: number of keys that these rows see
        ahead = rows - of_head.view(1, -1, 1)
        return (ahead.div(dilation, rounding_mode="floor") + 1).clamp(0, keys)

    some = (seen((row + FLEX_TILE - 1).clamp(max=queries - 1)) + FLEX_TILE - 1) // FLEX_TILE
    full = torch.where(row + FLEX_TILE <= queries, seen(row) // FLEX_TILE, 0)
    partial_tiles = (column + full.unsqueeze(-1)) % len(column)
    full_tiles = column.expand(*full.shape, -1)
    numbers = [x.to(torch.int32).contiguous() for x in (some - full, partial_tiles, full, full_tiles)]
    return BlockMask.from_kv_blocks(*numbers, BLOCK_SIZE=FLEX_TILE, mask_mod=visible, seq_lengths=(queries, keys))


class Flex:
    """FlexAttention for tensors of one shape, compiled with the kernel options that are fastest for them. Every segment
    is an entry of the batch and its rows are read by strides, as by the other backends: a mask over the whole sequence
    would have keys of other dilated streams in every tile, and the kernel would compute their scores and discard them.
    Thus only causal masks remain. PRESCALE_QK is not tried: it rounds Q once more, which no other backend does."""

    made = {}  # of this case, by what they were compiled for
    search = None  # of this case

    @classmethod
    def of(cls, piece, q, k, v):
        offsets = tuple(piece.mask_offsets) if piece.causal else ()
        kind = *((x.shape, x.stride()) for x in (q, k, v)), piece.gqa, offsets, piece.mask_dilation
        if kind not in cls.made:
            made = cls(piece, q, k, v, lse=q.device.type == "cuda")
            made.options = made.fastest(cls.candidates(piece, q), q, k, v)
            cls.made[kind] = made
        return cls.made[kind]

    def __init__(self, piece, q, k, v, lse):
        from torch.nn.attention import flex_attention as module
        compiled = torch.compile(module.flex_attention, dynamic=False, fullgraph=True, mode=FLEX_MODE)
        self.mask = module._create_empty_block_mask(q, k)  # the compiled function would make it in every execution
        if piece.causal:
            self.mask = flex_mask(q.shape[2], k.shape[2], piece.mask_offsets, piece.mask_dilation, q.device)
        self.lse, self.options = lse, {}
        wanted = lse_request(module) if self.lse else {}

        def call(q, k, v, options):
            return compiled(q, k, v, block_mask=self.mask, enable_gqa=piece.gqa, kernel_options=options, **wanted)

        self.call = call

    @staticmethod
    def candidates(piece, q):
        if q.device.type == "cpu":
            return [{}]
        plain = {"BLOCKS_ARE_CONTIGUOUS": True, "ROWS_GUARANTEED_SAFE": not piece.blind}
        tma = torch.cuda.get_device_capability() >= (9, 0)
        return [plain, {**plain, "USE_TMA": True}] if tma else [plain]

    def fastest(self, candidates, *tensors):
        """Compiles and times; what does not compile is left out. Raises Unsupported if nothing does."""
        times, errors = [], []
        for options in candidates:
            try:
                time_ns = self.search.attempt(
                    str(options), lambda: self.tried(options, tensors, len(candidates) > 1), needed=not times)
                if time_ns is not None:
                    times.append((time_ns, len(times), options))
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                errors.append(first_line(error))
        if not times:
            raise Unsupported(f"flex: does not compile: {errors[0]}")
        return min(times)[2]

    def tried(self, options, tensors, timed):
        self.call(*tensors, options)
        if not timed:
            return 0
        graph, _ = captured(lambda: self.call(*tensors, options))
        return min(gpu_times_ns(graph.replay, FLEX_TRIALS))

    def attend(self, q, k, v):
        """As attend()."""
        result = self.call(q, k, v, self.options)
        if not self.lse:
            return result, None
        o, aux = result
        return o, getattr(aux, "lse", aux).unsqueeze(-1)
