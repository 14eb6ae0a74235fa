"""Blocks about how far verdicts can be believed: gates whose answer was known (calibrate.sh)."""

import collections
import math
import statistics

import gate_tables
from cells import grouped, markdown, number

SWEEP = "calibration"
CONFIDENCE = 0.95
FIRST_THRESHOLD = "2.5%"  # of all gates in the tables that do not name it


def rows_of(folder, sweep, table):
    source = folder.path / sweep / f"{table}.csv.gz"
    return gate_tables.read(source) if source.exists() else []


def block_gates(folder, sweep=SWEEP):
    rows = rows_of(folder, sweep, "gates")
    if not rows:
        return "No gates were tried here yet."
    header = ["what was compared", "threshold", "gates", "gates that called something slower", "verdicts", "ok",
              "undecided", "slower", "faster", "exit statuses", "seconds, median and most"]
    kinds = grouped(rows, lambda row: (row["kind"], row.get("threshold", FIRST_THRESHOLD)))
    return markdown(header, [gate_cells(*kind, kept) for kind, kept in kinds.items()])


def block_compared(folder, sweep=SWEEP):
    rows = rows_of(folder, sweep, "pairs")
    if not rows:
        return "No runs were compared here yet."
    header = ["runs", "number", "processes a run", "pairs", "pairs that called something slower", "verdicts", "ok",
              "undecided", "slower", "faster", "exit statuses"]
    kinds = grouped(rows, lambda row: row["kind"])
    return markdown(header, [compared_cells(kind, kept) for kind, kept in kinds.items()])


def block_self_test(folder, sweep=SWEEP):
    source = folder.path / sweep / "self-test.txt"
    return f"```\n{source.read_text().rstrip()}\n```" if source.exists() else "The self-test was not run here yet."


def gate_cells(kind, threshold, rows):
    gates = grouped(rows, lambda row: row["gate"])
    seconds = [float(kept[0]["seconds"]) for kept in gates.values()]
    return [named(kind), threshold.replace("%", " %"), *answer_cells(gates, rows, share), f"{statistics.median(seconds):.0f}, {max(seconds):.0f}"]


def compared_cells(kind, rows):
    rows = [row for row in rows if "not judged" not in row["verdict"]]
    runs = {row[side] for row in rows for side in ("first", "second")}
    pairs = grouped(rows, lambda row: (row["first"], row["second"]))
    of = {"equal": "of one build, left by its gates", "quiet": "of one build",
          "busy": "of one build, each beside a program that keeps a core busy"}
    processes = {int(row["processes"]) for row in rows}
    fewest, most = min(processes), max(processes)
    return [of[kind], len(runs), f"{fewest} to {most}" if fewest < most else fewest,
            *answer_cells(pairs, rows, plain_share)]


def answer_cells(answers, rows, said):
    """Answers of a gate or of `compare`: each has one exit status and the verdicts of several variants."""
    alarms = sum(any(row["verdict"] == "slower" for row in kept) for kept in answers.values())
    verdicts = collections.Counter(row["verdict"] for row in rows)
    statuses = collections.Counter(kept[0]["status"] for kept in answers.values())
    return [len(answers), said(alarms, len(answers)), len(rows),
            *(said(verdicts[verdict], len(rows)) for verdict in ("ok", "undecided", "slower", "faster")),
            ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))]


def named(kind):
    known = {"equal": "a build and itself", "busy": "the same beside a program that keeps a core busy"}
    return known.get(kind) or f"a build and itself with {kind.removeprefix('injected-')} % more work"


def share(count, of):
    """ "3 of 200 (1.5 %; 0.31 % to 4.3 %)", with the exact interval (Clopper and Pearson 1934)."""
    low, high = exact_interval(count, of)
    return f"{count} of {of} ({number(100 * count / of, 3)} %; {number(100 * low, 2)} % to {number(100 * high, 2)} %)"


def plain_share(count, of):
    """Without an interval, for answers that depend on each other."""
    return f"{count} of {of} ({number(100 * count / of, 3)} %)"


def exact_interval(count, of):
    tail = (1 - CONFIDENCE) / 2
    low = 0 if count == 0 else crossing(lambda rate: 1 - at_most(count - 1, of, rate) - tail)
    high = 1 if count == of else crossing(lambda rate: tail - at_most(count, of, rate))
    return low, high


def at_most(count, of, rate):
    """Probability of at most `count` successes in `of` trials."""
    if rate in (0, 1):
        return float(rate == 0 or count >= of)
    logs = (math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * math.log(rate)
            + (of - k) * math.log1p(-rate) for k in range(count + 1))
    return math.fsum(map(math.exp, logs))


def crossing(rising):
    """The rate in [0, 1] at which this rising function crosses 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
