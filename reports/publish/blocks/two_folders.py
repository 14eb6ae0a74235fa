"""A block about two folders: which verdicts of the other one this one replicates."""

import re

import render
from cells import wrapped


def block_against(folder, sweep, other):
    """What `hilbench agree` says of a sweep of this folder beside that of the folder next to it."""
    there = folder.path.parent / other
    if not (there / sweep).is_dir():
        return f"`{sweep}` of `{other}` has not been published yet."
    said = render.hilbench("agree", folder.path / sweep, "--with", there, "--format", "markdown")
    answer = re.search(r"^Machine: .*\n\n((?:[^#].*\n|\n)*)", said, re.MULTILINE)[1].strip()
    tables = re.findall(r"^## .* do not replicate\n\n((?:\|.*\n?)+)", said, re.MULTILINE)
    return "\n\n".join([*map(wrapped, answer.split("\n\n")), *(table.strip() for table in tables)])
