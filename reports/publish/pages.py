#!/usr/bin/env python3
"""Makes the pages of published results from the records in the tree: for every sweep report.html, report.md, tables and
figures, and predict.md if it has rings. They are written to OUT/FOLDER/SWEEP/ and replace what is there.
"""

import argparse
import pathlib
import shutil
import sys

from render import TREE, RenderError, render_pages, sweeps_of


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The program is build/hilbench, or the one that HILBENCH names. Figures need gnuplot.")
    parser.add_argument("-o", dest="out", metavar="OUT", type=pathlib.Path, default=TREE / "build/published",
                        help="folder to write to; default: build/published")
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=pathlib.Path,
                        help="published folder, e.g. reports/published/h200; default: all")
    return parser.parse_args()


def published_folders():
    return sorted(path for path in (TREE / "reports/published").iterdir() if sweeps_of(path))


def make_pages(folder, out):
    sweeps = sweeps_of(folder)
    if not sweeps:
        raise RenderError(f"'{folder}' holds no published records")
    for sweep in sweeps:
        place = out / folder.resolve().name / sweep
        if place.exists():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        render_pages(folder, sweep, place)


def main():
    asked = arguments()
    for folder in asked.folders or published_folders():
        make_pages(folder, asked.out)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RenderError) as error:
        sys.exit(f"pages.py: {error}")
