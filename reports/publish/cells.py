"""How values read in the Markdown of a page."""

import textwrap

WIDTH = 120


def markdown(header, rows):
    """A table; cells are taken as they are."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def wrapped(*sentences, indent=""):
    """A paragraph of lines that fit the page; `indent` begins all but the first."""
    return textwrap.fill(" ".join(sentences), WIDTH, subsequent_indent=indent, break_on_hyphens=False,
                         break_long_words=False)


def number(text, digits=4):
    """A value with this many digits; empty if there is none."""
    if text in ("", None):
        return ""
    value = float(text)
    return f"{value:.{digits}g}" if abs(value) < 1 else f"{value:.{max(digits - len(str(int(abs(value)))), 0)}f}"


def span(values, form=".3f"):
    """The least and the largest of the values: "0.986 to 0.988"; one number if they read the same."""
    values = [float(value) for value in values if value != ""]
    if not values:
        return ""
    least, most = (f"{end:{form}}" for end in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def interval(row, key="speedup"):
    """A ratio of a table's row with its interval: "1.004 [1.000, 1.011]". One round has none."""
    if row[key] == "":
        return ""
    if row[key + "_low"] == "":
        return f"{float(row[key]):.3f}"
    return f"{float(row[key]):.3f} [{float(row[key + '_low']):.3f}, {float(row[key + '_high']):.3f}]"


def pattern_text(segments, dilations):
    """Branches of a pattern as segment/dilation: "4096/2 + 8192/4"."""
    return " + ".join(f"{w}/{r}" for w, r in zip(segments, dilations))


def window_text(grid, window):
    return f"grid {grid}, window {window}"


def has_windows(case):
    """Of an id of a case: windows on a grid, or a mask of blocks."""
    return case.split("-")[1].startswith(("win", "m"))


def mask_text(positions, block, digits):
    """`positions`: "8192" or, of a grid, "64x128"."""
    return f"{'grid' if 'x' in positions else 'n'} {positions}, mask {digits} of {block}"


def place_text(case):
    """Length and branches of an id of a case, or grid and window: g32x48x80-win18x24x24-... as "grid 32x48x80, window
    18x24x24"; or the mask: n8192-m64.a7f5f064-... as "n 8192, mask a7f5f064 of 64"."""
    if has_windows(case):
        grid, window = case.split("-")[:2]
        if window.startswith("m"):
            return mask_text(grid[1:], *window[1:].split("."))
        return window_text(grid[1:], window[3:])
    length, segments, dilations = (part[1:] for part in case.split("-")[:3])
    return f"n {length}, {pattern_text(segments.split('.'), dilations.split('.'))}"


def dtype_of(case):
    """Of an id of a case."""
    return case.split("-")[4 if has_windows(case) else 5]


def work(case):
    """n8192-w4096-r2-h8-d64-fp32-p1-cuda as "n 8192, 4096/2, h 8, d 64, fp32" and the options behind it."""
    parts = case.split("-")
    if has_windows(case):
        parts.insert(0, "")  # two parts say what three say of branches
    rest = [part.replace(".", " ", 1) for part in parts[8:]]
    return ", ".join([place_text(case), f"h {parts[3][1:]}, d {parts[4][1:]}, {dtype_of(case)}"] + rest)


def size_text(size):
    return f"{size / 2**20:.4g} MiB" if size >= 2**20 else f"{size / 2**10:.4g} KiB"


def plural(count, one, many=None):
    return f"{count} {one if count == 1 else many or one + 's'}"


def grouped(rows, key):
    """Rows by their key, in the order in which keys come first."""
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
