"""Results as data frames of pandas."""

import functools
import io
import json
import math
import os
import pathlib
import shutil
import tempfile
import weakref

try:
    import pandas
except ImportError:  # load() says so
    pandas = None

from hilbench.download import RECORDS, download, is_url
from hilbench.program import HilbenchError, find_program, run_program

INTERVALS = ("time_ns.ci", "speedup.ci")
# Members that may be null in every record, so that no column would come of them.
ALWAYS_THERE = ("time_ns.median", "time_ns.timer", "tflops", "speedup.against", "speedup.ratio", "speedup.processes",
                "speedup.margin", "speedup.verdict")

# What most people look at.
BRIEF = ("case", "variant", "status", "params.sequence_length", "params.dtype", "params.device", "time_ns.median",
         "time_ns.ci.low", "time_ns.ci.high", "tflops", "speedup.ratio", "speedup.ci.low", "speedup.ci.high",
         "speedup.processes", "speedup.verdict")


def flat_records(records):
    """A column for each member, at any depth. Intervals become two columns; samples are left out."""
    frame = pandas.json_normalize(records)
    for name in INTERVALS:
        ends = frame[name] if name in frame else pandas.Series([None] * len(frame), dtype=object)
        for end, place in (("low", 0), ("high", 1)):
            frame[f"{name}.{end}"] = [ci[place] if isinstance(ci, list) else math.nan for ci in ends]
    for name in ALWAYS_THERE:
        if name not in frame:
            frame[name] = math.nan
    parents = {name.rpartition(".")[0] for name in frame.columns}  # null in some records, objects in others
    return frame.drop(columns=[name for name in frame.columns
                               if name in parents or name in INTERVALS or name == "time_ns.samples"])


def temporary_folder():
    """The path of a new folder, which the caller removes."""
    try:
        return pathlib.Path(tempfile.mkdtemp(prefix="hilbench-"))
    except OSError as error:
        raise HilbenchError.of_one_line(f"no temporary folder: {error}; set TMPDIR to a writable folder") from error


def runs_below(folder):
    """The folders with results in `folder`, if it is above the runs of a sweep and holds none itself; else nothing."""
    def has_results(place):
        return any((place / name).is_file() for name in RECORDS)
    if not folder.is_dir() or has_results(folder):
        return []
    return sorted(place for place in folder.iterdir() if place.is_dir() and has_results(place))


def by_time(frame):
    """Runs in the sequence in which they began."""
    if "environment.time" not in frame:
        return frame
    begins = frame.groupby("run")["environment.time"].transform("min")
    return frame.assign(begins=begins).sort_values("begins", kind="stable").drop(columns="begins").reset_index(drop=True)


class Results:
    """The results of one folder, or of all runs in it; a column `run`, the name of the run's folder, comes first then.

    records   a row a record, without twins. A column is a member of the JSON lines, named by its path: `params.order`,
              `time_ns.median`, `speedup.verdict`. Intervals have two: `time_ns.ci.low`, `time_ns.ci.high`.
    brief     the same with the columns BRIEF alone.
    all_records   the same with twins: second instances of references, which show the noise.
    samples   a row a sample, with the columns of `export --format csv-samples`.
    claims    a row an answer to a claim, with the columns of `tables/claims.csv`.
    """

    def __init__(self, folder):
        self.folder = folder
        self.runs = runs_below(folder)

    def __repr__(self):
        of_runs = f" of {len(self.runs)} runs" if self.runs else ""
        return f"<hilbench.Results of {self.folder}: {len(self.records)} records{of_runs}>"

    def of_all(self, read):
        """The data frame that `read` makes of a folder, of all runs."""
        if not self.runs:
            return read(self.folder)
        frames = [read(run) for run in self.runs]
        for run, frame in zip(self.runs, frames):
            frame.insert(0, "run", run.name)
        filled = [frame for frame in frames if not frame.empty]
        return pandas.concat(filled, ignore_index=True) if filled else frames[0]

    @functools.cached_property
    def records(self):
        return self.all_records[~self.all_records["twin"].astype(bool)].reset_index(drop=True)

    @property
    def brief(self):
        return self.records[(["run"] if self.runs else []) + list(BRIEF)]

    @functools.cached_property
    def all_records(self):
        return by_time(self.of_all(self.read_records)) if self.runs else self.read_records(self.folder)

    def read_records(self, folder):
        text = run_program("export", folder, "--format", "jsonl")
        try:
            # Only "\n" ends a line: texts of records may hold other characters that end lines.
            return flat_records([json.loads(line) for line in text.split("\n") if line])
        except ValueError as error:
            raise HilbenchError.of_one_line(
                f"the program prints no records ({find_program()}): {error}; set HILBENCH_PROGRAM to hilbench") from error

    @functools.cached_property
    def samples(self):
        return self.of_all(self.read_samples)

    def read_samples(self, folder):
        text = run_program("export", folder, "--format", "csv-samples")
        return pandas.read_csv(io.StringIO(text), float_precision="round_trip")

    @functools.cached_property
    def claims(self):
        return self.of_all(self.read_claims)

    def read_claims(self, folder):
        out = temporary_folder()
        try:
            run_program("report", folder, "-o", out, "--charts", "none")
            table = out / "tables" / "claims.csv"
            return pandas.read_csv(table) if table.exists() else pandas.DataFrame()
        finally:
            shutil.rmtree(out, ignore_errors=True)


def load(place):
    """The results in `place`: a folder with results.sqlite or records.jsonl.gz, or the http address of one; or a folder
    above several, such as the runs of a sweep at each commit.

    Raises HilbenchError if there are none, or they cannot be read.
    """
    if pandas is None:
        raise HilbenchError("hilbench needs pandas: pip install pandas, or Debian's python3-pandas")
    if not isinstance(place, (str, os.PathLike)) or not str(place):
        raise HilbenchError.of_one_line(f"no place of results ({place!r}); give a folder or an http address")
    if not is_url(place):
        results = Results(pathlib.Path(os.fsdecode(place)).absolute())
    else:
        folder = temporary_folder()
        results = Results(folder)
        weakref.finalize(results, shutil.rmtree, folder, ignore_errors=True)
        download(str(place), folder)
    results.records  # so that what cannot be read is reported here
    return results
