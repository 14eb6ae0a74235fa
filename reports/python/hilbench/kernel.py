"""A kernel of your own in Python, for `kernels:` of a sweep (docs/kernels.md):

    from hilbench.kernel import kernel

    @kernel
    def attention(q, k, v, slots, case):
        ...
        return o, lse

    attention.serve()

q [batch, sequence_length, heads, head_dim] lies in position order; so must o, of the same shape, and lse [batch,
sequence_length, heads]. k and v [batch, sequence_length, kv_heads, head_dim] lie where the order puts them: the key of
position p is k[:, slots[p]]. Tensors are those of PyTorch if the script has imported torch, else arrays of NumPy.
"""

import collections
import hashlib
import inspect
import json
import math
import os
import sys
import time
import traceback

PROTOCOL = 2
CACHE = os.environ.pop("HILBENCH_CACHE", None)  # set if hilbench started this process, and not for what it starts

DEVICE = os.environ.pop("HILBENCH_DEVICE", None)


def stream_of_answers():
    """The standard output, over which hilbench is answered. From now on it is the standard error to all else, also to
    libraries and to other processes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


ANSWERS = stream_of_answers() if CACHE else None
WARM_UPS = 3
BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}

Block = collections.namedtuple("Block", "branch head kv_head queries keys")
Block.__doc__ = "What one head computes in one segment of a branch: `queries` and `keys` are slices of positions."


class Unsupported(Exception):
    """Raised by a kernel, or here, if it cannot compute the case: the variant is skipped with this reason."""


class BadKernel(Exception):
    """What a kernel returned is not what was expected."""


class Case:
    """The parameters of the case, by the names of a sweep, `order`, `traversal`, and `tiles`: an integer array [tiles,
    12] if the kernel has tile_rows, else None."""

    def __init__(self, fields, kernel):
        self.__dict__.update(fields)
        self.order, self.traversal, self.tiles = kernel["order"], kernel["traversal"], None
        self.scale = 1 / math.sqrt(self.head_dim)  # of the scores

    def kv_head(self, head):
        return head * self.kv_heads // self.heads

    def offset(self, branch, kv_head):
        """Position of the first key of this head in each segment of the branch."""
        dilation = self.dilations[branch]
        if self.head_offset in ("none", "branch"):
            return branch % dilation if self.head_offset == "branch" else 0
        return kv_head % dilation if self.head_offset == "modulo" else kv_head // -(-self.kv_heads // dilation)

    def blocks(self):
        """All Blocks of the case. Their results are merged by LSE where they share rows; rows of none are 0, with LSE
        -infinity. Under a causal mask a query sees the keys up to its own position."""
        for branch, (length, dilation) in enumerate(zip(self.segments, self.dilations)):
            for head in range(self.heads):
                if self.branch_heads != "all" and head * len(self.segments) // self.heads != branch:
                    continue
                kv_head = self.kv_head(head)
                for begin in range(0, self.sequence_length, length):
                    end = min(begin + length, self.sequence_length)
                    keys = slice(begin + self.offset(branch, kv_head), end, dilation)
                    if keys.start < end:
                        queries = slice(begin, end, 1) if self.queries == "dense" else keys
                        yield Block(branch, head, kv_head, queries, keys)


class NumpyTensors:
    """Arrays of NumPy, on a processor."""

    def __init__(self, device):
        import numpy
        self.numpy = numpy
        if device != "cpu":
            raise Unsupported("NumPy computes on processors alone; import torch before hilbench.kernel")

    def dtype(self, name):
        if name == "bf16":
            raise Unsupported("NumPy has no bf16; import torch before hilbench.kernel")
        return {"fp32": self.numpy.float32, "fp16": self.numpy.float16, "int32": self.numpy.int32}[name]

    def read(self, path, dtype, shape):
        return self.numpy.fromfile(path, self.dtype(dtype)).reshape(shape)

    def refill(self, tensor, path, dtype):
        tensor[...] = self.read(path, dtype, tensor.shape)

    def own(self, value):
        return value if isinstance(value, self.numpy.ndarray) else None

    def names(self, tensor):
        return str(tensor.dtype), "cpu"

    def expected(self, dtype):
        return "float32" if dtype == "fp32" else "float16", "cpu"

    def floats(self, tensor, rows):
        flat = tensor.reshape(-1, tensor.shape[-1])
        return (flat if rows is None else flat[rows]).astype(self.numpy.float32).tobytes()

    def durations(self, run, executions):
        return timed_by_host(run, executions)

    timer = "perf_counter"


class TorchTensors:
    """Tensors of PyTorch, on a processor or the first GPU."""

    def __init__(self, device):
        self.torch = sys.modules["torch"]
        self.device = self.torch.device("cuda:0" if device == "cuda" else "cpu")
        self.timer = "cuda_events" if device == "cuda" else "perf_counter"
        self.graph = None

    def dtype(self, name):
        torch = self.torch
        return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "int32": torch.int32}[name]

    def read(self, path, dtype, shape):
        with open(path, "rb") as file:
            data = bytearray(file.read())
        return self.torch.frombuffer(data, dtype=self.dtype(dtype)).reshape(shape).to(self.device)

    def refill(self, tensor, path, dtype):
        tensor.copy_(self.read(path, dtype, tensor.shape))
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def own(self, value):
        if not isinstance(value, self.torch.Tensor) and hasattr(value, "__dlpack__"):
            value = self.torch.from_dlpack(value)
        return value.detach() if isinstance(value, self.torch.Tensor) else None

    def names(self, tensor):
        return str(tensor.dtype).replace("torch.", ""), str(tensor.device)

    def expected(self, dtype):
        return str(self.dtype(dtype)).replace("torch.", ""), str(self.device)

    def floats(self, tensor, rows):
        flat = tensor.reshape(-1, tensor.shape[-1])
        if rows is not None:
            flat = flat.index_select(0, self.torch.tensor(rows, device=flat.device))
        return flat.float().contiguous().cpu().numpy().tobytes()

    def capture(self, run):
        """Records a graph of one execution, so that the time holds no launches by Python. None: it cannot be recorded,
        and its launches are timed one by one."""
        if self.device.type != "cuda":
            return None
        torch = self.torch
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                output = run()
        except Exception:  # whatever its library says of capturing
            torch.cuda.synchronize()
            return None
        self.graph = graph
        return output

    def durations(self, run, executions):
        if self.device.type != "cuda":
            return timed_by_host(run, executions)
        torch = self.torch
        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
                  for _ in range(executions)]
        for begin, end in events:
            begin.record()
            self.graph.replay() if self.graph else run()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e6 for begin, end in events]


def timed_by_host(run, executions):
    times = []
    for _ in range(executions):
        begin = time.perf_counter_ns()
        run()
        times.append(max(1, time.perf_counter_ns() - begin))
    return times


class Kernel:
    def __init__(self, function, devices=None, tile_rows=None, windows=False, reads_slots=True):
        self.function, self.devices, self.tile_rows, self.windows = function, devices, tile_rows, windows
        self.reads_slots = reads_slots

    def __call__(self, *arguments):
        return self.function(*arguments)

    def serve(self):
        """Answers hilbench until it has no more requests; does not return."""
        answers = ANSWERS or stream_of_answers()
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = getattr(self, "_" + request.pop("do"))(**request)
            except Unsupported as reason:
                answer = {"unsupported": str(reason)}
            except BadKernel as reason:
                answer = {"error": str(reason)}
            except Exception as error:
                where = line_in(self.function.__code__.co_filename, error)
                answer = {"error": f"{self.function.__name__} raises {type(error).__name__}{where}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)
        os._exit(0)  # the system frees all at once

    def _hello(self, protocol):
        if protocol != PROTOCOL:
            raise Unsupported(f"hilbench.kernel speaks protocol {PROTOCOL}, not {protocol}")
        code = self.function.__code__
        try:
            text = inspect.getsource(sys.modules[self.function.__module__])
        except (OSError, TypeError):
            text = code.co_code.hex()
        start_device()
        answer = {"protocol": PROTOCOL, "name": self.function.__name__, "kernel": self.reads_slots,
                  "windows": self.windows, "version": hashlib.sha256(text.encode()).hexdigest()[:12], "devices": self.devices or usable_devices()}
        return answer | ({"tile_rows": self.tile_rows} if self.tile_rows else {})

    def _load(self, case, option, q, k, v, kernel=None, mask=None):
        if kernel is None and self.reads_slots:
            raise Unsupported("a kernel is declared under `kernels`; a rival is made by hilbench.kernel.rival")
        self.case = case = Case(case | {"option": option}, kernel or {"order": "linear", "traversal": "auto"})
        self.tensors = TorchTensors(case.device) if "torch" in sys.modules else NumpyTensors(case.device)
        if "torch" in sys.modules and case.device == "cpu":
            sys.modules["torch"].set_num_threads(case.threads)
        rows = case.batch, case.sequence_length
        self.q = self.tensors.read(q, case.dtype, (*rows, case.heads, case.head_dim))
        self.k, self.v = (self.tensors.read(path, case.dtype, (*rows, case.kv_heads, case.head_dim)) for path in (k, v))
        self.arguments = [self.q, self.k, self.v, case]
        if self.reads_slots:
            self.arguments.insert(3, self.tensors.read(kernel["slots"], "int32", (case.sequence_length,)))
        if kernel and "tiles" in kernel:
            case.tiles = self.tensors.read(kernel["tiles"], "int32", (-1, 12))
        if mask is not None:
            with open(mask, "rb") as file:
                case.mask = file.read()
        for _ in range(WARM_UPS):
            self._run_once()
        # With warm caches an execution goes before the timed ones: the processor slept, or computed something else.
        self.untimed = 1 if CACHE == "warm" else 0
        described = {"timer": self.tensors.timer, "untimed": self.untimed, "tensors": type(self.tensors).__name__}
        if isinstance(self.tensors, TorchTensors):
            described["torch"] = str(self.tensors.torch.__version__)
            output = self.tensors.capture(self._call)
            if output is not None:
                self.o, self.lse = output
            if case.device == "cuda":
                described["launch"] = "cuda_graph" if self.tensors.graph else "function"
        return described

    def _inputs(self, q, k, v, changed, **_):
        for name, path in (("q", q), ("k", k), ("v", v)):
            if name in changed:
                self.tensors.refill(getattr(self, name), path, self.case.dtype)
        return {}

    def _call(self):
        returned = self.function(*self.arguments)
        o, lse = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
        rows = (self.case.batch, self.case.sequence_length, self.case.heads)
        o = self._checked("o", o, (*rows, self.case.head_dim), (self.case.dtype, "fp32"))
        return o, lse if lse is None else self._checked("lse", lse, rows, ("fp32",))

    def _run_once(self):
        self.o, self.lse = self._call()

    def _checked(self, name, value, shape, dtypes):
        tensor = self.tensors.own(value)
        if tensor is None:
            kind = "torch.Tensor" if isinstance(self.tensors, TorchTensors) else "numpy.ndarray"
            raise BadKernel(f"{self.function.__name__} returns {name} as {type(value).__name__}; expected: a {kind}, "
                            "either o or (o, lse)")
        wanted = [self.tensors.expected(dtype) for dtype in dtypes]
        (dtype, device), names = self.tensors.names(tensor), " or ".join(dict.fromkeys(name for name, _ in wanted))
        for what, found, expected, right in (("shape", tuple(tensor.shape), shape, tuple(tensor.shape) == shape),
                                             ("dtype", dtype, names, dtype in [name for name, _ in wanted]),
                                             ("device", device, wanted[0][1], device == wanted[0][1])):
            if not right:
                raise BadKernel(f"{self.function.__name__} returns {name} of {what} {found}; expected: {expected}")
        return tensor

    def _run(self, executions):
        untimed = self.untimed if executions > 0 else 0
        return {"times_ns": self.tensors.durations(self._run_once, untimed + executions)[untimed:]}

    def _read(self, o, lse, rows=None):
        with open(o, "wb") as file:
            file.write(self.tensors.floats(self.o, rows))
        if self.lse is not None:
            with open(lse, "wb") as file:
                file.write(self.tensors.floats(self.lse[..., None], rows))
        return {"lse": self.lse is not None}


def line_in(file, error):
    """The last line of `file` on the way to the error, as in " at mine.py:12"; nothing if it has none there."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" at {os.path.basename(file)}:{lines[-1]}" if lines else ""


def start_device():
    """Creates the context of the GPU: all programs of a comparison are greeted at once, so they do it side by side."""
    torch = sys.modules.get("torch")
    if DEVICE == "cuda" and torch is not None and torch.cuda.is_available():
        torch.zeros(1, device="cuda")


def usable_devices():
    torch = sys.modules.get("torch")
    return ["cpu", "cuda"] if torch is not None and torch.cuda.is_available() else ["cpu"]


def kernel(function=None, **options):
    """Makes a Kernel of a function. Options: devices (["cuda"]: only there; default: where its tensors can be),
    tile_rows (query rows of a tile: then case.tiles lists the tiles in the sequence of the traversal), windows (True:
    it computes windows on grids too)."""
    return Kernel(function, **options) if function else lambda later: Kernel(later, **options)


def rival(function=None, **options):
    """The same for a program under `external` of a sweep: a function of q, k, v and case, which gets all tensors in
    position order. case.option is OPTION of a baseline NAME.OPTION."""
    return kernel(function, reads_slots=False, **options)
