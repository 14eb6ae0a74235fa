"""Blocks about what was predicted and planned of rings, held against what was measured."""

import re

import render
from cells import grouped, markdown, span
from published import value_of


def block_expected(folder, sweep, fitted, ranks, chosen=""):
    """Rings of `ranks`, which were not measured, from all records of rings of `fitted` (1,2,4); `chosen`: a regular
    expression, searched in CASE/VARIANT."""
    said = render.hilbench("predict", folder.path / sweep, "--fit-ranks", fitted, "--ring", ranks, "--filter", chosen,
                           "--format", "markdown")
    return "\n\n".join(re.findall(r"^\| case \| variant \|(?:.+\n?)+", said, re.MULTILINE)).strip()


def block_ring_memory(folder):
    """By sweep and algorithm: by how much a GPU's free memory fell, over what was planned."""
    rows = []
    for sweep in folder.sweeps:
        rings = [record for record in folder.records(sweep) if value_of(record, "ring_device_memory")]
        for key, group in grouped(rings, lambda record: record["params"]["ring_algorithm"]).items():
            fell = [value_of(record, "ring_device_memory") for record in group]
            over = [(one - record["memory_bytes"]) / 2**20 for one, record in zip(fell, group)]
            ratios = [one / record["memory_bytes"] for one, record in zip(fell, group)]
            rows.append([sweep, key, len(group), span((one / 2**20 for one in fell), ".0f"), span(ratios),
                         span((round(one) for one in over), ".0f")])
    return markdown(["sweep", "algorithm", "rings", "MiB measured", "measured / planned", "measured - planned, MiB"],
                    rows)
