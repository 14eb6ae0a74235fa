"""Marks of generated text in a Markdown file: '<!-- generated: NAME [ARGUMENT...] -->' ... '<!-- end -->'."""

import re

HEAD = re.compile(r"<!-- generated: (\w+)((?: (?!-->)\S+)*) -->\n")
END = "<!-- end -->"
BEGINS = re.compile(r"^<!--\s*generated\b[^\n]*", re.MULTILINE)  # what is meant as a mark, whether it is one or not


class MarkError(ValueError):
    pass


def blocks_of(text):
    """(head, name, arguments, content, place behind the end) of each mark."""
    found = []
    for begun in BEGINS.finditer(text):
        line = text.count("\n", 0, begun.start()) + 1
        head = HEAD.match(text, begun.start())
        if not head:
            raise MarkError(f"line {line}: no mark: {begun[0]}; it is written '<!-- generated: NAME [ARGUMENT...] -->'")
        end, further = text.find(END, head.end()), BEGINS.search(text, head.end())
        if end < 0 or further and further.start() < end:
            raise MarkError(f"line {line}: no '{END}' behind '{head[1]}{head[2]}'")
        found.append((head, head[1], head[2], text[head.end():end], end))
    return found


def filled(text, block):
    """`text` with what block(NAME, [ARGUMENT...]) gives between the marks. Errors name the mark."""
    made, at = [], 0
    for head, name, arguments, _, end in blocks_of(text):
        try:
            content = block(name, arguments.split())
        except (KeyError, TypeError, ValueError) as error:
            raise MarkError(f"{name}{arguments}: {type(error).__name__}: {error}") from error
        made += [text[at:head.end()], content, "\n"]
        at = end
    return "".join(made) + text[at:]


def stale_blocks(written, generated):
    """Names of the marks, with arguments, between which two texts of one page differ."""
    pairs = zip(blocks_of(written), blocks_of(generated))
    return [name + arguments for (_, name, arguments, content, _), other in pairs if content != other[3]]
