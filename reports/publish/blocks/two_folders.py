"""A block about two folders: where the same sweep on another machine ends in another verdict."""

from blocks.machine import short_name
from cells import markdown, plural, work, wrapped


def block_against(folder, sweep, other):
    """A sentence, and a table of the comparisons on which this folder and the folder beside it do not agree."""
    there = type(folder)(folder.path.parent / other)
    if sweep not in there.sweeps:
        return f"`{sweep}` of `{other}` has not been published yet."
    mine, theirs = folder.speedups(sweep), there.speedups(sweep)
    shared = [key for key in mine if key in theirs and mine[key]["against"] == theirs[key]["against"]]
    if not shared:
        return f"No comparison of `{sweep}` stands in `{other}` too."
    differ = [key for key in shared if mine[key]["verdict"] != theirs[key]["verdict"]]
    names = [short_name(each).removeprefix("NVIDIA ") for each in (folder, there)]
    apart = max(abs(mine[key]["ratio"] / theirs[key]["ratio"] - 1) for key in shared)
    text = wrapped(f"{names[0]} and {names[1]} come to the same verdict in {len(shared) - len(differ)} of "
                   f"{plural(len(shared), 'comparison')} of `{sweep}`;",
                   f"their ratios differ by at most {100 * apart:.2g} %.")
    if not differ:
        return text
    rows = [[work(case), variant, *told(mine[case, variant]), *told(theirs[case, variant])] for case, variant in differ]
    heads = ["case (segment/dilation)", "variant", names[0], "verdict", names[1], "verdict"]
    return f"{text}\n\n{markdown(heads, rows)}"


def told(speedup):
    low, high = speedup["ci"]
    return [f"{speedup['ratio']:.3f} [{low:.3f}, {high:.3f}]", speedup["verdict"]]
