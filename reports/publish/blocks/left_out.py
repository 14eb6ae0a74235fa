"""A block about what a folder's sweeps left out, and why."""

import pathlib
import re

from cells import grouped, markdown, span, wrapped

CLAIMS = pathlib.Path(__file__).resolve().parents[3] / "sweeps/claims"
SECONDS = re.compile(r"about ([0-9.e+-]+) s")


def block_not_run(folder):
    answered = {row["claim"] for row in folder.rows("claims") if row["verdict"] != "not testable here"}
    absent = [path for path in sorted(CLAIMS.glob("*.yaml"))
              if path.stem not in folder.sweeps and not path.stem.startswith("chain-")]
    parts = [absence_said(path, answered) for path in absent]
    skipped = skipped_rows(folder)
    if skipped:
        parts += ["", "The plan skipped these records:", "", markdown(["sweep", "records", "reason"], skipped)]
    return "\n".join(parts).strip() or "Nothing was left out."


def absence_said(path, answered):
    text = path.read_text()
    title = re.search(r"^title: (.*)", text, re.M)[1]
    why = (": it is about the memory of GPUs" if "dtype: fp16" in text else
           ": it is about rings of GPUs" if "ring_size" in text else
           ": it is about GPUs" if "device: cuda" in text else "")
    instead = "; other sweeps here answer the claim" if path.stem in answered else ""
    return wrapped(f"- `{path.stem}` ({title}) was not run here{why}{instead}.", indent="  ")


def skipped_rows(folder):
    """Records that the plan skipped, by sweep and reason; reasons that differ in a number of seconds are one."""
    skipped = [(sweep, record["reason"] or "") for sweep in folder.sweeps for record in folder.records(sweep)
               if record["status"] == "skipped"]
    rows = []
    for (sweep, reason), group in grouped(skipped, lambda one: (one[0], SECONDS.sub("about SPAN s", one[1]))).items():
        seconds = [found[1] for _, text in group if (found := SECONDS.search(text))]
        rows.append([sweep, len(group), reason.replace("SPAN", span(seconds, ".2f"))])
    return rows
