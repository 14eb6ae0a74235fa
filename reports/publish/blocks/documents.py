"""Blocks of README.md and docs/: block_NAME(published, [FOLDER, [SWEEP]]). Those of findings pages serve there too."""

import re
from itertools import takewhile

import render
from blocks.findings import parts_of
from cells import grouped, markdown, span, wrapped

CACHE_METRICS = ("cache_line_accesses_reduction", "cache_miss_reduction")


def block_gains(published):
    """Tests of claimed gains, machine by machine."""
    return parts_of(published.root, "claims")[1]


def block_reported(published, name, most=None):
    """What the reports stated, and what their programs give on the machine: a row for each case of a chain."""
    table = parts_of(published.folder(name).path, "reported")[1].splitlines()
    return "\n".join(table[:2] + table[2:][:most]) or "No chain has been published of this machine yet."


def block_most_reported(published, name):
    """The largest of these ratios, each case in few words."""
    return re.sub(r"^\| n (\d+), ([^,|]+)[^|]*", r"| \1 positions, \2 ", block_reported(published, name, 3), flags=re.M)


def block_claims_of_all_said(published):
    return wrapped(*parts_of(published.root, "claims")[0])


def block_other_dtypes_said(published, name):
    """What the machine answers in a dtype that the claims are not about."""
    return wrapped(f"**{' '.join(parts_of(published.folder(name).path, 'other_dtypes')[0])}**")


def block_shown(published, name, sweep, case):
    """What `hilbench show` prints of one case, which a reader of the page would see."""
    lines = render.hilbench("show", published.folder(name).path / sweep).splitlines()
    machine, header, at = lines[1], lines[3], lines.index(case)
    rows = [row for row in takewhile(lambda line: line.startswith("  "), lines[at + 1:]) if "skipped" not in row]
    return "\n".join(["```", machine, header, case, *rows, "```"])


def block_misses_said(published, name):
    """What hardware counters of the machine answer."""
    return wrapped(*parts_of(published.folder(name).path, "misses")[0])


def block_rooms(published):
    """The rooms of the tree, from the ground up, by their top folder."""
    rooms = [line for line in (render.TREE / "tests/layers.txt").read_text().splitlines() if not line.startswith("#")]
    of_folder = grouped(rooms, lambda room: room.partition("/")[0])
    return markdown(["folder", "its rooms, from the ground up"],
                    [[f"`{name}/`", ", ".join(room.removeprefix(f"{name}/") if room != name else "its own files"
                                              for room in group)] for name, group in of_folder.items()])


def block_table_price(published, name, sweep):
    """Speedup of orders over linear order read through the table of slots (`linear.gathered`)."""
    times = {}
    for record in published.folder(name).records(sweep):
        if record["status"] == "ok" and record["kind"] == "kernel":
            case = times.setdefault((record["params"]["kernel"], record["case"]), {})
            case[record["variant"].split("/", 1)[1]] = record["time_ns"]["median"]
    rows = [price_cells(kernel, [known for _, known in group])
            for kernel, group in grouped(times.items(), lambda item: item[0][0]).items()]
    return markdown(["kernel", "cases", "`linear`, by stride", "`residue.gathered`", "`hilbert`", "`random`"], rows)


def price_cells(kernel, cases):
    """`cases`: of each the median times by variant."""
    return [f"`{kernel}`", len(cases)] + [
        span(times["linear.gathered"] / times[variant] for times in cases if variant in times)
        for variant in ("linear", "residue.gathered", "hilbert", "random")]


def claim_rows(published):
    """Rows of the table of claims, which every report holds in the file's order, by the claim's id."""
    folder = published.folders()[0]
    return grouped(folder.rows("claims", folder.sweeps[0]), lambda row: row["claim"])


def block_claims_listed(published):
    rows = []
    titles = published.claim_titles()
    for claim, group in claim_rows(published).items():
        report = group[0]["source"].partition(": ")[0]
        how = ", ".join(sorted({row["provenance"] for row in group}))
        rows.append([f"`{claim}`", report, *titles[claim], how])
    return markdown(["claim", "report", "what it states", "figures", "how they were obtained"], rows)


def block_claimed_said(published):
    rows = [row for group in claim_rows(published).values() for row in group if row["claimed"]]
    faster = max(float(row["claimed"]) for row in rows if row["compares"] == "kernel time")
    fewer = max(1 - 1 / float(row["claimed"]) for row in rows if row["metric"] in CACHE_METRICS)
    return wrapped(f"They claim kernels up to {faster:g} times as fast as in linear order and up to "
                   f"{100 * fewer:.0f} % fewer cache misses.")
