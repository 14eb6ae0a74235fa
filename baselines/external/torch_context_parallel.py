"""PyTorch's context_parallel as an external baseline of hilbench, for rings (README, External baselines).

The program answers `hello`, refuses what cannot be, and becomes torchrun for a case that can: one process a rank, each
with a GPU of its own, of which rank 0 answers what is asked from then on. Keys and values rotate as PyTorch does by
itself, or as the options ask: allgather, all at once, or ring, PyTorch's "alltoall", to the neighbour. Causal work is
shared out by PyTorch's load balancer. On GPUs attention is cuDNN's; executions stand enqueued one behind the other and
are timed by events. On CPUs PyTorch has no rotation, and attention of shards at all only in some versions; executions
are timed by perf_counter there. A duration is that of the slowest rank. PyTorch keeps the LSE to itself.

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

PROTOCOL = 1
ROTATIONS = {"allgather": "allgather", "ring": "alltoall"}
WARM_UP = 3
PR_SET_PDEATHSIG = 1

# What the launcher tells its ranks: its process id with its descriptors for answers and for last words, the request.
LAUNCHER, REQUEST = "HILBENCH_LAUNCHER", "HILBENCH_REQUEST"

torch = None  # imported by hello, so that its absence can be answered


class Unsupported(Exception):
    """The case is not for this program: a skip, not a failure."""


def import_torch():
    global torch
    try:
        import torch as imported
        import torch.distributed.run
        import torch.distributed.tensor.experimental._attention
    except ImportError as error:
        raise Unsupported(f"no PyTorch with context_parallel for {sys.executable}: {error}; "
                          "HILBENCH_PYTHON names another Python")
    torch = imported


def refuse(case, option):
    """What can be told before ranks are started."""
    ranks, length = case["ring_size"], case["sequence_length"]
    shards = 2 * ranks if case["causal"] else ranks
    whole = len(case["segments"]) == 1 and case["segments"][0] >= length and case["dilations"] == [1]
    gpu = case["device"] == "cuda"
    gpus = torch.cuda.device_count()
    for holds, reason in (
            (option and option not in ROTATIONS, f"there is no option '{option}', only {', '.join(ROTATIONS)}"),
            (case["pass"] != "forward", "only the forward pass is computed"),
            (ranks == 1, "context_parallel wants a ring: ring_size must be above 1"),
            (not whole, "context_parallel knows no dilation and no segments: one as long as the sequence"),
            (case["kv_heads"] != case["heads"], "context_parallel wants as many K/V heads as heads"),
            (length % shards, f"sequence_length {length} does not divide into {shards} equal shards"),
            (gpu and case["dtype"] == "fp32", "cuDNN attends in fp16 and bf16, not in fp32"),
            (gpu and case["head_dim"] % 8, f"cuDNN wants a multiple of 8, not head_dim {case['head_dim']}"),
            (gpu and gpus < ranks, f"ring_size {ranks}: a rank wants a GPU of its own, of {gpus} here"),
            (option and not gpu, "PyTorch rotates keys between GPUs only")):
        if holds:
            raise Unsupported(reason)


class Launcher:
    """Answers until there are ranks that do."""

    def __init__(self):
        self.answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # what libraries print is no answer
        self.last_words = os.memfd_create("last_words")

    def hello(self, protocol):
        if protocol != PROTOCOL:
            raise Unsupported(f"speaks protocol {PROTOCOL}, not {protocol}")
        import_torch()
        gpu = torch.cuda.is_available()
        return {"protocol": PROTOCOL, "name": "torch_context_parallel", "version": f"PyTorch {torch.__version__}",
                "devices": ["cpu", "cuda"] if gpu else ["cpu"], "rings": True,
                "nccl": ".".join(map(str, torch.cuda.nccl.version())) if gpu else None}

    def load(self, **request):
        """Rank 0 gives the answer, and those to all that is asked later: None where all ended well, else a last one."""
        case = request["case"]
        refuse(case, request["option"])
        os.environ[LAUNCHER] = f"{os.getpid()} {self.answers.fileno()} {self.last_words}"
        os.environ[REQUEST] = json.dumps({"do": "load", **request})
        os.environ["OMP_NUM_THREADS"] = str(max(1, case["threads"] // case["ring_size"]))
        os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # as in hilbench's own rings
        os.ftruncate(self.last_words, 0)
        from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
        try:
            # "standalone": on a free port of this host.
            torch.distributed.run.main(["--standalone", f"--nproc-per-node={case['ring_size']}", __file__])
        except ChildFailedError as failure:
            said = os.pread(self.last_words, 1 << 16, 0).decode()
            rank, first = failure.get_first_failure()
            if first.exitcode > 0 and said:
                return json.loads(said.splitlines()[0])
            sys.exit(f"rank {rank} of {case['ring_size']} left with status {first.exitcode}")

    def serve(self):
        for line in sys.stdin:
            request = json.loads(line)
            what = request.pop("do")
            try:
                answer = getattr(self, what)(**request)
            except Unsupported as reason:
                answer = {"unsupported": str(reason)}
            if answer is not None:
                print(json.dumps(answer), file=self.answers, flush=True)


class Rank:
    """One method a request; what it returns on rank 0 is the answer."""

    def __init__(self, device):
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh
        self.dist = dist
        self.gpu = device == "cuda"
        if self.gpu:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        # hilbench limits the time of a request, and lets any time pass between two.
        dist.init_process_group("cpu:gloo,cuda:nccl" if self.gpu else "gloo", timeout=datetime.timedelta(days=1))
        self.number, self.device = dist.get_rank(), device
        self.mesh = init_device_mesh(device, (dist.get_world_size(),))
        self.open = contextlib.ExitStack()

    def read_tensor(self, case, file):
        """[batch, heads, sequence, head_dim], as attention wants it: all of it, of which PyTorch takes the shard."""
        kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[case["dtype"]]
        shape = case["batch"], case["sequence_length"], case["heads"], case["head_dim"]
        stored = torch.from_file(file, shared=False, size=math.prod(shape), dtype=kind)
        return stored.view(shape).to(self.device).transpose(1, 2).clone(memory_format=torch.contiguous_format)

    def load(self, case, option, q, k, v):
        from torch.distributed.tensor.experimental import _attention, context_parallel
        from torch.nn.attention import SDPBackend, sdpa_kernel
        options = _attention._cp_options
        options.enable_load_balance = self.causal = case["causal"]
        if option:
            _attention.set_rotate_method(ROTATIONS[option])
        self.open.enter_context(torch.no_grad())
        try:
            whole = [self.read_tensor(case, file) for file in (q, k, v)]
            self.open.enter_context(context_parallel(self.mesh, buffers=whole, buffer_seq_dims=[2, 2, 2],
                                                     no_restore_buffers=set(whole)))
            self.shards = [shard.clone() for shard in whole]
            for tensor in whole:  # cut in place, but not in memory
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

    def step(self):
        self.output = torch.nn.functional.scaled_dot_product_attention(*self.shards, is_causal=self.causal)

    def meet(self):
        self.dist.all_reduce(torch.zeros(1))

    def run(self, executions):
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

    def run_on_cpu(self, executions):
        times = []
        for _ in range(executions):
            self.meet()
            begin = time.perf_counter_ns()
            self.step()
            times.append(time.perf_counter_ns() - begin)
        return times

    def read(self, o, lse):
        """Gathers O from the ranks; the position order that balancing left is restored with it."""
        from torch.distributed.tensor.experimental._attention import context_parallel_unshard
        whole = context_parallel_unshard(self.mesh, [self.output], [2])[0]
        if self.number == 0:
            flat = whole.transpose(1, 2).float().reshape(-1).cpu()
            torch.from_file(o, shared=True, size=flat.numel(), dtype=torch.float32).copy_(flat)
        return {"lse": False}

    def next_request(self):
        """The line that rank 0 reads, for all; None at the end of the input."""
        line = [sys.stdin.readline() if self.number == 0 else ""]
        self.dist.broadcast_object_list(line, src=0, device=torch.device("cpu"))
        return json.loads(line[0]) if line[0] else None

    def serve(self, request, answers):
        while request:
            answer = getattr(self, request.pop("do"))(**request)
            if self.number == 0:
                print(json.dumps(answer), file=answers, flush=True)
            request = self.next_request()


def be_rank():
    launcher, answers, last_words = (int(word) for word in os.environ[LAUNCHER].split())
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        sys.exit("the launcher is gone")
    try:
        import_torch()
        request = json.loads(os.environ[REQUEST])
        with open(f"/proc/{launcher}/fd/{answers}", "w") as stream:
            Rank(request["case"]["device"]).serve(request, stream)
        os._exit(0)  # PyTorch's own end takes seconds, and its threads may not survive it
    except Exception as error:
        place = f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}"
        answer = ({"unsupported": str(error)} if isinstance(error, Unsupported) else
                  {"error": f"{place}: {type(error).__name__}: {error}"})
        with open(f"/proc/{launcher}/fd/{last_words}", "a") as stream:
            print(json.dumps(answer), file=stream)
        os._exit(1)  # the other ranks may be waiting for this one, and so would an orderly end


if __name__ == "__main__":
    be_rank() if LAUNCHER in os.environ else Launcher().serve()
