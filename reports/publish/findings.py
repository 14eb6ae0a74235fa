#!/usr/bin/env python3
"""Fills the generated parts of a published folder's README.md from the tables and records beside it.

findings.py page FOLDER         writes every block '<!-- generated: NAME [SWEEP [VARIANTS]] -->' ... '<!-- end -->' anew;
                                VARIANTS is a regular expression for what follows a kernel's name
findings.py check FOLDER        says whether that would change anything: exit 1 where it would
findings.py meta STORE FILE     what a report needs of a store beside its records, as JSON
findings.py name STORE          what a folder for results of the store's machine is called

A folder of a processor's results without a README.md gets processor_page.md for one.
"""

import json
import pathlib
import re
import sqlite3
import statistics
import sys

from blocks import orders as order_findings
from blocks import rates as rate_findings
from published import Folder, chosen, grouped, interval, markdown, number, own, span, work

META_KEYS = ("sweep", "title", "description", "sweep_file", "command")
CPU_PAGE = pathlib.Path(__file__).with_name("processor_page.md")


def block_runs(folder):
    rows = []
    for sweep in folder.sweeps:
        records = folder.records(sweep)
        states = [r["environment"].get("device_state") or {} for r in records]
        clocks = [clock for state in states for clock in state.get("sm_mhz") or []]
        builds = sorted({r["environment"]["build"]["commit"] for r in records})
        counts = {s: sum(r["status"] == s for r in records) for s in ("ok", "skipped", "failed", "invalid")}
        rows.append([
            f"[{sweep}]({sweep}/report.md)", len({r["case"] for r in records}),
            ", ".join(f"{count} {status}" for status, count in counts.items() if count),
            ", ".join(builds), min(r["environment"]["time"] for r in records)[:10],
            ", ".join(sorted({r["params"]["kernel"] for r in records if r["kind"] == "kernel"})),
        ] + ([
            f"{min(clocks):.0f} to {max(clocks):.0f}" if clocks else "",
            ", ".join(sorted({cause for state in states for cause in state.get("throttle") or []})) or "none",
            max((state.get("foreign_processes") or 0 for state in states), default=0),
        ] if not order_findings.on_processor(folder) else [
            span((r["environment"]["host"]["load_average"][0] for r in records), 1)]))
    gpu = ["SM clock, MHz", "throttled by", "other processes"]
    return markdown(["sweep", "cases", "records", "build", "day", "kernels"]
                    + (["load, one minute"] if order_findings.on_processor(folder) else gpu), rows)


def block_verdicts(folder):
    kinds = {}
    for (claim, case, metric), rows in grouped(own(folder.rows("claims")),
                                               lambda r: (r["claim"], r["case"] or r["stated"], r["metric"])).items():
        verdicts = [row["verdict"] for row in rows if row["verdict"] != "not testable here"]
        if verdicts:
            verdict = verdicts[0] if len(set(verdicts)) == 1 else "differs between runs"
            if verdict == "reproduced":
                gain = order_findings.claims_a_gain(rows[0])
                verdict = "gain reproduced" if gain else "loss or no difference reproduced"
            kinds.setdefault(rows[0]["compares"], {}).setdefault(verdict, []).append(claim)
    names = ["gain reproduced", "loss or no difference reproduced", "smaller than claimed", "no difference shown",
             "contradicted", "mixed", "differs between runs"]
    rows = [[kind] + [len(verdicts.get(name, [])) for name in names] for kind, verdicts in sorted(kinds.items())]
    return markdown(["compares"] + names, rows)


def block_times(folder):
    judged = (row for row in own(folder.rows("claims"))
              if row["compares"] == "kernel time" and row["verdict"] != "not testable here")
    rows = []
    for (claim, case, stated), group in grouped(judged, lambda r: (r["claim"], r["case"], r["stated"])).items():
        rows.append([
            claim, work(case) if case else "all cases of its sweep", number(group[0]["claimed"], 3),
            span(r["measured"] for r in group) if len(group) > 1 else interval(group[0], "measured"), len(group),
            span(r["random"] for r in group), span(r["with_permutation"] for r in group),
            ", ".join(sorted({r["verdict"] for r in group})),
            "yes" if any("not settled" in r["why"] for r in group) else ""])
    rows.sort(key=lambda row: -float(row[2]))
    return markdown(["claim", "case (segment/dilation)", "claimed", "hilbert", "runs", "random (control)",
                     "with one permutation", "verdict", "within 1 %, one process"], rows)


def block_caches(folder):
    rows = []
    for (claim, metric, case, level), group in grouped(
            own(folder.rows("claim_levels")),
            lambda r: (r["claim"], r["metric"], r["case"], r["level"])).items():
        judged = [r for r in group if r["ratio"]]
        if not judged:
            continue
        percents = lambda key: span([p for r in judged for p in re.findall(r"[-+][0-9.]+", r[key])], 1, "+")
        rows.append([claim, metric.replace("_", " "), work(case) if case else "all cases of its sweep",
                     judged[0]["claimed"], level, percents("against_linear"), percents("against_random"),
                     len(judged), ", ".join(sorted({r["verdict"] for r in judged}))])
    rows.sort(key=lambda row: row[:2])
    if not rows:
        return "No hardware counter judged a claim here."
    return markdown(["claim", "metric", "case (segment/dilation)", "claimed", "level", "misses against linear, %",
                     "against random (control), %", "runs", "verdict"], rows)


def block_explained(folder, sweep, variants=None):
    figures = {"dram_of_compulsory": "DRAM bytes / compulsory", "dram_of_copy": "of copy rate",
               "l2_read_hit_rate": "L2 read hit rate", "l2_first_hit_rate": "at the first slice",
               "l1_load_hit_rate": "L1 load hit rate", "l1_sectors_per_load": "L1 sectors / load request",
               "tensor_pipe_use": "tensor pipe, %"}
    intervals = {(r["case"], r["variant"]): interval(r) for r in folder.rows("comparison", sweep)}
    all_rows = chosen(folder.rows("explained", sweep), variants)
    shown = [key for key in figures if any(r.get(key) for r in all_rows)]
    rows = [[work(r["case"]), r["variant"], intervals[r["case"], r["variant"]] or "reference"]
            + [number(r[key], 3) for key in shown] for r in all_rows]
    return markdown(["case (segment/dilation)", "variant", "speedup"] + [figures[key] for key in shown], rows)


def block_rivals(folder, sweep):
    duels = list(folder.rows("rivals", sweep))
    rivals = list(dict.fromkeys(r["rival"] for r in duels))
    peaks = {(r["case"], r["variant"]): r["peak_fraction"] for r in folder.rows("comparison", sweep)}
    rows = []
    for (case, variant), group in grouped(duels, lambda r: (r["case"], r["variant"])).items():
        ratios = {r["rival"]: interval(r, "ratio") for r in group}
        peak = peaks[case, variant]
        ring = variant.partition("/linear")[2].lstrip("./")  # its options of rings, of which each is a row of its own
        kernel = group[0]["kernel"] + (f", {ring}" if ring else "")
        rows.append([work(case), kernel, f"{float(group[0]['time_ns']) / 1e6:.4g}",
                     number(group[0]["tflops"]), f"{float(peak) * 100:.1f} %" if peak else ""]
                    + [ratios.get(rival, "") for rival in rivals])
    return markdown(["case (segment/dilation)", "kernel", "ms", "TFLOP/s", "of peak"] + rivals, rows)


def block_rings(folder, sweep):
    def scaled(row, key, unit):
        return f"{float(row[key]) / unit:.4g}" if row[key] else ""

    rings = [r for r in folder.rows("rings", sweep) if r["ring_size"] != "1"]
    counted = any(r.get("nvlink_data_per_ring_byte") for r in rings)
    rows = [[work(r["case"]), r["variant"], r["ring_algorithm"], r["ring_size"], scaled(r, "time_ns", 1e6),
             scaled(r, "comm_bytes", 2**20)] + ([f"{float(r['nvlink_data_per_ring_byte']):.4f}"] if counted else [])
            + [scaled(r, "compute_ns", 1e6), scaled(r, "exchange_ns", 1e6), scaled(r, "overlap", 0.01), interval(r),
               number(r["efficiency"], 3)] for r in rings]
    return markdown(["case (segment/dilation)", "variant", "runs as", "ranks", "ms", "MiB sent"]
                    + (["of that over NVLink"] if counted else [])
                    + ["computation alone, ms", "exchange alone, ms", "exchange hidden, %", "over one rank", "efficiency"],
                    rows)


def block_summary(folder, sweep):
    rows = [[r["variant"], r["cases"], r["faster"], r["slower"], r["unsettled"], r["no_difference"],
             f"{float(r['smallest']):.3f} to {float(r['largest']):.3f}"] for r in folder.rows("summary", sweep)]
    return markdown(["variant", "cases", "faster", "slower", "within 1 %, one process", "no difference shown",
                     "speedup"], rows)


def block_cases(folder, sweep):
    rows = []
    for r in folder.records(sweep):
        time, verify = r["time_ns"], r["verify"]
        rows.append([work(r["case"]), r["variant"], r["status"], f"{r['memory_bytes'] / 2**30:.2f}",
                     f"{time['median'] / 1e6:.4g}" if time else "", number(r["tflops"] if time else None),
                     f"{verify['max_abs']:.2g} of {verify['tolerance']:.2g}" if verify else "", r["reason"] or ""])
    return markdown(["case (segment/dilation)", "variant", "status", "GiB, by the plan", "ms", "TFLOP/s",
                     "largest error", "reason"], rows)


def block_count_spread(folder):
    counts = {}
    for sweep in folder.sweeps:
        for record in folder.records(sweep):
            value = lambda name: (record["counters"].get(name) or {}).get("value")
            reads, rate, sectors = value("l2_read_requests"), value("l2_read_hit_rate"), value("l2_read_sectors")
            if record["kind"] == "kernel" and None not in (reads, rate, sectors) and 1 - rate > 0.001:
                key = (record["case"], record["variant"])
                counts.setdefault(("L2", *key), []).append(reads * (1 - rate))
                counts.setdefault(("L1", *key), []).append(sectors)
    spread = {level: max(((max(values) / min(values) - 1) * 100 for key, values in counts.items()
                          if key[0] == level and len(values) > 1), default=0) for level in ("L2", "L1")}
    return (f"Misses of one variant, counted again in another process, differ by at most {spread['L2']:.1f} % at the "
            f"L2 and {spread['L1']:.1f} % at the L1.")


def block_spread(folder):
    ratios = {}
    for row in folder.rows("comparison"):
        if row["speedup"] and "/" in row["variant"]:
            key = (row["case"], row["variant"])
            ratios.setdefault(key, []).append(float(row["speedup"]))
    several = {key: values for key, values in ratios.items() if len(values) > 1}
    spreads = [(max(values) / min(values) - 1) * 100 for values in several.values()]
    if not spreads:
        return "No case and variant was measured by more than one process."
    return (f"{len(several)} pairs of case and variant were measured by 2 to {max(map(len, several.values()))} "
            f"processes each, in different sweeps: their ratios differ by {statistics.median(spreads):.2f} % (median) "
            f"and by {max(spreads):.2f} % at most.")


BLOCKS = {name[6:]: function for name, function in [*globals().items(), *vars(order_findings).items(), *vars(rate_findings).items()]
          if name.startswith("block_")}
MARK = re.compile(r"(<!-- generated: (\w+)(?: ([\w-]+))?(?: (\S+))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def page_of(folder):
    def fill(match):
        head, name, sweep, variants, _, end = match.groups()
        if name not in BLOCKS:
            sys.exit(f"findings.py: no block '{name}'; there are {', '.join(BLOCKS)}")
        if sweep and sweep not in folder.sweeps:
            text = f"`{sweep}` has not been published yet."
        else:
            text = BLOCKS[name](folder, *[given for given in (sweep, variants) if given])
        return f"{head}{text}\n{end}"

    return MARK.sub(fill, (folder.path / "README.md").read_text())


def main(command, path, *more):
    if command == "meta":
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            meta = dict(store.execute("select key, value from meta"))
        text = json.dumps({key: meta[key] for key in META_KEYS if key in meta}, indent=1)
        pathlib.Path(more[0]).write_text(text + "\n")
        return 0
    if command == "name":
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            print(order_findings.machine_name(store))
        return 0
    folder = Folder(path)
    if not folder.path.is_dir():
        raise NotADirectoryError(path)
    if not (folder.path / "README.md").exists():
        if command == "check" or not folder.sweeps or not order_findings.on_processor(folder):
            return 0
        title = order_findings.machine_title(folder)
        (folder.path / "README.md").write_text(CPU_PAGE.read_text().replace("MACHINE", title))
    page, written = page_of(folder), (folder.path / "README.md").read_text()
    if command == "check":
        print("as generated" if page == written else f"{path}/README.md differs from what its tables say")
        return int(page != written)
    (folder.path / "README.md").write_text(page)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != {"page": 3, "check": 3, "meta": 4, "name": 3}.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(*sys.argv[1:]))
    except (OSError, sqlite3.Error, KeyError, TypeError, ValueError, re.error) as error:
        sys.exit(f"findings.py: {sys.argv[2]}: {error!r}")
