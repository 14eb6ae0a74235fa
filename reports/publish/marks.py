"""Marks of generated text in a Markdown file: '<!-- generated: NAME [ARGUMENT...] -->' ... '<!-- end -->'."""

import re
from typing import NamedTuple

HEAD = re.compile(r"<!-- generated: (\w+)((?: (?!-->)\S+)*) -->\n")
END = "<!-- end -->"
BEGINS = re.compile(r"^[ \t]*(<!--\s*generated\b[^\n]*)", re.MULTILINE)  # what is meant as a mark, whether it is one


class MarkError(ValueError):
    pass


class Block(NamedTuple):
    name: str
    arguments: str
    begin: int  # of the content, behind the mark
    end: int  # of the content, before '<!-- end -->'
    content: str


def blocks_of(text):
    found = []
    for begun in BEGINS.finditer(text):
        line = text.count("\n", 0, begun.start(1)) + 1
        head = HEAD.match(text, begun.start(1))
        if not head:
            raise MarkError(f"line {line}: no mark: {begun[1]}; it is written '<!-- generated: NAME [ARGUMENT...] -->'")
        end, further = text.find(END, head.end()), BEGINS.search(text, head.end())
        if end < 0 or further and further.start() < end:
            raise MarkError(f"line {line}: no '{END}' behind '{head[1]}{head[2]}'")
        found.append(Block(head[1], head[2], head.end(), end, text[head.end():end]))
    return found


def filled(text, make):
    """`text` with what make(NAME, [ARGUMENT...]) gives between the marks. Errors name the mark."""
    made, at = [], 0
    for block in blocks_of(text):
        try:
            content = make(block.name, block.arguments.split())
        except (KeyError, TypeError, ValueError) as error:
            raise MarkError(f"{block.name}{block.arguments}: {type(error).__name__}: {error}") from error
        made += [text[at:block.begin], content, "\n"]
        at = block.end
    return "".join(made) + text[at:]


def stale_blocks(written, generated):
    """Names of the marks, with arguments, between which two texts of one page differ."""
    pairs = zip(blocks_of(written), blocks_of(generated))
    return [block.name + block.arguments for block, other in pairs if block.content != other.content]
