"""Blocks about rings: what they send, hide and gain, over fast and slow links, in steps and in one launch."""

from blocks.kernels import processes_of
from cells import grouped, interval, markdown, number, span, work
from published import chosen

ALONE = "dilated/linear"  # the one variant that every case of one rank has


def block_rings(folder, sweep, variants=None):
    rings = [row for row in folder.rows("rings", sweep) if row["ring_size"] != "1"]
    rings = chosen(rings, variants) if variants else rings
    counted = any(row.get("nvlink_data_per_ring_byte") for row in rings)
    heads = (["case (segment/dilation)", "variant", "algorithm", "ranks", "ms", "MiB sent"]
             + (["share counted on NVLink"] if counted else [])
             + ["computation alone, ms", "exchange alone, ms", "exchange hidden, %", "speedup over one rank",
                "efficiency"])
    return markdown(heads, [ring_cells(row, counted) for row in rings])


def scaled(row, key, unit):
    return f"{float(row[key]) / unit:.4g}" if row[key] else ""


def milliseconds(row, key="time_ns"):
    return scaled(row, key, 1e6)


def ring_cells(row, counted):
    links = [f"{float(row['nvlink_data_per_ring_byte']):.4f}"] if counted else []
    return [work(row["case"]), row["variant"], row["ring_algorithm"], row["ring_size"], milliseconds(row),
            scaled(row, "comm_bytes", 2**20), *links, milliseconds(row, "compute_ns"),
            milliseconds(row, "exchange_ns"), scaled(row, "overlap", 0.01), interval(row),
            number(row["efficiency"], 3)]


def block_ring_speedups(folder, sweep, variants=None):
    """One row a case and ring size, one column a variant: speedup over one rank."""
    rings = list(folder.rows("rings", sweep))
    alone = {work_alone(row["case"]): row for row in rings if row["ring_size"] == "1" and row["variant"] == ALONE}
    shown = [row for row in chosen(rings, variants) if row["speedup"]]
    processes = {(record["case"], record["variant"]): processes_of(record["time_ns"]["samples"])
                 for record in folder.records(sweep) if record["time_ns"]}
    names = list(dict.fromkeys(row["variant"] for row in shown))
    rows = []
    unmeasured = {"time_ns": ""}
    for case, group in grouped(shown, lambda row: row["case"]).items():
        ratios = {row["variant"]: interval(row) for row in group}
        rows.append([work(case), group[0]["ring_size"], span((processes[case, name] for name in ratios), ".0f"),
                     milliseconds(alone.get(work_alone(case), unmeasured)), *(ratios.get(name, "") for name in names)])
    return markdown(["case (segment/dilation)", "ranks", "processes", "one GPU, ms"] + names, rows)


def work_alone(case):
    """An id of a case without its number of ranks."""
    return "-".join(part for part in case.split("-") if not (part[0] == "p" and part[1:].isdigit()))


def block_links(folder, sweep):
    """Rings whose ranks are in groups, each beside the flat ring over the same link."""
    rows = [row for row in folder.rows("rings", sweep) if row["comm_bytes_between"]]
    over_direct = {(row["case"], row["variant"]): row for row in folder.rows("comparison", sweep)}
    flat = {(row["case"], link_name(row)): float(row["time_ns"]) for row in rows if row["ring_algorithm"] == "ring"}
    return markdown(["case (segment/dilation)", "algorithm", "link between groups", "GB/s inside", "GB/s between",
                     "MiB inside", "MiB between", "ms", "exchange alone, ms", "exchange hidden, %",
                     "speedup over ring, direct link", "speedup over ring, same link"],
                    [link_cells(row, over_direct[row["case"], row["variant"]], flat) for row in rows])


def link_name(row):
    return "slow" if "emulated" in row["variant"] else "direct"


def link_cells(row, over_direct, flat):
    inside = float(row["comm_bytes"]) - float(row["comm_bytes_between"])
    return [work(row["case"]), row["ring_algorithm"], link_name(row),
            number(row["link_inside_gb_per_s"]), number(row["link_between_gb_per_s"]), f"{inside / 2**20:.4g}",
            scaled(row, "comm_bytes_between", 2**20), milliseconds(row), milliseconds(row, "exchange_ns"),
            scaled(row, "overlap", 0.01), interval(over_direct),
            f"{flat[row['case'], link_name(row)] / float(row['time_ns']):.3f}"]


def block_launches(folder, sweep):
    """One launch a rank beside a launch for each shard, by case and algorithm. Its reference is `ring` in steps."""
    compared = {(row["case"], row["variant"]): row for row in folder.rows("comparison", sweep)}
    rows = {(row["case"], row["variant"]): row for row in folder.rows("rings", sweep)}
    rounds = {(record["case"], record["variant"]): rounds_of(record["time_ns"]["samples"])
              for record in folder.records(sweep) if record["time_ns"]}
    cells = []
    for (case, variant), one in rows.items():
        steps = rows.get((case, variant.removesuffix(".persistent").removesuffix("/auto")))
        if not variant.endswith(".persistent") or steps is None:
            continue
        cells.append([work(case), steps["ring_algorithm"], steps["ring_size"], rounds[case, variant],
                      milliseconds(steps, "compute_ns"), milliseconds(steps, "exchange_ns"), milliseconds(steps),
                      milliseconds(one), f"{float(steps['time_ns']) / float(one['time_ns']):.3f}",
                      interval(compared[case, variant])])
    return markdown(["case (segment/dilation)", "algorithm", "ranks", "rounds of each process",
                     "computation alone, ms", "exchange alone, ms", "in steps, ms", "one launch, ms",
                     "in steps / one launch", "ring in steps / one launch"], cells)


def block_ring_choices(folder, sweep):
    """One row a ring, one column a variant: time of the reference / time of the variant; and the fastest of them."""
    rings = [record for record in folder.records(sweep) if record["time_ns"] and record["params"]["ring_size"] > 1]
    ratios = folder.speedups(sweep)
    reference = next(ratio["against"] for ratio in ratios.values())
    names = [name for name in dict.fromkeys(record["variant"] for record in rings) if name != reference]
    rows = []
    for case, group in grouped(rings, lambda record: record["case"]).items():
        ranks = group[0]["params"]["ring_size"]
        best = min(group, key=median_of)
        first = next(one for one in group if one["variant"] == reference)
        rows.append([work(case), ranks, f"{median_of(first) / 1e6:.4g}",
                     *(ratio_text(ratios.get((case, name))) for name in names), best["variant"],
                     f"{best['flops'] / median_of(best) / 1e3 / ranks:.0f}"])
    return markdown(["case (segment/dilation)", "ranks", f"{reference}, ms", *names, "fastest", "its TFLOP/s a GPU"],
                    rows)


def median_of(record):
    return record["time_ns"]["median"]


def ratio_text(ratio):
    return f"{ratio['ratio']:.3f} [{ratio['ci'][0]:.3f}, {ratio['ci'][1]:.3f}]" if ratio else ""


def rounds_of(samples):
    return ", ".join(str(len(one)) for one in samples) if isinstance(samples[0], list) else len(samples)
