"""What PyTorch has for windows on grids and masks of blocks (docs/windows.md), as an external baseline of hilbench
(docs/external.md).

- `torch_windows`: scaled_dot_product_attention with a stored mask of all pairs, by the backend that PyTorch chooses.
  The mask is made once, before anything is measured, in the dtype that the backend adds to the scores.
- `torch_windows.flex`: FlexAttention (arXiv 2412.05496) with a block mask, positions stored row-major. Compiled; the
  fastest of several block sizes, and on compute capability 9.0 of loads with and without TMA.
- `torch_windows.flex_boxes`: the same with positions stored box by box, so that a block of queries is a box of the
  grid. Storing Q, K and V so, and bringing O and LSE back, is not in the time: it is timed apart, as `permute_ns`.
- `torch_windows.natten`: the compiled Hopper kernel of NATTEN (arXiv 2504.16922). It stores its inputs in its own boxes
  in every call: this is in the time, and timed apart too, as `token_permutation_ns`.

Masks of blocks are for the first two. On a GPU the work is one CUDA graph, timed by events; on a CPU it is timed by
perf_counter. Forward pass on one rank.
"""

import hashlib
import math
import warnings

import torch_program
import window_pairs
from kept_choice import TEXTS, KeptChoice
from natten_windows import Natten
from published_choices import published_choice
from torch_program import (FLEX_MODE, TRIALS, Clock, Search, Unsupported, available_bytes, cudnn_version, first_line,
                           import_flex, lse_request, package_version, processor_name)
from window_pairs import Order, Pairs, Windows, box_for

MASKED, FLEX, BOXES, NATTEN = "", "flex", "flex_boxes", "natten"
BLOCK_SIZES = (128, 64, 256)  # of queries and keys; the first is FlexAttention's default
BY_TMA = {"USE_TMA": True}
OPTIONS = ({}, BY_TMA)  # that are tried
SEARCH = ["2026-11-30", BLOCK_SIZES, FLEX_MODE]  # change it with fastest_flex(): kept choices are of one search
TUNED_FOR = ("grid", "window", "window_dilation", "window_stride", "window_causal", "edges", "causal", "batch", "heads",
             "kv_heads", "head_dim", "dtype", "threads", "mask_block", "sequence_length")
MASK_ROWS = 1024  # of the stored mask that are made at a time
ALIGNED = 16  # elements from one row of the stored mask to the next are a multiple of this

torch = None  # imported late, so that the answer to hello can say that it is missing


class Case:
    """The case as the protocol sends it."""

    def __init__(self, fields):
        self.__dict__.update(fields)

    def refuse(self):
        if "grid" not in self.__dict__ and "mask_block" not in self.__dict__:
            raise Unsupported("torch_windows computes windows on a grid, not branches")
        if getattr(self, "pass") != "forward":
            raise Unsupported("torch_windows computes the forward pass only")
        if self.ring_size > 1:
            raise Unsupported("torch_windows runs on one rank only")
        if self.head_dim % 8:
            raise Unsupported(f"head_dim {self.head_dim} is not a multiple of 8")

    def read_mask(self):
        """[blocks of queries, blocks of keys] of booleans."""
        blocks = -(-self.sequence_length // self.mask_block)
        stored = torch.from_file(self.mask_file, shared=False, size=blocks * blocks, dtype=torch.uint8)
        self.mask = stored.bool().view(blocks, blocks).to(self.device)

    def clear_rows_without_keys(self, o, lse):
        """A softmax over no key may give anything: what PyTorch leaves there depends on the backend."""
        sees = (self.mask.tril() if self.causal else self.mask).any(1)
        unseen = ~sees.repeat_interleave(self.mask_block)[:self.sequence_length]
        o = o.masked_fill(unseen[None, :, None, None], 0)
        return o, lse if lse is None else lse.masked_fill(unseen[None, :, None], float("-inf"))


def free_bytes(device):
    return torch.cuda.mem_get_info()[0] if device == "cuda" else available_bytes()


class Masked:
    """scaled_dot_product_attention with a stored mask."""

    BACKENDS = {"FLASH_ATTENTION": "flash", "EFFICIENT_ATTENTION": "efficient", "MATH": "math",
                "CUDNN_ATTENTION": "cudnn"}

    def __init__(self, case, inputs):
        self.case = case
        self.mask = self.stored_mask(inputs[0])
        self.q, self.k, self.v = (x.transpose(1, 2) for x in inputs)
        shape = case.batch, case.heads, case.sequence_length, case.sequence_length
        self.mask = self.mask.expand(shape)
        self.backend = self.chosen()
        if self.backend == "math":
            self.need("its scores", 3 * math.prod(shape) * self.q.element_size())
        self.step = self.attend

    def need(self, what, wanted):
        free = free_bytes(self.case.device)
        if wanted > free:
            raise Unsupported(f"{what} would take about {wanted / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free")

    def stored_mask(self, q):
        """[positions, positions], 0 if the query sees the key, else -infinity."""
        count = self.case.sequence_length
        width = -(-count // ALIGNED) * ALIGNED
        self.need("a mask of all pairs", count * width * q.element_size())
        windows = Windows(self.case)
        pairs = Pairs(windows, Order(windows.grid, None, q.device), q.device)
        mask = torch.empty((count, width), dtype=q.dtype, device=q.device)[:, :count]
        for first in range(0, count, MASK_ROWS):
            rows = mask[first:first + MASK_ROWS]
            rows.fill_(float("-inf")).masked_fill_(pairs.rows(first, first + rows.shape[0]), 0)
        return mask

    def repeated(self, x):
        each = self.case.heads // self.case.kv_heads
        if each * self.case.kv_heads == self.case.heads:
            return x.repeat_interleave(each, 1) if each > 1 else x
        heads = [head * self.case.kv_heads // self.case.heads for head in range(self.case.heads)]
        return x[:, heads]

    def chosen(self):
        from torch.nn.attention import SDPBackend
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensors = self.q, self.repeated(self.k), self.repeated(self.v), self.mask
            number = torch._fused_sdp_choice(*tensors, 0.0, False)
        names = {int(backend): name for name, backend in SDPBackend.__members__.items()}
        return self.BACKENDS[names[number]]

    def attend(self):
        """O [batch, positions, heads, head_dim], LSE [batch, positions, heads] or None."""
        aten, q, k, v = torch.ops.aten, self.q, self.repeated(self.k), self.repeated(self.v)
        lse = None
        if self.backend == "math":
            o = aten._scaled_dot_product_attention_math(q, k, v, self.mask, 0.0, False)[0]
        elif self.backend == "flash":  # on a CPU: FlashAttention of GPUs takes no mask
            o, lse = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, False, attn_mask=self.mask)
        elif self.backend == "efficient":
            o, lse = aten._scaled_dot_product_efficient_attention(q, k, v, self.mask, True)[:2]
        else:
            o, lse = aten._scaled_dot_product_cudnn_attention(q, k, v, self.mask, True)[:2]
        if lse is not None:
            lse = lse.reshape(o.shape[0], o.shape[1], -1)[..., :o.shape[2]].transpose(1, 2)  # efficient pads its rows
        return o.transpose(1, 2), lse

    def restored(self, output):
        return output

    def description(self):
        names = {"efficient": "xFormers", "cudnn": f"cuDNN {cudnn_version()}"} if self.case.device == "cuda" else {}
        libraries = {"libraries": [names[self.backend]]} if self.backend in names else {}
        return {"backends": [self.backend], **libraries, "mask": f"of all pairs, {self.case.dtype}",
                "computed_over_needed": self.case.sequence_length**2 / self.needed()}

    def needed(self):
        return float((self.mask[0, 0] == 0).sum())


class Flex:
    """FlexAttention over blocks of one size, in one order of the positions."""

    def __init__(self, case, inputs, size, boxes, options=()):
        from torch.nn.attention import flex_attention as module
        self.case, self.size = case, size
        windows = Windows(case)
        self.box = box_for(windows, size) if boxes else None
        if boxes and not self.box:
            raise Unsupported(f"flex_boxes: no box of {size} positions fits into the grid")
        self.order = Order(windows.grid, self.box, inputs[0].device)
        self.make_mask(module, windows, inputs[0].device)
        self.inputs, self.places = inputs, None
        if boxes:
            cells = torch.tensor([windows.position(cell) for cell in self.order.slots()], device=inputs[0].device)
            self.places, self.back = cells, torch.argsort(cells)
        self.stored = [self.moved(x) for x in inputs]  # views of the inputs, or copies if they are moved
        self.lse = case.device == "cuda"
        self.compiled = torch.compile(module.flex_attention, dynamic=False, fullgraph=True, mode=FLEX_MODE)
        self.wanted = lse_request(module) if self.lse else {}
        self.options = dict(options)  # no ROWS_GUARANTEED_SAFE: the first block of a query may hold none of its keys
        self.tuned = "in this process"
        self.measured_ns = None
        self.left_out = []  # why block sizes or options are not among those that were timed
        self.step = self.attend

    def make_mask(self, module, windows, device):
        """From counts of pairs, because create_block_mask would store a byte and more for every pair."""
        order = self.order

        def visible(batch, head, query, key):
            seen = windows.sees(order.coordinates(query), order.coordinates(key))
            return query == query if seen is None else seen

        counts = Pairs(windows, order, device).in_blocks(self.size)
        full = counts == self.size**2
        partial = (counts > 0) & ~full
        self.computed = float((counts > 0).sum()) * self.size**2
        self.pairs = float(counts.sum())
        lists = []
        for some in (partial, full):
            number = some.sum(1, dtype=torch.int32)
            at = torch.argsort(some.to(torch.int8), dim=1, descending=True, stable=True).to(torch.int32)
            lists += [number[None, None].contiguous(), at[None, None].contiguous()]
        self.mask = module.BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=self.size, mask_mod=visible,
                                                    seq_lengths=2 * (self.case.sequence_length,))
        if self.case.device == "cuda":
            self.narrow_lists()

    def narrow_lists(self):
        """To the columns that are in use. PyTorch times tile sizes with made-up lists of the same shape, in which every
        column counts for every block of queries: all pairs twice, and not the windows. Both lists stay equally wide,
        because the kernel takes the step between their rows from the first. Kernels for processors want whole lists."""
        most = max(int(self.mask.kv_num_blocks.max()), int(self.mask.full_kv_num_blocks.max()), 1)
        for name in ("kv_indices", "full_kv_indices"):
            setattr(self.mask, name, getattr(self.mask, name)[..., :most].contiguous())

    def moved(self, x):
        """Stored in the order: [batch, heads, slots, head_dim]."""
        return (x if self.places is None else x.index_select(1, self.places)).transpose(1, 2)

    def renew(self):
        """After the inputs have changed."""
        if self.places is not None:
            for stored, x in zip(self.stored, self.inputs):
                stored.copy_(self.moved(x))

    def time_ns(self):
        """Of an execution, measured once."""
        if self.measured_ns is None:
            self.measured_ns = min(Clock(self.case.device, self.step).times_ns(TRIALS))
        return self.measured_ns

    def attend(self):
        result = self.compiled(*self.stored, block_mask=self.mask, enable_gqa=self.case.heads != self.case.kv_heads,
                               kernel_options=self.options, **self.wanted)
        if not self.lse:
            return result.transpose(1, 2), None
        o, aux = result
        return o.transpose(1, 2), getattr(aux, "lse", aux).transpose(1, 2)

    def restored(self, output):
        """O and LSE of the slots, in position order."""
        if self.places is None:
            return output
        return tuple(x if x is None else x.index_select(1, self.back) for x in output)

    def permute_ns(self, output):
        """To store Q, K and V in the order once, and to bring the output back."""
        if self.places is None:
            return None

        def move():
            return [self.moved(x) for x in self.inputs], self.restored(output)

        return min(Clock(self.case.device, move).times_ns(TRIALS))

    def description(self):
        device = self.case.device
        libraries = {"libraries": [f"FlexAttention, Triton {package_version('triton')}"]} if device == "cuda" else {}
        return {"backends": ["flex"], **libraries, "compiled": FLEX_MODE, "kernel_options": self.options,
                "tuned": self.tuned, "block_size": self.size, "box": self.box,
                "computed_over_needed": self.computed / self.pairs, "left_out": self.left_out, **self.search,
                **({"permutation": "not in the time"} if self.box else {})}


def flex_as_chosen(case, inputs, boxes, choice, tuned):
    """With the block size and options that were fastest before; None if they no longer work."""
    try:
        work = Flex(case, inputs, choice["size"], boxes, choice["options"])
        work.tuned, work.left_out = tuned, choice["left_out"]
        work.step()
        return work
    except torch.OutOfMemoryError:
        raise
    except Exception:  # of the compiler, or because another wrote the file: search again
        return None


def fastest_flex(case, inputs, boxes):
    """Compiles and times block sizes, then loads by TMA with the best; what does not compile is left out. What an
    earlier process found is taken, and what it had no time for is tried; else what published records hold."""
    import_flex(case)
    if case.heads % case.kv_heads:
        raise Unsupported(f"flex: {case.heads} heads do not divide among {case.kv_heads} K/V heads")
    mask = hashlib.sha256(bytes(case.mask.flatten().tolist())).hexdigest() if hasattr(case, "mask") else None
    where = torch.cuda.get_device_name() if case.device == "cuda" else processor_name()
    kept = KeptChoice("flex_windows", [SEARCH, boxes, torch.__version__, package_version("triton"), where, mask,
                                       [vars(case).get(name) for name in TUNED_FOR]])
    search = Search()
    choice, tuned = kept.read(size=BLOCK_SIZES, options=OPTIONS, left_out=TEXTS, untried=TEXTS), "in an earlier process"
    if not choice and mask is None:
        choice, tuned = published_choice(where, str(torch.__version__), vars(case), boxes), "in published records"
    best = choice and search.attempt("", lambda: flex_as_chosen(case, inputs, boxes, choice, tuned), needed=True)
    wanted = choice["untried"] if best else None  # None: all
    errors = list(best.left_out) if best else []

    def named(size, options):
        return f"blocks of {size}{', loads by TMA' if options else ''}"

    def attempt(size, options=()):
        nonlocal best
        what = named(size, options)

        def compiled_and_timed():
            work = Flex(case, inputs, size, boxes, options)
            return work, work.time_ns()
        try:
            found = search.attempt(what, compiled_and_timed, needed=not best)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            why = str(error) if isinstance(error, Unsupported) else f"flex: does not compile: {first_line(error)}"
            errors.append(f"{why} ({what})")
            return
        if found and (not best or found[1] < best.time_ns()):
            best = found[0]

    for size in BLOCK_SIZES:
        if size > min(BLOCK_SIZES) and size // 2 >= case.sequence_length:
            continue  # a smaller one holds all positions too
        if wanted is None or named(size, ()) in wanted:
            attempt(size)
    by_tma = case.device == "cuda" and torch.cuda.get_device_capability() >= (9, 0)
    if by_tma and wanted != [] and best and not best.options:
        attempt(best.size, BY_TMA)
    if not best:
        raise Unsupported(errors[0])
    best.left_out, best.search = errors, search.description()
    if wanted != []:
        kept.keep({"size": best.size, "options": best.options, "left_out": errors, "untried": search.untried})
    return best


class OnWindows(torch_program.Program):
    NAME, OPTIONS = "torch_windows", (MASKED, FLEX, BOXES, NATTEN)

    def about(self):
        global torch
        torch = window_pairs.torch = torch_program.torch
        return {"windows": True, "masks": True}

    def load(self, case, option, mask=None, **files):
        return super().load({**case, "mask_file": mask} if mask else case, option, **files)

    def case_of(self, fields, option):
        case = Case(fields)
        case.refuse()
        if "mask_block" in fields:
            if option in (BOXES, NATTEN):
                raise Unsupported(f"{option}: computes windows on grids, no mask of blocks")
            case.read_mask()
        return case

    def prepare(self, case, option, inputs):
        if option == NATTEN:
            self.work = Natten(case, inputs)
        elif option == MASKED:
            self.work = Masked(case, inputs)
        else:
            self.work = fastest_flex(case, inputs, option == BOXES)
        self.clock = Clock(case.device, self.work.step)
        permute_ns = {"permute_ns": self.work.permute_ns(self.clock.output)} if option == BOXES else {}
        return {**self.work.description(), **permute_ns}

    def renew(self):
        if isinstance(self.work, Flex):
            self.work.renew()

    def output(self):
        output = self.work.restored(self.clock.output)
        case = self.work.case
        return case.clear_rows_without_keys(*output) if hasattr(case, "mask") else output


if __name__ == "__main__":
    torch_program.main(OnWindows())
