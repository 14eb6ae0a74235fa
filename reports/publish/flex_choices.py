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
from published_choices import case_key  # noqa: E402
from torch_windows import BLOCK_SIZES, OPTIONS  # noqa: E402

BOXES = {"torch_windows.flex": False, "torch_windows.flex_boxes": True}


def choices(root):
    """Of each GPU and version of PyTorch: of each case the choice that was fastest."""
    fastest = {}
    for folder, sweep in ((folder, sweep) for folder in sorted(root.iterdir()) for sweep in sweeps_of(folder)):
        for record in records_of(folder, sweep):
            case, library = record["params"], (record["environment"] or {}).get("library") or {}
            if (record["variant"] not in BOXES or record["status"] != "ok" or case["device"] != "cuda" or
                    not case["grid"] or library.get("block_size") not in BLOCK_SIZES or
                    library.get("kernel_options") not in OPTIONS):
                continue
            machine = record["environment"]["device"]["name"], library["version"].removeprefix("PyTorch ")
            key = case_key(case, BOXES[record["variant"]])
            found = record["time_ns"]["median"], (library["block_size"], library["kernel_options"])
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


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0] not in ("fill", "check"):
        sys.exit(f"usage: flex_choices.py fill|check [FOLDER]   default: {TREE / 'reports/published'}")
    root = pathlib.Path(arguments[1]) if len(arguments) == 2 else TREE / "reports/published"
    before = FILE.read_text()
    head, _, rest = before.partition(BEGINS)
    _, _, tail = rest.partition(ENDS)
    text = head + BEGINS + "".join(lines(choices(root))) + ENDS + tail
    if arguments[0] == "check":
        if text != before:
            sys.exit(f"{FILE.name} differs from the records: flex_choices.py fill")
        return
    FILE.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
