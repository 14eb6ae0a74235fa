"""Links and paths in the project's pages lead somewhere. Needs no network: addresses of other sites are not looked at.

Checked: README.md, CONTRIBUTING.md, CHANGELOG.md, SECURITY.md, docs/*.md and the pages of reports/published/.
"""

import pathlib
import re
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# A file of the tree, as prose names it; `*` and words in capitals stand for what differs.
NAMED_FILE = re.compile(r"`((?:kernels|baselines|harness|reports|sweeps|tests|docs)/[\w./*-]+)`")
PLACEHOLDER = re.compile(r"\b(?!README\b)[A-Z]{2,}\b")
CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
MOST_COLUMNS = 120
MOST_LINES = {"README.md": 150, **{str(page.relative_to(TREE)): 400 for page in TREE.glob("reports/published/*/README.md")}}


def pages(tree):
    found = [tree / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
    return sorted([*found, *tree.glob("docs/*.md"), *tree.glob("reports/published/*/*.md")])


def anchors(page):
    """Names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", CODE_BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dangling_links(page):
    """Links of a page that lead to no file, folder or heading."""
    for link in LINK.findall(CODE_BLOCK.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def missing_files(page, tree):
    """Files that a page names between backticks and the tree does not hold."""
    names = NAMED_FILE.findall(page.read_text())
    return [name for name in names if not any(tree.glob(PLACEHOLDER.sub("*", name).rstrip("/")))]


def wide_lines(page):
    """Lines of prose that do not fit; tables, code and addresses cannot be broken."""
    lines = CODE_BLOCK.sub("", page.read_text()).splitlines()
    return [line for line in lines if len(line) > MOST_COLUMNS and not line.startswith("|") and "://" not in line]


class Pages(unittest.TestCase):
    def test_links_lead_somewhere(self):
        dangling = [f"{page.relative_to(TREE)}: {link}" for page in pages(TREE) for link in dangling_links(page)]
        self.assertEqual(dangling, [], "links that lead nowhere")

    def test_files_that_are_named_exist(self):
        missing = [f"{page.relative_to(TREE)}: {name}" for page in pages(TREE) for name in missing_files(page, TREE)]
        self.assertEqual(missing, [], "files that the tree does not hold")

    def test_pages_that_are_read_first_are_short(self):
        lines = {name: len((TREE / name).read_text().splitlines()) for name in MOST_LINES}
        self.assertEqual({name: count for name, count in lines.items() if count > MOST_LINES[name]}, {})

    def test_lines_of_prose_fit(self):
        found = [*pages(TREE), *(TREE / "reports/publish").glob("*.md")]
        wide = [f"{page.relative_to(TREE)}: {line}" for page in found for line in wide_lines(page)]
        self.assertEqual(wide, [], f"lines over {MOST_COLUMNS} columns")


def cases_of(sweep):
    """The listed cases of a file of sweeps/, each as a set of "key: value"; at dilation 1 an offset changes nothing."""
    lines = re.findall(r"^  - \{(.*sequence_length.*)\}$", next((TREE / "sweeps").rglob(f"{sweep}.yaml")).read_text(), re.M)
    cases = [frozenset(re.split(r", (?=[a-z])", line)) for line in lines]
    return [case - {"head_offset: none"} if "dilations: [1]" in case else case for case in cases]


class Sweeps(unittest.TestCase):
    def test_cases_of_steady_stand_where_it_says(self):
        text = next((TREE / "sweeps").rglob("steady.yaml")).read_text()
        self.assertIn("gpu-peak.yaml and, with dilation 4, data.yaml have the same cases", " ".join(text.split()))
        for case in cases_of("steady"):
            self.assertIn(case, cases_of("data" if "dilations: [4]" in case else "gpu-peak"))


class Check(unittest.TestCase):
    """The checks find what they look for."""

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.tree = pathlib.Path(held.name)
        (self.tree / "docs").mkdir()
        (self.tree / "docs/other.md").write_text("# What it is: `it`\n")

    def page(self, text):
        (self.tree / "README.md").write_text(text)
        return self.tree / "README.md"

    def test_dangling_links_are_found(self):
        page = self.page("[a](docs/other.md) [b](docs/other.md#what-it-is-it) [c](docs) [d](https://example.org/x)\n"
                         "[e](docs/none.md) ![f](docs/none.svg) [g](docs/other.md#nothing)\n```\n[h](none)\n```\n")
        self.assertEqual(list(dangling_links(page)), ["docs/none.md", "docs/none.svg", "docs/other.md#nothing"])

    def test_missing_files_are_found(self):
        page = self.page("`docs/other.md` `docs/*.md` `docs/none.md` `docs/FILE.md` `docs/other.md and more` "
                         "`none/other.md`\n")
        self.assertEqual(missing_files(page, self.tree), ["docs/none.md"])


if __name__ == "__main__":
    unittest.main()
