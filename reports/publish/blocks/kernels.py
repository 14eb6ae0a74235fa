"""A block about rivals whose GPUs were profiled."""

from cells import markdown, work
from published import value_of


def block_busy(folder, sweep):
    """Of rivals that were profiled: their time beside the time in which their GPU is busy."""
    times = {(r["case"], r["variant"]): r["time_ns"]["median"] for r in folder.records(sweep) if r["time_ns"]}
    rows = [[work(r["case"]), r["variant"], *(f"{time / 1e6:.4g}" for time in (r["time_ns"]["median"], busy)),
             f"{busy / r['time_ns']['median']:.2f}", f"{busy / times[r['case'], 'dilated/linear']:.2f}"]
            for r in folder.records(sweep) if (busy := value_of(r, "gpu_busy_ns"))]
    return markdown(["case (segment/dilation)", "rival", "ms", "its busiest GPU works, ms", "works / time",
                     "works / time of `dilated/linear`"], rows)
