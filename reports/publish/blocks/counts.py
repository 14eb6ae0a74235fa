"""Blocks about counts: which of them the speedup of an order follows."""

import math

from blocks.pairs import STUDIES, pairs_of
from cells import markdown, wrapped

STRONG = 0.6  # the speedup is said to follow a count from this rank correlation on
FEWEST_PAIRS = 12  # counts with fewer pairs are left out of the sentences


def ranks(values):
    """The rank of each value, from 0; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    placed = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for one in order[at:end + 1]:
            placed[one] = (at + end) / 2
        at = end + 1
    return placed


def rank_correlation(xs, ys):
    """Spearman's; None if one of them never changes."""
    xs, ys = ranks(xs), ranks(ys)
    mean = (len(xs) - 1) / 2
    over = math.sqrt(sum((x - mean) ** 2 for x in xs) * sum((y - mean) ** 2 for y in ys))
    return sum((x - mean) * (y - mean) for x, y in zip(xs, ys)) / over if over else None


def sources_of(pairs):
    """Counters that were read, each with its source."""
    return {name: counter["source"] for pair in pairs for name, counter in pair.record["counters"].items()
            if counter.get("value") is not None}


def counted(pairs):
    """Of each count: its name, source, number of pairs and correlation with the time; the strongest first."""
    found = []
    for name, source in sources_of(pairs).items():
        both = [(ratio, pair.ratio) for pair in pairs if (ratio := pair.count_ratio(name))]
        if len(both) > 2:
            found.append((name, source, len(both), rank_correlation(*zip(*both))))
    return sorted(found, key=lambda one: -abs(one[3] or 0))


def block_counts(folder):
    sides = {sweep: {one[0]: one for one in counted(pairs_of(folder, [sweep]))} for sweep in STUDIES}
    names = list(dict.fromkeys(name for side in sides.values() for name in side))
    if not names:
        return "No count was read."
    heads = [text for sweep in sides for text in (f"pairs, {sweep}", f"correlation, {sweep}")]
    return markdown(["count", "source"] + heads, [count_cells(name, sides.values()) for name in names])


def count_cells(name, sides):
    row = [name, next(side[name][1] for side in sides if name in side)]
    for side in sides:
        _, _, pairs, correlation = side.get(name, (name, "", "", ""))
        text = correlation if correlation == "" else "never changes" if correlation is None else f"{correlation:+.2f}"
        row += [pairs, text]
    return row


def block_counts_said(folder):
    said = [text for sweep in STUDIES for text in strongest_said(sweep, pairs_of(folder, [sweep]))]
    sources = set(sources_of(pairs_of(folder, STUDIES)).values())
    if sources and not any(source.startswith("perf") for source in sources):
        said.append("Hardware counters cannot be read on this machine; all counts here are exact counts of the layout.")
    return wrapped(*said) or "Nothing was measured."


def strongest_said(sweep, pairs):
    counts = [one for one in counted(pairs) if one[3] is not None and one[2] >= FEWEST_PAIRS]
    if not counts:
        return []
    name, source, _, value = counts[0]
    if abs(value) >= STRONG:
        return [f"In `{sweep}` the speedup follows the count `{name}` ({source}): rank correlation {value:+.2f}."]
    return [f"In `{sweep}` the speedup follows no count: the strongest, `{name}` ({source}), has a rank correlation of "
            f"{value:+.2f}."]
