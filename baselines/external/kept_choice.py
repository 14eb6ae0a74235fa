"""What one process has found to be fastest, for further ones: kept beside what torch.compile keeps."""

import hashlib
import json
import os
import pathlib
import sys


class KeptChoice:
    """A dictionary, in a file of JSON. `told`: what it is a choice for; JSON must be able to hold that too."""

    def __init__(self, name, told):
        try:
            from torch._inductor.codecache import cache_dir
            key = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]
            self.file = pathlib.Path(cache_dir(), "hilbench", f"{name}-{key}.json")
        except (ImportError, OSError):
            self.file = None

    def read(self):
        """None if nothing valid is kept."""
        try:
            kept = json.loads(self.file.read_text()) if self.file else None
        except (OSError, ValueError):
            return None
        return kept if isinstance(kept, dict) else None

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
