"""Blocks about orders on a processor. The records decide which sentences stand there."""

from blocks.machine import host_of, place_of
from blocks.pairs import STUDIES, pairs_of
from cells import grouped, margin_text, markdown, plural, size_text, span, work, wrapped


def block_order_said(folder, sweep):
    pairs = pairs_of(folder, [sweep])
    if not pairs:
        return "Nothing was measured."
    said = control_said(pairs) + visits_said(pairs)
    return "\n\n".join([effects_said(pairs)] + ([wrapped(*said)] if said else []))


def effects_said(pairs):
    """Which orders are faster or slower than linear order, in how many cases."""
    margin = margin_text(pair.margin for pair in pairs)
    cases = plural(len({pair.record["case"] for pair in pairs}), "case")
    by_variant = grouped([pair for pair in pairs if pair.gains or pair.loses], lambda pair: pair.variant)
    if not by_variant:
        return f"No order was shown to be more than {margin} faster or slower than linear order in any of {cases}."
    rows = [[f"`{variant}`", *range_cells([pair for pair in group if pair.gains]),
             *range_cells([pair for pair in group if pair.loses])] for variant, group in by_variant.items()]
    rows.sort(key=lambda row: (-row[1], row[0]))
    heads = ["order", "cases faster", "speedup", "dilations", "cases slower", "speedup", "dilations"]
    return (f"Of {cases}, those in which an order is shown to be more than {margin} faster or slower than linear "
            "order:\n\n" + markdown(heads, rows))


def range_cells(pairs):
    """Number of cases, their speedups and their dilations, which windows and masks have none of."""
    if not pairs:
        return [0, "", ""]
    cases = {pair.record["case"] for pair in pairs}
    dilations = sorted({pair.params["dilations"][0] for pair in pairs if pair.params["dilations"]})
    return [len(cases), span(pair.ratio for pair in pairs), ", ".join(map(str, dilations))]


def control_said(pairs):
    """How many gains random order reaches too: its interval reaches the gain's."""
    random = {pair.record["case"]: pair for pair in pairs if pair.variant == "random"}
    won = [pair for pair in pairs if pair.gains and not pair.is_random() and pair.record["case"] in random]
    if not won:
        return []
    alike = [pair for pair in won if random[pair.record["case"]].high >= pair.low]
    return [f"Random order, the control, reaches {len(alike)} of the {plural(len(won), 'gain')} of other orders."]


def visits_said(pairs):
    """How `key_visit: slot` changes the time."""
    ratios = {(pair.record["case"], pair.variant): pair.ratio for pair in pairs}
    changes = [ratios[case, variant[:-5]] / ratio for (case, variant), ratio in ratios.items()
               if variant.endswith(".slot") and (case, variant[:-5]) in ratios]
    if not changes:
        return []
    return ["If a tile walks its keys in stored order (`.slot`) instead of by position, the time of an order changes "
            f"by a factor of {span(changes)}."]


def block_orders(folder, sweep):
    pairs = pairs_of(folder, [sweep])
    variants = list(dict.fromkeys(pair.variant for pair in pairs))
    groups = grouped(pairs, lambda pair: pair.record["case"])
    return markdown(["case (segment/dilation)", "K and V", "keys", "linear, ms"] + variants,
                    [order_cells(case, group, variants) for case, group in groups.items()])


def order_cells(case, group, variants):
    first = group[0]
    ratios = {pair.variant: f"{pair.ratio:.3f} [{pair.low:.3f}, {pair.high:.3f}]" for pair in group}
    return [work(case).replace(", head_offset none", ""), size_text(first.kv), first.keys,
            f"{first.reference['time_ns']['median'] / 1e6:.4g}", *(ratios.get(variant, "") for variant in variants)]


def block_working_set(folder):
    pairs = pairs_of(folder, STUDIES)
    if not pairs:
        return "Nothing was measured."
    host = host_of(folder)
    keys = sorted({pair.keys for pair in pairs})
    places = grouped(sorted(pairs, key=lambda pair: pair.kv), lambda pair: place_of(pair.kv, host))
    rows = [[place] + [effect_cell([pair for pair in group if pair.keys == count]) for count in keys]
            for place, group in places.items()]
    return markdown(["K and V"] + [plural(count, "key") for count in keys], rows)


def effect_cell(group):
    """The best of the orders, the worst of the random control, and how many differ from linear."""
    if not group:
        return ""
    controls = [pair.ratio for pair in group if pair.is_random()]
    orders = [pair.ratio for pair in group if not pair.is_random()] or controls
    moved = sum(pair.gains or pair.loses for pair in group)
    return (f"best {max(orders):.3f}" + (f", random {min(controls):.3f}" if controls else "")
            + f" ({moved} of {len(group)})")
