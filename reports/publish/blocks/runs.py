"""Blocks about the runs themselves: what was measured, when, by which build, and how far repeated runs differ."""

import statistics

from blocks.machine import on_processor
from cells import markdown, number, span, work, wrapped
from published import value_of


def block_runs(folder):
    on_gpu = not on_processor(folder)
    rows = [run_cells(sweep, folder.records(sweep), on_gpu) for sweep in folder.sweeps]
    last = ["SM clock, MHz", "throttled by", "other processes"] if on_gpu else ["load, one minute"]
    return markdown(["sweep", "cases", "records", "build", "day", "kernels"] + last, rows)


def run_cells(sweep, records, on_gpu):
    builds = sorted({r["environment"]["build"]["commit"] for r in records})
    counts = {s: sum(r["status"] == s for r in records) for s in ("ok", "skipped", "failed", "invalid")}
    return [f"[{sweep}]({sweep}/)", len({r["case"] for r in records}),
            ", ".join(f"{count} {status}" for status, count in counts.items() if count),
            ", ".join(builds), min(r["environment"]["time"] for r in records)[:10],
            ", ".join(sorted({r["params"]["kernel"] for r in records if r["kind"] == "kernel"})),
            *(gpu_cells(records) if on_gpu else load_cells(records))]


def gpu_cells(records):
    states = [r["environment"].get("device_state") or {} for r in records]
    clocks = [clock for state in states for clock in state.get("sm_mhz") or []]
    return [f"{min(clocks):.0f} to {max(clocks):.0f}" if clocks else "",
            ", ".join(sorted({cause for state in states for cause in state.get("throttle") or []})) or "none",
            max((state.get("foreign_processes") or 0 for state in states), default=0)]


def load_cells(records):
    return [span((r["environment"]["host"]["load_average"][0] for r in records), ".1f")]


def block_cases(folder, sweep):
    return markdown(["case (segment/dilation)", "variant", "status", "GiB, planned", "ms", "TFLOP/s",
                     "largest error", "reason"], [case_cells(record) for record in folder.records(sweep)])


def case_cells(record):
    time, verify = record["time_ns"], record["verify"]
    return [work(record["case"]), record["variant"], record["status"], f"{record['memory_bytes'] / 2**30:.2f}",
            f"{time['median'] / 1e6:.4g}" if time else "", number(record["tflops"] if time else None),
            error_text(verify) if verify else "", record["reason"] or ""]


# The error of the row that came nearest to its tolerance, before or after the timing. Older records have one tolerance
# for all rows.
def error_text(verify):
    after = verify.get("after")
    if after and after["worst"] > verify["worst"]:
        verify = after
    worst = verify.get("worst")
    error = verify["max_abs"] if worst is None else worst * verify["tolerance"]
    return f"{error:.2g} of {verify['tolerance']:.2g}"


def block_count_spread(folder):
    counts = {}
    for sweep in folder.sweeps:
        for record in folder.records(sweep):
            for level, misses in misses_of(record).items():
                key = (level, record["case"], record["variant"], record["params"].get("cache"))
                counts.setdefault(key, []).append(misses)
    said = [spread_text(level, {key: values for key, values in counts.items() if key[0] == level and len(values) > 1})
            for level in ("L2", "L1")]
    return wrapped(f"Misses of one variant in several runs differ {said[0]}, and {said[1]}.")


def spread_text(level, counts):
    """Of several counts each, by level, case, variant and cache."""
    spreads = {key: (max(values) / min(values) - 1) * 100 for key, values in counts.items()}
    if not spreads:
        return f"at the {level} nowhere, as none was counted twice"
    _, case, variant, _ = worst = max(spreads, key=spreads.get)
    return (f"by {statistics.median(spreads.values()):.1f} % (median) and by {spreads[worst]:.1f} % at most at the "
            f"{level} (`{variant}`, {work(case)})")


def misses_of(record):
    """Misses of a kernel on a GPU, by level; empty if they were not counted or the L2 held nearly everything."""
    names = ("l2_read_requests", "l2_read_hit_rate", "l2_read_sectors")
    reads, rate, sectors = (value_of(record, name) for name in names)
    if record["kind"] != "kernel" or None in (reads, rate, sectors) or 1 - rate <= 0.001:
        return {}
    return {"L2": reads * (1 - rate), "L1": sectors}


def block_spread(folder):
    ratios = {}  # of runs of the same work
    for sweep in folder.sweeps:
        caches = {(r["case"], r["variant"]): r["params"].get("cache") for r in folder.records(sweep)}
        for row in folder.rows("comparison", sweep):
            if not row["speedup"] or "/" not in row["variant"]:
                continue
            key = (row["case"], row["variant"], row["against"], row["steady_s"], caches[row["case"], row["variant"]])
            ratios.setdefault(key, []).append(float(row["speedup"]))
    several = [values for values in ratios.values() if len(values) > 1]
    spreads = [(max(values) / min(values) - 1) * 100 for values in several]
    if not spreads:
        return "No pair of case and variant was measured by more than one run."
    return wrapped(f"{len(several)} pairs of case and variant were measured by 2 to {max(map(len, several))} runs "
                   f"each: their ratios differ by {statistics.median(spreads):.2f} % (median) and "
                   f"by {max(spreads):.2f} % at most.")
