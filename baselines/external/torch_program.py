"""What torch_sdpa.py and torch_windows.py share: inputs and outputs, the clock, and answers to the requests of
docs/external.md."""

import importlib.metadata
import math
import os
import sys
import threading
import time

import fork_server
from request_loop import PROTOCOL, Unsupported, agree, serve

TRIALS = 5
FLEX_MODE = "max-autotune-no-cudagraphs"  # times tile sizes while it compiles; the graph is the program's own
FLEX_TUNING_S = 120  # of a case: programs.cpp tells users the same

torch = None  # imported by Program.hello, so that the answer can say that it is missing


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


def first_line(error):
    """Of a long message; torch.compile begins some with a line that only says who raised it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.endswith("raised:")), type(error).__name__)


def processor_name():
    with open("/proc/cpuinfo") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def available_bytes():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


INPUTS = "q", "k", "v", "d_o", "o", "lse"  # the last three with gradients alone


def stored_inputs(case, files):
    """The tensors of INPUTS, in that sequence, as the files hold them; LSE is [batch, sequence, heads, 1]."""
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[case.dtype]
    for name in (name for name in INPUTS if name in files):
        shape = (case.batch, case.sequence_length, case.kv_heads if name in "kv" else case.heads,
                 1 if name == "lse" else case.head_dim)
        of = torch.float32 if name == "lse" else kind
        yield torch.from_file(files[name], shared=False, size=math.prod(shape), dtype=of).view(shape)


def chosen_rows(tensor, rows):
    """Of [batch, sequence, heads, ...], which need not be contiguous: those with these numbers."""
    _, length, heads = tensor.shape[:3]
    rows = torch.tensor(rows, dtype=torch.int64, device=tensor.device)
    return tensor[rows // (length * heads), rows // heads % length, rows % heads]


def write_output(output, files, rows=None):
    """O and LSE, which may be None; of `rows` alone if it is not None."""
    for tensor, file in zip(output, files):
        if tensor is None or rows == []:
            continue
        flat = (tensor if rows is None else chosen_rows(tensor, rows)).float().reshape(-1)
        torch.from_file(file, shared=True, size=flat.numel(), dtype=torch.float32).copy_(flat)


def import_flex(case):
    """PyTorch's module of FlexAttention; raises Unsupported if it has none, or none for the case."""
    global torch  # which the second import binds
    try:
        import torch.nn.attention.flex_attention as flex
    except ImportError:
        raise Unsupported(f"flex: PyTorch {torch.__version__} has no flex_attention, 2.5 is the first that has")
    if case.device == "cuda" and case.head_dim < 16:
        raise Unsupported(f"flex: needs a head_dim of at least 16, not {case.head_dim}")
    import torch._dynamo
    torch._dynamo.config.cache_size_limit = 1024  # every shape and block size is compiled for itself
    torch._dynamo.config.accumulated_cache_size_limit = 1024
    return flex


def lse_request(flex):
    """The arguments by which flex_attention of this version of PyTorch returns the LSE too."""
    aux = getattr(flex, "AuxRequest", None)
    return {"return_aux": aux(lse=True)} if aux else {"return_lse": True}


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


def gpu_times_ns(step, executions):
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(executions)]
    for begin, end in events:
        begin.record()
        step()
        end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) * 1e6 for begin, end in events]


class Clock:
    """Times a step; on a GPU by events, as a graph if `graph`. `output` is what its last execution returned."""

    def __init__(self, device, step, graph=True):
        self.gpu = device == "cuda"
        self.launch, self.step, self.output = "eager", step, step()
        if self.gpu and graph:
            graph, self.output = captured(step)
            self.launch, self.step = "cuda_graph", graph.replay

    def kept(self):
        self.output = self.step()

    def times_ns(self, executions):
        if self.gpu:
            return gpu_times_ns(self.step if self.launch == "cuda_graph" else self.kept, executions)
        times = []
        for _ in range(executions):
            begin = time.perf_counter_ns()
            self.output = self.step()
            times.append(time.perf_counter_ns() - begin)
        return times


class Search:
    """Attempts to compile and time, in FLEX_TUNING_S: none begins that would end later if it took as long as the longest
    before it, unless it is needed, as nothing works so far."""

    def __init__(self):
        self.began, self.longest, self.untried = time.monotonic(), 0, []

    def took(self):
        return time.monotonic() - self.began

    def attempt(self, what, step, needed):
        """What step() returns; None if there is no time for it."""
        before = self.took()
        if not needed and before + self.longest > FLEX_TUNING_S:
            self.untried.append(what)
            return None
        try:
            return step()
        finally:
            self.longest = max(self.longest, self.took() - before)

    def description(self):
        return {"tuning_s": round(self.took(), 1), "tuning_limit_s": FLEX_TUNING_S, "untried": self.untried}


def wake_gpu():
    """Makes CUDA's context, which takes most of a second, while hilbench prepares inputs and its own kernels."""
    try:
        torch.empty(1, device="cuda")
    except Exception:  # the program meets it again as soon as it uses the GPU, and says so
        pass


class Program:
    """One method for each request of the protocol; it returns the answer. A program has besides these:

    NAME, of its baseline, and OPTIONS, all that it knows
    about(), which takes over `torch` and returns further keys of the answer to hello
    case_of(fields, option), which raises Unsupported if it does not compute the case
    prepare(case, option, inputs), which makes self.clock and returns further keys of the answer to load
    output(), O and LSE or None, or dQ, dK and dV, in position order
    renew(), if it keeps copies of inputs: makes them anew, in place
    """

    def hello(self, protocol):
        global torch
        agree(protocol)
        forked = "torch" in sys.modules
        try:
            import torch as imported
        except ImportError as error:
            raise Unsupported(f"no PyTorch for {sys.executable}: {error}; set HILBENCH_PYTHON to another Python")
        torch = imported
        gpu = torch.cuda.is_available()
        if gpu and os.environ.get("CUDA_VISIBLE_DEVICES"):  # which hilbench sets for a case on a GPU
            threading.Thread(target=wake_gpu, daemon=True).start()
        return {"protocol": PROTOCOL, "name": self.NAME, "version": f"PyTorch {torch.__version__}",
                "devices": ["cpu", "cuda"] if gpu else ["cpu"], "forked": forked, **self.about()}

    def load(self, case, option, **files):
        if option not in self.OPTIONS:
            known = ", ".join(filter(None, self.OPTIONS))
            raise Unsupported(f"{self.NAME} has no option '{option}', only {known}")
        case = self.case_of(case, option)
        if case.device == "cpu":
            torch.set_num_threads(case.threads)
        try:
            self.tensors = [stored.to(case.device, copy=True) for stored in stored_inputs(case, files)]
            with torch.inference_mode():
                found = self.prepare(case, option, self.tensors)
        except torch.OutOfMemoryError as error:
            raise Unsupported(f"does not fit: {error}")
        self.case = case
        return {"timer": "cuda_events" if case.device == "cuda" else "perf_counter", "launch": self.clock.launch, **found}

    def inputs(self, changed, **files):
        """Overwrites the tensors, which graphs and views go on to read."""
        with torch.inference_mode():
            for name, tensor, stored in zip(INPUTS, self.tensors, stored_inputs(self.case, files)):
                if name in changed:
                    tensor.copy_(stored)
            self.renew()
        if self.case.device == "cuda":
            torch.cuda.synchronize()
        return {}

    def renew(self):
        pass

    def run(self, executions):
        with torch.inference_mode():
            return {"times_ns": self.clock.times_ns(executions)}

    def read(self, o=None, lse=None, rows=None, d_q=None, d_k=None, d_v=None, keys=None):
        with torch.inference_mode():
            output = self.output()
            if d_q is not None:
                write_output(output[:1], (d_q,), rows)
                write_output(output[1:], (d_k, d_v), keys)
                return {}
            write_output(output, (o, lse), rows)
        return {"lse": output[1] is not None}


def main(program):
    """Answers requests, in a fork of the server that has imported PyTorch if there is one."""
    fork_server.hand_over()
    serve(program)
