"""The two figures that people make first, with matplotlib: `hilbench.plot.speedups(results)` and `.windows(results)`.

Each draws into `axes`, or into a figure of its own, and returns the axes.
"""

from hilbench.program import HilbenchError

# Variants in the order of the records; shapes beside colours, for readers who see few.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a6d00", "#333333")
SHAPES = "os^Dvph"


def own_axes(axes):
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise HilbenchError.of_one_line(f"no matplotlib ({error}); pip install matplotlib, or Debian's "
                                        "python3-matplotlib") from None
    return pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]


def judged(results, wanted):
    """Records with a ratio and an interval; HilbenchError if there are none."""
    records = results.records
    rows = records[records["speedup.ratio"].notna() & records["speedup.ci.low"].notna() & wanted(records)]
    if rows.empty:
        raise HilbenchError.of_one_line(f"nothing to draw ({results.folder}): no such record has a ratio to its reference")
    return rows


def draw(axes, rows, across):
    """Ratios with intervals by the values `across`, a series for each variant, and dtype if there are several."""
    several = rows["params.dtype"].nunique() > 1
    names = rows["variant"] + (", " + rows["params.dtype"] if several else "")
    for place, (name, series) in enumerate(rows.groupby(names, sort=False)):
        low = (series["speedup.ratio"] - series["speedup.ci.low"]).clip(lower=0)
        high = (series["speedup.ci.high"] - series["speedup.ratio"]).clip(lower=0)
        axes.errorbar(across[series.index], series["speedup.ratio"], yerr=[low, high], linestyle="none", capsize=2,
                      markersize=5, marker=SHAPES[place % len(SHAPES)], color=COLOURS[place % len(COLOURS)], label=name)
    axes.axhline(1, color="#57606a", linewidth=1)
    references = ", ".join(rows["speedup.against"].unique())
    axes.set_ylabel(f"time of {references} / time of the variant")
    axes.legend(fontsize=8)
    return axes


def speedups(results, axes=None):
    """Ratio to the reference by sequence length, with 95 % intervals: above 1 the variant is faster."""
    rows = judged(results, lambda records: records["kind"] == "kernel")
    axes = own_axes(axes)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("sequence length")
    return draw(axes, rows, rows["params.sequence_length"])


def windows(results, axes=None):
    """Ratio to the reference of windows, by how many pairs are computed for each that is needed: an order that computes
    fewer is faster for that reason."""
    records = results.records
    if "pairs.needed" not in records:
        raise HilbenchError.of_one_line(f"nothing to draw ({results.folder}): no record is of windows")
    rows = judged(results, lambda records: records["pairs.needed"].gt(0))
    axes = own_axes(axes)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("computed / needed pairs")
    return draw(axes, rows, rows["pairs.computed"] / rows["pairs.needed"])
