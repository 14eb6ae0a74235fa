"""What PyTorch has for windows on grids (docs/windows.md), as an external baseline of hilbench (docs/external.md).

- `torch_windows`: scaled_dot_product_attention with a stored mask of all pairs, by the backend that PyTorch chooses.
  The mask is made once, before anything is measured, in the dtype that the backend adds to the scores.
- `torch_windows.flex`: FlexAttention (arXiv 2412.05496) with a block mask, positions stored row-major. Compiled; the
  fastest of several block sizes, and on compute capability 9.0 of loads with and without TMA.
- `torch_windows.flex_boxes`: the same with positions stored box by box, so that a block of queries is a box of the
  grid. Storing Q, K and V so, and bringing O and LSE back, is not in the time: it is timed apart, as `permute_ns`.
- `torch_windows.natten`: the compiled Hopper kernel of NATTEN (arXiv 2504.16922). It stores its inputs in its own boxes
  in every call: this is in the time, and timed apart too, as `token_permutation_ns`.

On a GPU the work is one CUDA graph, timed by events; on a CPU it is timed by perf_counter. Forward pass on one rank.
"""

import importlib.metadata
import importlib.util
import itertools
import json
import math
import os
import sys
import time
import warnings

PROTOCOL = 1
MASKED, FLEX, BOXES, NATTEN = "", "flex", "flex_boxes", "natten"
OPTIONS = (MASKED, FLEX, BOXES, NATTEN)
BLOCK_SIZES = (128, 64, 256)  # of queries and keys; the first is FlexAttention's default
FLEX_MODE = "max-autotune-no-cudagraphs"  # times tile sizes while it compiles; the graph is this program's own
TUNING_S = 120  # after this much time nothing further is tried, as hilbench waits only so long
TRIALS = 5
MASK_ROWS = 1024  # of the stored mask that are made at a time
ALIGNED = 16  # elements from one row of the stored mask to the next are a multiple of this

torch = None  # imported by hello, so that the answer can say that it is missing


class Unsupported(Exception):
    """This program cannot compute the case: a skip, not a failure."""


def least(a, b):
    """The smaller of two values, of which each is a number or a tensor."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if isinstance(a, int) or isinstance(b, int):
        tensor, limit = (b, a) if isinstance(a, int) else (a, b)
        return tensor.clamp(max=limit)
    return torch.minimum(a, b)


def not_negative(a):
    return max(a, 0) if isinstance(a, int) else a.clamp(min=0)


class Dimension:
    """One dimension of the windows: which keys a query sees along it (docs/definitions.md). Coordinates are numbers, or
    tensors of integers that broadcast."""

    def __init__(self, extent, window, dilation, stride, causal, edges):
        self.extent, self.window, self.dilation, self.stride = extent, window, dilation, stride
        self.causal, self.shift = causal, edges == "shift"

    def sees_all(self):
        return self.shift and not self.causal and self.dilation == 1 and self.window == self.extent

    def sees(self, query, key):
        d, s, w = self.dilation, self.stride, self.window
        i, j, length = query, key, self.extent
        if d > 1:
            i, j = query // d, key // d
            length = (self.extent - query % d + d - 1) // d if self.extent % d else self.extent // d
        leader = i
        if s > 1:
            leader = least(i // s * s + (s - 1 if self.causal else s // 2), length - 1)
        if self.causal:
            seen = (j >= not_negative(leader - w + 1)) & (j <= i)
        else:
            start = leader - w // 2
            if self.shift:
                start = least(not_negative(start), length - w)
            seen = (j >= start) & (j < start + w)
        return seen & (query % d == key % d) if d > 1 else seen


class Windows:
    """The windows of a case on its grid."""

    def __init__(self, case):
        self.grid = case.grid
        self.causal = case.causal
        lists = case.grid, case.window, case.window_dilation, case.window_stride, case.window_causal
        self.dimensions = [Dimension(*values, case.edges) for values in zip(*lists)]

    def position(self, coordinates):
        position = 0
        for coordinate, extent in zip(coordinates, self.grid):
            position = position * extent + coordinate
        return position

    def sees(self, query, key):
        """Of two lists of coordinates."""
        seen = None
        for dimension, i, j in zip(self.dimensions, query, key):
            if not dimension.sees_all():
                part = dimension.sees(i, j)
                seen = part if seen is None else seen & part
        if self.causal:
            part = self.position(key) <= self.position(query)
            seen = part if seen is None else seen & part
        return seen


def unravel(index, extents):
    coordinates = []
    for extent in reversed(extents):
        coordinates.append(index % extent)
        index = index // extent
    return coordinates[::-1]


class Order:
    """Slots of the positions of a grid: row-major, or boxes row-major with row-major positions inside. Boxes at the end
    of a dimension are cut."""

    def __init__(self, grid, box, device):
        self.grid, self.box, self.tables = grid, box, None
        if box and any(extent % side for extent, side in zip(grid, box)):
            columns = zip(*self.slots())
            self.tables = [torch.tensor(column, dtype=torch.int32, device=device) for column in columns]

    def slots(self):
        """Coordinates of every slot."""
        if not self.box:
            return list(itertools.product(*map(range, self.grid)))
        starts = (range(0, extent, side) for extent, side in zip(self.grid, self.box))
        return [cell for corner in itertools.product(*starts)
                for cell in itertools.product(*(range(first, min(first + side, extent)) for first, side, extent
                                                in zip(corner, self.box, self.grid)))]

    def coordinates(self, slot):
        """Of a number or a tensor; by arithmetic, unless boxes are cut."""
        if not self.box:
            return unravel(slot, self.grid)
        if self.tables:
            return [table[slot] for table in self.tables]
        boxes = [extent // side for extent, side in zip(self.grid, self.box)]
        volume = math.prod(self.box)
        corner, inside = unravel(slot // volume, boxes), unravel(slot % volume, self.box)
        return [c * side + i for c, side, i in zip(corner, self.box, inside)]


def box_for(windows, volume):
    """The box with `volume` positions whose queries need the fewest boxes of keys, by an estimate for the inside of the
    grid; None if no box of powers of two fits."""
    best = None
    powers = [1 << i for i in range(volume.bit_length())]
    for box in itertools.product(powers, repeat=len(windows.grid)):
        if math.prod(box) != volume or any(side > extent for side, extent in zip(box, windows.grid)):
            continue
        needed = 1.0
        for side, dimension in zip(box, windows.dimensions):
            reach = min(dimension.window * dimension.dilation + 2 * side - 2, dimension.extent)
            needed *= reach / side
        best = min(best or (math.inf, ()), (needed, box))
    return list(best[1]) if best else None


class Pairs:
    """The pairs of (query, key) slots that a case needs, as rows of booleans."""

    def __init__(self, windows, order, device):
        self.windows, self.device = windows, device
        self.count = math.prod(windows.grid)
        self.coordinates = order.coordinates(torch.arange(self.count, device=device))
        self.tables = []  # of each dimension, [query, key]: sees
        for dimension in windows.dimensions:
            along = torch.arange(dimension.extent, device=device)
            self.tables.append(dimension.sees(along.unsqueeze(1), along.unsqueeze(0)))

    def rows(self, first, last):
        """[last - first, positions] of the slots from `first` to before `last`."""
        seen = None
        for table, at in zip(self.tables, self.coordinates):
            part = table[at[first:last].long()][:, at.long()]
            seen = part if seen is None else seen & part
        if self.windows.causal:
            position = self.windows.position(self.coordinates)
            seen = seen & (position <= position[first:last].unsqueeze(1))
        return seen

    def in_blocks(self, size):
        """[blocks of queries, blocks of keys]: how many pairs of each are needed."""
        blocks = -(-self.count // size)
        counts = []
        for first in range(0, self.count, size):
            padded = torch.zeros(blocks * size, dtype=torch.int64, device=self.device)
            padded[:self.count] = self.rows(first, min(first + size, self.count)).sum(0)
            counts.append(padded.view(blocks, size).sum(1))
        return torch.stack(counts)


class Case:
    """The case as the protocol sends it."""

    def __init__(self, fields):
        self.__dict__.update(fields)

    def refuse(self):
        if "grid" not in self.__dict__:
            raise Unsupported("torch_windows computes windows on a grid, not branches")
        if getattr(self, "pass") != "forward":
            raise Unsupported("torch_windows computes the forward pass only")
        if self.ring_size > 1:
            raise Unsupported("torch_windows runs on one rank only")
        if self.head_dim % 8:
            raise Unsupported(f"head_dim {self.head_dim} is not a multiple of 8")


def free_bytes(device):
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def read_inputs(case, files):
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[case.dtype]
    inputs = []
    for file, heads in zip(files, (case.heads, case.kv_heads, case.kv_heads)):
        shape = case.batch, case.sequence_length, heads, case.head_dim
        stored = torch.from_file(file, shared=False, size=math.prod(shape), dtype=kind)
        inputs.append(stored.clone().view(shape).to(case.device))
    return inputs


def first_line(error):
    """Of a long message; torch.compile begins some with a line that only says who raised it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.endswith("raised:")), type(error).__name__)


def package_version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def cudnn_version():
    """Of the library that PyTorch loads, "9.19.0"; "unknown" if it loads none."""
    number = torch.backends.cudnn.version()
    if not number:
        return "unknown"
    thousands = 10000 if number >= 90000 else 1000
    return f"{number // thousands}.{number % thousands // 100}.{number % 100}"


def captured(step):
    """A CUDA graph of step(), which has run once before, and what step() returned."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph, result


class Clock:
    """Times a step; on a GPU as a graph, by events."""

    def __init__(self, device, step):
        self.gpu = device == "cuda"
        self.launch, self.step, self.output = "eager", step, step()
        if self.gpu:
            graph, self.output = captured(step)
            self.launch, self.step = "cuda_graph", graph.replay

    def times_ns(self, executions):
        if self.gpu:
            events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(executions)]
            for begin, end in events:
                begin.record()
                self.step()
                end.record()
            torch.cuda.synchronize()
            return [begin.elapsed_time(end) * 1e6 for begin, end in events]
        times = []
        for _ in range(executions):
            begin = time.perf_counter_ns()
            self.output = self.step()
            times.append(time.perf_counter_ns() - begin)
        return times


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

    def __init__(self, case, inputs, size, boxes):
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
        self.stored = [self.moved(x) for x in inputs]
        self.lse = case.device == "cuda"
        self.compiled = torch.compile(module.flex_attention, dynamic=False, fullgraph=True, mode=FLEX_MODE)
        aux = getattr(module, "AuxRequest", None)
        self.wanted = ({"return_aux": aux(lse=True)} if aux else {"return_lse": True}) if self.lse else {}
        self.options = {}  # not ROWS_GUARANTEED_SAFE: the first block of a query may hold none of its keys
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
        count = self.case.sequence_length
        self.mask = module.BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=self.size, mask_mod=visible,
                                                    seq_lengths=(count, count))

    def moved(self, x):
        """Stored in the order: [batch, heads, slots, head_dim]."""
        return (x if self.places is None else x.index_select(1, self.places)).transpose(1, 2)

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
                "block_size": self.size, "box": self.box, "computed_over_needed": self.computed / self.pairs,
                **({"permutation": "not in the time"} if self.box else {})}


def load_flex(case):
    try:
        import torch.nn.attention.flex_attention  # noqa: F401
    except ImportError:
        raise Unsupported(f"flex: PyTorch {torch.__version__} has no flex_attention, 2.5 is the first that has")
    if case.device == "cuda" and case.head_dim < 16:
        raise Unsupported(f"flex: needs a head_dim of at least 16, not {case.head_dim}")
    if case.heads % case.kv_heads:
        raise Unsupported(f"flex: {case.heads} heads do not divide among {case.kv_heads} K/V heads")
    import torch._dynamo
    torch._dynamo.config.cache_size_limit = 1024  # every block size is compiled for itself
    torch._dynamo.config.accumulated_cache_size_limit = 1024


def fastest_flex(case, inputs, boxes):
    """Compiles and times block sizes, then loads by TMA with the best; what does not compile is left out."""
    load_flex(case)
    deadline = time.monotonic() + TUNING_S
    best, errors = None, []

    def attempt(make):
        nonlocal best
        if best and time.monotonic() > deadline:
            return
        try:
            work = make()
            found = min(Clock(case.device, work.step).times_ns(TRIALS))
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            own = isinstance(error, Unsupported)
            errors.append(str(error) if own else f"flex: does not compile: {first_line(error)}")
            return
        if not best or found < best[0]:
            best = found, work

    def with_tma(size):
        work = Flex(case, inputs, size, boxes)
        work.options = {**work.options, "USE_TMA": True}
        return work

    for size in BLOCK_SIZES:
        if size == min(BLOCK_SIZES) or size // 2 < case.sequence_length:  # else a smaller one holds all positions too
            attempt(lambda: Flex(case, inputs, size, boxes))
    if best and case.device == "cuda" and torch.cuda.get_device_capability() >= (9, 0):
        size = best[1].size
        attempt(lambda: with_tma(size))
    if not best:
        raise Unsupported(errors[0])
    return best[1]


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
        if case.device != "cuda" or torch.cuda.get_device_capability() != (9, 0):
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


class Server:
    """One method for each request of the protocol; it returns the answer."""

    def hello(self, protocol):
        global torch
        if protocol != PROTOCOL:
            raise Unsupported(f"speaks protocol {PROTOCOL}, not {protocol}")
        try:
            import torch as imported
        except ImportError as error:
            raise Unsupported(f"no PyTorch for {sys.executable}: {error}; set HILBENCH_PYTHON to another Python")
        torch = imported
        gpu = torch.cuda.is_available()
        return {"protocol": PROTOCOL, "name": "torch_windows", "version": f"PyTorch {torch.__version__}",
                "windows": True, "devices": ["cpu", "cuda"] if gpu else ["cpu"]}

    def load(self, case, option, q, k, v):
        if option not in OPTIONS:
            raise Unsupported(f"torch_windows has no option '{option}', only {', '.join(filter(None, OPTIONS))}")
        case = Case(case)
        case.refuse()
        if case.device == "cpu":
            torch.set_num_threads(case.threads)
        try:
            with torch.inference_mode():
                return self.prepare(case, option, read_inputs(case, (q, k, v)))
        except torch.OutOfMemoryError as error:
            raise Unsupported(f"does not fit: {error}")

    def prepare(self, case, option, inputs):
        if option == NATTEN:
            self.work = Natten(case, inputs)
        elif option == MASKED:
            self.work = Masked(case, inputs)
        else:
            self.work = fastest_flex(case, inputs, option == BOXES)
        self.clock = Clock(case.device, self.work.step)
        answer = {"timer": "cuda_events" if case.device == "cuda" else "perf_counter", "launch": self.clock.launch,
                  **self.work.description()}
        if option == BOXES:
            answer["permute_ns"] = self.work.permute_ns(self.clock.output)
        return answer

    def run(self, executions):
        with torch.inference_mode():
            return {"times_ns": self.clock.times_ns(executions)}

    def read(self, o, lse):
        with torch.inference_mode():
            output = self.work.restored(self.clock.output)
        for tensor, file in zip(output, (o, lse)):
            if tensor is not None:
                flat = tensor.float().reshape(-1).cpu()
                torch.from_file(file, shared=True, size=flat.numel(), dtype=torch.float32).copy_(flat)
        return {"lse": output[1] is not None}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that nothing that libraries print becomes an answer
    server = Server()
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("do")
        try:
            answer = getattr(server, what)(**request)
        except Unsupported as reason:
            answer = {"unsupported": str(reason)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
