"""PyTorch's context_parallel as an external baseline of hilbench, for rings (docs/external.md).

The program answers `hello` and refuses cases that it cannot compute. For other cases it forks a process for each rank,
each with its own GPU; rank 0 answers all further requests. So PyTorch is imported once, or not at all if the program
itself is a fork of fork_server.py. Keys and values rotate as PyTorch does by default, or as the option asks:
`allgather` all at once, `ring` (PyTorch's "alltoall") to the neighbour. PyTorch's load balancer distributes causal
work. On GPUs attention is cuDNN's; executions are enqueued one after another and timed by events. On CPUs PyTorch has
no rotation, and attention of shards only in some versions; executions are timed by perf_counter. A duration is that of
the slowest rank. PyTorch does not return the LSE.

Not computed: backward, dilations, several segments, fewer K/V heads than heads, shards of unequal length.
"""

import contextlib
import ctypes
import datetime
import json
import math
import os
import signal
import sys
import time

import fork_server
from request_loop import PROTOCOL, Unsupported, agree, serve, take_answers

ROTATIONS = {"allgather": "allgather", "ring": "alltoall"}
WARM_UP = 3
PR_SET_PDEATHSIG = 1

torch = None  # imported by hello, so that the answer can say that it is missing


def import_torch():
    global torch
    try:
        import torch as imported
        import torch.distributed.tensor.experimental._attention
    except ImportError as error:
        raise Unsupported(f"no PyTorch with context_parallel for {sys.executable}: {error}; "
                          "set HILBENCH_PYTHON to another Python")
    torch = imported


def found_gpus():
    """How many GPUs PyTorch sees, and its version of NCCL. A fork asks: a process that has touched a GPU can fork no
    ranks that use one."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
            nccl = ".".join(map(str, torch.cuda.nccl.version())) if gpus else None
            os.write(write, json.dumps([gpus, nccl]).encode())
        finally:
            os._exit(0)  # as request_loop.py does
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else [0, None]


def refuse(case, option, gpus):
    """Refuses what can be refused before ranks are started."""
    ranks, length = case["ring_size"], case["sequence_length"]
    shards = 2 * ranks if case["causal"] else ranks
    whole = len(case["segments"]) == 1 and case["segments"][0] >= length and case["dilations"] == [1]
    gpu = case["device"] == "cuda"
    for holds, reason in (
            (option and option not in ROTATIONS, f"there is no option '{option}', only {', '.join(ROTATIONS)}"),
            (case["pass"] != "forward", "only the forward pass is computed"),
            (ranks == 1, "context_parallel needs a ring: ring_size must be above 1"),
            (not whole, "context_parallel knows no dilation and no segments: one as long as the sequence"),
            (case["kv_heads"] != case["heads"], "context_parallel wants as many K/V heads as heads"),
            (length % shards, f"sequence_length {length} does not divide into {shards} equal shards"),
            (gpu and case["dtype"] == "fp32", "cuDNN attends in fp16 and bf16, not in fp32"),
            (gpu and case["head_dim"] % 8, f"cuDNN wants a multiple of 8, not head_dim {case['head_dim']}"),
            (gpu and gpus < ranks, f"ring_size {ranks}: a rank wants a GPU of its own, of {gpus} here"),
            (option and not gpu, "PyTorch rotates keys between GPUs only")):
        if holds:
            raise Unsupported(reason)


def covered(spans):
    """The length of the union of spans (begin, end): kernels of several streams overlap."""
    length, last = 0.0, -math.inf
    for begin, end in sorted(spans):
        length += max(0.0, end - max(begin, last))
        last = max(last, end)
    return length


class Launcher:
    """Answers requests until the ranks do."""

    def __init__(self, answers):
        self.answers = answers

    def hello(self, protocol):
        agree(protocol)
        forked = "torch" in sys.modules
        import_torch()
        self.gpus, nccl = found_gpus()
        return {"protocol": PROTOCOL, "name": "torch_context_parallel", "version": f"PyTorch {torch.__version__}",
                "devices": ["cpu", "cuda"] if self.gpus else ["cpu"], "rings": True, "profiles": self.gpus > 0,
                "nccl": nccl, "forked": forked}

    def load(self, **request):
        """Rank 0 answers this request and all later ones. Returns None if all ranks ended well, else a last answer."""
        case = request["case"]
        refuse(case, request["option"], self.gpus)
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # hilbench's own rings do so too
        meeting, last_words = os.memfd_create("meeting"), os.memfd_create("last_words")
        try:
            ranks = [start_rank(rank, request, meeting, last_words, self.answers) for rank in range(case["ring_size"])]
            rank, status = first_failure(ranks)
            said = os.pread(last_words, 1 << 16, 0).decode()
        finally:
            os.close(meeting)
            os.close(last_words)
        if rank is None:
            return None
        if status > 0 and said:
            return json.loads(said.splitlines()[0])
        sys.exit(f"rank {rank} of {len(ranks)} left with status {status}")


def first_failure(ranks):
    """Waits for all ranks. If one fails, ends the others and returns its number and status, else None and 0."""
    running, failed = set(ranks), (None, 0)
    while running:
        ended, status = os.wait()
        running.discard(ended)
        status = os.waitstatus_to_exitcode(status)
        if status != 0 and failed[0] is None and ended in ranks:
            failed = ranks.index(ended), status
            for rank in running:
                os.kill(rank, signal.SIGKILL)
    return failed


def start_rank(number, request, meeting, last_words, answers):
    """Forks a rank and returns its process id."""
    launcher = os.getpid()
    child = os.fork()
    if child != 0:
        return child
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        os._exit(1)
    size = request["case"]["ring_size"]
    try:
        os.environ.update(RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(size), LOCAL_WORLD_SIZE=str(size))
        torch.set_num_threads(max(1, request["case"]["threads"] // size))
        store = torch.distributed.FileStore(f"/proc/self/fd/{meeting}", size)
        Rank(request["case"]["device"], number, size, store).serve({"do": "load", **request}, answers)
        os._exit(0)  # the orderly end of PyTorch takes seconds, and its threads may crash
    except Exception as error:
        answer = ({"unsupported": str(error)} if isinstance(error, Unsupported) else
                  {"error": f"rank {number} of {size}: {type(error).__name__}: {error}"})
        with open(last_words, "a", closefd=False) as stream:
            print(json.dumps(answer), file=stream)
    finally:
        os._exit(1)  # the other ranks may wait for this one, and an orderly end would wait for them


class Rank:
    """One method for each request; it returns the answer on rank 0."""

    def __init__(self, device, number, size, store):
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh
        self.dist = dist
        self.gpu = device == "cuda"
        self.number, self.device = number, device
        if self.gpu:
            torch.cuda.set_device(number)
        # hilbench limits the time of a request, but any time may pass between two requests.
        dist.init_process_group("cpu:gloo,cuda:nccl" if self.gpu else "gloo", store=store, rank=number,
                                world_size=size, timeout=datetime.timedelta(days=1))
        self.mesh = init_device_mesh(device, (dist.get_world_size(),))
        self.open = contextlib.ExitStack()

    def stored(self, file):
        """[batch, sequence, heads, head_dim], as the file holds it."""
        case = self.case
        kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[case["dtype"]]
        shape = case["batch"], case["sequence_length"], case["heads"], case["head_dim"]
        return torch.from_file(file, shared=False, size=math.prod(shape), dtype=kind).view(shape)

    def read_tensor(self, file):
        """[batch, heads, sequence, head_dim], the whole tensor in the layout of attention; PyTorch takes the shard."""
        return self.stored(file).to(self.device).transpose(1, 2).clone(memory_format=torch.contiguous_format)

    def load(self, case, option, q, k, v):
        from torch.distributed.tensor.experimental import _attention, context_parallel
        from torch.nn.attention import SDPBackend, sdpa_kernel
        self.case = case
        options = _attention._cp_options
        options.enable_load_balance = self.causal = case["causal"]
        if option:
            _attention.set_rotate_method(ROTATIONS[option])
        self.open.enter_context(torch.no_grad())
        try:
            whole = [self.read_tensor(file) for file in (q, k, v)]
            positions = torch.arange(case["sequence_length"], device=self.device)
            self.open.enter_context(context_parallel(self.mesh, buffers=[*whole, positions],
                                                     buffer_seq_dims=[2, 2, 2, 0],
                                                     no_restore_buffers={*whole, positions}))
            self.shards = [shard.clone() for shard in whole]
            self.positions = positions.tolist()  # of this rank's shard, in its sequence
            for tensor in whole:  # PyTorch cuts it in place but keeps the memory
                tensor.untyped_storage().resize_(0)
            if self.gpu:
                self.open.enter_context(sdpa_kernel(SDPBackend.CUDNN_ATTENTION))
                torch.cuda.empty_cache()
            self.run(WARM_UP)
        except torch.OutOfMemoryError as error:
            raise Unsupported(f"does not fit: {error}")
        except NotImplementedError as error:
            raise Unsupported(f"{error}")
        except RuntimeError as error:
            if "No available kernel" in str(error):
                raise Unsupported(f"cuDNN has no kernel: {error}")
            raise
        return {"timer": "cuda_events" if self.gpu else "perf_counter", "backend": "cudnn" if self.gpu else None,
                "cudnn": torch.backends.cudnn.version() if self.gpu else None,
                "rotation": options.rotate_method.name.lower() if self.gpu else None,
                "load_balance": options.enable_load_balance, "ranks": self.mesh.size(),
                "nccl_nvls_enable": os.environ["NCCL_NVLS_ENABLE"] if self.gpu else None}

    def inputs(self, changed, **files):
        """Each rank overwrites its shards. No rank answers before all have read."""
        for name, shard in zip("qkv", self.shards):
            if name in changed:
                shard.copy_(self.stored(files[name])[:, self.positions].transpose(1, 2))
        if self.gpu:
            torch.cuda.synchronize()
        self.meet()
        return {}

    def step(self):
        self.output = torch.nn.functional.scaled_dot_product_attention(*self.shards, is_causal=self.causal)

    def meet(self):
        self.dist.all_reduce(torch.zeros(1))

    def run(self, executions):
        if executions == 0:
            return {"times_ns": []}
        times = torch.tensor(self.run_on_gpu(executions) if self.gpu else self.run_on_cpu(executions),
                             dtype=torch.float64)
        self.dist.all_reduce(times, op=self.dist.ReduceOp.MAX)
        return {"times_ns": times.tolist()}

    def run_on_gpu(self, executions):
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(executions)]
        self.meet()
        for begin, end in events:
            begin.record()
            self.step()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e6 for begin, end in events]

    def profile(self, executions):
        """What the GPU of the busiest rank works in an execution, without what PyTorch's Python takes between kernels.
        A kernel of NCCL that waits for another rank counts as work."""
        from torch.autograd import DeviceType
        from torch.profiler import ProfilerActivity, profile
        busy = []
        for _ in range(executions):
            self.meet()
            with profile(activities=[ProfilerActivity.CUDA]) as profiled:
                self.step()
                torch.cuda.synchronize()
            busy.append(covered((event.time_range.start, event.time_range.end) for event in profiled.events()
                                if event.device_type == DeviceType.CUDA) * 1e3)
        busy = torch.tensor(busy, dtype=torch.float64)
        least = busy.min()
        self.dist.all_reduce(least, op=self.dist.ReduceOp.MIN)
        self.dist.all_reduce(busy, op=self.dist.ReduceOp.MAX)
        if least <= 0:
            return {"unsupported": "torch.profiler saw no kernel of some rank"}
        return {"gpu_busy_ns": busy.tolist()}

    def run_on_cpu(self, executions):
        times = []
        for _ in range(executions):
            self.meet()
            begin = time.perf_counter_ns()
            self.step()
            times.append(time.perf_counter_ns() - begin)
        return times

    def read(self, o, lse, rows=None):
        """Gathers O from the ranks, in position order, which the load balancer had changed."""
        from torch.distributed.tensor.experimental._attention import context_parallel_unshard
        if rows is None:
            whole = context_parallel_unshard(self.mesh, [self.output], [2])[0].transpose(1, 2)
        else:
            whole = self.chosen_rows(rows)
        if self.number == 0 and rows != []:
            flat = whole.float().reshape(-1).cpu()
            torch.from_file(o, shared=True, size=flat.numel(), dtype=torch.float32).copy_(flat)
        return {"lse": False}

    def chosen_rows(self, rows):
        """Each rank fills in its own, and 0 for those of other ranks."""
        heads, length = self.case["heads"], self.case["sequence_length"]
        found = torch.zeros(len(rows), self.case["head_dim"])
        place = {position: i for i, position in enumerate(self.positions)}
        own = [(i, row // (heads * length), row % heads, place[row // heads % length])
               for i, row in enumerate(rows) if row // heads % length in place]
        if own:
            at, batch, head, position = map(list, zip(*own))
            found[at] = self.output[batch, head, position].float().cpu()
        if rows:
            self.dist.all_reduce(found)
        return found

    def next_request(self):
        """The line that rank 0 reads, sent to all ranks; None at the end of the input."""
        line = [sys.stdin.readline() if self.number == 0 else ""]
        self.dist.broadcast_object_list(line, src=0, device=torch.device("cpu"))
        return json.loads(line[0]) if line[0] else None

    def serve(self, request, answers):
        while request:
            answer = getattr(self, request.pop("do"))(**request)
            if self.number == 0:
                print(json.dumps(answer), file=answers, flush=True)
            request = self.next_request()


if __name__ == "__main__":
    fork_server.hand_over()
    answers = take_answers()
    serve(Launcher(answers), answers=answers)
