#!/usr/bin/env python3
"""Fills the generated parts of Markdown pages from published records, and draws the pictures of README.md and docs.

generated_blocks.py fill [PATH...]    writes every block between '<!-- generated: NAME [ARGUMENT...] -->' and
                                      '<!-- end -->', and lists the files that it changed
generated_blocks.py check [PATH...]   says which blocks that would change: exit 1 if there are any,
                                      2 if a page or its records cannot be read

PATH is a published folder (its pages are README.md and other Markdown files with marks), a Markdown file, a picture, or
a folder of Markdown files and pictures; default: README.md, docs and every published folder. In a published folder the
first argument of most blocks is a SWEEP, in other files a FOLDER and then a SWEEP. `said`, `table` and `finding` take
the id of a finding besides, and may take a regular expression for CASE/VARIANT: `hilbench show` has the same words.

A folder of a processor's results without a README.md gets processor_page.md for one, or calibration_page.md if it holds
nothing else; one of a GPU has none. Tables are made by the program:
build/hilbench, or what HILBENCH names.
"""

import csv
import pathlib
import re
import sys
import zlib

from blocks import (caches, calibration, claims, documents, findings, kernels, left_out, machine, order_pictures, orders,
                    picture, ring_plans, rings, runs, two_folders)
from marks import BEGINS, MarkError, filled, stale_blocks
from published import Folder, Published
from render import TREE, RenderError, sweeps_of

MODULES = (calibration, claims, findings, kernels, left_out, machine, orders, ring_plans, rings, runs, two_folders)
PROCESSOR_PAGE = pathlib.Path(__file__).with_name("processor_page.md")
CALIBRATION_PAGE = pathlib.Path(__file__).with_name("calibration_page.md")
CALIBRATION_PART = pathlib.Path(__file__).with_name("calibration_part.md")  # of both pages
PICTURES = {"claimed-and-measured.svg": picture.picture, "order-paths.svg": order_pictures.paths,
            "order-footprints.svg": order_pictures.footprints, "order-slots.svg": order_pictures.slots}


def blocks_of(*modules):
    return {name.removeprefix("block_"): function for module in modules for name, function in vars(module).items()
            if name.startswith("block_")}


BLOCKS, DOCUMENT_BLOCKS = blocks_of(*MODULES), blocks_of(documents, caches)


def folder_block(folder, name, arguments):
    """Text of a block on the page of a published folder."""
    if name not in BLOCKS:
        raise ValueError(f"no block '{name}'; there are {', '.join(sorted(BLOCKS))}")
    if arguments and arguments[0] not in folder.sweeps:
        return f"`{arguments[0]}` has not been published yet."
    return BLOCKS[name](folder, *arguments)


def document_block(published, name, arguments):
    """Text of a block in README.md or docs/: one of theirs, or a findings page's of the folder that is named first."""
    if arguments and arguments[0] not in published.names():
        return f"`{arguments[0]}` has not been published yet."
    if name not in DOCUMENT_BLOCKS and arguments:
        return folder_block(published.folder(arguments[0]), name, arguments[1:])
    if name not in DOCUMENT_BLOCKS:
        raise ValueError(f"no block '{name}'; there are {', '.join(sorted(DOCUMENT_BLOCKS))}")
    known = {*published.names(), *published.folder(arguments[0]).sweeps} if arguments else {}
    if len(arguments) > 1 and arguments[1] not in known:
        return f"`{arguments[1]}` of `{arguments[0]}` has not been published yet."
    return DOCUMENT_BLOCKS[name](published, *arguments)


def has_no_page(file):
    """True for a published folder of a GPU without a page: only processors have one that fits them all."""
    return file.name == "README.md" and not file.exists() and not machine.on_processor(Folder(file.parent))


def begin_page(folder):
    """Text of a processor's page that does not exist yet."""
    place = f"reports/published/{folder.path.resolve().name}"
    alone = all(name.startswith(calibration.SWEEP) for name in folder.sweeps)
    page = CALIBRATION_PAGE if alone else PROCESSOR_PAGE
    text = page.read_text().replace("CALIBRATION\n", CALIBRATION_PART.read_text())
    return text.replace("MACHINE", machine.machine_title(folder)).replace("FOLDER", place)


def folder_page(folder, written):
    return filled(written or begin_page(folder), lambda name, arguments: folder_block(folder, name, arguments))


def generated_text(file, written, published):
    """What `file` holds as generated; `written` is what it holds now."""
    if file.name in PICTURES:
        return PICTURES[file.name](published)
    if sweeps_of(file.parent):
        return folder_page(Folder(file.parent), written)
    if file.suffix != ".md":
        raise ValueError(f"{file}: neither a Markdown file nor a picture that is drawn here")
    return filled(written, lambda name, arguments: document_block(published, name, arguments))


def files_of(path):
    """Generated files that `path` names."""
    if not path.exists() and path.name not in PICTURES:
        raise FileNotFoundError(path)
    if not path.is_dir():
        return [path]
    if sweeps_of(path):
        further = (page for page in sorted(path.glob("*.md")) if page.name != "README.md" and BEGINS.search(page.read_text()))
        return [path / "README.md", *further]
    found = sorted(path.glob("*.md")) + [path / name for name in PICTURES if (path / name).exists()]
    if not found:
        raise ValueError(f"{path}: no published records, Markdown files or pictures")
    return found


def default_paths():
    return [TREE / "README.md", TREE / "docs", *(TREE / "reports/published" / name for name in Published().names())]


def difference(file, written, generated):
    """What a check says of a file; empty if it is as generated."""
    if written == generated:
        return ""
    blocks = stale_blocks(written, generated) if file.suffix == ".md" else []
    what = f"{', '.join(blocks)} differ{'s' if len(blocks) == 1 else ''}" if blocks else "it differs"
    return f"{file}: {what} from the records; fill it anew: reports/publish/generated_blocks.py fill {file}"


def write(file, written, generated):
    """Either the whole text or none of it, if it is another one. Returns whether it is."""
    if written == generated:
        return False
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(generated)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return True


def main(command, paths):
    published, stale, changed = Published(), [], []
    for file in (file for path in paths or default_paths() for file in files_of(pathlib.Path(path))):
        if has_no_page(file):
            print(f"{file.parent}: no findings page; you may write {file} with the marks of blocks")
            continue
        written = file.read_text() if file.exists() else ""
        try:
            generated = generated_text(file, written, published)
        except MarkError as error:
            raise MarkError(f"{file}: {error}") from error
        if command == "fill":
            changed += [f"written: {file}"] if write(file, written, generated) else []
        elif said := difference(file, written, generated):
            stale.append(said)
    print("\n".join(stale + changed) or "as generated")
    return int(bool(stale))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("fill", "check"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except (OSError, EOFError, KeyError, TypeError, ValueError, csv.Error, re.error, zlib.error, RenderError) as error:
        kind = "" if isinstance(error, MarkError) else f"{type(error).__name__}: "
        print(f"generated_blocks.py: {kind}{error}", file=sys.stderr)
        sys.exit(2)
