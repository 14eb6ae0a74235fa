"""Blocks that hold what the program says of a sweep: `hilbench show SWEEP --finding ID`, word for word."""

import re

import render
from cells import wrapped


def parts_of(place, finding, chosen=None):
    """The paragraphs of a finding, and its table; `chosen`: a regular expression, searched in CASE/VARIANT."""
    try:
        text = render.hilbench("show", place, "--finding", finding, *(["--filter", chosen] if chosen else []))
    except render.RenderError as error:
        if "these records have no finding" in str(error):
            return ["Nothing was measured."], ""
        raise
    table = re.search(r"^\|", text, re.MULTILINE)
    said = text[:table.start()] if table else text
    return [wrapped(paragraph) for paragraph in said.strip().split("\n\n") if paragraph], text[len(said):].strip()


def block_finding(folder, sweep, finding, chosen=None):
    """Its sentences and its table."""
    said, table = parts_of(folder.path / sweep, finding, chosen)
    return "\n\n".join(filter(None, [*said, table]))


def block_said(folder, sweep, finding, chosen=None):
    """Its sentences."""
    return "\n\n".join(parts_of(folder.path / sweep, finding, chosen)[0])


def block_table(folder, sweep, finding, chosen=None):
    """Its table, or that there is nothing."""
    said, table = parts_of(folder.path / sweep, finding, chosen)
    return table or "\n\n".join(said)


def block_claims_said(folder):
    """What all sweeps of a folder together say of the claims."""
    return wrapped(*parts_of(folder.path, "claims")[0])
