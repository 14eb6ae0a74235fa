"""Blocks of README.md and docs/: block_NAME(published, [FOLDER, [SWEEP]]). Those of findings pages serve there too."""

import collections
import re
from itertools import takewhile

import render
from blocks.claims import answers, claims_a_gain
from blocks.findings import parts_of
from blocks.machine import on_processor, short_name
from blocks.pairs import STUDIES, pairs_of
from cells import grouped, markdown, plural, span, wrapped

OTHER_DTYPE = ", claimed in another dtype"  # such answers stand apart, and are not counted in sentences
CHAINS = ("chain-kernel", "chain-hybrid", "chain-scaling")  # the largest claim first
CACHE_METRICS = ("cache_line_accesses_reduction", "cache_miss_reduction")


def gain_answers(folder):
    """Tests of claims that Hilbert order makes a kernel faster; those in another dtype than the claim's too."""
    return [row for row in answers(folder) if row["compares"] == "kernel time" and claims_a_gain(row)]


def by_machine(published):
    """Answers of gain_answers, by machine, the dtype that was measured, and whether the claim is about another one:
    processors first, fp32 first."""
    folders = sorted(published.folders(), key=lambda folder: not on_processor(folder))
    for folder in folders:
        groups = grouped(gain_answers(folder), lambda row: (row["dtype"], row["other_dtype"] == "true"))
        for dtype, other in sorted(groups, key=lambda key: (key[0] != "fp32", *key)):
            yield short_name(folder), dtype, other, groups[dtype, other]


def block_gains(published):
    rows = []
    for name, dtype, other, found in by_machine(published):
        beats = sum(row["against_random_verdict"] == "faster" for row in found)
        rows.append([f"{name}, {dtype}" + (OTHER_DTYPE if other else ""), len(found), sum(row["verdict"] == "reproduced" for row in found),
                     span(row["measured"] for row in found), span(row["random"] for row in found), beats])
    return markdown(["machine", "tests", "reproduced", "Hilbert order", "random order",
                     "tests with Hilbert shown faster than random"], rows)


def block_reported(published, name, most=None):
    """What the reports stated, and what their programs give on the machine: a row for each case of a chain."""
    folder = published.folder(name)
    tables = [parts_of(folder.path / sweep, "reported")[1].splitlines() for sweep in CHAINS if sweep in folder.sweeps]
    if not tables:
        return "No chain has been published of this machine yet."
    rows = sorted((row for table in tables for row in table[2:]), key=lambda row: -float(row.split("|")[2]))
    return "\n".join(tables[0][:2] + rows[:most])


def block_most_reported(published, name):
    """The largest of these ratios, each case in few words."""
    return re.sub(r"^\| n (\d+), ([^,|]+)[^|]*", r"| \1 positions, \2 ", block_reported(published, name, 3), flags=re.M)


def block_claims_of_all_said(published):
    return wrapped(*parts_of(published.root, "claims")[0])


def block_slower_in_bf16(published, name):
    """By how much Hilbert order is slower in bf16, if it is in every test."""
    folder = published.folder(name)
    speeds = [float(row["measured"]) for row in gain_answers(folder) if row["dtype"] == "bf16"]
    if not speeds or max(speeds) >= 1:
        return "Hilbert order is not slower in every test in bf16."
    return wrapped(f"**In bf16 on an {short_name(folder).split()[1]}, Hilbert order is "
                   f"{span([100 - 100 * speed for speed in speeds], '.0f')} % slower than linear order.**")


def block_shown(published, name, sweep, case):
    """What `hilbench show` prints of one case, which a reader of the page would see."""
    lines = render.hilbench("show", published.folder(name).path / sweep).splitlines()
    machine, header, at = lines[1], lines[3], lines.index(case)
    rows = [row for row in takewhile(lambda line: line.startswith("  "), lines[at + 1:]) if "skipped" not in row]
    return "\n".join(["```", machine, header, case, *rows, "```"])


def block_misses_said(published, name):
    folder = published.folder(name)
    rows = [row for row in answers(folder) if "misses" in row["compares"] and row["in_sweep"] == row["claim"]]
    other = [row for row in rows if row["other_dtype"] == "true"]
    own = [row for row in rows if row["other_dtype"] == "false"]
    machine = short_name(folder).removeprefix("NVIDIA ")
    said = [f"Hardware counters of the {machine} answer {plural(len(own), 'claim')} of fewer cache misses: "
            f"{verdicts_said(own)}" + (f"; in another dtype than the claim's, {len(other)}: {verdicts_said(other)}."
                                       if other else ".")]
    if few := sum("a verdict needs" in row["why"] for row in rows):
        said.append(f"{few} of them {'is' if few == 1 else 'are'} inconclusive because each variant was counted less "
                    "than five times.")
    return wrapped(*said)


def verdicts_said(rows):
    """ "none is reproduced, 8 are excluded, 3 are inconclusive": every verdict, so that they add up."""
    counts = collections.Counter(row["verdict"] for row in rows)
    won = counts.pop("reproduced", 0)
    return ", ".join([f"{won or 'none'} {'is' if won <= 1 else 'are'} reproduced",
                      *(f"{count} {verdict_words(verdict, count)}" for verdict, count in counts.most_common())])


def verdict_words(verdict, count):
    if verdict == "no gain":
        return "shows no gain" if count == 1 else "show no gain"
    return f"{'is' if count == 1 else 'are'} {verdict.removeprefix('claim ')}"


def block_order_gains_said(published, *names):
    return wrapped(*(order_gains_said(published.folder(name)) for name in names))


def order_gains_said(folder):
    pairs = [pair for pair in pairs_of(folder, STUDIES) if pair.variant in ("hilbert", "residue", "random")]
    gains = grouped([pair for pair in pairs if pair.gains], lambda pair: pair.variant)
    counted = sorted(gains.items(), key=lambda item: (-len(item[1]), item[0]))
    said = ", ".join(f"`{variant}` gains in {len(group)} (by at most {max(p.ratio for p in group) * 100 - 100:.0f} %)"
                     for variant, group in counted)
    cases = len({pair.record["case"] for pair in pairs})
    return f"On the {bare_name(folder)}, in {plural(cases, 'case')}: {said or 'no order gains in any'}."


def block_window_gains_said(published, name, *sweeps):
    """Orders of windows against raster order, whose kernel computes the same function."""
    folder = published.folder(name)
    windows = [pair for pair in pairs_of(folder, sweeps) if pair.params["grid"]]
    pairs = grouped(windows, lambda pair: pair.variant.split(".")[0])
    ratios = {order: span(pair.ratio for pair in pairs[order])
              for order in ("boxes", "hilbert", "morton", "snake", "random") if order in pairs}
    cases = len({pair.record["case"] for pair in windows})
    said = ", ".join(f"`{order}` {ratio}" for order, ratio in ratios.items())
    return wrapped(f"On the {bare_name(folder)}, in {plural(cases, 'case')}, time of raster order over that of: {said}.")


def bare_name(folder):
    return short_name(folder).partition(",")[0]


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
