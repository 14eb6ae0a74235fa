"""Marks of generated text in a Markdown file: '<!-- generated: NAME [ARGUMENT...] -->' ... '<!-- end -->'."""

import re

MARK = re.compile(r"(<!-- generated: (\w+)((?: (?!-->)\S+)*) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(text, block):
    """`text` with what block(NAME, [ARGUMENT...]) gives between the marks."""
    def fill(match):
        head, name, arguments, _, end = match.groups()
        return f"{head}{block(name, arguments.split())}\n{end}"

    return MARK.sub(fill, text)
