"""Blocks of docs/caches.md: block_NAME(published). What is derived needs no GPU; the program derives it."""

import json
import re

import render
from cells import markdown, span

GPUS = {"gtx-1080": "GTX 1080", "a100": "A100", "h100": "H100", "h200": "H200"}
CLAIMS = {"guide-speedup": "28 to 48 % fewer cache lines", "guide-headlines": "25 to 40 % fewer cache-line accesses",
          "analysis-theory": "25 to 40 % better use of lines, 50 % fewer misses"}
REPEATED = "DRAM bytes of "  # `hilbench sectors` begins its lines on repeated counts with this
PATTERNS = {"cache-order": "dilated: orders, visits of keys by slot", "cache-traversal": "dense and dilated: traversals",
            "controls": "dilated: controls", "images": "windows on images"}


def sector_rows(sweep, gpu):
    """Rows of `plan --sectors` of an embedded sweep or, after --claim, of a claim's."""
    return json.loads(render.hilbench("plan", *sweep, "--sectors", "--gpu", gpu, "--json"))["rows"]


def block_compared_sectors(published):
    """How many published records counted exactly what is derived, and what was not compared."""
    folders = [published.folder(name).path / sweep for name in published.names() if "00" in name
               for sweep in render.sweeps_of(published.folder(name).path)]
    return render.hilbench("sectors", "--markdown", *folders).partition(REPEATED)[0].strip()


def block_repeated_counts(published, folder, *sweeps):
    """How far counts of DRAM bytes of one variant differ, by sweep."""
    rows = []
    for sweep in sweeps:
        told = render.hilbench("sectors", published.folder(folder).path / sweep).partition(REPEATED)[2]
        rows.append([f"`{sweep}`", told.split()[0], *re.findall(r"within (\S+ %)", told)])
    return markdown(["sweep", "records", "half within", "nine of ten within", "all within"], rows)


def block_cache_claims(published):
    """What the reports state of caches, for each GPU: derived, or measured besides."""
    rows = [[f"`{claim}`", states] + [claim_cell(published, claim, gpu) for gpu in GPUS]
            for claim, states in CLAIMS.items()]
    return markdown(["claim", "states", *GPUS.values()], rows)


def claim_cell(published, claim, gpu):
    hilbert = [row["analysis"] for row in sector_rows(("--claim", claim), gpu) if row["variant"] == "dilated/hilbert"]
    views = {each["view"] for each in hilbert}
    if not views <= {"renamed", "table"}:
        return f"may change by at most {max(each['most_ratio'] for each in hilbert):.3g} times (derived)"
    more = span((100 * (each["read_ratio"] - 1) for each in hilbert), ".1f")
    said = f"*cannot change*: K and V are renamed, tables add {more} % of sectors (derived)"
    counted = counted_records(published, claim, gpu)
    return said + (f"; *measured*: {counted} records" if counted else "")


def counted_records(published, claim, gpu):
    """Published records of the claim with the order, of that GPU, whose caches were counted."""
    if gpu not in published.names() or claim not in render.sweeps_of(published.folder(gpu).path):
        return 0
    return sum(record["variant"].endswith("/hilbert") and "l2_read_sectors" in (record["counters"] or {})
               for record in published.folder(gpu).records(claim))


def block_cache_views(published):
    """How many variants of some sweeps an order cannot change, and how far the others may."""
    rows = []
    for sweep, about in PATTERNS.items():
        known = [row["analysis"] for row in sector_rows((sweep,), "h100") if "analysis" in row]
        rows.append([f"`{sweep}`", about] + [cell_of(known, view) for view in
                                             ("same", "renamed", "table", "sequence", "keys")])
    return markdown(["sweep", "about", "linear", "only renamed", "renamed, a table besides", "other blocks",
                     "other queries or keys"], rows)


def cell_of(known, view):
    found = [each for each in known if each["view"] == view]
    if view != "keys" or not found:
        return len(found)
    return f"{len(found)}; {span((100 * (each['read_ratio'] - 1) for each in found), '+.0f')} % of sectors"
