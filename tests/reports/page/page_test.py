"""report.html in headless Chromium: page_test.py HILBENCH RECORDS_JSONL_WRITER [FOLDER for screenshots]

The writer prints the sample records of tests/reports/sample_records.hpp, with some hostile names, or as many
records as requested. Exits with 77 if there is no Chromium. CTest runs the parts as tests of their own (--part): `large`
judges times, and alone runs alone.
"""

import argparse
import csv
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chromium  # noqa: E402

ATTACK = "<img src=x onerror=alert(1)></script><script>alert(2)</script> & \x01\x1b[31m\u2028"
MOST_TO_REPORT = 4  # seconds, for 10,000 records with figures of all forms
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT:", what)


def quiet(browser, file, where):
    expect(browser.messages == [], f"{where}: console says {browser.messages[:3]}")
    outside = [one for one in browser.requests if one != f"file://{file}" and one != "about:blank"]
    expect(outside == [], f"{where}: asks for {outside[:3]}")


def report(hilbench, folder, *options):
    begin = time.monotonic()
    subprocess.run([hilbench, "report", folder, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.join(folder, "report.html"), time.monotonic() - begin


def rows(browser):
    return browser.js("[...document.querySelectorAll('#records tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")


def set_value(browser, selector, value):
    browser.js(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}); box.value = {json.dumps(value)};
                   box.dispatchEvent(new Event('input')); box.dispatchEvent(new Event('change')); }})()""")


def drawn(browser):
    for _ in range(300):
        if browser.js("document.documentElement.dataset.drawn") == "yes":
            return True
        time.sleep(0.05)
    return False


def painted(browser):
    """The number of marks that each figure shows; 0 if nothing was drawn. Nothing may stand outside a figure."""
    expect(drawn(browser), "every figure is drawn in the end")
    browser.js("new Promise((then) => setTimeout(then, 300))")
    found = browser.js("""[...document.querySelectorAll('.stage')].map((stage) => {
      const frame = stage.getBoundingClientRect(), id = stage.closest('figure').id;
      const seen = [...stage.querySelectorAll('.mark-symbol path, .mark-rect.role-mark path, .mark-line path, .mark-text text')]
        .filter((one) => one.textContent || [one.getAttribute('fill'), one.getAttribute('stroke')].some((ink) => ink && ink !== 'none'))
        .map((one) => [one.tagName, one.textContent, one.getBoundingClientRect()]).filter(([, , {width, height}]) => width + height > 2);
      const outside = seen.filter(([, , box]) => box.left < frame.left - 1 || box.right > frame.right + 1 ||
                                                 box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
      return [id, seen.filter(([tag]) => tag === 'path').length, outside.map(([tag, text]) => text || tag)]; })""")
    for figure, _, outside in found:
        expect(outside == [], f"{figure}: stands outside the figure: {outside[:4]}")
    return [marks for _, marks, _ in found]


def check_looks(browser, file, pictures):
    for width in (1440, 390):
        for scheme in ("light", "dark"):
            where = f"{width} pixels, {scheme}"
            browser.window(width, 900, scheme)
            browser.open(file)
            quiet(browser, file, where)
            expect(browser.js("document.documentElement.dataset.ready") == "yes", f"{where}: the scripts end")
            expect(browser.js("document.documentElement.scrollWidth") <= width, f"{where}: the page scrolls sideways")
            dark = browser.js("getComputedStyle(document.body).backgroundColor") == "rgb(15, 19, 23)"
            expect(dark == (scheme == "dark"), f"{where}: follows the preferred colours")
            ink = painted(browser)
            expect(len(ink) >= 6 and min(ink) > 0, f"{where}: figures are drawn: {ink}")
            if pictures:
                browser.screenshot(os.path.join(pictures, f"{width}-{scheme}.png"))
    browser.js("document.getElementById('theme').click()")
    expect(browser.js("document.documentElement.dataset.theme") == "light", "the switch changes the colours")
    expect(min(painted(browser)) > 0, "figures are drawn again in the other colours")


def check_tables(browser, file, folder):
    browser.window(1440)
    browser.open(file)
    every = rows(browser)
    expect(len(every) > 20, "the table of records is filled")
    times = "[...document.querySelectorAll('#records thead button')].find((one) => one.textContent.startsWith('speedup')).click()"
    ratio = lambda row: float(row[1].split()[0])  # noqa: E731
    for name, order in (("ascending", 1), ("descending", -1)):
        browser.js(times)
        ratios = [ratio(row) * order for row in rows(browser) if row[1]]
        expect(ratios == sorted(ratios) and len(ratios) > 8, f"records sort by speedup, {name}")
        expect(browser.js("document.querySelector('#records th[aria-sort]').getAttribute('aria-sort')") == name, f"aria-sort says {name}")
    expect(rows(browser)[-1][1] == "", "records without a speedup come last")
    set_value(browser, "#records input", "hilbert@tokens 16384")
    found = rows(browser)
    expect(found and all("hilbert@tokens" in row[0] for row in found) and len(found) == 2, f"words filter records: {len(found)}")
    set_value(browser, "#records input", "")
    set_value(browser, "#records .control:last-child select", "failed")
    expect([row[2] for row in rows(browser)] == ["failed"], "verdicts filter records")
    browser.open(file)
    browser.js("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    heads = "document.querySelector('#untestable thead button')"
    browser.js(heads + ".click()")
    names = browser.js("[...document.querySelectorAll('#untestable tbody tr')].map((row) => row.cells[0].textContent)")
    expect(names == sorted(names) and len(names) > 20, "tables of claims sort")
    set_value(browser, "#untestable input", "memory")
    shown = browser.js("[...document.querySelectorAll('#untestable tbody tr')].filter((row) => !row.hidden).length")
    expect(0 < shown < len(names), "tables of claims filter")
    commands = {(row["case"], row["variant"]): row["command"] for row in csv.DictReader(open(os.path.join(folder, "tables", "commands.csv")))}
    told = browser.js("""[...document.querySelectorAll('#records tbody .open')].map((opener) => { opener.click();
      const dialog = document.getElementById('record');
      const told = [dialog.querySelector('.case code').textContent, dialog.querySelector('h2').textContent, dialog.querySelector('pre').textContent];
      dialog.close();
      return told; })""")
    expect(len(told) > 20 and all(commands[(case, variant)] == command for case, variant, command in told), "each record tells the command of commands.csv")


def check_legend(browser):
    legend = "document.querySelector('#figure-length .legend button, #figure-dilation .legend button')"
    marks = lambda: browser.js(f"{legend}.closest('figure').querySelectorAll('.stage .mark-symbol.role-mark path').length")  # noqa: E731
    before = marks()
    browser.js(f"{legend}.click()")
    expect(browser.js(f"{legend}.getAttribute('aria-pressed')") == "false", "legends are buttons")
    browser.js("new Promise((then) => setTimeout(then, 100))")
    expect(0 < marks() < before, f"a click in the legend hides a series: {before} marks, then {marks()}")
    browser.js(f"{legend}.click()")
    browser.js("new Promise((then) => setTimeout(then, 100))")
    expect(marks() == before, "another click shows it again")


def check_pointer(browser):
    """The values at the pointer, and the record behind a point."""
    x, y = browser.js("""(async () => { const mark = document.querySelector('#figure-times .mark-symbol.role-mark path');
      mark.scrollIntoView({block: 'center', behavior: 'instant'});
      await new Promise((then) => setTimeout(then, 200));
      const {left, top, width, height} = mark.getBoundingClientRect();
      return [left + width / 2, top + height / 2]; })()""")
    tip = "document.querySelector('#figure-times .tip')"
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 8, y=y + 4)
    told = browser.js(f"{tip}.hidden ? '' : {tip}.textContent")
    expect("dilated/" in told and " ms" in told, f"the pointer comes near a point and the tip shows its values: {told!r}")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    expect(browser.js("document.getElementById('record').open"), "a click on a point opens its record")
    browser.key("Escape")


def check_keyboard(browser, file):
    browser.open(file)
    browser.js("document.querySelector('#records tbody .open').focus()")
    browser.key("Enter")
    expect(browser.js("document.getElementById('record').open"), "Enter opens a record")
    expect(browser.js("document.querySelectorAll('#record .stage').length") == 2, "a record shows its samples twice")
    expect("#record=" in browser.js("location.hash"), "a record has an address")
    address = browser.js("location.hash")
    browser.key("Escape")
    expect(not browser.js("document.getElementById('record').open"), "Escape closes it")
    for wrong in ("#record=%", "#record=%zz", "#record=no/record", "#record="):
        browser.open(file, wrong)
        expect(not browser.js("document.getElementById('record').open"), f"{wrong} opens nothing")
        quiet(browser, file, wrong)
    browser.open(file, address)
    expect(browser.js("document.getElementById('record').open"), "the address opens it again")
    browser.js("""(() => { const dialog = document.getElementById('record'), link = document.createElement('a');
      link.href = location.hash; dialog.close(); document.body.append(link); link.click(); link.remove(); })()""")
    browser.js("new Promise((then) => setTimeout(then, 100))")
    expect(browser.js("document.querySelectorAll('#record[open] .stage').length") == 2,
           "a link opens the record that closed just before")
    browser.key("Escape")
    expect(drawn(browser), "figures are drawn beside an open record")
    browser.js("document.querySelector('#figure-times .stage').focus()")
    browser.key("ArrowRight")
    first = browser.js("document.querySelector('#figure-times .readout').textContent")
    browser.key("ArrowDown")
    second = browser.js("document.querySelector('#figure-times .readout').textContent")
    expect("ms" in first and second and first != second, f"arrow keys read a figure: {first!r}, {second!r}")
    browser.key("Enter")
    expect(browser.js("document.getElementById('record').open"), "Enter on a point opens its record")
    browser.key("Escape")
    check_legend(browser)
    check_pointer(browser)
    browser.js("""(() => { const box = document.querySelector('#one-case select'); box.value = '1'; box.dispatchEvent(new Event('change')); })()""")
    expect(min(painted(browser)) > 0, "another case is drawn")
    quiet(browser, file, "keyboard")


def attacked(value):
    """Every text of a part of a record, however deep, with an attack behind it; a source says what a counter is."""
    if isinstance(value, dict):
        return {key: one if key == "source" else attacked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [attacked(one) for one in value]
    return value + ATTACK if isinstance(value, str) else value


def check_static_figures(folder):
    """Each picture is well-formed and has no element or handler that a name brought in."""
    pictures = glob.glob(os.path.join(folder, "figures/*.svg"))
    expect(pictures or not shutil.which("node"), "hostile names: static figures are drawn")
    for picture in pictures:
        try:
            elements = list(xml.etree.ElementTree.parse(picture).getroot().iter())
        except xml.etree.ElementTree.ParseError as fault:
            expect(False, f"hostile names: {picture}: {fault}")
            continue
        made = [one.tag for one in elements if one.tag.split("}")[-1] not in ("svg", "title", "g", "path", "text", "tspan", "rect",
                "line", "defs", "clipPath") or any(name.startswith("on") for name in one.attrib)]
        expect(made == [], f"hostile names: {picture} has {made[:3]}")


def check_hostile(browser, hilbench, lines):
    with tempfile.TemporaryDirectory() as folder:
        records = [json.loads(line) for line in lines]
        for record in records:
            record.update({key: attacked(record[key]) for key in
                           ("sweep", "case", "variant", "reason", "time_ns", "environment", "counters", "speedup")})
            record["params"]["kernel"] += ATTACK
            record["counters"][ATTACK] = {"value": 1.5, "unit": ATTACK, "source": ATTACK, "passes": 1, "reason": None}
        with open(os.path.join(folder, "records.jsonl"), "w") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)
        with open(os.path.join(folder, "meta.json"), "w") as out:
            json.dump({"sweep": ATTACK, "title": ATTACK, "command": ATTACK, "sweep_file": ATTACK}, out)
        file, _ = report(hilbench, folder)
        check_static_figures(folder)
        markdown = open(os.path.join(folder, "report.md")).read()
        expect("\x1b" not in markdown, "hostile names: report.md has control characters")
        browser.window(1440)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source="window.alarms = 0; window.alert = () => { ++window.alarms; };")
        browser.open(file)
        browser.js("document.querySelectorAll('#records .open').forEach((opener) => { opener.click(); document.getElementById('record').close(); })")
        expect(browser.js("document.documentElement.dataset.ready") == "yes", "hostile names: the scripts end")
        expect(browser.js("window.alarms") == 0, "hostile names run")
        expect(browser.js("document.querySelectorAll('img').length") == 0, "hostile names become elements")
        expect(browser.js("document.body.textContent.includes('onerror=alert')"), "hostile names are shown as text")
        quiet(browser, file, "hostile names")


def ring_records(lines):
    """From one record of the sample: rings of 1, 2 and 4 ranks of three lengths, with the times of a simple machine."""
    first = next(one for one in map(json.loads, lines) if one["variant"] == "dilated/linear" and one["status"] == "ok")
    for length in (1024, 2048, 4096):
        for ranks in (1, 2, 4):
            record = json.loads(json.dumps(first))
            record["case"] = f"n{length}-w{length}-r1-h8-d64-fp32-p{ranks}-cpu"
            record["params"].update(sequence_length=length, segments=[length], dilations=[1], ring_size=ranks, threads=2)
            share = length * length * 8 * 64 * 4 / min(ranks, 2) * 1e-2
            scale = (share + (ranks - 1) * 1e5) / record["time_ns"]["median"]
            time = record["time_ns"]
            time.update(median=time["median"] * scale, ci=[end * scale for end in time["ci"]],
                        samples=[[sample * scale for sample in process] for process in time["samples"]])
            record.update(speedup=None, flops=4 * 64 * 8 * length * length, comm_bytes=0, counters={})
            if ranks > 1:
                record["params"].update(ring_algorithm="ring", transport="threads")
                record["comm_bytes"] = (ranks - 1) * length * 8 * 64 * 4 * 2
                value = lambda of, unit: {"value": of, "unit": unit, "source": "measured", "passes": 1, "reason": None}  # noqa: E731
                record["counters"] = {"ring_compute_ns": value(share, "ns"), "ring_exchange_ns": value((ranks - 1) * 1e5, "ns"),
                                      "ring_overlap": value(0.25, "ratio")}
            yield json.dumps(record) + "\n"


# The figures in the sequence in which they appear.
NOTE_FIGURES = """window.appeared = new Set();
  new MutationObserver(() => document.querySelectorAll('.stage').forEach((one) => appeared.add(one.closest('figure').id)))
      .observe(document, {childList: true, subtree: true});"""


def check_rings(browser, hilbench, lines, pictures):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "records.jsonl"), "w") as out:
            out.writelines(ring_records(lines))
        file, _ = report(hilbench, folder)
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=NOTE_FIGURES)
        browser.open(file)
        expect(drawn(browser), "rings: figures are drawn")
        down = browser.js("[...document.querySelectorAll('figure')].map((one) => one.id).filter((id) => appeared.has(id))")
        expect(browser.js("[...appeared]") == down and len(down) > 5, f"rings: figures are drawn from the top down: {down}")
        said = browser.js("JSON.parse(document.getElementById('data').textContent).forecasts")
        expect({one["ring"] for one in said} == {2, 4, 8}, f"rings: predicted for {sorted({one['ring'] for one in said})} ranks")
        expect(all(one["ns"][1] <= one["ns"][0] <= one["ns"][2] for one in said), "rings: predictions have intervals")
        expect({one["fitted"] for one in said if one["ring"] == 2} == {True} and
               {one["fitted"] for one in said if one["ring"] != 2} == {False}, "rings: what was fitted is told")
        browser.js("document.querySelector('#figure-ring-time .stage').focus()")
        told = set()
        for key in 4 * ["ArrowRight"] + ["ArrowDown"] + 4 * ["ArrowRight"]:
            browser.key(key)
            told.add(browser.js("document.querySelector('#figure-ring-time .readout').textContent"))
        expect(any("predicted" in one and "8 ranks" in one and "not fitted" in one for one in told), f"rings: keyboard reads predictions: {told}")
        expect("fitted on" in browser.js("document.getElementById('rings').textContent"), "rings: the fit is told in words")
        if pictures:
            browser.screenshot(os.path.join(pictures, "rings.png"))
        quiet(browser, file, "rings")


def check_without_charts(browser, hilbench, folder):
    file, _ = report(hilbench, folder, "--charts", "none")
    browser.open(file)
    expect(browser.js("document.documentElement.dataset.ready") == "yes", "without charts: the scripts end")
    expect(len(rows(browser)) > 20 and browser.js("document.querySelectorAll('.stage').length") == 0, "without charts: tables alone")
    browser.js("document.querySelector('#records .open').click()")
    expect(browser.js("document.getElementById('record').open"), "without charts: records open")
    quiet(browser, file, "without charts")


def check_large(browser, hilbench, writer, slowness):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "records.jsonl"), "w") as out:
            subprocess.run([writer, "10000"], check=True, stdout=out)
        file, made = min(report(hilbench, folder) for _ in range(3))  # what else the machine does only ever adds
        size = os.path.getsize(file)
        browser.window(1440)
        shown = min(browser.open(file) for _ in range(3))
        print(f"10,000 records: report in {made:.2f} s (with figures of all forms), {size / 1e6:.2f} MB, interactive in {shown:.2f} s")
        expect(drawn(browser), "10,000 records: figures are drawn")
        expect(size < 10e6, f"the page of 10,000 records has {size} bytes")
        expect(made < MOST_TO_REPORT * slowness, f"the report of 10,000 records takes {made:.2f} s")
        expect(shown < 2 * slowness, f"it is interactive after {shown:.2f} s")
        expect(browser.js("document.documentElement.dataset.ready") == "yes", "10,000 records: the scripts end")
        set_value(browser, "#records input", "hilbert@tokens")
        expect(all("hilbert@tokens" in row[0] for row in rows(browser)), "10,000 records are filtered")
        quiet(browser, file, "10,000 records")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("hilbench")
    parser.add_argument("writer")
    parser.add_argument("pictures", nargs="?")
    parser.add_argument("--part", choices=("small", "large"), help="this part alone")
    parser.add_argument("--slowness", help="the program that says by what to multiply limits on times")
    given = parser.parse_args()
    hilbench, writer, pictures = given.hilbench, given.writer, given.pictures
    if not chromium.program():
        print("no Chromium here (Debian: chromium)")
        return 77
    lines = subprocess.run([writer], check=True, capture_output=True, text=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        with open(os.path.join(folder, "records.jsonl"), "w") as out:
            out.writelines(line + "\n" for line in lines)
        file, _ = report(hilbench, folder)
        if "const vega" not in open(file).read():
            print("no Vega here (Debian: libjs-vega)")
            return 77
        if given.part in (None, "small"):
            check_looks(browser, file, pictures)
            check_tables(browser, file, folder)
            check_keyboard(browser, file)
            check_hostile(browser, hilbench, lines)
            check_rings(browser, hilbench, lines, pictures)
            check_without_charts(browser, hilbench, folder)
        if given.part in (None, "large"):
            check_large(browser, hilbench, writer, chromium.slowness(given.slowness))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
