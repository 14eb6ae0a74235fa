"""torch_windows.py: its geometry by itself, then on the CPU by its protocol and through the program.

Usage: torch_windows_test.py PATH_OF_HILBENCH PATH_OF_SCRIPT [unittest arguments]. The interpreter is that of
HILBENCH_PYTHON, else python3; without PyTorch in it only the tests that need none run, and the status is 77.
HILBENCH_WINDOWS_DEVICE=cuda asks the script to compute on a GPU.
"""

import collections
import importlib.util
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest.mock

GPUS = os.environ.copy()  # before program.py hides the GPUs from what tests start
import torch_rivals  # noqa: E402
from plain_attention import keys_of, keys_of_windows  # noqa: E402 (torch_rivals adds its folder to the path)
from program import Program, npy  # noqa: E402

DEVICE = os.environ.get("HILBENCH_WINDOWS_DEVICE") or "cpu"
GRIDS = 200
RANDOM_CASES = 40
SMALL = {"batch": 1, "heads": 1, "kv_heads": 1, "head_dim": 16, "pass": "forward", "ring_size": 1, "device": DEVICE,
         "threads": 1, "dtype": "fp32", "causal": False, "edges": "shift", "window_dilation": [1, 1],
         "window_stride": [1, 1], "window_causal": [False, False]}
WINDOWS = ("grid", "window", "window_dilation", "window_stride", "window_causal", "edges")

SWEEP = """
name: torch_windows
cases:
  - {grid: [9, 12], window: [5, 3], window_dilation: [1, 2], heads: 4, kv_heads: 2, head_dim: 16, threads: 1}
  - {grid: [4, 6, 5], window: [3, 2, 3], edges: cut, heads: 2, head_dim: 16, threads: 1, causal: true}
  - {mask: near.npy, mask_block: 8, sequence_length: 30, heads: 2, head_dim: 16, threads: 1}
variants: [{kernel: dilated, order: linear}]
baselines: [torch_windows, torch_windows.natten]
measure: {budget_s: 0.05, min_rounds: 3}
"""
FLEX_SWEEP = """
name: flex_windows
cases: [{grid: [9, 12], window: [5, 3], window_dilation: [1, 2], heads: 4, kv_heads: 2, head_dim: 16, threads: 1}]
variants: [{kernel: dilated, order: linear}]
baselines: [torch_windows.flex, torch_windows.flex_boxes]
measure: {budget_s: 0.05, min_rounds: 3}
"""

# Prints how wide the lists of a mask are.
WIDTHS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch, torch_windows
torch_windows.torch = torch_windows.window_pairs.torch = torch
case = torch_windows.Case(json.loads(sys.argv[2]))
inputs = [torch.zeros(1, case.sequence_length, 1, 16) for _ in range(3)]
mask = torch_windows.Flex(case, inputs, 64, False).mask
print([mask.kv_indices.shape[-1], mask.full_kv_indices.shape[-1]])
"""


def loaded_module(script):
    """The script as a module, without PyTorch."""
    with_folder = [str(pathlib.Path(script).parent), *sys.path]  # which holds what it imports
    spec = importlib.util.spec_from_file_location("torch_windows", script)
    module = importlib.util.module_from_spec(spec)
    with unittest.mock.patch.object(sys, "path", with_folder):
        spec.loader.exec_module(module)
    return module


def random_windows(rng, largest):
    dimensions = rng.choice([2, 2, 3])
    edges = rng.choice(["shift", "cut"])
    lists = {name: [] for name in ("grid", "window", "window_dilation", "window_stride", "window_causal")}
    for _ in range(dimensions):
        n = rng.randint(1, largest if dimensions == 2 else largest // 2 + 1)
        d = rng.choice([1, 1, 2, 3])
        w = rng.randint(1, max(n // d, 1) if edges == "shift" else n + 2)
        d = 1 if edges == "shift" and w * d > n else d
        for name, value in zip(lists, (n, w, d, rng.randint(1, w), rng.random() < 0.2)):
            lists[name].append(value)
    return {**lists, "edges": edges, "causal": rng.random() < 0.2, "sequence_length": math.prod(lists["grid"])}


def random_mask(rng):
    """A mask of blocks, of which some see nothing, over a sequence or a grid."""
    length, block = rng.randint(1, 90), rng.choice([1, 7, 16, 64])
    blocks = -(-length // block)
    rows = [[int(q % 4 != 1 and rng.random() < 0.4) for _ in range(blocks)] for q in range(blocks)]
    rows[0][0] = 1
    grid = {"grid": [1, length]} if rng.random() < 0.3 else {}
    return {**grid, "sequence_length": length, "mask_block": block, "mask": rows, "causal": rng.random() < 0.3}


def random_case(rng):
    heads = rng.choice([1, 4, 8])
    return {**random_windows(rng, 9), "batch": rng.choice([1, 2]), "heads": heads,
            "kv_heads": rng.choice([g for g in (1, 2, 8) if g <= heads]), "head_dim": rng.choice([16, 32]),
            "dtype": rng.choice(list(torch_rivals.STORE)), "pass": "forward", "ring_size": 1, "device": DEVICE,
            "threads": 1}


class GeometryTest(torch_rivals.RivalTest):
    """Against the definition, in whole numbers: the functions also take tensors."""

    def setUp(self):
        self.module = loaded_module(self.path_of_script)

    def test_windows_see_what_the_definition_says(self):
        rng = random.Random(3)
        for _ in range(GRIDS):
            case = random_windows(rng, 12)
            windows = self.module.Windows(self.module.Case(case))
            cells = list(itertools.product(*map(range, case["grid"])))
            for t in rng.sample(range(len(cells)), min(len(cells), 12)):
                seen = [s for s, cell in enumerate(cells) if windows.sees(cells[t], cell) is not False]
                self.assertEqual(seen, sorted(keys_of_windows(case, t)), (case, cells[t]))

    def test_orders_are_bijections_and_know_their_coordinates(self):
        for grid, box in (([4, 6], None), ([4, 6], [2, 3]), ([4, 6, 8], [2, 2, 4])):
            order = self.module.Order(grid, box, None)
            slots = order.slots()
            self.assertEqual(sorted(slots), list(itertools.product(*map(range, grid))))
            self.assertEqual([tuple(order.coordinates(slot)) for slot in range(len(slots))], slots)

    def test_boxes_are_those_of_the_program(self):
        program = Program(self.binary)
        self.addCleanup(program.close)
        for grid, box in (([4, 6], [2, 3]), ([5, 7], [2, 4]), ([3, 5, 6], [2, 2, 4])):
            out, _ = program.run("order", "boxes." + ".".join(map(str, box)), "--grid", "x".join(map(str, grid)))
            order = self.module.Order(grid, None, None)
            order.box = box  # cut boxes have tables, which need PyTorch
            slots = [int(line) for line in out.split()]
            cells = list(itertools.product(*map(range, grid)))
            self.assertEqual([cells[p] for p in sorted(range(len(cells)), key=slots.__getitem__)], order.slots())

    def test_the_box_suits_the_window(self):
        for grid, window, volume, box in (([64, 64], [13, 13], 64, [8, 8]), ([64, 64], [3, 63], 64, [1, 64]),
                                          ([64, 2], [9, 2], 128, [64, 2]), ([3, 5], [3, 3], 64, None)):
            self.assertEqual(self.box_for(grid, window, [1] * len(grid), volume), box)

    def test_the_box_suits_the_stride(self):
        """Queries of a box share a window of whole boxes, if there is such a box."""
        for grid, window, stride, volume, box in (([30, 48, 80], [18, 24, 24], [6, 8, 8], 128, [2, 8, 8]),
                                                  ([30, 48, 80], [30, 40, 40], [6, 8, 8], 128, [2, 8, 8]),
                                                  ([64, 64], [16, 48], [4, 16], 64, [4, 16])):
            self.assertEqual(self.box_for(grid, window, stride, volume), box)

    def test_a_search_begins_nothing_that_would_end_too_late(self):
        now = [0.0]

        def step_of(seconds):
            now[0] += seconds
            return seconds

        with unittest.mock.patch("time.monotonic", lambda: now[0]):
            search = self.module.Search()
            found = [search.attempt(name, lambda seconds=seconds: step_of(seconds), needed)
                     for name, seconds, needed in (("a", 50, True), ("b", 40, False), ("c", 10, False), ("d", 5, True))]
            self.assertEqual(found, [50, 40, None, 5], "what is needed begins all the same")
            self.assertEqual(search.description(), {"tuning_s": 95, "tuning_limit_s": 120, "untried": ["c"]})

    def box_for(self, grid, window, stride, volume):
        count = len(grid)
        case = {"grid": grid, "window": window, "window_dilation": [1] * count, "window_stride": stride,
                "window_causal": [False] * count, "edges": "shift", "causal": False}
        return self.module.box_for(self.module.Windows(self.module.Case(case)), volume)

    def test_boxes_of_keys_are_counted(self):
        rng = random.Random(4)
        for _ in range(GRIDS):
            windows = self.module.Windows(self.module.Case(random_windows(rng, 20)))
            for dimension in windows.dimensions:
                extent, side = dimension.extent, rng.choice([1, 2, 4, 8])
                pairs = {(t // side, s // side) for t in range(extent) for s in range(extent) if dimension.sees(t, s)}
                found = self.module.window_pairs.boxes_of_keys(side, dimension)
                self.assertAlmostEqual(found, len(pairs) / -(-extent // side), msg=(vars(dimension), side))
                with unittest.mock.patch.object(self.module.window_pairs, "MOST_INTERVALS", 2):
                    some = self.module.window_pairs.boxes_of_keys(side, dimension)
                counts = collections.Counter(t for t, _ in pairs)
                self.assertLessEqual(some, max(counts.values()))
                self.assertGreaterEqual(some, min(counts.values()))


class ProtocolTest(torch_rivals.ProtocolTest):
    @classmethod
    def setUpClass(cls):
        """A cache of its own, without the choices of earlier runs."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = {**GPUS, "TORCHINDUCTOR_CACHE_DIR": folder.name}

    if DEVICE == "cuda":
        tolerance = {**torch_rivals.TOLERANCE, "fp32": 2e-3}
        lse_tolerance = 2e-2

    def load(self, case, option, rng):
        case = dict(case)
        mask = case.pop("mask", None)
        tensors = self.write_tensors(case, rng)
        files = self.files("qkv")
        if mask:
            files |= self.files(["mask"])
            (self.folder / "mask").write_bytes(bytes(sum(mask, [])))
        return tensors, self.script.ask(do="load", case=case, option=option, **files)

    def needed(self, case):
        return sum(len(keys_of(case, t, 0)) for t in range(case["sequence_length"]))

    def test_hello_asks_for_windows(self):
        self.assertEqual((self.hello["protocol"], self.hello["name"]), (2, "torch_windows"))
        self.assertEqual((self.hello["windows"], self.hello["masks"]), (True, True))
        self.assertRegex(self.hello["version"], r"^PyTorch \d+\.\d+")

    def test_a_stored_mask(self):
        rng = random.Random(5)
        for number in range(RANDOM_CASES):
            case = random_case(rng)
            with self.subTest(number=number, case=case):
                tensors, answer = self.load(case, "", rng)
                self.assertIn(answer.get("timer"), ("perf_counter", "cuda_events"), answer)
                self.assertNotIn("permute_ns", answer)
                self.assertAlmostEqual(answer["computed_over_needed"], case["sequence_length"]**2 / self.needed(case))
                self.assertEqual(self.check_output(case, tensors), answer["backends"] != ["math"])

    def test_masks_of_blocks(self):
        rng = random.Random(6)
        for number in range(RANDOM_CASES):
            case = {name: value for name, value in random_case(rng).items() if name not in WINDOWS} | random_mask(rng)
            for option in ("", "flex") if number < 4 else ("",):
                with self.subTest(number=number, option=option, case=case):
                    tensors, answer = self.load(case, option, rng)
                    self.skip_without_compiler(answer.get("unsupported"))
                    self.assertIn("timer", answer)
                    if not option:
                        all_pairs = case["sequence_length"]**2
                        self.assertAlmostEqual(answer["computed_over_needed"], all_pairs / self.needed(case))
                    self.check_output(case, tensors)
        for option in ("flex_boxes", "natten"):
            _, answer = self.load(case, option, rng)
            self.assertEqual(answer, {"unsupported": f"{option}: computes windows on grids, no mask of blocks"})

    def test_flex(self):
        """Grids whose boxes are whole, and cut; windows of every kind."""
        rng = random.Random(2)
        plain = {"batch": 1, "heads": 4, "kv_heads": 2, "head_dim": 16, "pass": "forward", "ring_size": 1,
                 "device": DEVICE, "threads": 1, "dtype": "fp32", "causal": False, "edges": "shift",
                 "window_dilation": [1, 1], "window_stride": [1, 1], "window_causal": [False, False]}
        for change in ({"grid": [16, 16], "window": [5, 3]},
                       {"grid": [19, 21], "window": [7, 9], "window_stride": [2, 3], "edges": "cut", "causal": True},
                       {"grid": [17, 24], "window": [3, 4], "window_dilation": [3, 2], "window_causal": [True, False]}):
            for option in ("flex", "flex_boxes"):
                with self.subTest(option=option, **change):
                    case = {**plain, **change, "sequence_length": math.prod(change["grid"])}
                    tensors, answer = self.load(case, option, rng)
                    self.skip_without_compiler(answer.get("unsupported"))
                    self.assertEqual(answer.get("backends"), ["flex"], answer)
                    left_out = [why for why in answer["left_out"] if "TMA" not in why and "no box" not in why]
                    self.assertEqual(left_out, [])  # small blocks too, whose lists are short
                    boxes = option == "flex_boxes"
                    self.assertEqual(answer["box"] is not None, boxes)
                    self.assertEqual(answer.get("permute_ns", 0) > 0, boxes)
                    self.assertEqual(self.check_output(case, tensors), DEVICE == "cuda")
                    self.check_blocks(case, answer)

    def test_the_choice_of_a_process_is_kept(self):
        """Unless it is no choice, or of another case."""
        case = {**SMALL, "grid": [8, 8], "sequence_length": 64}
        kept = pathlib.Path(self.environment["TORCHINDUCTOR_CACHE_DIR"], "hilbench")

        def tuned(window):
            answer = self.load({**case, "window": window}, "flex", random.Random(3))[1]
            self.skip_without_compiler(answer.get("unsupported"))
            return answer["tuned"]

        self.assertEqual([tuned([3, 3]), tuned([3, 3]), tuned([5, 3])],
                         ["in this process", "in an earlier process", "in this process"])
        for text in ("no JSON", '{"size": 7, "options": {}, "left_out": [], "untried": []}', '{"size": 64}'):
            for file in kept.iterdir():
                file.write_text(text)
            self.assertEqual(tuned([3, 3]), "in this process", text)

    def test_what_there_was_no_time_for_is_tried_later(self):
        case = {**SMALL, "grid": [16, 16], "window": [3, 3], "sequence_length": 256}
        kept = pathlib.Path(self.environment["TORCHINDUCTOR_CACHE_DIR"], "hilbench")

        def load():
            answer = self.load(case, "flex", random.Random(3))[1]
            self.skip_without_compiler(answer.get("unsupported"))
            self.assertEqual(answer["tuning_limit_s"], 120)
            self.assertGreaterEqual(answer["tuning_s"], 0)
            return answer["tuned"], answer["untried"]

        before = set(kept.glob("*"))
        self.assertEqual(load(), ("in this process", []))
        (file,) = set(kept.iterdir()) - before
        choice = json.loads(file.read_text())
        self.assertEqual(choice["untried"], [])
        file.write_text(json.dumps({**choice, "size": 128, "untried": ["blocks of 64"]}))
        self.assertEqual(load()[1], [])
        self.assertEqual(json.loads(file.read_text())["untried"], [], "tried meanwhile")

    def test_lists_of_blocks_are_as_wide_as_the_longest(self):
        """On GPUs: PyTorch times tile sizes with lists of their shape, so width is time. Its kernel reads the list of
        full blocks with the steps of the other."""
        self.assertEqual(self.widths([8, 64], [3, 64]), [3, 3])  # blocks are rows: three full ones, none partial
        self.assertEqual(self.widths([8, 64], [3, 32]), [3, 3])
        self.assertEqual(self.widths([8, 64], [1, 64]), [1, 1])
        self.assertEqual(self.widths([8, 64], [3, 64], "cpu"), [8, 8])

    def widths(self, grid, window, device="cuda"):
        """Of the lists of partial blocks and of full ones, of 64 positions."""
        count = len(grid)
        case = {"grid": grid, "window": window, "window_dilation": [1] * count, "window_stride": [1] * count,
                "window_causal": [False] * count, "edges": "shift", "causal": False, "device": device,
                "sequence_length": math.prod(grid)}
        made = subprocess.run([torch_rivals.PYTHON, "-c", WIDTHS, str(pathlib.Path(self.path_of_script).parent),
                               json.dumps(case)], stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(made.stdout)

    def check_blocks(self, case, answer):
        """That it computes the blocks that hold a needed pair, and no other."""
        module, size = loaded_module(self.path_of_script), answer["block_size"]
        order = module.Order(case["grid"], None, None)
        order.box = answer["box"]
        windows = module.Windows(module.Case(case))
        slot = {windows.position(cell): slot for slot, cell in enumerate(order.slots())}
        blocks = {(slot[t] // size, slot[s] // size) for t in slot for s in keys_of_windows(case, t)}
        self.assertAlmostEqual(answer["computed_over_needed"], len(blocks) * size**2 / self.needed(case))

    def test_what_it_cannot_do_is_said(self):
        rng = random.Random(1)
        case = {**random_case(rng), "dtype": "fp32"}
        for change, option, reason in (({}, "fa3", "has no option 'fa3', only flex, flex_boxes, natten"),
                                       ({}, "natten", "^natten: "),
                                       ({"head_dim": 12}, "", "head_dim 12 is not a multiple of 8"),
                                       ({"pass": "backward"}, "", "forward pass only"),
                                       ({"ring_size": 2}, "", "one rank only"),
                                       ({"sequence_length": 1 << 26}, "", "a mask of all pairs would take about")):
            with self.subTest(reason=reason):
                asked = {**case, **change}
                if "sequence_length" in change:  # the inputs need not be as long for that
                    asked |= {"grid": [1 << 13, 1 << 13], "head_dim": 8, "heads": 1, "kv_heads": 1, "batch": 1,
                              "dtype": "bf16"}
                    for name in "qkv":
                        with open(self.folder / name, "wb") as file:
                            file.truncate(2 * 8 << 26)
                    answer = self.script.ask(do="load", case=asked, option=option, **self.files("qkv"))
                else:
                    _, answer = self.load(asked, option, rng)
                self.assertRegex(answer.get("unsupported", ""), reason)


class ThroughTheProgramTest(torch_rivals.ThroughTheProgramTest):
    def setUp(self):
        super().setUp()
        mask = bytes([1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1])  # the second block sees nothing
        (self.program.folder / "near.npy").write_bytes(npy((4, 4), "|b1", mask))

    def test_every_option(self):
        self.skip_without_pytorch()
        records = [record for record in self.run_sweep(SWEEP) if record["kind"] == "baseline"]
        self.assertEqual(len(records), 6)
        for record in records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                if record["variant"] == "torch_windows.natten":
                    self.assertEqual(record["status"], "skipped")
                    self.assertRegex(record["reason"], "^natten: ")
                else:
                    self.assertEqual((record["status"], record["reason"]), ("ok", None))
                    self.assertLessEqual(record["verify"]["worst"], 1)
                    self.assertIsNone(record["permute_ns"])

    def test_flex(self):
        self.skip_without_pytorch()
        for record in self.run_sweep(FLEX_SWEEP):
            if record["kind"] != "baseline":
                continue
            self.skip_without_compiler(record["reason"])
            self.assertEqual((record["status"], record["reason"]), ("ok", None))
            self.assertLessEqual(record["verify"]["worst"], 1)
            self.assertIs(record["environment"]["library"]["forked"], True)
            self.assertEqual(record["permute_ns"] is not None, record["variant"] == "torch_windows.flex_boxes")

    def test_python_without_pytorch(self):
        self.check_python_without_pytorch(SWEEP, "torch_windows", cases=3)


if __name__ == "__main__":
    torch_rivals.main()
