"""The pictures of orders in README.md and docs/: the program draws them, from no records."""

import pathlib
import tempfile

import render

GRID_ORDERS = ("linear", "hilbert", "morton", "boxes.8.16")


def drawn(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "picture.svg"
        render.hilbench("order", *arguments, "--svg", file)
        return file.read_text()


def paths(_):
    return drawn(*GRID_ORDERS, "--grid", "32x32")


def footprints(_):
    """The windows of sweeps/windows/quick2d.yaml."""
    return drawn("linear", "hilbert", "boxes.8.16", "random", "--grid", "64x64", "--window", "13x13")


def slots(_):
    return drawn("linear", "hilbert", "morton", "snake", "gray", "residue.4", "bitrev_residue.4", "random", "--length", "1024")
