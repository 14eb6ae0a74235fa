"""Blocks about rings: what they send, hide and gain, over fast and slow links, in steps and in one launch."""

from cells import interval, markdown, number, work


def scaled(row, key, unit):
    return f"{float(row[key]) / unit:.4g}" if row[key] else ""


def milliseconds(row, key="time_ns"):
    return scaled(row, key, 1e6)


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
    rounds = {(record["case"], record["variant"]): ", ".join(str(len(one)) for one in record["time_ns"]["samples"])
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
