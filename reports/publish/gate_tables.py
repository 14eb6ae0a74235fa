"""Tables of gates whose answer was known, gates.csv and pairs.csv of calibrate.sh, which are published compressed."""

import csv
import gzip
import io
import os
import pathlib
import zlib

COLUMNS = {"gates": {"kind", "gate", "status", "seconds", "verdict"},
           "pairs": {"kind", "first", "second", "status", "processes", "verdict"}}  # that pages read


class DamagedTable(ValueError):
    pass


def unpacked(packed):
    """Of one member of gzip, with nothing after it."""
    stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = stream.decompress(packed)
    except zlib.error as error:
        raise DamagedTable("it is not compressed by gzip, or it was changed since") from error
    if not stream.eof:
        raise DamagedTable("its end is missing")
    if stream.unused_data:
        raise DamagedTable("bytes follow the compressed text")
    return content


def rows_in(content, columns):
    """Rows of the text of a CSV file, which must be whole."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise DamagedTable("it is no text") from error
    if not text.endswith("\n"):
        raise DamagedTable("its last line is not complete")
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    if missing := sorted(columns - set(rows.fieldnames)):
        raise DamagedTable(f"line 1 has no column {', '.join(missing)}")
    found = []
    for row in rows:
        if None in row or None in row.values():
            raise DamagedTable(f"line {rows.line_num} has not as many fields as line 1")
        found.append(row)
    return found


def checked(path, content_of):
    path = pathlib.Path(path)
    try:
        content = content_of(path.read_bytes())
        return content, rows_in(content, COLUMNS[path.name.partition(".")[0]])
    except (DamagedTable, csv.Error) as error:
        raise DamagedTable(f"{path} is damaged: {error}; restore it, or measure anew with calibrate.sh") from error


def read(path):
    """Rows of gates.csv.gz or pairs.csv.gz."""
    return checked(path, unpacked)[1]


def publish(path, file):
    """Writes gates.csv or pairs.csv compressed: all of it or, if it is damaged, nothing."""
    content, _ = checked(path, bytes)
    part = pathlib.Path(f"{file}.part")
    try:
        part.write_bytes(gzip.compress(content, 9, mtime=0))
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)
