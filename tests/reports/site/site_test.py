"""`hilbench site` in headless Chromium: site_test.py HILBENCH RECORDS_JSONL_WRITER [FOLDER for screenshots]

A site of sample records with hostile names everywhere, and one of all published results. Exits with 77 if there is no
Chromium. CTest runs the parts as tests of their own (--part): `published` makes the site and follows every link of it,
shares of `pages` open its pages, beside each other and other tests: of pages alike the largest, at night all
(`--all`). A page that does not open in time may be slowed down by them: they leave lists, and `opening`, which runs
alone, opens these pages again.
"""

import argparse
import html.parser
import json
import math
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tests/reports/page"))
import chromium  # noqa: E402

ATTACK = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
MOST_PAGE, MOST_INDEX, MOST_SECONDS, MOST_TO_OPEN = 2e6, 500e3, 60, 1
faults, slow = [], []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT:", what)


def site(hilbench, folder, out, *options, status=0):
    """What the program says on standard error; it must end with `status`."""
    done = subprocess.run([hilbench, "site", folder, "-o", out, *options], capture_output=True, text=True)
    expect(done.returncode == status, f"site {folder}: status {done.returncode}: {done.stderr}")
    return done.stderr


def write_hostile(lines, folder):
    """Results whose every text is an attack; so are the names of the folders, as far as a path can be one."""
    folder.mkdir(parents=True)
    records = [json.loads(line) for line in lines]
    for record in records:
        record["sweep"] = ATTACK
        record["environment"]["host"]["cpu"] = record["environment"]["device"] = ATTACK
        record["environment"]["device"] = {"name": ATTACK}
        record["environment"]["time"] = ATTACK
        record["case"] += ATTACK
        record["variant"] += ATTACK
        record["reason"] = record["reason"] and ATTACK
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "meta.json").write_text(json.dumps(
        {key: ATTACK for key in ("sweep", "title", "question", "description", "command", "sweep_file", "sweep_text")}))


def quiet(browser, root, where):
    expect(browser.messages == [], f"{where}: console says {browser.messages[:3]}")
    own = "file://" + urllib.parse.quote(str(root))
    outside = [one for one in browser.requests if not one.startswith(own) and one != "about:blank"]
    expect(outside == [], f"{where}: asks for {outside[:3]}")


def open_page(browser, file, fragment="", window=()):
    return browser.open(urllib.parse.quote(str(file)), fragment, window)


def open_soon(browser, root, page, window, where):
    """What else the machine does only ever adds: in time once is in time. Others are opened again, alone."""
    if open_page(browser, root / page, window=window) > MOST_TO_OPEN:
        slow.append((str(page), window))
    quiet(browser, root, where)


def check_page(browser, root, page, pictures):
    for width, scheme in ((1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")):
        where = f"{page}, {width} pixels, {scheme}"
        open_soon(browser, root, page, (width, 900, scheme), where)
        dark = browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 23)"
        expect(dark == (scheme == "dark"), f"{where}: follows the preferred colours")
        if pictures:
            name = f"{urllib.parse.quote(page, safe='')[-60:]}-{width}-{scheme}.png"
            browser.screenshot(str(pathlib.Path(pictures) / name), whole=width > 1000)
    if page == "index.html" or browser.js("document.querySelector('main td') !== null"):
        sticky = browser.js("getComputedStyle(document.querySelector('main .scroll td')).position")
        expect(sticky == "sticky", f"{page}: the first column moves away at 390 pixels: {sticky}")


# Of a page, in one answer: the page draws its figures between two questions, which takes most of the time.
FACTS = """({ready: document.documentElement.dataset.ready, wide: document.documentElement.scrollWidth,
  empty: [...document.images].filter((one) => !one.complete || !one.naturalWidth).map((one) => one.getAttribute('src')),
  foot: document.querySelector('.answer')?.getBoundingClientRect().bottom ?? 0, height: innerHeight,
  links: [...document.querySelectorAll('a[href]')].map((link) => [link.getAttribute('href'), link.href])})"""


def check_first_screen(browser, root, page):
    """What every page owes its reader: it is there at once, it fits, and its first sentence stands on the first screen."""
    for width in (1440, 390):
        where = f"{page}, {width} pixels"
        open_soon(browser, root, page, (width, 844 if width < 600 else 900), where)
        facts = browser.js(FACTS)
        expect(facts["ready"] == "yes", f"{where}: the scripts end")
        expect(facts["wide"] <= width, f"{where}: the page scrolls sideways")
        expect(facts["empty"] == [], f"{where}: pictures are missing before the page is scrolled: {facts['empty'][:3]}")
        expect(facts["foot"] <= facts["height"],
               f"{where}: the answer ends at {facts['foot']:.0f}, below the first screen of {facts['height']}")
    return facts["links"]


def check_labels(browser, page):
    """No two texts of a figure lie on each other, on a phone either. A name with paper around it is there twice."""
    open_page(browser, page, window=(390, 844))
    expect(in_time(browser, "document.documentElement.dataset.drawn === 'yes'"), f"{page}: the figures are drawn")
    touching = browser.js("""[...document.querySelectorAll('.stage svg')].flatMap((svg) => {
      const texts = [...svg.querySelectorAll('text')]
          .filter((one) => one.textContent.trim() && getComputedStyle(one).opacity > 0)
          .map((one) => ({text: one.textContent, frame: one.getBoundingClientRect()}));
      const over = (a, b, low, high) => Math.min(a[high], b[high]) - Math.max(a[low], b[low]);
      return texts.flatMap(({text, frame}, place) => texts.slice(place + 1)
          .filter((one) => one.text !== text && over(frame, one.frame, 'left', 'right') > 1
              && over(frame, one.frame, 'top', 'bottom') > 4).map((one) => `${text} and ${one.text}`)); })""")
    expect(touching == [], f"{page}: labels lie on each other: {touching[:4]}")


def in_time(browser, condition):
    """Whether it comes true within five seconds, as a busy machine may need."""
    return browser.js(f"""(async () => {{ for (let i = 0; i < 100 && !({condition}); ++i)
      await new Promise((then) => setTimeout(then, 50)); return Boolean({condition}); }})()""")


class Links(html.parser.HTMLParser):
    """The links of a page as it is written."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        address = dict(attributes).get("href")
        if tag == "a" and address is not None:
            self.found.add(address)


def check_links(root, pages):
    """Every link that stands in these pages leads to a file of the site; relative ones only."""
    count = 0
    for page in pages:
        links = Links(page).found
        count += len(links)
        check_lead_inside(root, page, [(link, urllib.parse.urljoin(page.as_uri(), link)) for link in links])
    return count


def check_lead_inside(root, page, links):
    """`links`: as written, and where they lead."""
    own = "file://" + urllib.parse.quote(str(root))
    expect(not [one for one, _ in links if ":" in one.split("#")[0]], f"{page}: a link is not relative")
    for link in {leads for _, leads in links}:
        target = urllib.parse.unquote(link.split("#")[0].removeprefix("file://"))
        expect(link.startswith(own) and pathlib.Path(target).is_file(), f"{page}: {link} leads nowhere")


def check_claims(browser, root):
    """One click leads from a claim to a record, on the index and on the page of a sweep."""
    browser.window(1440)
    open_page(browser, root / "index.html")
    addresses = browser.js("[...document.querySelectorAll('#claims small a')].map((link) => link.getAttribute('href'))")
    expect(len(addresses) > 0, "the table of claims has numbers")
    for address in [one for one in addresses if "#record=" in one][:6]:
        page, fragment = address.split("#")
        browser.open(f"{urllib.parse.quote(str(root))}/{page}", "#" + fragment)
        expect(browser.js("document.getElementById('record').open"), f"{address} shows no record")
        quiet(browser, root, address)
        browser.key("Escape")
        browser.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        links = "[...document.querySelectorAll('#claims td a')].filter((link) => link.hash.startsWith('#record='))"
        expect(browser.js(f"{links}.length") > 0, f"{page}: judged rows do not link to records")
        browser.js(f"{links}[0].focus()")
        browser.key("Enter")
        expect(in_time(browser, "document.getElementById('record').open"), f"{page}: Enter on a judged row opens no record")
        browser.key("Escape")


def check_tables(browser, root):
    browser.window(1440)
    open_page(browser, root / "index.html")
    titles = browser.js("[...document.querySelectorAll('#sweeps tbody tr')].map((row) => row.cells[0].textContent)")
    browser.js("document.querySelector('#sweeps thead button').click()")
    names = browser.js("[...document.querySelectorAll('#sweeps tbody tr')].map((row) => row.cells[0].textContent)")
    expect(sorted(titles) == sorted(names) and names == sorted(names, key=str.lower), "the table of sweeps sorts")
    shown = "[...document.querySelectorAll('#sweeps tbody tr')].filter((row) => row.checkVisibility()).length"
    expect(browser.js(shown) == 15, "a long table begins with 15 rows")
    browser.js("document.querySelector('#sweeps .more').click()")
    expect(browser.js(shown) == len(titles), "its button shows all rows")
    browser.js("document.getElementById('theme').click()")
    expect(browser.js("document.documentElement.dataset.theme") == "dark", "the switch changes the colours")


def check_hostile(browser, hilbench, lines, place):
    folder = place / "hostile" / 'm "&\' <b>#?%20\n'
    write_hostile(lines, folder / "s <i>#?%41&")
    write_hostile(lines, folder / "again")  # two runs of one sweep on one machine
    (folder / "README.md").write_text(f"# {ATTACK}\n\n[{ATTACK}](javascript:alert(3)) [t](again/) <b>{ATTACK}</b>\n")
    out = place / "hostile site"
    site(hilbench, place / "hostile", out)
    browser.call("Page.addScriptToEvaluateOnNewDocument",
                 source="window.alarms = 0; window.alert = () => { ++window.alarms; };")
    for page in sorted(out.rglob("*.html")):
        open_page(browser, page)
        check_lead_inside(out, page, browser.js(FACTS)["links"])
        quiet(browser, out, page)
        expect(browser.js("document.documentElement.dataset.ready") == "yes", f"{page}: the scripts end")
        expect(browser.js("window.alarms") == 0, f"{page}: hostile names run")
        made = browser.js("document.querySelectorAll('img[src=\"x\"], main b, main i').length")
        expect(made == 0, f"{page}: names become elements")
    check_claims(browser, out)
    expect("property=\"og:title\"" in (out / "index.html").read_text(), "a preview has a title")


def check_refusals(hilbench, lines, place):
    good = place / "good/machine/sweep"
    good.mkdir(parents=True)
    (good / "records.jsonl").write_text("\n".join(lines) + "\n")
    (place / "empty").mkdir()
    taken = place / "taken"
    taken.mkdir()
    (taken / "thesis.txt").write_text("mine")
    twice = place / "twice/twice/sweep"
    shutil.copytree(good, twice)
    shutil.copytree(good, place / "twice/sweep")
    for folder, out, status in ((place / "empty", place / "a", 2), (place / "absent", place / "a", 2),
                                (place / "good", taken, 2), (place / "good", taken / "thesis.txt/in", 2),
                                (place / "good", "/proc/site", 2), (place / "twice", place / "a", 2)):
        before = sorted(place.rglob("*"))
        said = site(hilbench, folder, out, status=status)
        expect(said.startswith("hilbench: error: ") and said.count("\n") == 1, f"{folder} to {out}: says {said!r}")
        expect(sorted(place.rglob("*")) == before, f"{folder} to {out}: something was written")
    site(hilbench, place / "good", place / "b")
    (place / "b/stale").write_text("")
    site(hilbench, place / "good", place / "b", "--url", "https://example.org/site")
    expect(not (place / "b/stale").exists(), "an earlier site is replaced")
    page = (place / "b/machines/machine/sweep/index.html").read_text()
    if shutil.which("node") and shutil.which("rsvg-convert"):
        wanted = '"og:image" content="https://example.org/site/machines/machine/sweep/figure.png"'
        expect(wanted in page, "a preview names its picture by the whole address")


def check_published(browser, hilbench, out, pictures, slowness):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    site(hilbench, TREE / "reports/published", out)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    sizes = {page: page.stat().st_size for page in out.rglob("*.html")}
    print(f"{len(sizes)} pages in {seconds:.1f} s of processor time, the largest {max(sizes.values()) / 1e6:.2f} MB, "
          f"the index {sizes[out / 'index.html'] / 1e3:.0f} kB")
    expect(seconds < MOST_SECONDS * slowness, f"all published results take {seconds:.1f} s")
    expect(max(sizes.values()) < MOST_PAGE, f"a page has {max(sizes.values())} bytes")
    expect(sizes[out / "index.html"] < MOST_INDEX, f"the index has {sizes[out / 'index.html']} bytes")
    print(f"{check_links(out, sizes)} links")
    if shutil.which("rsvg-convert"):
        expect((out / "poster.png").read_bytes().startswith(b"\x89PNG"), "previews show the poster")
        expect('"og:image" content="poster.png"' in (out / "index.html").read_text(), "the index names its preview")
    check_claims(browser, out)
    check_tables(browser, out)
    for page in ("index.html", "machines/h200/index.html", "machines/h200/gpu-peak/index.html",
                 "machines/h200-x2/ring-peer/index.html", "machines/intel-xeon-2core/calibration/index.html"):
        check_page(browser, out, page, pictures)
    for page in ("machines/h100/sawtooth/index.html", "machines/h100/cache-traversal/index.html",
                 "machines/intel-xeon-2core/cpu-dilated/index.html"):
        check_labels(browser, out / page)
    leave_slow(out, "few")


def leave_slow(out, part):
    """The pages that `opening` opens again."""
    out.with_suffix(f".{part}.slow.json").write_text(json.dumps(slow))


def largest_of_each(pages):
    """Of the pages of one sweep on several machines the largest; all others."""
    kept = {}
    for page in sorted(pages, key=lambda page: page.stat().st_size):
        machine = page.parents[1].parent.name == "machines"  # machines/MACHINE/SWEEP/index.html
        kept[page.parent.name if machine else page] = page
    return list(kept.values())


def check_pages(browser, out, share, all_pages):
    part, parts = map(int, share.split("/"))
    pages = sorted(out.rglob("*.html"))
    if not all_pages:
        pages = sorted(largest_of_each(pages))
    pages = pages[part - 1::parts]
    for page in pages:
        check_lead_inside(out, page, check_first_screen(browser, out, page.relative_to(out)))
    print(f"{len(pages)} pages opened twice")
    leave_slow(out, part)


def slow_pages(out):
    return [one for file in out.parent.glob(f"{out.name}.*.slow.json") for one in json.loads(file.read_text())]


def check_opening(browser, out, slowness):
    limit, again = MOST_TO_OPEN * slowness, slow_pages(out)
    print(f"{len(again)} pages were not opened in time beside other work")
    for page, window in again:
        seconds = math.inf
        for _ in range(3):
            if seconds >= limit:
                seconds = min(seconds, open_page(browser, out / page, window=window))
        expect(seconds < limit, f"{page}, {window[0]} pixels: interactive after {seconds:.2f} s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hilbench")
    parser.add_argument("writer")
    parser.add_argument("pictures", nargs="?")
    parser.add_argument("--part", choices=("hostile", "published", "pages", "opening"), help="this part alone")
    parser.add_argument("--share", default="1/1", help="of the pages: every Nth, from the Ith on, as I/N")
    parser.add_argument("--all", action="store_true", help="every page of the share")
    parser.add_argument("--site", type=pathlib.Path, help="where the site of published results is, or will be")
    parser.add_argument("--slowness", help="the program that says by what to multiply limits on times")
    given = parser.parse_args()
    if not chromium.program():
        print("no Chromium here (Debian: chromium)")
        return 77
    if given.part == "opening" and not slow_pages(given.site):
        print("every page was opened in time beside other work")
        return 0
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        place = pathlib.Path(folder)
        published = given.site or place / "published"
        if given.part in (None, "hostile"):
            lines = subprocess.run([given.writer], check=True, capture_output=True, text=True).stdout.splitlines()
            check_refusals(given.hilbench, lines, place)
            check_hostile(browser, given.hilbench, lines, place)
        if given.part in (None, "published"):
            check_published(browser, given.hilbench, published, given.pictures, chromium.slowness(given.slowness))
        if given.part in (None, "pages"):
            check_pages(browser, published, given.share, given.all)
        if given.part in (None, "opening"):
            check_opening(browser, published, chromium.slowness(given.slowness))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
