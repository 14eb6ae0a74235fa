"""Results that a web server publishes."""

import pathlib
import urllib.error
import urllib.parse
import urllib.request

from hilbench.program import HilbenchError

RECORDS = ("records.jsonl.gz", "records.jsonl", "results.sqlite")
TIMEOUT_S = 60


def is_url(place):
    return urllib.parse.urlsplit(str(place)).scheme in ("http", "https")


def fetch(url, file):
    """Writes what `url` holds to `file`. False if there is no such thing; HilbenchError if the server fails."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            file.write_bytes(answer.read())
    except urllib.error.HTTPError as error:
        if error.code in (403, 404, 410):
            return False
        raise HilbenchError(f"cannot download ({url}): {error}") from error
    except (OSError, ValueError) as error:
        raise HilbenchError(f"cannot download ({url}): {error}") from error
    return True


def download(url, folder):
    """Fetches the records below `url`, a folder or one of the files RECORDS, into `folder`."""
    parts = urllib.parse.urlsplit(url)
    name = pathlib.PurePosixPath(parts.path).name
    names = (name,) if name in RECORDS else RECORDS
    base = parts.path.removesuffix(name) if name in RECORDS else parts.path.rstrip("/") + "/"

    def address(file):
        return urllib.parse.urlunsplit(parts._replace(path=base + file, fragment=""))

    for file in names:
        if fetch(address(file), folder / file):
            fetch(address("meta.json"), folder / "meta.json")
            return
    raise HilbenchError(f"no results here ({url}): there is no {' or '.join(names)}; give the address of a folder "
                        "of results")
