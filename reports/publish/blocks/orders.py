"""A block about orders on a processor and the size of what they read."""

from blocks.machine import host_of, place_of
from blocks.pairs import STUDIES, pairs_of
from cells import grouped, markdown, plural


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
