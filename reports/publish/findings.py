#!/usr/bin/env python3
"""Fills the generated parts of Markdown pages from published records.

findings.py page PATH...    writes every block '<!-- generated: NAME [SWEEP [VARIANTS]] -->' ... '<!-- end -->' anew;
                            VARIANTS is a regular expression for what follows a kernel's name
findings.py check PATH...   says whether that would change anything: exit 1 if it would

PATH is a published folder, whose README.md is the page. A folder of a processor's results without a README.md gets
processor_page.md for one. Tables are made by the program: build/hilbench, or what HILBENCH names.
"""

import pathlib
import re
import sys

from blocks import claims, counts, kernels, left_out, machine, orders, rates, rings, runs
from marks import filled
from published import Folder
from render import RenderError

MODULES = (claims, counts, kernels, left_out, machine, orders, rates, rings, runs)
BLOCKS = {name.removeprefix("block_"): function for module in MODULES for name, function in vars(module).items()
          if name.startswith("block_")}
PROCESSOR_PAGE = pathlib.Path(__file__).with_name("processor_page.md")


def folder_block(folder, name, arguments):
    """Text of a block on the page of a published folder."""
    if name not in BLOCKS:
        raise ValueError(f"no block '{name}'; there are {', '.join(sorted(BLOCKS))}")
    if arguments and arguments[0] not in folder.sweeps:
        return f"`{arguments[0]}` has not been published yet."
    return BLOCKS[name](folder, *arguments)


def begin_page(folder):
    """Text of a page that does not exist yet; only processors have one that fits them all."""
    if not folder.sweeps or not machine.on_processor(folder):
        raise ValueError("no README.md in this folder; write one with the marks that its findings need")
    place = f"reports/published/{folder.path.resolve().name}"
    return PROCESSOR_PAGE.read_text().replace("MACHINE", machine.machine_title(folder)).replace("FOLDER", place)


def pages_of(path):
    """The page at `path`: its file, its text now, its text as generated."""
    if not path.is_dir():
        raise NotADirectoryError(path)
    folder, file = Folder(path), path / "README.md"
    written = file.read_text() if file.exists() else None
    begun = begin_page(folder) if written is None else written
    return file, written, filled(begun, lambda name, arguments: folder_block(folder, name, arguments))


def main(command, paths):
    differing = 0
    for path in map(pathlib.Path, paths):
        file, written, generated = pages_of(path)
        if command == "page":
            file.write_text(generated)
        else:
            print(f"{file}: as generated" if generated == written else f"{file}: differs from what the records say")
            differing += generated != written
    return int(differing > 0)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("page", "check"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except (OSError, KeyError, TypeError, ValueError, re.error, RenderError) as error:
        sys.exit(f"findings.py: {type(error).__name__}: {error}")
