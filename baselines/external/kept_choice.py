"""What one process has found to be fastest, for further ones: kept beside what torch.compile keeps."""

import hashlib
import json
import os
import pathlib
import sys


MOST_BYTES = 1 << 20
TEXTS = object()  # allows lists of texts


def is_one_of(value, allowed):
    if allowed is TEXTS:
        return isinstance(value, list) and all(isinstance(text, str) and text.isprintable() for text in value)
    return any(value == one and type(value) is type(one) for one in allowed)


class KeptChoice:
    """A dictionary, in a file of JSON. `told`: what it is a choice for; JSON must be able to hold that too."""

    def __init__(self, name, told):
        try:
            from torch._inductor.codecache import cache_dir
            key = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
            self.file = pathlib.Path(cache_dir(), "hilbench", f"{name}-{key}.json")
        except (ImportError, OSError):
            self.file = None

    def read(self, **allowed):
        """What is kept, if it has these keys and each value is one of those allowed for it; else None."""
        try:
            if not self.file or not self.file.is_file() or self.file.stat().st_size > MOST_BYTES:
                return None
            kept = json.loads(self.file.read_text())
        except (OSError, ValueError, RecursionError):
            return None
        valid = isinstance(kept, dict) and all(key in kept and is_one_of(kept[key], allowed[key]) for key in allowed)
        return {key: kept[key] for key in allowed} if valid else None

    def keep(self, choice):
        if not self.file:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            written = self.file.with_suffix(f".{os.getpid()}")
            written.write_text(json.dumps(choice))
            written.replace(self.file)
        except OSError as error:
            print(f"{self.file}: not kept: {error}", file=sys.stderr)
