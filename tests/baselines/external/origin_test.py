"""The program origin without the reports' modules and without PyTorch: which functions it calls equal to what a case
asks for, its map, and what it says when something is missing. With PyTorch besides: its options against the oracle, with
modules of the same interface that are written here.

Usage: origin_test.py PATH_OF_HILBENCH PATH_OF_ORIGIN.PY [unittest arguments]
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[2]).parent))


def load():
    specification = importlib.util.spec_from_file_location("origin", sys.argv[2])
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


origin = load()


def case(**fields):
    known = {"pass": "forward", "ring_size": 1, "heads": 4, "kv_heads": 4, "sequence_length": 256, "segments": [128],
             "dilations": [1], "queries": "dilated", "head_offset": "none", "branch_heads": "all", "causal": False,
             "head_dim": 16, "batch": 1, "dtype": "fp32", "device": "cpu"}
    return origin.Case({**known, **fields})


class Maps(unittest.TestCase):
    def test_the_curve_visits_every_point_once_and_goes_to_neighbours(self):
        for side in (2, 8, 32):
            points = origin.hilbert_curve(side)
            self.assertEqual(len(set(points)), side * side)
            for (x, y), (u, v) in zip(points, points[1:]):
                self.assertEqual(abs(x - u) + abs(y - v), 1)

    def test_the_map_is_a_permutation_of_any_length(self):
        for length in (16, 65, 1000, 4096):
            self.assertEqual(sorted(origin.bijective_map(length)), list(range(length)))


class Memory(unittest.TestCase):
    def test_grows_by_what_a_step_holds_at_once_and_not_by_what_it_held_before(self):
        mib = 1 << 20
        if origin.growth_bytes(lambda: None) is None:
            self.skipTest("this system does not say how far a process grows")
        held = [bytearray(b"x" * (96 * mib))]
        held.clear()
        one = origin.growth_bytes(lambda: bytearray(b"x") * (64 * mib))
        one_after_another = origin.growth_bytes(lambda: [len(bytearray(b"x") * (64 * mib)) for _ in range(3)])
        both = origin.growth_bytes(lambda: (bytearray(b"x") * (64 * mib), bytearray(b"y") * (64 * mib)))
        for found, expected in ((one, 64), (one_after_another, 64), (both, 128)):
            self.assertAlmostEqual(found / mib, expected, delta=4)


class Functions(unittest.TestCase):
    def differs(self, chunk_map=None, **fields):
        return origin.hybrid_differs(case(**fields), chunk_map)

    def test_the_hybrid_is_what_a_case_with_its_rules_asks_for(self):
        self.assertEqual(self.differs(), "")
        self.assertEqual(self.differs(dilations=[2]), "")
        self.assertEqual(self.differs(causal=True), "")
        self.assertEqual(self.differs(list(range(128)), dilations=[2]), "")
        self.assertEqual(self.differs(segments=[64, 128], dilations=[1, 2], branch_heads="partition",
                                      head_offset="contiguous"), "")
        self.assertEqual(self.differs(segments=[64, 128], dilations=[2, 4], branch_heads="partition",
                                      head_offset="branch"), "")

    def test_the_hybrid_is_another_function_of_other_cases(self):
        self.assertIn("queries", self.differs(queries="dense"))
        self.assertIn("begin at one row", self.differs(dilations=[2], head_offset="modulo"))
        self.assertIn("shares its heads", self.differs(segments=[64, 128], dilations=[1, 2]))
        self.assertIn("begin at one row: 1 in branch 2", self.differs(
            segments=[64, 128], dilations=[2, 4], branch_heads="partition"))

    def test_moved_keys_are_another_function_unless_no_query_can_tell(self):
        turned = list(reversed(range(128)))
        self.assertEqual(self.differs(turned), "")
        self.assertIn("mask has not", self.differs(turned, causal=True))
        self.assertIn("selects others", self.differs(turned, dilations=[2]))
        self.assertIn("between segments", self.differs(list(reversed(range(256)))))
        self.assertIn("reads 64 of the 128 keys", self.differs(list(range(64)) * 2))

    def test_the_kernel_report_computes_dense_queries(self):
        self.assertEqual(origin.final_differs(case(queries="dense", dilations=[4]), None), "")
        self.assertIn("dense", origin.final_differs(case(dilations=[4]), None))
        self.assertIn("row 0", origin.final_differs(case(queries="dense", dilations=[4], head_offset="modulo"), None))
        inside = [*reversed(range(128)), *range(128, 256)]
        self.assertEqual(origin.final_differs(case(queries="dense"), inside), "")
        self.assertIn("other keys", origin.final_differs(case(queries="dense", dilations=[4]), inside))
        across = list(range(64, 256)) + list(range(64))
        self.assertIn("other tokens", origin.final_differs(case(queries="dense"), across))

    def test_cases_that_no_module_computes_are_skipped(self):
        for option, fields, reason in (
                ("off", {"ring_size": 2}, "one rank"), ("off", {"kv_heads": 2}, "as many heads"),
                ("off", {"segments": [100]}, "segments divide"), ("off", {"pass": "backward"}, "forward"),
                ("final_on", {"causal": True}, "causal"), ("final_on", {"segments": [64, 128], "dilations": [1, 2]},
                                                           "one segment length")):
            with self.subTest(option=option, fields=fields), self.assertRaisesRegex(origin.Unsupported, reason):
                case(**fields).refuse(option)
        case(segments=[64, 128], dilations=[1, 2]).refuse("multihead")


class Clone(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ["XDG_CACHE_HOME"] = str(self.folder / "cache")
        os.environ.pop("HILBENCH_ORIGIN", None)

    def git(self, *words):
        who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
        done = subprocess.run(["git", "-C", self.folder / "clone", *who, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def clone(self):
        """A repository with a package of that name; its only commit."""
        package = self.folder / "clone" / origin.PACKAGE
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("WHO = 'committed'\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        os.environ["HILBENCH_ORIGIN"] = str(self.folder / "clone")
        return self.git("rev-parse", "HEAD")

    def reason(self, commit):
        with self.assertRaises(origin.Unsupported) as refused:
            origin.sources(commit)
        self.assertNotIn("\n", str(refused.exception))
        return str(refused.exception)

    def test_without_a_clone_the_reason_says_how_to_get_one(self):
        said = self.reason(origin.HYBRID_COMMIT)
        self.assertIn(f"git clone -b {origin.BRANCH} {origin.URL} origin", said)
        self.assertIn("export HILBENCH_ORIGIN=$PWD/origin", said)

    def test_what_is_no_clone_is_named(self):
        os.environ["HILBENCH_ORIGIN"] = str(self.folder / "nowhere")
        self.assertIn("nowhere holds no", self.reason(origin.HYBRID_COMMIT))

    def test_a_clone_without_the_commit_says_how_to_fetch_it(self):
        self.clone()
        said = self.reason(origin.HYBRID_COMMIT)
        self.assertIn("commit 4476ff2", said)
        self.assertIn(f"fetch {origin.URL} {origin.BRANCH}", said)
        self.assertFalse((self.folder / "cache/hilbench/origin").exists())

    def test_a_commit_without_the_package_is_named(self):
        self.clone()
        self.git("mv", origin.PACKAGE, "other")
        self.git("commit", "-qm", "second")
        self.assertIn(f"holds no {origin.PACKAGE}", self.reason(self.git("rev-parse", "HEAD")))

    def test_the_commit_counts_and_not_the_work_tree(self):
        commit = self.clone()
        (self.folder / "clone" / origin.PACKAGE / "__init__.py").write_text("WHO = 'changed'\n")
        folder = origin.sources(commit)
        self.assertEqual((folder / origin.PACKAGE / "__init__.py").read_text(), "WHO = 'committed'\n")
        del os.environ["HILBENCH_ORIGIN"]
        os.environ["HILBENCH_ORIGIN"] = str(self.folder / "gone")
        self.assertEqual(origin.sources(commit), folder, "it is kept")

    def test_a_cache_that_cannot_be_used_is_named(self):
        commit = self.clone()
        (self.folder / "cache").write_text("a file")
        self.assertRegex(self.reason(commit), "cannot be unpacked into .*cache/hilbench/origin: .*XDG_CACHE_HOME")

    def test_a_cache_without_the_package_is_mended(self):
        commit = self.clone()
        (self.folder / "cache/hilbench/origin" / commit).mkdir(parents=True)
        self.assertTrue((origin.sources(commit) / origin.PACKAGE / "__init__.py").exists())
        self.assertEqual(len(list((self.folder / "cache/hilbench/origin").iterdir())), 1, "nothing else is left")

    def test_a_stand_in_takes_no_place_of_a_module_that_is_there(self):
        sys.modules["there"] = types.ModuleType("there")
        self.addCleanup(sys.modules.pop, "there")
        origin.stand_in("there", "XPOS")
        self.assertFalse(hasattr(sys.modules["there"], "XPOS"))
        origin.stand_in("not_there.inside", "XPOS")
        self.assertIsNone(sys.modules["not_there.inside"].XPOS)


SWEEP = """
name: origin
cases:
  - {{sequence_length: 2048, heads: 4, head_dim: 64, threads: 1, device: cpu, {fields}}}
variants: [{{kernel: dilated, order: linear}}]
baselines: [{options}]
counters: []
measure: {{budget_s: 0.05, min_rounds: 3}}
"""
PROJECTS = "it projects its input by random weights"
# Executions of a few milliseconds: shorter ones are slower alone than among others, since PyTorch runs eagerly.
# Fields of the case, and for each option why it computes another function; None if it computes what the case asks for.
RUNS = [
    ("segments: [1024], dilations: [1]",
     {"off": None, "core": None, "identity_gather": None, "bijection": "between segments", "on": "1024 of the 2048 keys"}),
    ("segments: [2048], dilations: [1]", {"bijection": None}),
    ("segments: [1024], dilations: [2], head_offset: none, causal: true", {"off": None, "bijection": "mask has not"}),
    ("segments: [512, 1024], dilations: [1, 2], branch_heads: partition, head_offset: contiguous", {"off": None}),
    ("segments: [512, 1024], dilations: [2, 4], branch_heads: partition, head_offset: branch", {"off": None}),
    ("segments: [1024], dilations: [4], queries: dense, head_offset: none",
     {"final_core": None, "final_core_tf32": None, "off": "queries", "final_off": PROJECTS, "final_on": PROJECTS,
      "final_identity_gather": PROJECTS, "final_outside": PROJECTS, "multihead": ", and normalises it",
      "multihead_bare": PROJECTS}),
]


def python_with_torch():
    python = os.environ.get("HILBENCH_PYTHON", "python3")
    return subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0


class Options(unittest.TestCase):
    """With modules that stand in for those of the reports."""

    def records(self, fields, options):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            stand_ins = pathlib.Path(__file__).resolve().parents[2] / "fakes/origin"
            for commit in (origin.HYBRID_COMMIT, origin.KERNEL_COMMIT):
                shutil.copytree(stand_ins, folder / "cache/hilbench/origin" / commit)
            (folder / "sweep.yaml").write_text(SWEEP.format(
                fields=fields, options=", ".join(f"origin.{option}" for option in options)))
            environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "HILBENCH_ORIGIN": str(folder)}
            subprocess.run([sys.argv[1], "run", "sweep.yaml", "-o", "out", "--allow-external"], cwd=folder,
                           env=environment, check=True, capture_output=True)
            lines = subprocess.run([sys.argv[1], "export", "out", "--format", "jsonl"], cwd=folder, check=True,
                                   capture_output=True, text=True).stdout.splitlines()
            return {record["variant"]: record for record in map(json.loads, lines)}

    def test_equal_functions_are_verified_and_others_say_why_they_are_none(self):
        if not python_with_torch():
            self.skipTest("no PyTorch here")
        for fields, options in RUNS:
            records = self.records(fields, options)
            for option, why in options.items():
                with self.subTest(fields=fields, option=option):
                    record = records[f"origin.{option}"]
                    self.assertEqual(record["status"], "ok", record["reason"])
                    said = record["verify"]["other_function"]
                    if why is None:
                        self.assertIsNone(said)
                        self.assertLessEqual(record["verify"]["worst"], 1)
                        self.assertGreater(record["verify"]["probed_rows"], 0)
                    else:
                        self.assertIn(why, said)
                        self.assertIsNone(record["tflops"])
                        self.assertEqual(record["speedup"]["verdict"], "different function")
                    self.assertEqual(record["environment"]["library"]["tf32"], option.endswith("_tf32"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
