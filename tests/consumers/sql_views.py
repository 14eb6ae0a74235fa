"""The queries of docs/formats.md run on a store, and give what the page says. usage: sql_views.py WRITE_EXPORTS PAGE"""

import pathlib
import re
import sqlite3
import sys

from exports import Exports, check

VIEWS = ("results", "samples")


def columns_of(page, view):
    """The names in the page's table row of this view."""
    row = re.search(rf"^\| `{view}` \|.*$", page, re.MULTILINE)
    check(row, f"the page has a row for {view}")
    return set(re.findall(r"`([a-z_0-9]+)`", row.group(0))) - {view}


def main(write_exports, page):
    page = pathlib.Path(page).read_text(encoding="utf-8")
    queries = re.findall(r"^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    check(len(queries) == 3, f"the page has three queries, not {len(queries)}")
    with Exports(write_exports) as exports:
        store = sqlite3.connect(f"file:{exports.file('results.sqlite')}?mode=ro", uri=True)
        for view in VIEWS:
            known = {column[0] for column in store.execute(f"select * from {view}").description}
            check(known == columns_of(page, view), f"the page names the columns of {view}: "
                                                   f"{sorted(known ^ columns_of(page, view))}")
        fastest, ratios, spread = (store.execute(query).fetchall() for query in queries)
        count = store.execute("select count(*) from samples").fetchone()[0]
        store.close()
    check([row[1] for row in fastest] == ["dilated/linear"] * 2, f"the fastest variant of each case: {fastest}")
    check(len(ratios) == 2 and all(0.85 < row[2] < 0.95 for row in ratios), f"ratios of the medians: {ratios}")
    check(len(spread) == 2 * 3 * 2 and all(row[3] == 10 for row in spread), f"a row for each process: {spread}")
    check(count == 2 * 3 * 20, "all samples")
    return 0


sys.exit(main(*sys.argv[1:]))
