"""Marks of generated text in a Markdown file: '<!-- generated: NAME [ARGUMENT...] -->' ... '<!-- end -->'."""

import re

MARK = re.compile(r"(<!-- generated: (\w+)((?: (?!-->)\S+)*) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(text, block):
    """`text` with what block(NAME, [ARGUMENT...]) gives between the marks."""
    def fill(match):
        head, name, arguments, _, end = match.groups()
        return f"{head}{block(name, arguments.split())}\n{end}"

    return MARK.sub(fill, text)


def stale_blocks(written, generated):
    """Names of the marks, with arguments, between which two texts of one page differ."""
    pairs = zip(MARK.finditer(written), MARK.finditer(generated))
    return [mark[2] + mark[3] for mark, other in pairs if mark[4] != other[4]]
