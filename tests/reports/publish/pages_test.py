"""Findings pages are as their records say, and stores are read.

Usage: pages_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import gzip
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree

TREE = pathlib.Path(__file__).resolve().parents[3]
PUBLISH = TREE / "reports/publish"
RECORDS = TREE / "reports/published/h200-x2/counters-launched"


class PublishTest(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.place = pathlib.Path(held.name)

    def start(self, script, *arguments, status=0, binary=None):
        """Standard output and error of a script of reports/publish/, which must end with `status`."""
        done = subprocess.run([sys.executable, PUBLISH / script, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, "HILBENCH": binary or BINARY}, timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def published(self, readme=None):
        """A published folder of one small sweep."""
        folder = self.place / "machine"
        shutil.copytree(RECORDS, folder / RECORDS.name)
        if readme is not None:
            (folder / "README.md").write_text(readme)
        return folder


class Findings(PublishTest):
    def test_marks_are_filled_and_a_changed_number_is_found(self):
        folder = self.published(f"# Rings\n\n<!-- generated: table {RECORDS.name} rings -->\n<!-- end -->\n\nBy hand.\n")
        self.assertIn("differs", self.start("generated_blocks.py", "check", folder, status=1))
        self.start("generated_blocks.py", "fill", folder)
        self.assertIn("as generated", self.start("generated_blocks.py", "check", folder))
        page = (folder / "README.md").read_text()
        self.assertIn("| n 65536, 65536/16, h 16, d 128, bf16 | dilated/linear/ring\\_packed | ring\\_packed | 2 |", page)
        self.assertTrue(page.endswith("<!-- end -->\n\nBy hand.\n"))
        (folder / "README.md").write_text(page.replace("| 512.0 MiB |", "| 513.0 MiB |", 1))
        self.start("generated_blocks.py", "check", folder, status=1)

    def test_a_missing_program_is_refused(self):
        folder = self.published("<!-- generated: runs -->\n<!-- end -->\n<!-- generated: verdicts -->\n<!-- end -->\n")
        said = self.start("generated_blocks.py", "check", folder, status=2, binary="/nowhere/hilbench")
        self.assertIn("no /nowhere/hilbench; build it", said)

    def test_unknown_blocks_are_refused_and_missing_sweeps_are_said(self):
        folder = self.published("<!-- generated: table nothing rings -->\n<!-- end -->\n")
        self.start("generated_blocks.py", "fill", folder)
        self.assertIn("`nothing` has not been published yet.", (folder / "README.md").read_text())
        (folder / "README.md").write_text("<!-- generated: wishes -->\n<!-- end -->\n")
        self.assertIn("no block 'wishes'", self.start("generated_blocks.py", "check", folder, status=2))

    def test_what_is_no_mark_is_refused_and_nothing_is_lost(self):
        good = f"<!-- generated: table {RECORDS.name} rings -->\n<!-- end -->\n"
        for bad, said in (("<!-- generated: runs -->\n\nBy hand.\n", "line 4: no '<!-- end -->' behind 'runs'"),
                          ("<!-- generated:runs -->\n<!-- end -->\n", "line 4: no mark: <!-- generated:runs -->"),
                          ("<!-- generated: ru-ns -->\n<!-- end -->\n", "line 4: no mark"),
                          ("  <!-- generated: runs -->\n\nBy hand.\n", "line 4: no '<!-- end -->' behind 'runs'"),
                          ("<!-- generated: table a b c d -->\n<!-- end -->\n", "not been published")):
            text = f"First.\n{good}{bad}{good}By hand.\n"
            with self.subTest(bad), tempfile.TemporaryDirectory() as held:
                page = pathlib.Path(held, "page") / "README.md"
                shutil.copytree(RECORDS, page.parent / RECORDS.name)
                page.write_text(text)
                if "published" in said:
                    self.start("generated_blocks.py", "fill", page.parent)
                    self.assertIn(said, page.read_text())
                    continue
                answer = self.start("generated_blocks.py", "fill", page.parent, status=2)
                self.assertIn(said, answer)
                self.assertIn(str(page), answer)
                self.assertEqual(answer.count("\n"), 1, answer)
                self.assertEqual(page.read_text(), text)

    def test_a_folder_whose_records_are_cut_is_refused_in_a_line(self):
        text = f"<!-- generated: runs -->\n<!-- end -->\n<!-- generated: verdicts {RECORDS.name} x y -->\n<!-- end -->\n"
        folder = self.published(text)
        records = folder / RECORDS.name / "records.jsonl.gz"
        for written in (text, text.replace("verdicts", "table").replace(" x y", " rings")):
            (folder / "README.md").write_text(written)
            self.assertEqual(self.start("generated_blocks.py", "fill", folder, status=2).count("\n"), 1)
            records.write_bytes(records.read_bytes()[:3000])
        self.assertEqual((folder / "README.md").read_text(), written)

    def test_a_damaged_table_of_gates_is_refused_in_a_line(self):
        text = f"<!-- generated: gates {RECORDS.name} -->\n<!-- end -->\n"
        folder = self.published(text)
        table = folder / RECORDS.name / "gates.csv.gz"
        table.write_bytes(b"")
        said = self.start("generated_blocks.py", "fill", folder, status=2)
        self.assertRegex(said, rf"\Agenerated_blocks.py: .*: {re.escape(str(table))} is damaged: its end .*\n\Z")
        self.assertEqual((folder / "README.md").read_text(), text)


class Documents(PublishTest):
    def test_documents_are_filled_and_stale_blocks_are_named(self):
        file = self.place / "page.md"
        file.write_text("Before.\n<!-- generated: table_price h200 cache-order -->\n<!-- end -->\n"
                        "<!-- generated: runs h200-x2 -->\n<!-- end -->\n")
        self.assertEqual(self.start("generated_blocks.py", "fill", file), f"written: {file}\n")
        self.assertEqual(self.start("generated_blocks.py", "fill", file), "as generated\n")
        page = file.read_text()
        self.assertIn("\n| `dilated_wgmma` | 6 | ", page)
        self.assertIn("\n| [counters-launched](counters-launched/) | ", page)
        file.write_text(page.replace("| `dilated_wgmma` | 6 |", "| `dilated_wgmma` | 7 |"))
        said = self.start("generated_blocks.py", "check", self.place, status=1)
        self.assertIn("page.md: table_price h200 cache-order differs from the records; fill it anew", said)

    def test_what_is_not_published_is_said(self):
        file = self.place / "page.md"
        file.write_text("<!-- generated: said h200 nothing rivals -->\n<!-- end -->\n"
                        "<!-- generated: claims_said nowhere -->\n<!-- end -->\n")
        self.start("generated_blocks.py", "fill", file)
        self.assertIn("`nothing` has not been published yet.", file.read_text())
        self.assertIn("`nowhere` has not been published yet.", file.read_text())

    def test_the_sentence_counts_what_the_table_counts(self):
        """The sentence of README.md is the site's, the table of docs/claims.md is made of the answers of every sweep."""
        page = (TREE / "README.md").read_text()
        table = (TREE / "docs/claims.md").read_text().partition("| machine | tests |")[2]
        counted = re.search(r"(\d+)\s+tests\s+are\s+of\s+a\s+claim\s+that\s+Hilbert[^:]*:\s+(\w+)\s+reproduce", page)
        rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
        rows = [row for row in rows[:next(i for i, row in enumerate(rows) if len(row) < 6)]
                if "claimed in another dtype" not in row[0]]
        self.assertEqual(sum(int(row[1]) for row in rows), int(counted[1]))
        self.assertEqual(sum(int(row[2]) for row in rows), 0 if counted[2] == "none" else int(counted[2]))

    def test_a_gpu_needs_no_page(self):
        folder = self.published()
        for command in ("fill", "check"):
            self.assertIn("no findings page", self.start("generated_blocks.py", command, folder))
        self.assertFalse((folder / "README.md").exists())

    def test_the_picture_shows_claims(self):
        file = self.place / "claimed-and-measured.svg"
        self.start("generated_blocks.py", "fill", file)
        picture = xml.etree.ElementTree.parse(file).getroot()
        texts = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("claimed", texts)
        self.assertIn("4096 positions, 512/64", texts)
        self.assertIn("7.95", texts)

    def test_the_pictures_of_orders_show_orders(self):
        for name, words in (("order-paths.svg", {"hilbert", "boxes.8.16"}), ("order-slots.svg", {"residue.4", "random"}),
                            ("order-footprints.svg", {"linear", "keys that the tile reads"})):
            file = self.place / name
            self.start("generated_blocks.py", "fill", file)
            picture = xml.etree.ElementTree.parse(file).getroot()
            texts = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
            self.assertLessEqual(words, texts)
            self.assertEqual(file.read_text(), (TREE / "docs" / name).read_text())
            file.write_text(file.read_text().replace("hilbert", "peano"))
            self.assertIn(f"{name}: it differs", self.start("generated_blocks.py", "check", file, status=1))

    def test_the_program_says_of_claims_what_the_page_says(self):
        listed = subprocess.run([BINARY, "list", "claims"], check=True, capture_output=True, text=True).stdout
        rows = [line.strip("| ").split(" | ") for line in (TREE / "docs/claims.md").read_text().splitlines()
                if line.startswith("| `") and line.count("|") == 6]
        self.assertGreater(len(rows), 10)
        for claim, _, title, _, obtained in rows:
            self.assertRegex(listed, rf"(?m)^{claim.strip('`')} +{re.escape(title)} \({obtained}\), ")

    def test_a_file_that_is_not_generated_here_is_refused(self):
        file = self.place / "notes.txt"
        file.write_text("By hand.\n")
        self.assertIn("neither a Markdown file nor a picture", self.start("generated_blocks.py", "fill", file, status=2))


class Store(PublishTest):
    def setUp(self):
        super().setUp()
        self.store = self.place / "results.sqlite"
        with sqlite3.connect(self.store) as store:
            store.execute("create table meta (key, value)")
            store.execute("create table environment (json)")
            store.executemany("insert into meta values (?, ?)", [("title", "A sweep"), ("schema", "1")])
            for cores in (1, 16):
                host = {"cpu": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "cores": cores}
                store.execute("insert into environment values (?)", [json.dumps({"host": host})])

    def test_a_machine_is_named_after_its_processor_and_all_of_its_cores(self):
        self.assertEqual(self.start("store.py", "name", self.store), "intel-xeon-platinum-8481c-16core\n")

    def test_meta_holds_what_a_report_needs(self):
        self.start("store.py", "meta", self.store, self.place / "meta.json")
        self.assertEqual(json.loads((self.place / "meta.json").read_text()), {"title": "A sweep"})

    def archive(self, *members):
        """x.tar.xz with (name, type, text or target of the link) of each member."""
        path = self.place / "x.tar.xz"
        with tarfile.open(path, "w:xz") as made:
            for name, kind, text in members:
                member = tarfile.TarInfo(name)
                member.type = kind
                if kind == tarfile.REGTYPE:
                    member.size = len(text)
                    made.addfile(member, io.BytesIO(text.encode()))
                else:
                    member.linkname = text
                    made.addfile(member)
        return path

    def test_one_regular_file_is_taken_of_an_archive(self):
        untouched, taken = self.place / "untouched", self.place / "taken"
        untouched.write_text("mine")
        through, store = ("x", tarfile.SYMTYPE, str(self.place)), "x/results.sqlite"
        self.start("store.py", "take", self.archive(through, ("x/untouched", tarfile.REGTYPE, "theirs"),
                                                    ("../untouched", tarfile.REGTYPE, "theirs"),
                                                    (str(untouched), tarfile.REGTYPE, "theirs"),
                                                    (store, tarfile.REGTYPE, "a store")), taken)
        self.assertEqual((untouched.read_text(), taken.read_text()), ("mine", "a store"))
        said = self.start("store.py", "take", self.archive((store, tarfile.REGTYPE, "again")), taken, status=1)
        self.assertIn("FileExistsError", said)
        self.assertEqual(taken.read_text(), "a store")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            said = self.start("store.py", "take", self.archive((store, kind, str(untouched))), self.place / f"k{kind}",
                              status=1)
            self.assertIn("x/results.sqlite is no regular file", said)
        said = self.start("store.py", "take", self.archive(("y/results.sqlite", tarfile.REGTYPE, "")),
                          self.place / "none", status=1)
        self.assertIn("it holds no x/results.sqlite", said)
        (self.place / "x.tar.xz").write_bytes(b"no archive")
        self.assertIn("ReadError", self.start("store.py", "take", self.place / "x.tar.xz", self.place / "bad", status=1))

    def test_records_keep_seven_digits_and_all_of_whole_numbers(self):
        lines = self.place / "records.jsonl"
        lines.write_text('{"b":[123456.789012,3.0,1e-9],"a":{"seed":2429058015832697728,"flops":33554432.0,"x":null}}\n')
        packed = self.place / "records.jsonl.gz"
        self.start("store.py", "records", lines, packed)
        self.assertEqual(gzip.open(packed, "rt").read(), '{"b":[123456.8,3.0,1e-09],'
                         '"a":{"seed":2429058015832697728,"flops":33554432.0,"x":null}}\n')
        before = packed.read_bytes()
        self.start("store.py", "records", lines, packed)
        self.assertEqual(packed.read_bytes(), before)

    def test_a_published_table_of_gates_stays_if_the_new_one_is_damaged(self):
        table, packed = self.place / "gates.csv", self.place / "gates.csv.gz"
        table.write_text("kind,gate,status,seconds,verdict\nequal,1,0,60,ok\n")
        self.start("store.py", "gates", table, packed)
        self.assertEqual(gzip.open(packed, "rt").read(), table.read_text())
        before = packed.read_bytes()
        table.write_text(table.read_text() + "equal,2,0,6")
        said = self.start("store.py", "gates", table, packed, status=1)
        self.assertRegex(said, r"\Astore.py: .*/gates.csv is damaged: its last line is not complete; .*\n\Z")
        self.assertEqual(packed.read_bytes(), before)
        table.unlink()
        self.start("store.py", "gates", table, packed, status=1)
        self.assertEqual(packed.read_bytes(), before)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
