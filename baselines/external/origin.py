"""The attention modules that the five reports measured, run from a clone of their project (docs/claims.md).

HILBENCH_ORIGIN names the clone. What an option needs is taken from the commit that the report ran, into a cache; the
work tree of the clone is not looked at. On a GPU executions are eager, as the reports' scripts ran them, and timed by
events.

Options of the hybrid module (RingDilatedAttentionHybridHilbert, the report's "Hilbert ring" on one rank):
  off              no Hilbert order
  identity_gather  K and V are copied through a map, which is the identity
  bijection        the map is a Hilbert curve, one slot for each key
  on               their own map, which names some keys several times and others never
  core             the module without its wrapper (DilatedAttention), off
Options of the kernel report, whose modules project their input, here Q:
  multihead, multihead_bare   MultiheadDilatedAttention; without layer norms and biases
  final_off, final_identity_gather, final_on, final_outside   HilbertDilatedAttention: off; copied through the identity;
                   through their snake; through the snake before and after the time
  final_core       its attention alone, off
With _tf32 behind it, an option multiplies in TF32 as their class switches on; otherwise it is switched off again.
"""

import contextlib
import ctypes
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types

import torch_program
from torch_program import Clock, Unsupported

torch = None  # imported late, so that the answer to hello can say that it is missing

URL = "https://github.com/DarcStar-Solutions-Tech/dilated-attention-pytorch"
BRANCH = "feature/hilbert-dilated-attention"
PACKAGE = "dilated_attention_pytorch"
HYBRID_COMMIT = "4476ff2115abcde7c5ef7eae7be7e03860dd822c"  # its files are those of 3ce07ad too
KERNEL_COMMIT = "7a6d596e00bcd74b69a1590f8463b97307da3ccb"
TF32 = "_tf32"
CHUNK = 4096  # positions that the hybrid's map permutes among themselves

HYBRID = "off", "identity_gather", "bijection", "on", "core"
MULTIHEAD = "multihead", "multihead_bare"
FINAL = "final_off", "final_identity_gather", "final_on", "final_outside"
CORE = "final_core"


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "hilbench" / "origin"


def last_line(text):
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"


def sources(commit):
    """The folder that holds their package as of `commit`."""
    clone = os.environ.get("HILBENCH_ORIGIN")
    if not clone:
        raise Unsupported(f"needs the reports' programs: git clone -b {BRANCH} {URL} origin; "
                          "export HILBENCH_ORIGIN=$PWD/origin")
    folder = cache_folder() / commit
    if (folder / PACKAGE).is_dir():
        return folder
    try:
        archive = subprocess.run(["git", "-C", clone, "archive", commit, PACKAGE], capture_output=True, check=False)
    except OSError as error:
        raise Unsupported(f"git cannot be started: {error.strerror}")
    if archive.returncode != 0:
        raise Unsupported(f"HILBENCH_ORIGIN={clone} holds no {PACKAGE} of commit {commit[:7]} "
                          f"({last_line(archive.stderr)}); git -C {clone} fetch {URL} {BRANCH} may bring it")
    try:
        unpack(archive.stdout, folder)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unsupported(f"{PACKAGE} of commit {commit[:7]} cannot be unpacked into {folder.parent}: "
                          f"{getattr(error, 'strerror', None) or 'tar failed'}; XDG_CACHE_HOME names another place")
    return folder


def unpack(archive, folder):
    """Whole or not at all; several processes may do it at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        subprocess.run(["tar", "xf", "-", "-C", made], input=archive, check=True, stderr=subprocess.DEVNULL)
        if folder.exists() and not (folder / PACKAGE).is_dir():
            shutil.rmtree(folder)
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(made, folder)
        if not (folder / PACKAGE).is_dir():
            raise subprocess.CalledProcessError(1, "tar")
    finally:
        shutil.rmtree(made, ignore_errors=True)


def stand_in(name, member):
    """Makes a module of that name, with `member`, if there is none: their package imports it, and no option uses it."""
    try:
        importlib.import_module(name)
        return
    except ImportError:
        pass
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), types.ModuleType(".".join(parts[:end])))
    setattr(sys.modules[name], member, None)


def module_of(commit, name):
    folder = str(sources(commit))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    stand_in("torchscale.component.xpos_relative_position", "XPOS")
    try:
        return importlib.import_module(f"{PACKAGE}.{name}")
    except ModuleNotFoundError as missing:
        raise Unsupported(f"{PACKAGE} of commit {commit[:7]} needs the Python package {missing.name}")


def hilbert_curve(side):
    """(x, y) of each point of the curve over a square of `side`, a power of two (Hilbert 1891)."""
    points = []
    for d in range(side * side):
        x = y = 0
        rest, s = d, 1
        while s < side:
            rx = 1 & (rest // 2)
            ry = 1 & (rest ^ rx)
            if ry == 0:
                if rx == 1:
                    x, y = s - 1 - x, s - 1 - y
                x, y = y, x
            x, y = x + s * rx, y + s * ry
            rest, s = rest // 4, s * 2
        points.append((x, y))
    return points


def bijective_map(length):
    """The map that theirs is meant to be: position y * side + x is the key of that number along the curve, of those
    below `length`."""
    if length <= 64:
        return list(range(length))
    side = 1
    while side * side < length:
        side *= 2
    visited = [y * side + x for x, y in hilbert_curve(side)]
    numbers = [0] * length
    for number, position in enumerate(position for position in visited if position < length):
        numbers[position] = number
    return numbers


class Case:
    """The case as the protocol sends it."""

    def __init__(self, fields):
        self.__dict__.update(fields)
        self.branches = list(zip(self.segments, self.dilations))

    def offset(self, branch, head):
        dilation = self.dilations[branch]
        if self.head_offset in ("none", "branch"):
            return branch % dilation if self.head_offset == "branch" else 0
        return head % dilation if self.head_offset == "modulo" else head // -(-self.heads // dilation)

    def refuse(self, option):
        if getattr(self, "pass") != "forward":
            raise Unsupported("computes the forward pass only")
        if self.ring_size > 1:
            raise Unsupported("runs on one rank only")
        if self.kv_heads != self.heads:
            raise Unsupported("its modules have as many heads of K and V as of Q")
        if any(self.sequence_length % segment for segment in self.segments):
            raise Unsupported("its modules need a sequence that the segments divide")
        if option in HYBRID:
            return
        if len(self.branches) > 1 and option not in MULTIHEAD:
            raise Unsupported("its module has one segment length and one dilation")
        if self.causal:
            raise Unsupported("its module has no causal mask" if option not in MULTIHEAD else
                              "its script has no causal case")


def head_rule_differs(case):
    """Where their rule for heads and branches is another than the case's; "" if nowhere."""
    several = len(case.branches) > 1
    if several and case.branch_heads != "partition":
        return "it shares its heads among the branches"
    if case.heads % len(case.branches):
        return "its branches have other heads"
    each = case.heads // len(case.branches)
    for branch, (_, dilation) in enumerate(case.branches):
        for head in range(branch * each, (branch + 1) * each):
            if case.offset(branch, head) != branch % dilation:
                return f"all its heads of a branch begin at one row: {branch % dilation} in branch {branch + 1}"
    return ""


def hybrid_differs(case, chunk_map):
    """Why the hybrid computes another function than the case asks for; "" if it does not. `chunk_map`: of a chunk of
    keys, or None."""
    if case.queries != "dilated":
        return "its queries are dilated too"
    differs = head_rule_differs(case)
    if differs or chunk_map is None or chunk_map == list(range(len(chunk_map))):
        return differs
    distinct = len(set(chunk_map))
    if distinct < len(chunk_map):
        return f"its map reads {distinct} of the {len(chunk_map)} keys of a chunk, some of them several times"
    if case.causal:
        return "its keys have moved, and the mask has not"
    if any(dilation > 1 for dilation in case.dilations):
        return "its keys have moved, so that the pattern selects others"
    if any(segment % len(chunk_map) for segment in case.segments):
        return "its keys have moved between segments"
    return ""


def final_differs(case, order):
    """The same of the attention of HilbertDilatedAttention, which permutes Q, K and V by `order` and puts the output
    back."""
    (segment, dilation), = case.branches
    if case.queries != "dense" and dilation > 1:
        return "its queries are dense"
    if any(case.offset(0, head) for head in range(case.heads)):
        return "all its heads begin at row 0"
    if order is None:
        return ""
    for begin in range(0, case.sequence_length, segment):
        rows = order[begin:begin + segment]
        home = min(rows) // segment * segment
        if sorted(rows) != list(range(home, home + segment)):
            return "its segments hold other tokens: the order moved them"
        if set(rows[::dilation]) != set(range(home, home + segment, dilation)):
            return "its queries see other keys: the order moved them"
    return ""


def resident_bytes(field):
    """VmRSS, what of this process is in memory, or VmHWM, the most that was."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field}")


def growth_bytes(step):
    """By how much this process grows at most while `step` runs; None if the system does not say."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed before is not used again unseen
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins at VmRSS
        before = resident_bytes("VmRSS")
        step()
        return max(0, resident_bytes("VmHWM") - before)
    except (OSError, AttributeError):
        return None


class Origin(torch_program.Program):
    NAME = "origin"
    OPTIONS = tuple(option + suffix for option in (*HYBRID, *MULTIHEAD, *FINAL, CORE) for suffix in ("", TF32))

    def about(self):
        global torch
        torch = torch_program.torch
        return {}

    def case_of(self, fields, option):
        case = Case(fields)
        case.refuse(option.removesuffix(TF32))
        return case

    def prepare(self, case, option, inputs):
        tf32, option = option.endswith(TF32), option.removesuffix(TF32)
        self.scale, self.restore = 1, None
        torch.manual_seed(0)
        made = self.hybrid(case, option) if option in HYBRID else self.projected(case, option)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        self.renew()
        self.clock = Clock(case.device, self.step, graph=False)
        return {"tf32": tf32, "origin": URL, **made, **self.memory()}

    def memory(self):
        """What an execution holds at most, inputs and output included: on a GPU as PyTorch counts it, on a processor by
        how far the process grows."""
        if not self.clock.gpu:
            self.step()  # what is made once is there now
            grown = growth_bytes(self.step)
            inputs = sum(tensor.numel() * tensor.element_size() for tensor in self.tensors)
            return {} if grown is None else {"peak_bytes": inputs + grown}
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self.clock.kept()
        return {"peak_bytes": torch.cuda.max_memory_allocated()}

    def chunked(self, model, chunk_map, length):
        """Makes the module use another map."""
        model._hilbert_cache[length] = torch.tensor(chunk_map, device=model.device)
        return chunk_map

    def hybrid(self, case, option):
        q, k, v = self.tensors
        made = {"commit": HYBRID_COMMIT[:7]}
        if option == "core":
            core = module_of(HYBRID_COMMIT, "dilated_attention").DilatedAttention
            model = core(case.segments, case.dilations, attention_dropout=0.0, enable_memory_pool=False)
        else:
            wrapper = module_of(HYBRID_COMMIT, "ring_dilated_attention_hybrid_hilbert")
            wrapped = wrapper.RingDilatedAttentionHybridHilbert
            model = wrapped(segment_lengths=case.segments, dilation_rates=case.dilations, dropout=0.0, ring_size=1,
                            device=q.device, dtype=q.dtype, use_hilbert=option != "off",
                            hilbert_chunk_size=min(CHUNK, case.sequence_length), enable_memory_pool=False,
                            use_xformers=False)
        model = model.eval()
        chunk = min(CHUNK, case.sequence_length)
        chunk_map = None
        if option == "identity_gather":
            chunk_map = self.chunked(model, list(range(chunk)), chunk)
        elif option == "bijection":
            chunk_map = self.chunked(model, bijective_map(chunk), chunk)
        elif option == "on":
            chunk_map = model._generate_hilbert_curve(chunk).tolist()
        if chunk_map is not None:
            made["map"] = f"{len(set(chunk_map))} distinct of {chunk} keys"
        self.scale = len(case.branches)
        if self.scale > 1:
            made["output"] = f"times {self.scale} before it is compared: it is divided by the number of branches"
        if differs := hybrid_differs(case, chunk_map):
            made["other_function"] = differs
        self.step = lambda: model(q, k, v, is_causal=case.causal)
        self.shaped = lambda o: o
        return made

    def projected(self, case, option):
        """The modules of the kernel report. Their input is Q, all heads of a position one after another."""
        q, k, v = self.tensors
        batch, length, heads, width = q.shape
        (segment, dilation), hidden = case.branches[0], heads * width
        made = {"commit": KERNEL_COMMIT[:7]}
        self.x = x = q.view(batch, length, hidden)
        self.shaped = lambda o: o.reshape(batch, length, heads, width)
        if option in MULTIHEAD:
            whole = option == "multihead"
            multihead = module_of(KERNEL_COMMIT, "multihead_dilated_attention").MultiheadDilatedAttention
            model = multihead(embed_dim=hidden, num_heads=heads, dropout=0.0, segment_lengths=case.segments,
                              dilation_rates=case.dilations, layer_norm=whole, bias=whole)
            model = model.to(q.device, q.dtype).eval()
            self.step = lambda: model(x, x, x)
            return {**made, "other_function": "it projects its input by random weights" +
                    (", and normalises it" if whole else "")}
        final = module_of(KERNEL_COMMIT, "kernels.hilbert_attention_final")
        model = final.HilbertDilatedAttention(hidden_dim=hidden, num_heads=heads, segment_size=segment,
                                              dilation_rate=dilation, dropout=0.0, use_flash=True)
        model = model.to(q.device, q.dtype).eval()
        if option == CORE:
            by_head = [tensor.transpose(1, 2) for tensor in (q, k, v)]
            self.step = lambda: model.compute_dilated_attention(*by_head, False)
            self.shaped = lambda o: o.transpose(1, 2)
            differs = final_differs(case, None)
            return {**made, "other_function": differs} if differs else made
        if option == "final_identity_gather":
            model._mapping_cache[length] = torch.arange(length, device=q.device)
        if option == "final_outside":
            order = model.get_mapping(length, q.device)
            back = torch.argsort(order)
            self.x = torch.empty_like(x)
            self.restore = lambda: torch.index_select(x, 1, order, out=self.x)
            self.shaped = lambda o: o[:, back].reshape(batch, length, heads, width)
            moved = self.x
            self.step = lambda: model(moved, use_hilbert=False)
            made["permute_ns"] = self.permute_ns(back)
        else:
            self.step = lambda: model(x, use_hilbert=option != "final_off")
        return {**made, "other_function": "it projects its input by random weights"}

    def permute_ns(self, back):
        """Of the input, and of the output back."""
        self.restore()
        clock = Clock(self.x.device.type, lambda: (self.restore(), self.x[:, back]), graph=False)
        return max(1.0, min(clock.times_ns(torch_program.TRIALS)))

    def renew(self):
        if self.restore:
            self.restore()

    def output(self):
        return self.shaped(self.clock.output) * self.scale, None


if __name__ == "__main__":
    torch_program.main(Origin())
