#!/usr/bin/env python3
"""What FlexAttention was fastest with in published records, for baselines/external/published_choices.py.

flex_choices.py fill      writes its generated lines
flex_choices.py check     exit 1 if that would change them
"""

import pathlib
import sys

from render import TREE, records_of, sweeps_of

FILE = TREE / "baselines/external/published_choices.py"
BEGINS, ENDS = "    # generated\n", "    # end\n"
sys.path.insert(0, str(FILE.parent))
from kept_choice import is_one_of  # noqa: E402
from published_choices import case_key  # noqa: E402
from torch_windows import BLOCK_SIZES, OPTIONS  # noqa: E402

BOXES = {"torch_windows.flex": False, "torch_windows.flex_boxes": True}


def choices(root):
    """Of each GPU and version of PyTorch: of each case the choice that was fastest."""
    fastest = {}
    for folder, sweep in ((folder, sweep) for folder in sorted(root.iterdir()) for sweep in sweeps_of(folder)):
        for record in records_of(folder, sweep):
            case = record["params"]
            if (record["variant"] not in BOXES or record["status"] != "ok" or case["device"] != "cuda" or
                    not case["grid"]):
                continue
            library = record["environment"]["library"]  # as the program says it: perhaps a stranger's
            size, options, version = (library.get(name) for name in ("block_size", "kernel_options", "version"))
            if not (is_one_of(size, BLOCK_SIZES) and is_one_of(options, OPTIONS) and isinstance(version, str)):
                continue
            machine = record["environment"]["device"]["name"], version.removeprefix("PyTorch ")
            key = case_key(case, BOXES[record["variant"]])
            found = record["time_ns"]["median"], (size, options)
            known = fastest.setdefault(machine, {})
            if key not in known or found[0] < known[key][0]:
                known[key] = found
    return fastest


def lines(fastest):
    for machine in sorted(fastest):
        yield f"    {machine!r}: {{\n"
        for key, (_, choice) in sorted(fastest[machine].items()):
            yield f"        {key!r}:\n            {choice!r},\n"
        yield "    },\n"


def main(command):
    before = FILE.read_text()
    head, _, rest = before.partition(BEGINS)
    _, _, tail = rest.partition(ENDS)
    text = head + BEGINS + "".join(lines(choices(TREE / "reports/published"))) + ENDS + tail
    if command == "fill":
        FILE.write_text(text)
    elif text != before:
        sys.exit(f"{FILE.name} differs from the records: flex_choices.py fill")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("fill", "check"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1])
