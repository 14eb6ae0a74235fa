"""Blocks about windows on grids: orders and rivals, time by computed pairs, and what papers claim."""

from statistics import median

from cells import grouped, interval, markdown, number, plural, span, work, wrapped

FEW = ("too few processes", "within one process")  # ends of remarks
DENSE = " (all pairs)"  # behind the variants of dense attention on the same tokens


def rows_of(folder, table, sweep):
    return list(folder.rows(table, sweep)) if sweep in folder.sweeps else []


def block_windows(folder, sweep):
    """A row a case: the pairs needed and, of each variant, time of raster order / its time and computed / needed; dense
    attention on all pairs last."""
    rows = rows_of(folder, "windows", sweep)
    if not rows:
        return "Nothing was measured."
    variants = sorted(dict.fromkeys(row["variant"] for row in rows if row["ratio"]), key=lambda name: name.endswith(DENSE))
    return markdown(["case", "needed, of all pairs", "raster, computed / needed"] + variants,
                    [case_cells(case, group, variants) for case, group in grouped(rows, lambda r: r["case"]).items()])


def case_cells(case, group, variants):
    known = {row["variant"]: row for row in group}
    raster = next((row for row in group if row["ratio"] == ""), {"computed_over_needed": ""})
    return [work(case), group[0]["needed_share"], number(raster["computed_over_needed"], 3),
            *(variant_cell(known.get(variant)) for variant in variants)]


def variant_cell(row):
    if row is None or row["ratio"] == "":
        return ""
    over = f"; {number(row['computed_over_needed'], 3)}" if row["computed_over_needed"] else ""
    return interval(row, "ratio") + over


def block_windows_said(folder, sweep):
    rows = [row for row in rows_of(folder, "windows", sweep) if row["ratio"]]
    orders = [row for row in rows if not row["variant"].endswith(DENSE)]
    if not orders:
        return "Nothing was measured."
    cases = plural(len({row["case"] for row in orders}), "case")
    said = [f"{cases} with windows, against the kernel in raster order."]
    for variant, group in sorted(grouped(orders, lambda row: row["variant"]).items(),
                                 key=lambda item: -median(float(row["ratio"]) for row in item[1])):
        said.append(f"`{variant}` {sides_said(group)}: {span(row['ratio'] for row in group)} times as fast.")
    return wrapped(*said)


def sides_said(rows):
    """In how many cases a variant is faster, slower, or has no verdict for want of processes."""
    faster, slower, equivalent = (sum(row["remark"].startswith(word) for row in rows)
                                  for word in ("faster", "slower", "equivalent"))
    inconclusive = [row["remark"] for row in rows if row["remark"].startswith("inconclusive")]
    few = sum(remark.endswith(FEW) for remark in inconclusive)
    if few == len(rows):
        return "has too few processes for a verdict"
    said = [f"is faster in {faster} of {len(rows)}", f"slower in {slower}"]
    if equivalent:
        said.append(f"equivalent in {equivalent}")
    if few < len(inconclusive):
        said.append(f"inconclusive in {len(inconclusive) - few}")
    return ", ".join(said) + (f", and has too few processes for a verdict in {few}" if few else "")


def block_window_rivals_said(folder, sweep):
    """The strongest rivals, and dense attention, against the kernel in the order that is fastest in each case."""
    against = grouped((rival for rival in window_rivals(folder, sweep) if rival), lambda rival: rival[0])
    if not against:
        return "No rival was measured."
    cases = plural(sum(len(group) for group in against.values()), "case")
    rivals = [f"`{name}` in {len(group)} ({span((times for _, times, _ in group), '.2f')})"
              for name, group in sorted(against.items(), key=lambda item: -len(item[1]))]
    dense = [times for group in against.values() for _, _, times in group if times]
    said = [f"In {cases} with windows the strongest rival is {', '.join(rivals)}: in brackets its time over that of this",
            "program's kernel in its fastest order."]
    if dense:
        said.append(f"Dense attention on the same tokens takes {span(dense, '.1f')} times as long.")
    return wrapped(*said)


def window_rivals(folder, sweep):
    """Of each case the strongest rival, and the times of it and of the fastest dense attention over the kernel's. None if
    there is no rival."""
    for group in grouped(rows_of(folder, "windows", sweep), lambda row: row["case"]).values():
        times = {row["variant"]: float(row["over_fastest"]) for row in group if row["over_fastest"]}
        dense = [times.pop(variant) for variant in list(times) if variant.endswith(DENSE)]
        strongest = min(times, key=times.get, default=None)
        yield strongest and (strongest, times[strongest], dense and min(dense))


def block_window_times(folder, sweep):
    """How far time follows the pairs that tiles compute."""
    rows = rows_of(folder, "window_times", sweep)
    if not rows:
        return "No case has three orders that compute different numbers of pairs."
    residuals = [abs(float(row["time_ns"]) / float(row["predicted_ns"]) - 1) for row in rows]
    cases = plural(len({row["case"] for row in rows}), "case")
    worst = rows[residuals.index(max(residuals))]
    return wrapped(f"In {cases}, {plural(len(rows), 'measured time')} {'was' if len(rows) == 1 else 'were'} compared with",
                   "the line a + b x computed pairs that fits the case best. A time differs from its line by",
                   f"{100 * median(residuals):.1f} % in the median, and by {100 * max(residuals):.1f} % at most",
                   f"(`{worst['variant']}`, {work(worst['case'])}).")


def block_papers(folder):
    """What papers claim, if a sweep of the folder tests it."""
    rows = [row for row in folder.rows("literature") if row["verdict"] != "not testable here"]
    if not rows:
        return "No claim of a paper was tested here."
    heads = ["paper", "arXiv", "what it says", "claimed", "what is compared here", "case", "measured",
             "with one permutation", "verdict"]
    return markdown(heads, [[row["paper"], row["arxiv"], row["says"], row["claimed"], row["compares"], work(row["case"]),
                             interval(row, "measured"), number(row["with_permutation"]), row["verdict"]] for row in rows])
