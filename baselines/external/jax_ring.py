"""The ring of flash-attn3-jax as an external baseline of hilbench (docs/external.md): FlashAttention-3 under JAX.

One process drives all GPUs of the ring. Q, K and V are sharded along the sequence, one contiguous shard a GPU; then
flash_mha of the package passes K and V on by ppermute and merges by LSE. It does not balance causal work: the last rank
computes with every shard, the first one only with its own. flash_mha does not return the LSE.

A thread starts executions one behind the other, at most AHEAD unfinished; another one waits for each and takes the time
by perf_counter. An execution takes from the end of the one before it to the end of its slowest rank. JAX compiles the
ring, and places inputs, before anything is timed. XLA hides transfers behind kernels, as the package's authors advise.

Not computed: backward, dilations, several segments, fp32, other head dimensions than the package's kernels, shards of
unequal length.
"""

import itertools
import os
import queue
import sys
import threading
import time

from request_loop import PROTOCOL, Unsupported, agree, serve

NAME, PACKAGE = "jax_ring", "flash-attn3-jax"
OLDEST_JAX = (0, 6, 0)  # as the package's metadata say
HEAD_DIM, CAPABILITY = 128, "9.0"  # of the kernels in its wheels
WARM_UP = 3
UNTIMED = 1  # executions before the timed ones of a request
AHEAD = 4  # enough to keep the devices busy; each has its own output
SCHEDULER = "xla_gpu_enable_latency_hiding_scheduler"
# Read when JAX is loaded. JAX otherwise takes three quarters of a GPU at once, which others of the comparison use too.
DEFAULTS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "NCCL_NVLS_ENABLE": "0"}  # hilbench's own rings set the second

jax = flash_mha = None  # imported by hello, so that the answer can say what is missing


def first_line(error):
    """Of a long message, with the next line if the first one only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2 if lines[0].endswith(":") else 1]) if lines else type(error).__name__


def too_old(version):
    """Whether flash-attn3-jax cannot use this version of JAX, for example "0.5.3.dev20250401"."""
    numbers = [int("".join(itertools.takewhile(str.isdigit, part)) or 0) for part in version.split(".")[:3]]
    return tuple(numbers) < OLDEST_JAX


def import_package():
    """Returns the versions of the package and of JAX."""
    global jax, flash_mha
    for name, value in DEFAULTS.items():
        os.environ.setdefault(name, value)
    try:
        import jax as imported
    except Exception as error:  # RuntimeError if jaxlib is of another version
        raise Unsupported(f"no JAX for {sys.executable}: {first_line(error)}; set HILBENCH_PYTHON to another Python")
    if too_old(imported.__version__):
        raise Unsupported(f"JAX {imported.__version__} is too old for {PACKAGE}, which needs "
                          f"{'.'.join(map(str, OLDEST_JAX))} or newer")
    try:
        import flash_attn3_jax as package
    except ModuleNotFoundError as error:
        if error.name == "flash_attn3_jax":
            raise Unsupported(f"no {PACKAGE} for {sys.executable}: pip install --no-deps {PACKAGE}")
        raise Unsupported(f"{PACKAGE} does not load: {first_line(error)}")
    except Exception as error:  # its library does not load, or JAX has changed
        raise Unsupported(f"{PACKAGE} does not load with JAX {imported.__version__}: {first_line(error)}")
    jax, flash_mha = imported, package.flash_mha
    return package.__version__, imported.__version__


def refuse(case, option):
    """Refuses what can be refused without JAX."""
    ranks, length = case["ring_size"], case["sequence_length"]
    whole = len(case["segments"]) == 1 and case["segments"][0] >= length and case["dilations"] == [1]
    for holds, reason in (
            (option, f"{NAME} has no options, so not '{option}'"),
            (case["pass"] != "forward", "only the forward pass is computed"),
            (ranks == 1, f"{NAME} needs a ring: ring_size must be above 1"),
            (not whole, f"{PACKAGE} knows no dilation and no segments: one as long as the sequence"),
            (case["dtype"] == "fp32", f"{PACKAGE} attends in fp16 and bf16, not in fp32"),
            (case["head_dim"] != HEAD_DIM, f"the kernels of {PACKAGE} take head_dim {HEAD_DIM}, "
                                           f"not {case['head_dim']}"),
            (length % ranks, f"sequence_length {length} does not divide into {ranks} equal shards")):
        if holds:
            raise Unsupported(reason)


def gpus():
    try:
        return jax.devices("cuda")
    except RuntimeError as error:
        raise Unsupported(f"JAX finds no GPU: {first_line(error)}")


def capability(gpu):
    return gpu.compute_capability


def ring_gpus(ranks):
    """One for each rank; rank 0 has the first that the process sees."""
    found = gpus()
    if len(found) < ranks:
        raise Unsupported(f"ring_size {ranks}: a rank needs a GPU of its own, JAX finds {len(found)}")
    for gpu in found[:ranks]:
        if capability(gpu) != CAPABILITY:
            raise Unsupported(f"the kernels of {PACKAGE} need compute capability {CAPABILITY}, "
                              f"{gpu.device_kind} has {capability(gpu)}")
    return found[:ranks]


def compiled(function, shards):
    """The function for these shards, and who decides that XLA hides transfers: true is this program."""
    lowered = jax.jit(function).lower(*shards)
    if SCHEDULER in os.environ.get("XLA_FLAGS", ""):
        return lowered.compile(), "XLA_FLAGS"
    try:
        return lowered.compile(compiler_options={SCHEDULER: True}), True
    except Exception as error:
        if "No such compile option" in str(error):
            return lowered.compile(), False
        raise


def run_in_a_row(start, wait, executions):
    """The times in ns, and what the last execution returned.

    start() enqueues an execution, or runs part of it itself, and returns its output; wait(output) returns at its end.
    One untimed execution goes before them, so that each timed one begins when another ends.
    """
    started, room = queue.SimpleQueue(), threading.Semaphore(AHEAD)

    def start_all():
        try:
            for _ in range(UNTIMED + executions):
                room.acquire()
                started.put((start(), None))
        except Exception as error:
            started.put((None, error))

    threading.Thread(target=start_all, daemon=True).start()
    ends = []
    for _ in range(UNTIMED + executions):
        output, error = started.get()
        if error:
            raise error
        wait(output)
        ends.append(time.perf_counter_ns())
        room.release()
    ends = ends[UNTIMED - 1:]
    return [max(1, end - begin) for begin, end in itertools.pairwise(ends)], output


def nccl_version():
    import importlib.metadata
    for name in ("nvidia-nccl-cu13", "nvidia-nccl-cu12"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


class Ring:
    """One method for each request; it returns the answer."""

    def hello(self, protocol):
        agree(protocol)
        self.version, jax_version = import_package()
        return {"protocol": PROTOCOL, "name": NAME, "version": f"{PACKAGE} {self.version}, JAX {jax_version}",
                "devices": ["cuda"], "rings": True}

    def load(self, case, option, **files):
        refuse(case, option)
        devices = ring_gpus(case["ring_size"])
        self.case = case
        try:
            self.shard_over(devices)
            self.place(files, "qkv")
            hidden = self.compile(case["causal"])
            self.run(WARM_UP)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise Unsupported(f"does not fit: {first_line(error)}")
            raise
        return {"timer": "perf_counter", "untimed": UNTIMED,
                "libraries": [f"FlashAttention-3, {PACKAGE} {self.version}"],
                "ranks": len(devices), "load_balance": False, "latency_hiding_scheduler": hidden,
                "nccl": nccl_version(), "nccl_nvls_enable": os.environ["NCCL_NVLS_ENABLE"],
                "xla_flags": os.environ.get("XLA_FLAGS", "")}

    def shard_over(self, devices):
        """Gives each GPU its shard of the sequence in a [batch, sequence, heads, head_dim]."""
        import numpy
        mesh = jax.sharding.Mesh(numpy.array(devices), ("ring",))
        self.sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, "ring", None, None))
        self.shards = [None] * len("qkv")

    def place(self, files, names):
        """Q, K and V, of which it reads those in `names`, onto the GPUs."""
        import numpy
        kind = numpy.dtype({"bf16": jax.numpy.bfloat16, "fp16": jax.numpy.float16}[self.case["dtype"]])
        for i, (name, heads) in enumerate(zip("qkv", ("heads", "kv_heads", "kv_heads"))):
            if name in names:
                shape = self.case["batch"], self.case["sequence_length"], self.case[heads], self.case["head_dim"]
                self.shards[i] = None  # there may be no memory for both
                self.shards[i] = jax.device_put(numpy.fromfile(files[name], kind).reshape(shape), self.sharding)
        jax.block_until_ready(self.shards)

    def inputs(self, changed, **files):
        """What is compiled takes the shards as arguments, so it goes on with the new ones."""
        self.place(files, changed)
        return {}

    def compile(self, causal):
        """Returns who decides that XLA hides transfers."""
        try:
            step, hidden = compiled(lambda q, k, v: flash_mha(q, k, v, is_causal=causal), self.shards)
        except Exception as error:
            if "RESOURCE_EXHAUSTED" in str(error):
                raise
            raise Unsupported(f"JAX {jax.__version__} does not compile the ring: {first_line(error)}")
        self.start = lambda: step(*self.shards)
        return hidden

    def run(self, executions):
        if executions == 0:
            return {"times_ns": []}
        times, self.output = run_in_a_row(self.start, jax.block_until_ready, executions)
        return {"times_ns": times}

    def read(self, o, lse, rows=None):
        """Gathers O from the ranks; shards stand in position order."""
        import numpy
        whole = numpy.asarray(self.output) if rows is None else self.chosen_rows(numpy.array(rows, numpy.int64))
        whole.astype(numpy.float32).tofile(o)
        return {"lse": False}

    def chosen_rows(self, rows):
        """Each GPU gives its own; those of others are replaced by its first or last position, so that the shapes, for
        which JAX compiles, depend on the number of rows alone."""
        import numpy
        batch, position, head = numpy.unravel_index(rows, self.output.shape[:3])
        found = numpy.empty((len(rows), self.output.shape[3]), self.output.dtype)
        for shard in self.output.addressable_shards:
            first, end, _ = shard.index[1].indices(self.output.shape[1])
            own = (position >= first) & (position < end)
            there = shard.data[batch, numpy.clip(position, first, end - 1) - first, head]
            found[own] = numpy.asarray(there)[own]
        return found


if __name__ == "__main__":
    serve(Ring(), first_line)
