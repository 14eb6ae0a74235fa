"""Results of hilbench in Python: `hilbench.load("results/quick")`.

The program `hilbench` reads the records, so that verdicts, checks and older formats are the same as in its reports.
"""

from importlib import metadata as _metadata

from hilbench import plot
from hilbench.program import HilbenchError
from hilbench.results import Results, load

__all__ = ["HilbenchError", "Results", "load", "plot"]

try:
    __version__ = _metadata.version("hilbench")
except _metadata.PackageNotFoundError:  # from the sources, not installed
    __version__ = "unknown"
