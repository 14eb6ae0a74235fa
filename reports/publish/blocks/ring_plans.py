"""Blocks about what was predicted and planned of rings, held against what was measured."""

import json
import statistics

import render
from cells import grouped, markdown, number, plural, span, work, wrapped
from published import chosen, value_of


def block_predicted(folder, sweep):
    """A sentence, and a table by algorithm: rings of more ranks than were fitted, against their prediction."""
    rings = [row for row in folder.rows("rings", sweep) if row["predicted_ns"]]
    fitted = max((int(row["ring_size"]) for row in rings if row["predicted_fitted"] == "true"), default=0)
    held = [row for row in rings if int(row["ring_size"]) > fitted]
    if not held:
        return "No ring was measured that is larger than those of the fit."
    worst = max(held, key=error_of)
    inside = sum(map(is_inside, held))
    ranks = span((row["ring_size"] for row in held), ".0f")
    said = wrapped(f"Of {plural(len(held), 'ring')} of {ranks} ranks, predicted from those of up to {fitted}, {inside} "
                   f"{'lies' if inside == 1 else 'lie'} inside the interval of the prediction.",
                   f"The error is {percent(statistics.median(map(error_of, held)))} in the median and "
                   f"{percent(error_of(worst))} at worst: `{worst['variant']}`, {work(worst['case'])}, predicted "
                   f"{interval_ms(worst, 'predicted_ns')}, measured {interval_ms(worst, 'time_ns')}.")
    groups = grouped(held, lambda row: row["ring_algorithm"])
    rows = [[name, len(group), percent(statistics.median(map(error_of, group))),
             percent(max(map(error_of, group))), f"{sum(map(is_inside, group))} of {len(group)}",
             span(float(row["predicted_ns"]) / float(row["time_ns"]) for row in group)]
            for name, group in groups.items()]
    heads = ["algorithm", "rings", "median error", "worst error", "inside the interval", "predicted / measured"]
    return f"{said}\n\n{markdown(heads, rows)}"


def interval_ms(row, column):
    """Of a row of a table; without the interval if there is none."""
    return times_ms(*(row[column + end] for end in ("", "_low", "_high")))


def times_ms(middle, low, high):
    """"1.712 ms [1.486, 1.971]" of nanoseconds."""
    middle, *ends = (f"{float(time) / 1e6:.4g}" if time else "" for time in (middle, low, high))
    return f"{middle} ms [{', '.join(ends)}]" if all(ends) else f"{middle} ms"


def block_expected(folder, sweep, fitted, ranks, variants=None):
    """Rings of `ranks`, which were not measured, from all records of rings of `fitted` (1,2,4)."""
    made = json.loads(render.hilbench("predict", folder.path / sweep, "--fit-ranks", fitted, "--ring", ranks,
                                      "--format", "json"))
    rings = chosen(made["predictions"], variants) if variants else made["predictions"]
    rows = [[work(one["case"]), one["variant"], one["ring_algorithm"], one["ring_size"],
             times_ms(one["time_ns"]["value"], *one["time_ns"]["ci"]), f"{one['compute_ns'] / 1e6:.4g}",
             f"{one['exchange_ns'] / 1e6:.4g}" if one["comm_bytes"] else "", number(one["speedup"], 3),
             number(one["efficiency"], 3)] for one in rings]
    heads = ["case (segment/dilation)", "variant", "algorithm", "ranks", "time [95 %]", "computation alone, ms",
             "exchange alone, ms", "speedup over one rank", "efficiency"]
    return markdown(heads, rows)


def error_of(row):
    return abs(float(row["predicted_ns"]) / float(row["time_ns"]) - 1)


def is_inside(row):
    return float(row["predicted_ns_low"]) <= float(row["time_ns"]) <= float(row["predicted_ns_high"])


def percent(share):
    return f"{100 * share:.1f} %"


def block_ring_memory(folder):
    """By sweep and algorithm: by how much a GPU's free memory fell, over what was planned."""
    rows = []
    for sweep in folder.sweeps:
        rings = [record for record in folder.records(sweep) if value_of(record, "ring_device_memory")]
        for key, group in grouped(rings, lambda record: record["params"]["ring_algorithm"]).items():
            fell = [value_of(record, "ring_device_memory") for record in group]
            over = [(one - record["memory_bytes"]) / 2**20 for one, record in zip(fell, group)]
            ratios = [one / record["memory_bytes"] for one, record in zip(fell, group)]
            rows.append([sweep, key, len(group), span((one / 2**20 for one in fell), ".0f"), span(ratios),
                         span((round(one) for one in over), ".0f")])
    return markdown(["sweep", "algorithm", "rings", "MiB measured", "measured / planned", "measured - planned, MiB"],
                    rows)
