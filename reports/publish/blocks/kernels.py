"""Blocks about kernels beside others: rivals whose GPUs were profiled or whose authors publish times, and windows
beside dense attention."""

import re

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


def block_elsewhere(folder, sweep, variants, *published):
    """Times that others publish, each as CASE=MILLISECONDS, beside the fastest of `variants`. Both are regular
    expressions; that of a case fits one alone."""
    timed = [record for record in folder.records(sweep) if record["time_ns"] and re.search(variants, record["variant"])]
    rows = []
    for expression, elsewhere in (entry.rsplit("=", 1) for entry in published):
        records = [record for record in timed if re.search(expression, record["case"])]
        (case,) = {record["case"] for record in records}
        fastest = min(records, key=lambda record: record["time_ns"]["median"])
        time = fastest["time_ns"]
        ratio, high, low = (float(elsewhere) * 1e6 / ns for ns in (time["median"], *time["ci"]))
        rows.append([work(case), elsewhere, fastest["variant"], f"{time['median'] / 1e6:.4g}",
                     f"{ratio:.3g} [{low:.3g}, {high:.3g}]"])
    return markdown(["case", "published elsewhere, ms", "fastest here", "ms", "published / here"], rows)


def block_computed_rate(folder, sweep):
    """The rate of windows on the pairs that their tiles compute, beside that of dense attention of the same head_dim."""
    records = [record for record in folder.records(sweep) if record["tflops"] and not record["twin"]]
    dense = {record["params"]["head_dim"]: record for record in records
             if record["kind"] == "kernel" and not record["params"]["window"]}
    rows = []
    for record in records:
        beside = dense.get(record["params"]["head_dim"])
        if not record["pairs"] or not beside:
            continue
        rate = record["tflops"] * record["pairs"]["ratio"]
        rows.append([work(record["case"]), record["variant"], f"{record['pairs']['ratio']:.2f}", f"{record['tflops']:.0f}",
                     f"{rate:.0f}", f"{beside['tflops']:.0f}", f"{rate / beside['tflops']:.2f}"])
    return markdown(["case", "variant", "computed / needed", "TFLOP/s", "on computed pairs", "dense", "/ dense"], rows)
