"""Blocks about kernels: their counters, their rivals, and summaries over the cases of a sweep."""

from blocks.machine import short_name
from cells import grouped, interval, markdown, number, plural, span, work, wrapped
from published import chosen, value_of

EXPLAINED = {"dram_of_compulsory": "DRAM bytes / compulsory", "dram_of_copy": "share of copy rate",
             "l2_read_hit_rate": "L2 read hit rate", "l2_first_hit_rate": "L2 hit rate at the first slice",
             "l1_load_hit_rate": "L1 load hit rate", "l1_sectors_per_load": "L1 sectors / load request",
             "tensor_pipe_use": "tensor pipe, %"}

RIVALS = {"torch_sdpa.fa3": "FlashAttention-3", "cudnn": "cuDNN reading dilated rows in place",
          "cudnn_gather": "cuDNN on gathered rows", "torch_sdpa.cudnn": "PyTorch's cuDNN",
          "torch_sdpa.flex": "FlexAttention", "torch_sdpa.flash": "PyTorch's FlashAttention-2",
          "torch_context_parallel.allgather": "PyTorch's context_parallel with rotation by allgather",
          "torch_context_parallel.ring": "PyTorch's context_parallel with rotation in a ring"}


def block_explained(folder, sweep, variants=None):
    intervals = {(r["case"], r["variant"]): interval(r) for r in folder.rows("comparison", sweep)}
    of_kernels = chosen(folder.rows("explained", sweep), variants)
    shown = [key for key in EXPLAINED if any(r.get(key) for r in of_kernels)]
    rows = [[work(r["case"]), r["variant"], intervals[r["case"], r["variant"]] or "reference"]
            + [number(r[key], 3) for key in shown] for r in of_kernels]
    return markdown(["case (segment/dilation)", "variant", "speedup"] + [EXPLAINED[key] for key in shown], rows)


def block_rivals(folder, sweep):
    duels = list(folder.rows("rivals", sweep))
    rivals = list(dict.fromkeys(r["rival"] for r in duels))
    peaks = {(r["case"], r["variant"]): r["peak_fraction"] for r in folder.rows("comparison", sweep)}
    groups = grouped(duels, lambda r: (r["case"], r["variant"]))
    processes = {(work(r["case"]), r["variant"]): processes_of(r["time_ns"]["samples"])
                 for r in folder.records(sweep) if r["time_ns"]}
    heads = ["case (segment/dilation)", "kernel", "processes", "ms", "TFLOP/s", "share of peak", "strongest rival"]
    return markdown(heads + rivals, [rival_cells(group, rivals, peaks[key], processes[work(key[0]), key[1]])
                                     for key, group in groups.items()], without_empty=True)


def block_energy(folder, sweep):
    """A row a case: the joules of an execution of each variant that computes it."""
    records = [r for r in folder.records(sweep) if r["energy_j"] and r["verify"] and not r["twin"]]
    return table_of(records, lambda r: f"{r['energy_j']['median']:.3g}")


def block_data(folder, sweep):
    """A row a case whose data are not normal: the time of each variant over its time with normal data. The two were
    measured apart."""
    def plain(record):
        return record["variant"], tuple((k, str(v)) for k, v in record["params"].items() if k not in ("data", "score_scale"))

    records = [r for r in folder.records(sweep) if r["time_ns"] and r["verify"] and not r["twin"]]
    normal = {plain(r): r["time_ns"]["median"] for r in records if is_normal(r)}
    return table_of([r for r in records if not is_normal(r) and plain(r) in normal],
                    lambda r: f"{r['time_ns']['median'] / normal[plain(r)]:.3f}")


def is_normal(record):
    return record["params"]["data"] == "normal" and record["params"]["score_scale"] == 1


def table_of(records, text):
    """A row a case and a column a variant."""
    if not records:
        return "Nothing was measured."
    variants = list(dict.fromkeys(r["variant"] for r in records))
    rows = []
    for case, group in grouped(records, lambda r: r["case"]).items():
        cells = {r["variant"]: text(r) for r in group}
        rows.append([work(case), *(cells.get(variant, "") for variant in variants)])
    return markdown(["case (segment/dilation)", *variants], rows)


def processes_of(samples):
    """Records of schema 1 are of one process and have no list for each."""
    return len(samples) if isinstance(samples[0], list) else 1


def strongest_of(duels):
    """Of the duels of one kernel in one case: the one with the fastest rival."""
    return min(duels, key=lambda r: float(r["ratio"]))


def block_strongest(folder, sweep, kernel="dilated_wgmma"):
    """A sentence: in how many cases which rival is the strongest, and how it compares there."""
    rows = [row for row in folder.rows("rivals", sweep)
            if row["kernel"] == kernel and row["variant"].partition("/")[2] == "linear"]
    by_case = grouped(rows, lambda row: row["case"])
    by_rival = grouped([strongest_of(group) for group in by_case.values()], lambda row: row["rival"])
    machine = gpus_text(short_name(folder).removeprefix("NVIDIA "), folder.records(sweep))
    brackets = f"in brackets its time over that of `{kernel}`, in linear order."
    ratios = {rival: f"({span((row['ratio'] for row in duels), '.2f')})" for rival, duels in by_rival.items()}
    if len(by_rival) == 1:
        rival, = by_rival
        cases = f"all {len(by_case)} cases" if len(by_case) > 1 else "the one case"
        return wrapped(f"In {cases} the strongest rival on {machine} is {RIVALS.get(rival, rival)} {ratios[rival]}: "
                       + brackets)
    parts = [f"{RIVALS.get(rival, rival)} in {len(duels)} {ratios[rival]}"
             for rival, duels in sorted(by_rival.items(), key=lambda item: -len(item[1]))]
    return wrapped(f"The strongest rival on {machine}, in {plural(len(by_case), 'case')}, is {', '.join(parts)}: "
                   + brackets)


def gpus_text(name, records):
    """"an H200"; of rings "4 GPUs (H200)"."""
    ranks = span((record["params"]["ring_size"] for record in records), ".0f")
    return f"an {name}" if ranks == "1" else f"{ranks} GPUs ({name})"


def block_busy(folder, sweep):
    """Of rivals that were profiled: their time beside the time in which their GPU is busy."""
    times = {(r["case"], r["variant"]): r["time_ns"]["median"] for r in folder.records(sweep) if r["time_ns"]}
    rows = [[work(r["case"]), r["variant"], *(f"{time / 1e6:.4g}" for time in (r["time_ns"]["median"], busy)),
             f"{busy / r['time_ns']['median']:.2f}", f"{busy / times[r['case'], 'dilated/linear']:.2f}"]
            for r in folder.records(sweep) if (busy := value_of(r, "gpu_busy_ns"))]
    return markdown(["case (segment/dilation)", "rival", "ms", "its busiest GPU works, ms", "works / time",
                     "works / time of `dilated/linear`"], rows)


def rival_cells(group, rivals, peak, processes):
    """A kernel in one case beside its rivals; options of rings follow the kernel's name."""
    first = group[0]
    ratios = {r["rival"]: interval(r, "ratio") for r in group}
    strongest = strongest_of(group)["rival"]
    ring = first["variant"].partition("/linear")[2].lstrip("./")
    return [work(first["case"]), first["kernel"] + (f", {ring}" if ring else ""), processes,
            f"{float(first['time_ns']) / 1e6:.4g}", number(first["tflops"]),
            f"{float(peak) * 100:.1f} %" if peak else "", f"{strongest} {ratios[strongest]}",
            *(ratios.get(rival, "") for rival in rivals)]


def block_summary(folder, sweep):
    rows = list(folder.rows("summary", sweep))
    apart = len({r["pattern"] for r in rows}) > 1
    return markdown(["variant", "pattern", "cases", "faster", "slower", "equivalent", "inconclusive", "speedup"],
                    [[r["variant"], r["pattern"] if apart else "", r["cases"], r["faster"], r["slower"], r["equivalent"],
                      r["inconclusive"], f"{float(r['smallest']):.3f} to {float(r['largest']):.3f}"] for r in rows],
                    without_empty=True)
