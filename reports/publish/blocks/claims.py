"""Blocks about the claims of the reports and of papers: what was measured against what they say."""

import re

from blocks.findings import parts_of
from cells import grouped, interval, markdown, number, span, work
from published import own


def claims_a_gain(row):
    return row["gain"] == "true"


def answers(folder):
    """Rows of the claims that the folder's sweeps can answer."""
    return [row for row in own(folder.rows("claims")) if row["verdict"] != "not testable here"]


def time_answers(folder):
    return [row for row in answers(folder) if row["compares"] == "kernel time"]


def case_text(row):
    if row["case"]:
        return work(row["case"])
    return f"all cases of its sweep in {row['dtype']}" if row["dtype"] else "all cases of its sweep"


def block_verdicts(folder):
    """How often each verdict was given, by what claims compare and the dtype that was measured."""
    return parts_of(folder.path, "verdicts")[1]


def block_times(folder):
    groups = grouped(time_answers(folder), lambda r: (r["claim"], r["case"], r["stated"], r["dtype"]))
    rows = sorted(map(time_cells, groups.values()), key=lambda row: -float(row[2]))
    return markdown(["claim", "case (segment/dilation)", "claimed", "Hilbert order", "runs", "random order (control)",
                     "Hilbert order, permutation included", "verdict", "processes a run"], rows)


def time_cells(group):
    first = group[0]
    return [first["claim"], case_text(first), number(first["claimed"], 3),
            span(r["measured"] for r in group) if len(group) > 1 else interval(first, "measured"), len(group),
            span(r["random"] for r in group), span(r["with_permutation"] for r in group),
            ", ".join(sorted({r["verdict"] for r in group})),
            span((r["processes"] for r in group), ".0f")]


def block_caches(folder):
    groups = grouped((row for row in own(folder.rows("claim_levels")) if row["ratio"]),
                     lambda r: (r["claim"], r["metric"], r["case"], r["dtype"], r["level"]))
    rows = sorted(map(cache_cells, groups.values()), key=lambda row: row[:2])
    if not rows:
        return "No claim was judged by hardware counters here."
    return markdown(["claim", "metric", "case (segment/dilation)", "claimed", "level", "misses against linear order, %",
                     "against the control, %", "counts of each", "runs", "verdict"], rows)


def cache_cells(group):
    def percents(key):
        return span([percent for row in group for percent in re.findall(r"[-+][0-9.]+", row[key])], "+.1f")

    first = group[0]
    return [first["claim"], first["metric"].replace("_", " "), case_text(first), first["claimed"], first["level"],
            percents("against_linear"), percents("against_control"), span((r["counts"] for r in group), ".0f"), len(group),
            ", ".join(sorted({row["verdict"] for row in group}))]


def block_lines(folder):
    rows = [(row["claim"], case_text(row), f"{float(row['claimed']):.3g}", f"{float(row['measured']):.4g} (exact)",
             row["verdict"])
            for row in own(folder.rows("claims")) if row["compares"] == "lines of the layout" and row["measured"]]
    if not rows:
        return "No claim about cache lines was answered by the layout alone."
    return markdown(["claim", "case (segment/dilation)", "claimed", "lines, linear / hilbert", "verdict"],
                    dict.fromkeys(rows))


def block_papers(folder):
    """What papers claim, if a sweep of the folder tests it."""
    rows = [row for row in folder.rows("literature") if row["verdict"] != "not testable here"]
    if not rows:
        return "No claim of a paper was tested here."
    heads = ["paper", "arXiv", "what it says", "claimed", "what is compared here", "case", "measured",
             "with one permutation", "verdict"]
    return markdown(heads, [[row["paper"], row["arxiv"], row["says"], row["claimed"], row["compares"], work(row["case"]),
                             interval(row, "measured"), number(row["with_permutation"]), row["verdict"]] for row in rows])
