"""Results that a web server publishes."""

import http.client
import pathlib
import urllib.error
import urllib.parse
import urllib.request

from hilbench.program import HilbenchError

RECORDS = ("records.jsonl.gz", "records.jsonl", "results.sqlite")
TIMEOUT_S = 60
MOST_BYTES = 1 << 32  # of a file
PART_BYTES = 1 << 20


def is_url(place):
    return str(place).lower().startswith(("http://", "https://"))


def copy(answer, file):
    left = MOST_BYTES
    with open(file, "wb") as out:
        while part := answer.read(PART_BYTES):
            left -= out.write(part)
            if left < 0:
                raise ValueError(f"it has more than {MOST_BYTES >> 30} GiB")
    if answer.length:  # reading in parts does not notice
        raise http.client.IncompleteRead(b"", answer.length)


def fetch(url, file):
    """Writes what `url` holds to `file`. False if there is no such thing; HilbenchError if the server fails."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            copy(answer, file)
    except urllib.error.HTTPError as error:
        if error.code in (403, 404, 410):
            return False
        raise HilbenchError.of_one_line(f"cannot download ({url}): {error}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise HilbenchError.of_one_line(f"cannot download ({url}): {error}") from error
    return True


def download(url, folder):
    """Fetches the records below `url`, a folder or one of the files RECORDS, into `folder`."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError as error:
        raise HilbenchError.of_one_line(f"no address ({url}): {error}") from error
    name = pathlib.PurePosixPath(parts.path).name
    names = (name,) if name in RECORDS else RECORDS
    base = parts.path.removesuffix(name) if name in RECORDS else parts.path.rstrip("/") + "/"

    def address(file):
        return urllib.parse.urlunsplit(parts._replace(path=base + file, fragment=""))

    for file in names:
        if fetch(address(file), folder / file):
            fetch(address("meta.json"), folder / "meta.json")
            return
    raise HilbenchError.of_one_line(f"no results here ({url}): there is no {' or '.join(names)}; give the address of a "
                                    "folder of results")
