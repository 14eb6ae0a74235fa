"""Blocks of a findings page about orders on a processor: which sentences stand there is decided by the records."""

import collections
import json
import math
import pathlib
import re

from published import grouped, markdown, own, span, work

NEGLIGIBLE = 0.01  # what one process may differ from another by, without a cause
SWEEPS = pathlib.Path(__file__).resolve().parents[3] / "sweeps"
STUDIES = ("cpu-order", "cpu-working-set")


def plural(count, one, many=None):
    return f"{count} {one if count == 1 else many or one + 's'}"


def claims_a_gain(row):
    return row["compares"] == "length" or float(row["claimed"] or 0) > 1


# ---- the machine

def any_record(folder):
    """One that could use as many cores as any: runs of one thread may be held to a quiet one."""
    return max(folder.records(folder.sweeps[0]), key=lambda record: record["environment"]["host"]["cores"])


def on_processor(folder):
    return bool(folder.sweeps) and any_record(folder)["params"]["device"] == "cpu"


def machine_title(folder):
    host = any_record(folder)["environment"]["host"]
    return f"{host['cpu']}, {plural(host['cores'], 'core')}"


def machine_name(store):
    """"Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz" with 16 cores: intel-xeon-platinum-8481c-16core."""
    hosts = (json.loads(text)["host"] for text, in store.execute("select json from environment"))
    host = max(hosts, key=lambda one: one["cores"])
    words = re.sub(r"\((r|tm)\)|@.*|\b(cpu|processor|\d+-core)\b", " ", host["cpu"].lower())
    return "-".join(re.findall(r"[a-z0-9]+", words) + [f"{host['cores']}core"])


def reaches(host):
    """What holds data or its translations, smallest first: (bytes, name)."""
    found = [(cache["bytes"], f"L{cache['level']}" + (" of a core" if cache["shared_by"] < host["cores"] else ""))
             for cache in host.get("caches") or [] if cache["level"] > 1]
    if host.get("data_tlb_entries"):
        found.append((4096 * host["data_tlb_entries"], "what a core's data TLB reaches"))
    return sorted(found)


def size_text(size):
    return f"{size / 2**20:.4g} MiB" if size >= 2**20 else f"{size / 2**10:.4g} KiB"


def block_machine(folder):
    host = any_record(folder)["environment"]["host"]
    caches = ", ".join(f"L{one['level']} {size_text(one['bytes'])}"
                       + (f" shared by {one['shared_by']} cores" if one["shared_by"] > 1 else "") for one in host["caches"])
    entries = host.get("data_tlb_entries")
    rows = [["processor", host["cpu"]], ["cores used", host["cores"]], ["data caches", caches],
            ["data TLB, 4 KiB pages", f"{entries} entries reach {size_text(4096 * entries)}" if entries else "not told"],
            ["large pages", host.get("transparent_hugepages") or "not told"],
            ["virtual machine", "yes" if host.get("virtual") else "no"]]
    return markdown(["", ""], rows)


# ---- claims

def block_claims_said(folder):
    rows = [row for row in own(folder.rows("claims"))
            if row["compares"] == "kernel time" and row["verdict"] != "not testable here"]
    if not rows:
        return "No claim about kernel time was tested."
    gains = [row for row in rows if claims_a_gain(row)]
    won = [row for row in gains if row["verdict"] == "reproduced"]
    said = [f"**Kernel time.** {plural(len(rows), 'answer')} to claims, {len(gains)} of them to claims of a gain: "
            + (f"{len(won)} reproduced ({', '.join(sorted({row['claim'] for row in won}))})." if won else "none was reproduced.")]
    measured = [float(row["measured"]) for row in rows]
    said.append(f"Hilbert order took {span((1 / value for value in measured))} times as long as linear order.")
    beside = [(float(row["measured"]), float(row["random"])) for row in rows if row["random"]]
    if beside:
        near = [abs(hilbert / random - 1) <= NEGLIGIBLE for hilbert, random in beside]
        faster = sum(hilbert / random > 1 + NEGLIGIBLE for hilbert, random in beside)
        said.append(f"It stands within 1 % of the random control in {sum(near)} of {len(beside)} answers, is faster than it by more in "
                    f"{faster} and slower by more in {len(beside) - sum(near) - faster}.")
    return " ".join(said)


def block_lines(folder):
    rows = [[row["claim"], work(row["case"]) if row["case"] else "all cases of its sweep", f"{float(row['claimed']):.3g}",
             f"{float(row['measured']):.4g} exactly", row["verdict"]]
            for row in own(folder.rows("claims")) if row["compares"] == "lines of the layout" and row["measured"]]
    return markdown(["claim", "case (segment/dilation)", "claimed", "lines, linear / hilbert", "verdict"], rows) if rows else (
        "No claim about cache lines was tested by the layout alone.")


# ---- orders

class Pair:
    """A variant of a case beside linear order of the same case."""

    def __init__(self, record, reference):
        self.record, self.reference, self.params = record, reference, record["params"]
        self.ratio, (self.low, self.high) = record["speedup"]["ratio"], record["speedup"]["ci"]
        self.variant = record["variant"].split("/", 1)[1]
        self.kv = kv_bytes(self.params)
        self.keys = keys_of(self.params)
        self.gains, self.loses = self.low > 1 + NEGLIGIBLE, self.high < 1 - NEGLIGIBLE

    def count_ratio(self, name):
        mine, linear = (value_of(one, name) for one in (self.record, self.reference))
        return mine / linear if mine and linear else None


def value_of(record, name):
    return (record["counters"].get(name) or {}).get("value")


def kv_bytes(params):
    size = {"fp32": 4, "bf16": 2, "fp16": 2}[params["dtype"]]
    return 2 * params["batch"] * params["sequence_length"] * params["kv_heads"] * params["head_dim"] * size


def keys_of(params):
    return max(math.ceil(min(w, params["sequence_length"]) / r) for w, r in zip(params["segments"], params["dilations"]))


def pairs_of(folder, sweeps):
    pairs = []
    for sweep in sweeps:
        if sweep not in folder.sweeps:
            continue
        records = folder.records(sweep)
        known = {(record["case"], record["variant"]): record for record in records}
        pairs += [Pair(record, known[record["case"], record["speedup"]["against"]]) for record in records
                  if record["kind"] == "kernel" and record["status"] == "ok" and record["speedup"]]
    return pairs


def told(pairs):
    cases = sorted({(pair.params["dilations"][0], pair.params["sequence_length"]) for pair in pairs})
    dilations = sorted({r for r, _ in cases})
    return (f"{plural(len(cases), 'case')} ({span((pair.ratio for pair in pairs))}, dilation "
            f"{', '.join(map(str, dilations))})")


def block_order_said(folder, sweep):
    pairs = pairs_of(folder, [sweep])
    if not pairs:
        return "Nothing of it was measured."
    cases = {pair.record["case"] for pair in pairs}
    said = []
    for what, chosen in (("faster", [p for p in pairs if p.gains]), ("slower", [p for p in pairs if p.loses])):
        by_variant = grouped(chosen, lambda pair: pair.variant)
        if not by_variant:
            said.append(f"No order was {what} than linear by more than 1 % in any of {plural(len(cases), 'case')}.")
            continue
        said.append(f"{what.capitalize()} than linear by more than 1 %, of {plural(len(cases), 'case')}: "
                    + "; ".join(f"`{variant}` in {told(group)}" for variant, group in by_variant.items()) + ".")
    random = {pair.record["case"]: pair for pair in pairs if pair.variant == "random"}
    won = [pair for pair in pairs if pair.gains and not pair.variant.startswith("random") and pair.record["case"] in random]
    if won:
        alike = [pair for pair in won if random[pair.record["case"]].high >= pair.low]
        said.append(f"Of {plural(len(won), 'gain')} of an order that is not random, the random control reaches {len(alike)} too.")
    slot = {(pair.record["case"], pair.variant): pair for pair in pairs}
    visits = [pair.ratio / slot[pair.record["case"], pair.variant[:-5]].ratio for pair in pairs
              if pair.variant.endswith(".slot") and (pair.record["case"], pair.variant[:-5]) in slot]
    if visits:
        said.append(f"Walking keys in the sequence in which they are stored, instead of by position, changes the time of an "
                    f"order by a factor of {span((1 / visit for visit in visits))}.")
    return " ".join(said)


def block_orders(folder, sweep):
    pairs = pairs_of(folder, [sweep])
    variants = list(dict.fromkeys(pair.variant for pair in pairs))
    rows = []
    for case, group in grouped(pairs, lambda pair: pair.record["case"]).items():
        ratios = {pair.variant: f"{pair.ratio:.3f} [{pair.low:.3f}, {pair.high:.3f}]" for pair in group}
        first = group[0]
        rows.append([work(case).rsplit(", head_offset", 1)[0], size_text(first.kv), first.keys,
                     f"{first.reference['time_ns']['median'] / 1e6:.4g}"] + [ratios.get(variant, "") for variant in variants])
    return markdown(["case (segment/dilation)", "K and V", "keys", "linear, ms"] + variants, rows)


def place_of(kv, host):
    limits = reaches(host)
    for size, name in limits:
        if kv <= size:
            return f"within {name} ({size_text(size)})"
    return f"beyond {limits[-1][1]} ({size_text(limits[-1][0])})" if limits else "unknown caches"


def block_working_set(folder):
    pairs = pairs_of(folder, STUDIES)
    host = any_record(folder)["environment"]["host"]
    keys = sorted({pair.keys for pair in pairs})
    places = grouped(sorted(pairs, key=lambda pair: pair.kv), lambda pair: place_of(pair.kv, host))

    def cell(group):
        if not group:
            return ""
        orders = [pair for pair in group if not pair.variant.startswith("random")] or group
        control = [pair.ratio for pair in group if pair.variant.startswith("random")]
        moved = sum(pair.gains or pair.loses for pair in group)
        return (f"best {max(pair.ratio for pair in orders):.3f}" + (f", random {min(control):.3f}" if control else "")
                + f" ({moved} of {len(group)})")

    rows = [[place] + [cell([pair for pair in group if pair.keys == count]) for count in keys]
            for place, group in places.items()]
    return markdown(["K and V"] + [plural(count, "key") for count in keys], rows) if rows else "Nothing was measured."


# ---- counts

def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    placed = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for one in order[at:end + 1]:
            placed[one] = (at + end) / 2
        at = end + 1
    return placed


def rank_correlation(xs, ys):
    """Spearman's; None where one of them never changes."""
    xs, ys = ranks(xs), ranks(ys)
    mean = (len(xs) - 1) / 2
    over = math.sqrt(sum((x - mean) ** 2 for x in xs) * sum((y - mean) ** 2 for y in ys))
    return sum((x - mean) * (y - mean) for x, y in zip(xs, ys)) / over if over else None


def counted(pairs):
    """Of each count: its source, how many pairs it has, and its correlation with the time; the strongest first."""
    names = {name: counter["source"] for pair in pairs for name, counter in pair.record["counters"].items()
             if counter.get("value") is not None}
    found = []
    for name, source in names.items():
        both = [(ratio, pair.ratio) for pair in pairs if (ratio := pair.count_ratio(name))]
        if len(both) > 2:
            found.append((name, source, len(both), rank_correlation(*zip(*both))))
    return sorted(found, key=lambda one: -abs(one[3] or 0))


def block_counts(folder):
    sides = collections.OrderedDict((sweep, {one[0]: one for one in counted(pairs_of(folder, [sweep]))}) for sweep in STUDIES)
    names = list(dict.fromkeys(name for side in sides.values() for name in side))
    rows = []
    for name in names:
        source = next(side[name][1] for side in sides.values() if name in side)
        row = [name, source]
        for side in sides.values():
            known = side.get(name)
            row += ["", ""] if not known else [known[2], "never changes" if known[3] is None else f"{known[3]:+.2f}"]
        rows.append(row)
    heads = [text for sweep in sides for text in (f"pairs, {sweep}", f"correlation, {sweep}")]
    return markdown(["count", "source"] + heads, rows) if rows else "No count was read."


STRONG, FEWEST_PAIRS = 0.6, 12  # of a rank correlation that is called one


def block_counts_said(folder):
    said = []
    for sweep in STUDIES:
        pairs = pairs_of(folder, [sweep])
        counts = [one for one in counted(pairs) if one[3] is not None and one[2] >= FEWEST_PAIRS]
        if not counts:
            continue
        name, source, _, value = counts[0]
        if abs(value) >= STRONG:
            said.append(f"In `{sweep}` the time goes with `{name}` ({source}): rank correlation {value:+.2f} between what an order does to it and the speedup.")
        else:
            said.append(f"In `{sweep}` no count sorts the times: the strongest, `{name}` ({source}), has a rank correlation of {value:+.2f}.")
    sources = {counter["source"] for pair in pairs_of(folder, STUDIES) for counter in pair.record["counters"].values()
               if counter.get("value") is not None}
    if sources and not any(source.startswith("perf") for source in sources):
        said.append("Hardware counters could not be read on this machine; what there is are exact counts of the layout.")
    return " ".join(said) or "Nothing was measured."


# ---- what is missing

SECONDS = re.compile(r"about ([0-9.e+-]+) s")


def block_not_run(folder):
    answered = {row["claim"] for row in folder.rows("claims") if row["verdict"] != "not testable here"}
    skipped = [(sweep, record["reason"] or "") for sweep in folder.sweeps for record in folder.records(sweep)
               if record["status"] == "skipped"]
    rows = []
    for (sweep, reason), group in grouped(skipped, lambda one: (one[0], SECONDS.sub("about SPAN s", one[1]))).items():
        seconds = [found[1] for _, text in group if (found := SECONDS.search(text))]
        rows.append([sweep, len(group), reason.replace("SPAN", span(seconds, 2))])
    parts = []
    absent = [path for path in sorted((SWEEPS / "claims").glob("*.yaml")) if path.stem not in folder.sweeps]
    for path in absent:
        text = path.read_text()
        why = ("asked of the memory of GPUs" if "dtype: fp16" in text else
               "asked of rings of GPUs" if "ring_size" in text else "left out")
        instead = "; other sweeps here answer the claim" if path.stem in answered else ""
        parts.append(f"- `{path.stem}` ({re.search(r'^title: (.*)', text, re.M)[1]}): {why}, not run here{instead}.")
    if rows:
        parts += ["", "Skipped by the plan, with its reason:", "", markdown(["sweep", "records", "reason"], rows)]
    return "\n".join(parts).strip() or "Nothing was left out."
