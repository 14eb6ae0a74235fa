"""External programs that cheat, each in one way, for the test that they are caught (tests/program/cheats_test.py).

Usage: cheats.py NAME LIBRARY answers requests of protocol 2 (docs/external.md); LIBRARY is that of attention.cpp.
       cheats.py --list prints the names; `honest` is none of them.

All are made from Honest, which computes all rows in every execution and takes the time around it. The classes below it
change what they need for their cheat; the name of a cheat is that of its class. fp32, forward, branches, one rank.
"""

import array
import ctypes
import json
import math
import mmap
import os
import re
import stat
import subprocess
import sys
import threading
import time

# Reasons of the records.
WRONG = "exceeds the tolerance"
WRONG_BEFORE = f"^{WRONG}|^the .*{WRONG}"
WRONG_AS_TIMED = f"^as it is timed: .*{WRONG}"
WRONG_KEYS = "^key probe: "
BAD_VALUES = "values are NaN, infinite or were never written"
NOT_EACH = "does not compute in each execution"
TOO_MUCH = r"reports \S+ ns .* ns apart.*more than passed"
TOO_LITTLE = r"reports \S+ ns .* ns apart.*less than half of what passed"
WRONG_UNIT = r"reports \S+ ns .* ns apart.*are these milliseconds|run needs \d+ times_ns from 0.001"
MORE_CORES = r"used \S+ cores while it was timed"
TWO_WAYS = "breaks the protocol"
NO_TIMES = r"run needs \d+ times_ns from 0.001 to 1e18"
BUSY = "computed while it was not asked"
TOO_FAST = "is above the measured .* peak"

# What catches each: status and reason of its record. The checks of a comparison come in this sequence: rows before the
# timing, the key probe, rows in poisoned rounds and after the timing, times against each other, times against the peak.
CHEATS = {
    # wrong in every execution
    "right_on_255_rows": ("failed", WRONG_BEFORE),
    "guesses_public_rows": ("failed", WRONG_BEFORE),
    "wrong_in_one_percent": ("failed", WRONG_BEFORE),
    "zeros_when_sharp": ("failed", WRONG_BEFORE),
    "wrong_lse_constant": ("failed", WRONG_BEFORE),
    "wrong_lse_small": ("failed", WRONG_BEFORE),
    "lse_minus_inf": ("failed", WRONG_BEFORE),
    "missing_keys": ("failed", WRONG_BEFORE),
    "missing_key_mass_below_1_percent": ("failed", f"{WRONG_BEFORE}|{WRONG_KEYS}"),
    "missing_keys_except_in_the_probe": ("failed", WRONG_BEFORE),
    "doubled_key": ("failed", WRONG_BEFORE),
    "swapped_value_rows": ("failed", WRONG_BEFORE),
    "swapped_heads": ("failed", WRONG_BEFORE),
    "nan_in_unsampled_row": ("failed", BAD_VALUES),
    "unwritten_rows": ("failed", f"{BAD_VALUES}|{WRONG_BEFORE}"),
    "low_precision": ("failed", WRONG_BEFORE),
    "scaled_output": ("failed", WRONG_BEFORE),
    "ignores_causal": ("failed", WRONG_BEFORE),
    "ignores_dilation": ("failed", WRONG_BEFORE),
    "copies_file_of_a_rival": ("failed", f"{WRONG}|{WRONG_KEYS}"),
    # right at first
    "one_set_behind": ("failed", f"{WRONG}|{WRONG_KEYS}"),
    "caches_first_answer": ("failed", WRONG_KEYS),
    "garbage_after_first_read": ("failed", f"{WRONG_KEYS}|{BAD_VALUES}"),
    "works_every_second_time": ("failed", f"{WRONG_KEYS}|{WRONG_AS_TIMED}"),
    "garbage_after_timing_starts": ("failed", WRONG_AS_TIMED),
    "coarse_when_timed": ("failed", WRONG_AS_TIMED),
    "skips_half_from_fourth": ("failed", WRONG_AS_TIMED),
    # right, but not computed in each execution
    "caches_by_inputs": ("failed", NOT_EACH),
    "computes_only_last_execution": ("failed", NOT_EACH),
    "computes_only_first_execution": ("failed", NOT_EACH),
    "refuses_inputs_that_would_tell": ("failed", TWO_WAYS),
    "computes_when_given_inputs": ("invalid", TOO_FAST),
    "reads_rows_lazily": ("invalid", TOO_FAST),
    # wrong times
    "reports_milliseconds": ("failed", WRONG_UNIT),
    "reports_seconds": ("failed", WRONG_UNIT),
    "reports_1000_s": ("failed", TOO_MUCH),
    "reports_an_eighth": ("failed", TOO_LITTLE),
    "reports_all_in_the_first": ("failed", NOT_EACH),
    "reports_an_eighth_of_a_child": ("failed", TOO_LITTLE),
    "answers_slowly_without_executions": ("failed", TOO_LITTLE),
    "reports_zero_like": ("failed", WRONG_UNIT),
    "reports_negative": ("failed", NO_TIMES),
    "reports_too_few": ("failed", NO_TIMES),
    # breaks the rules that the case sets
    "uses_two_cores": ("failed", MORE_CORES),
    "gives_lse_once": ("failed", TWO_WAYS),
    "unsupported_when_it_is_read": ("failed", TWO_WAYS),
    # disturbs others
    "spins_while_others_run": ("failed", f"{BUSY}|{TOO_LITTLE}"),
    "spins_in_a_child": ("failed", f"{BUSY}|{TOO_LITTLE}"),
    "spins_after_setsid": ("failed|invalid", f"{BUSY}|{TOO_LITTLE}"),
    "spins_in_a_chain": ("failed|invalid", f"{BUSY}|{TOO_LITTLE}"),
}
# Those that need a large case, where some rows are not compared and executions are longer; all others are caught in a
# small causal one.
OF_LARGE_CASES = ("right_on_255_rows", "guesses_public_rows", "nan_in_unsampled_row", "uses_two_cores")
# Those that void the times of a whole comparison.
DISTURBING = ("spins_while_others_run", "spins_in_a_child", "spins_after_setsid", "spins_in_a_chain")

SEED = 1  # measure.seed of a sweep that says nothing
SPIN_S = 60  # the longest that something spins, if nobody ends it
SPIN = f"import time\nend = time.monotonic() + {SPIN_S}\nwhile time.monotonic() < end: pass"
FLAGS = ("causal", "head_offset", "leave_out_last", "leave_out_light", "double_first", "swap_values", "zero_sharp")
OFFSETS = ("none", "modulo", "contiguous")


class Attention(ctypes.Structure):
    """FakeAttention of attention.cpp."""

    _fields_ = [*((name, ctypes.c_void_p) for name in ("q", "k", "v", "o", "lse")),
                *((name, ctypes.c_int64) for name in ("batch", "length", "heads", "kv_heads", "head_dim", "branches")),
                ("segments", ctypes.c_void_p), ("dilations", ctypes.c_void_p),
                *((name, ctypes.c_int64) for name in FLAGS)]


def floats(count, value=0.0):
    made = (ctypes.c_float * count)()
    if value:
        made[:] = [value] * count
    return made


def copy(to, source):
    ctypes.memmove(to, source, ctypes.sizeof(to))


def spin_until(moment_ns):
    while time.perf_counter_ns() < moment_ns:
        pass


class Honest:
    """Computes all rows in every execution."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.fake_attend.argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_int64]
        self.executed = 0

    # The requests.

    def hello(self, protocol):
        return {"protocol": 2, "name": "cheat", "version": "1", "devices": ["cpu"]}

    def load(self, case, option, q, k, v):
        if case["dtype"] != "fp32":
            return {"unsupported": "fp32 only"}
        self.rows = case["batch"] * case["sequence_length"] * case["heads"]
        self.width = case["head_dim"]
        heads = {"q": case["heads"], "k": case["kv_heads"], "v": case["kv_heads"]}
        self.tensors = {name: floats(self.rows // case["heads"] * heads[name] * self.width) for name in "qkv"}
        self.o, self.lse = floats(self.rows * self.width), floats(self.rows)
        branches = len(case["segments"])
        self.lists = [(ctypes.c_int64 * branches)(*case[name]) for name in ("segments", "dilations")]
        self.attention = Attention(
            *map(ctypes.addressof, (*self.tensors.values(), self.o, self.lse)), case["batch"], case["sequence_length"],
            case["heads"], case["kv_heads"], self.width, branches, *map(ctypes.addressof, self.lists),
            case["causal"], OFFSETS.index(case["head_offset"]))
        self.prepare()
        self.inputs(q, k, v, "qkv")
        return {"timer": "perf_counter"}

    def inputs(self, q, k, v, changed):
        for name, path in zip("qkv", (q, k, v)):
            if name in changed:
                with open(path, "rb") as file:
                    file.readinto(self.tensors[name])
        self.take_inputs(changed)
        return {}

    def run(self, executions):
        return {"times_ns": self.times(executions)}

    def read(self, o, lse, rows=None):
        for path, values, width in ((o, self.o, self.width), (lse, self.lse, 1)):
            data = memoryview(values).cast("B")
            if rows is not None:
                size = 4 * width
                data = b"".join(data[row * size:(row + 1) * size] for row in rows)
            with open(path, "wb") as file:
                file.write(data)
        return {"lse": True}

    # What cheats change.

    def prepare(self):
        """After everything is allocated."""

    def take_inputs(self, changed):
        """After tensors have changed."""

    def times(self, executions):
        return [self.time() for _ in range(executions)]

    def time(self):
        begin = time.perf_counter_ns()
        self.execute()
        return time.perf_counter_ns() - begin

    def execute(self):
        self.executed += 1
        self.attend()

    def attend(self, first=0, step=1, count=None):
        """Computes rows first, first + step and so on."""
        self.library.fake_attend(ctypes.byref(self.attention), first, step, self.rows if count is None else count)

    def keep(self):
        """A copy of the output."""
        return bytes(self.o), bytes(self.lse)

    def restore(self, kept):
        copy(self.o, kept[0])
        copy(self.lse, kept[1])


# Wrong in every execution.

class RightOn255Rows(Honest):
    """Computes 255 rows and leaves the others 0."""

    def execute(self):
        self.attend(0, self.rows // 255, 255)


class GuessesPublicRows(Honest):
    """Computes only those rows that a known seed would draw."""

    def prepare(self):
        heads = self.attention.heads
        picks = [0, self.rows - 1, heads - 1, self.rows - heads]
        self.guessed = sorted({*picks, *(number % self.rows for number in mt19937_64(SEED, 256 - len(picks)))})

    def execute(self):
        for row in self.guessed:
            self.attend(row, 1, 1)


class WrongInOnePercent(Honest):
    """Adds 0.01 to the first element of every 100th row."""

    def execute(self):
        super().execute()
        for row in range(99, self.rows, 100):
            self.o[row * self.width] += 0.01


class ZerosWhenSharp(Honest):
    """Leaves rows 0 in which one key has more than half of the weight."""

    def prepare(self):
        self.attention.zero_sharp = 1


class WrongLseConstant(Honest):
    """Says 1 for every LSE."""

    value = 1.0

    def prepare(self):
        self.wrong = floats(self.rows, self.value)

    def execute(self):
        super().execute()
        copy(self.lse, self.wrong)


class LseMinusInf(WrongLseConstant):
    """Says that no row sees a key."""

    value = -math.inf


class WrongLseSmall(Honest):
    """Adds 0.001 to every LSE."""

    def execute(self):
        super().execute()
        self.lse[:] = [value + 1e-3 for value in self.lse]


class MissingKeys(Honest):
    """Leaves out the last key of each segment."""

    def prepare(self):
        self.attention.leave_out_last = 1


class MissingKeyMassBelow1Percent(Honest):
    """Leaves out the lightest key of a row, if it has less than 1 % of the weight."""

    def prepare(self):
        self.attention.leave_out_light = 1


class MissingKeysExceptInTheProbe(Honest):
    """Leaves out keys unless Q is 0, as it is in the key probe."""

    def take_inputs(self, changed):
        self.attention.leave_out_last = any(self.tensors["q"])


class DoubledKey(Honest):
    """Counts the first key of each row twice."""

    def prepare(self):
        self.attention.double_first = 1


class SwappedValueRows(Honest):
    """Takes the row of V of the key beside."""

    def prepare(self):
        self.attention.swap_values = 1


class SwappedHeads(Honest):
    """Exchanges the outputs of two heads."""

    def read(self, o, lse, rows=None):
        return super().read(o, lse, [row ^ 1 for row in (range(self.rows) if rows is None else rows)])


class NanInUnsampledRow(Honest):
    """One element of one row is NaN."""

    def execute(self):
        super().execute()
        self.o[self.rows * 5 // 7 * self.width] = math.nan


class UnwrittenRows(Honest):
    """Makes its files as long as they must be, and writes the first half of the rows alone."""

    def read(self, o, lse, rows=None):
        numbers = range(self.rows) if rows is None else rows
        written = super().read(o, lse, [row for row in numbers if row < self.rows // 2])
        os.truncate(o, 4 * self.width * len(numbers))
        os.truncate(lse, 4 * len(numbers))
        return written


class LowPrecision(Honest):
    """Rounds Q, K and V to 4 bits of the mantissa."""

    def take_inputs(self, changed):
        for name in changed:
            self.tensors[name][:] = coarse(self.tensors[name])


class ScaledOutput(Honest):
    """Makes V larger by a thousandth."""

    def take_inputs(self, changed):
        if "v" in changed:
            self.tensors["v"][:] = [1.001 * value for value in self.tensors["v"]]


class IgnoresCausal(Honest):
    """Computes without the causal mask."""

    def prepare(self):
        self.attention.causal = 0


class IgnoresDilation(Honest):
    """Computes with dilation 1."""

    def prepare(self):
        self.lists[1][:] = [1] * len(self.lists[1])


class CopiesFileOfARival(Honest):
    """Looks for outputs of other programs among the files that hilbench has open, and copies them."""

    def execute(self):
        spin_until(time.perf_counter_ns() + 100_000)

    def read(self, o, lse, rows=None):
        own = {os.stat(path).st_ino for path in (o, lse)}
        for name, values in (("o", self.o), ("lse", self.lse)):
            if found := file_of(os.getppid(), name, ctypes.sizeof(values), own):
                copy(values, found)
        return super().read(o, lse, rows)


# Right at first.

class OneSetBehind(Honest):
    """Computes on the inputs that it had before."""

    def prepare(self):
        self.late = {name: floats(len(values)) for name, values in self.tensors.items()}
        for name, values in self.late.items():
            setattr(self.attention, name, ctypes.addressof(values))
        self.before = {}

    def take_inputs(self, changed):
        for name in "qkv":
            copy(self.late[name], self.before.get(name) or bytes(self.tensors[name]))
            self.before[name] = bytes(self.tensors[name])


class CachesFirstAnswer(Honest):
    """Computes once, and then copies."""

    kept = None

    def execute(self):
        if not self.kept:
            super().execute()
            self.kept = self.keep()
        self.restore(self.kept)


class GarbageAfterFirstRead(Honest):
    """Computes until its output has been read."""

    was_read = False

    def execute(self):
        if self.was_read:
            ctypes.memset(self.o, 0x3f, ctypes.sizeof(self.o))
        else:
            super().execute()

    def read(self, o, lse, rows=None):
        self.was_read = True
        return super().read(o, lse, rows)


class WorksEverySecondTime(Honest):
    """Computes in every second execution."""

    def execute(self):
        self.executed += 1
        if self.executed % 2:
            self.attend()


class GarbageAfterTimingStarts(Honest):
    """Computes until several executions are asked for at once."""

    timed = False

    def times(self, executions):
        self.timed = self.timed or executions > 1
        return super().times(executions)

    def execute(self):
        if self.timed:
            ctypes.memset(self.o, 0x3f, ctypes.sizeof(self.o))
        else:
            super().execute()


class CoarseWhenTimed(Honest):
    """Rounds K to 4 bits when several executions are asked for at once."""

    def prepare(self):
        self.coarse = floats(len(self.tensors["k"]))

    def take_inputs(self, changed):
        self.coarse[:] = coarse(self.tensors["k"])

    def times(self, executions):
        self.attention.k = ctypes.addressof(self.coarse if executions > 1 else self.tensors["k"])
        return super().times(executions)


class SkipsHalfFromFourth(Honest):
    """From the fourth execution on it computes half of the rows; the others stay as they were."""

    def execute(self):
        self.executed += 1
        self.attend(0, 1, self.rows if self.executed < 4 else self.rows // 2)


# Right, but not computed in each execution.

class CachesByInputs(Honest):
    """Computes once for new inputs, and then copies, which it makes look like an eighth of the work."""

    kept, first_ns = None, 0

    def take_inputs(self, changed):
        self.kept = None

    def execute(self):
        begin = time.perf_counter_ns()
        if self.kept:
            self.restore(self.kept)
            spin_until(begin + self.first_ns // 8)
            return
        super().execute()
        self.first_ns = time.perf_counter_ns() - begin
        self.kept = self.keep()


class ComputesOnlyLastExecution(Honest):
    """Computes once in a request, and shares the time among all executions."""

    def times(self, executions):
        return [self.time() / executions] * executions if executions else []


class ComputesOnlyFirstExecution(Honest):
    """Computes the first of a request, and in the others lets an eighth of its time pass."""

    def times(self, executions):
        if executions == 0:
            return []
        taken = [self.time()]
        for _ in range(executions - 1):
            begin = time.perf_counter_ns()
            spin_until(begin + taken[0] // 8)
            taken.append(time.perf_counter_ns() - begin)
        return taken


class RefusesInputsThatWouldTell(CachesByInputs):
    """Takes inputs of which all tensors are new, and keeps its output otherwise."""

    def inputs(self, q, k, v, changed):
        return super().inputs(q, k, v, changed) if len(changed) == 3 else {"unsupported": "it is compiled in"}


class ComputesWhenGivenInputs(Honest):
    """Computes when it gets inputs, and copies when it is asked to compute."""

    def take_inputs(self, changed):
        self.attend()
        self.kept = self.keep()

    def execute(self):
        self.restore(self.kept)


class ReadsRowsLazily(Honest):
    """Computes when rows are read, and only those."""

    def execute(self):
        pass

    def read(self, o, lse, rows=None):
        for row in range(self.rows) if rows is None else rows:
            self.attend(row, 1, 1)
        return super().read(o, lse, rows)


# Wrong times.

class ReportsMilliseconds(Honest):
    """Says milliseconds in the place of nanoseconds."""

    unit_ns = 1e6

    def times(self, executions):
        return [ns / self.unit_ns for ns in super().times(executions)]


class ReportsSeconds(ReportsMilliseconds):
    """Says seconds in the place of nanoseconds."""

    unit_ns = 1e9


class ReportsAnEighth(ReportsMilliseconds):
    """Says an eighth of the time."""

    unit_ns = 8


class ReportsAllInTheFirst(Honest):
    """Says nearly all of the time for the first execution of a request, which warms caches and does not count."""

    def times(self, executions):
        taken = super().times(executions)
        rest = [ns / 8 for ns in taken[1:]]
        return [sum(taken) - sum(rest), *rest] if taken else []


class AnswersSlowlyWithoutExecutions(ReportsAnEighth):
    """Pretends that a request takes long by itself."""

    def times(self, executions):
        if executions == 0:
            time.sleep(0.05)
        return super().times(executions)


class ReportsAnEighthOfAChild(Honest):
    """Says an eighth; a child computes, and ends, so that its processor time is gone."""

    def prepare(self):
        size, rest = ctypes.sizeof(self.o), ctypes.sizeof(self.lse)
        shared = mmap.mmap(-1, size + rest)
        self.o = type(self.o).from_buffer(shared, 0)
        self.lse = type(self.lse).from_buffer(shared, size)
        self.attention.o, self.attention.lse = map(ctypes.addressof, (self.o, self.lse))

    def times(self, executions):
        begin = time.perf_counter_ns()
        child = os.fork() if executions else 0
        if executions and child == 0:
            for _ in range(executions):
                self.attend()
            os._exit(0)
        if executions:
            os.waitpid(child, 0)
        return [(time.perf_counter_ns() - begin) / executions / 8] * executions if executions else []


class Reports1000S(Honest):
    """Says that each execution takes 1000 s."""

    said_ns = 1e12

    def times(self, executions):
        return [self.said_ns for _ in super().times(executions)]


class ReportsZeroLike(Reports1000S):
    """Says the shortest time that may be said."""

    said_ns = 1e-3


class ReportsNegative(Reports1000S):
    """Says that it ends before it begins."""

    said_ns = -1


class ReportsTooFew(Honest):
    """Leaves out the last time."""

    def times(self, executions):
        return super().times(executions)[:-1]


# Breaks the rules that the case sets.

class UsesTwoCores(Honest):
    """Two threads compute half each, on cores of their own, where the case has one."""

    def prepare(self):
        self.cores = sorted(os.sched_getaffinity(0))

    def half(self, first):
        os.sched_setaffinity(0, [self.cores[-first]])
        self.attend(first, 2, (self.rows + 1 - first) // 2)

    def execute(self):
        other = threading.Thread(target=self.half, args=(1,))
        other.start()
        self.half(0)
        other.join()


class GivesLseOnce(Honest):
    """Has an LSE when it is read first, and then none."""

    read_before = False

    def read(self, o, lse, rows=None):
        said, self.read_before = {"lse": not self.read_before}, True
        super().read(o, lse, rows)
        return said


class UnsupportedWhenItIsRead(Honest):
    """Would be skipped, and so would its failure."""

    def read(self, o, lse, rows=None):
        return {"unsupported": "not today"}


# Disturbs others.

class SpinsWhileOthersRun(Honest):
    """A thread computes all the time."""

    def prepare(self):
        private = Attention.from_buffer_copy(self.attention)
        self.private = floats(len(self.o)), floats(len(self.lse))
        private.o, private.lse = map(ctypes.addressof, self.private)

        def spin():
            while True:
                self.library.fake_attend(ctypes.byref(private), 0, 1, self.rows)

        threading.Thread(target=spin, daemon=True).start()


class SpinsInAChild(Honest):
    """A child process computes all the time."""

    def prepare(self):
        nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.Popen([sys.executable, "-c", SPIN], **nothing)


class SpinsInAChain(Honest):
    """Children compute for some milliseconds, start the next, and end."""

    LINK = """
import os, time
end = time.monotonic() + 60
while time.monotonic() < end:
    begin = time.monotonic()
    while time.monotonic() < begin + 0.01: pass
    if os.fork(): os._exit(0)
"""

    def prepare(self):
        nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.Popen([sys.executable, "-c", self.LINK], **nothing)


class SpinsAfterSetsid(Honest):
    """A daemon computes all the time: a session of its own, no parent, and nothing in its environment."""

    def prepare(self):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        os.setsid()
        if os.fork() == 0:
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            os.execve(sys.executable, [sys.executable, "-c", SPIN], {})
        os._exit(0)


def coarse(values):
    """Rounded towards 0 to 4 bits of the mantissa."""
    bits = array.array("I", bytes(values))
    return array.array("f", array.array("I", (value & 0xfff80000 for value in bits)).tobytes())


def mt19937_64(seed, count):
    """The first numbers of std::mt19937_64."""
    mask = (1 << 64) - 1
    state = [seed]
    for i in range(1, 312):
        state.append((6364136223846793005 * (state[-1] ^ state[-1] >> 62) + i) & mask)
    numbers = []
    while len(numbers) < count:
        for i in range(312):
            x = state[i] & ~0x7fffffff & mask | state[(i + 1) % 312] & 0x7fffffff
            state[i] = state[(i + 156) % 312] ^ x >> 1 ^ (0xb5026f5aa96619e9 if x & 1 else 0)
        for x in state:
            x ^= x >> 29 & 0x5555555555555555
            x ^= x << 17 & 0x71d67fffeda60000
            x ^= x << 37 & 0xfff7eee000000000 & mask
            numbers.append((x ^ x >> 43) & mask)
    return numbers[:count]


def file_of(process, name, size, own):
    """The content of a file in memory that the process has open under this name, unless it is one of `own`."""
    for fd in os.listdir(f"/proc/{process}/fd"):
        path = f"/proc/{process}/fd/{fd}"
        try:
            if os.readlink(path).startswith(f"/memfd:{name}"):
                found = os.stat(path)
                if stat.S_ISREG(found.st_mode) and found.st_size == size and found.st_ino not in own:
                    with open(path, "rb") as file:
                        return file.read()
        except OSError:  # closed since
            continue
    return None


def classes(base=Honest):
    """All programs by name."""
    named = {re.sub("(?<=.)(?=[A-Z]|(?<![0-9])[0-9])", "_", base.__name__).lower(): base}
    for each in base.__subclasses__():
        named |= classes(each)
    return named


def main():
    programs = classes()
    assert set(programs) == {*CHEATS, "honest"}, set(programs) ^ {*CHEATS, "honest"}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CHEATS))
        return
    name, library = sys.argv[1:]
    program = programs[name](library)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(program, request.pop("do"))(**request)), flush=True)
    os._exit(0)  # whatever its threads do


if __name__ == "__main__":
    main()
