"""The picture of README.md: claimed and measured speedup of Hilbert order, one row a claim."""

import math
from html import escape

from blocks.claims import claims_a_gain, time_answers
from blocks.machine import on_processor, short_name
from cells import has_windows, place_text

WIDTH, LEFT, RIGHT, TOP, STEP = 780, 270, 740, 76, 32
APART = 5.5  # marks of two machines in a row, so that none hides another
MARGIN, ENTRY_INDENT, ENTRY_GAP, LEGEND_STEP = 16, 18, 20, 20  # of the legend: an entry's mark stands before its text
FONT_SIZE = 13
LETTER_WIDTHS = (("ijlIJ", 0.29), (" .,:;'|!", 0.33), ("tfr()[]-/", 0.41), ("Mw", 0.86), ("mW", 0.99),
                 ("DGHNOQU", 0.78), ("ABCKRVXZ", 0.69))
LEAST, MOST = 0.9, 9.0  # ends of the axis
SMALLEST_CLAIM = 1.1
INK, PALE_INK, CLAIMED = "#1b1f24", "#40474f", "#c04a00"
COLOURS = ("#0072b2", "#009e73", "#a0429a", "#8a6d00", "#333333")


def circle(x, y):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2"'


def square(x, y):
    return f'<rect x="{x - 3.8:.1f}" y="{y - 3.8:.1f}" width="7.6" height="7.6"'


def triangle(x, y):
    return f'<path d="M{x:.1f},{y - 5:.1f} l4.8,8.4 h-9.6 z"'


def pentagon(x, y):
    return f'<path d="M{x:.1f},{y - 5:.1f} l5,3.8 -1.9,5.6 h-6.2 l-1.9,-5.6 z"'


def bar(x, y):
    return f'<rect x="{x - 1.6:.1f}" y="{y - 5.5:.1f}" width="3.2" height="11"'


SHAPES = (circle, square, triangle, pentagon, bar)


def diamond(x, y):
    return f'<path d="M{x:.1f},{y - 6:.1f} l6,6 -6,6 -6,-6 z" fill="#ffffff" stroke="{CLAIMED}" stroke-width="2"/>'


def measured(machine, x, y):
    """The mark of the n-th machine."""
    at = machine % len(SHAPES)
    return f'{SHAPES[at](x, y)} fill="{COLOURS[at]}" fill-opacity="0.85"/>'


def label(x, y, text, anchor="start", colour=INK):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def place(value):
    """Where a speedup lies on the logarithmic axis."""
    return LEFT + math.log(value / LEAST) / math.log(MOST / LEAST) * (RIGHT - LEFT)


def claims_of(published):
    """Names of machines, processors first, and of each (claimed speedup, case's text) what each machine measured; fp32
    only."""
    machines, claims = [], {}
    for folder in sorted(published.folders(), key=lambda folder: not on_processor(folder)):
        rows = [row for row in time_answers(folder) if claims_a_gain(row) and row["dtype"] == "fp32"]
        if not rows:
            continue
        machines.append(short_name(folder))
        for row in rows:
            if row["case"] and row["in_sweep"] == row["claim"] and float(row["claimed"]) >= SMALLEST_CLAIM:
                key = (float(row["claimed"]), case_text(row["case"]))
                claims.setdefault(key, {})[len(machines) - 1] = float(row["measured"])
    return machines, dict(sorted(claims.items(), reverse=True))


def case_text(case):
    text = place_text(case)
    if has_windows(case):
        return text
    length, pattern = text.removeprefix("n ").split(", ")
    return f"{length} positions, {pattern}"


def text_width(text):
    """Of a label. Widths of letters are those of DejaVu Sans, which is wider than other fonts without serifs."""
    return FONT_SIZE * sum(next((width for letters, width in LETTER_WIDTHS if letter in letters), 0.64) for letter in text)


def legend_rows(machines):
    """The entries of the legend, (mark, text, where it begins), in as many rows as they need; a mark's number is that
    of the machine, -1 is what was claimed."""
    rows, x = [[]], MARGIN
    for mark, name in enumerate(["claimed", *machines], -1):
        if rows[-1] and x + ENTRY_INDENT + text_width(name) > WIDTH - MARGIN:
            rows.append([])
            x = MARGIN
        rows[-1].append((mark, name, x))
        x += ENTRY_INDENT + text_width(name) + ENTRY_GAP
    return rows


def legend(rows):
    parts = []
    for row, entries in enumerate(rows):
        y = 46 + LEGEND_STEP * row
        for mark, name, x in entries:
            parts += [diamond(x + 6, y) if mark < 0 else measured(mark, x + 6, y), label(x + ENTRY_INDENT, y + 4.5, name)]
    return parts


def axis(top, bottom):
    parts = []
    for tick in (1, 1.5, 2, 3, 4, 6, 8):
        colour = "#57606a" if tick == 1 else "#e2e5e9"
        parts += [f'<path d="M{place(tick):.1f},{top - 8} V{bottom}" stroke="{colour}"/>',
                  label(place(tick), bottom + 18, f"{tick:g}", "middle", PALE_INK)]
    text = "times as fast as linear order (right of 1: faster; logarithmic)"
    return parts + [label((LEFT + RIGHT) / 2, bottom + 42, text, "middle", PALE_INK)]


def claim_row(y, claimed, text, found, machines):
    """A claim: its case, its speedup with a line from 1, and a mark for each machine, in rows."""
    return [label(LEFT - 14, y + 4.5, text, "end"),
            f'<path d="M{place(1):.1f},{y:.1f} H{place(claimed):.1f}" stroke="{CLAIMED}" stroke-opacity="0.35"/>',
            diamond(place(claimed), y), label(place(claimed) + 11, y + 4.5, f"{claimed:.2f}", colour=CLAIMED),
            *(measured(machine, place(value), y + APART * (machine - (machines - 1) / 2))
              for machine, value in sorted(found.items()))]


def picture(published):
    """The picture as SVG, on a light ground of its own: readable on dark pages too."""
    machines, claims = claims_of(published)
    entries = legend_rows(machines)
    top = TOP + LEGEND_STEP * (len(entries) - 1)
    bottom = top + STEP * len(claims)
    title = "Claimed and measured speedup of Hilbert order over linear order"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 62}" font-family="sans-serif" '
             f'font-size="{FONT_SIZE}" role="img">',
             f"<title>{title}, fp32</title>",
             f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{bottom + 61}" rx="6" fill="#ffffff" '
             'stroke="#c8ccd0"/>',
             f'<text x="16" y="26" font-size="15" fill="{INK}" font-weight="bold">{title}</text>',
             *legend(entries), *axis(top, bottom)]
    for number, ((claimed, text), found) in enumerate(claims.items()):
        parts += claim_row(top + STEP * (number + 0.4), claimed, text, found, len(machines))
    return "\n".join(parts + ["</svg>", ""])
