"""The sentences of a findings page are those that the records ask for."""

import gzip
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
from blocks import counts, machine, orders, rates  # noqa: E402
from published import Folder  # noqa: E402

HOST = {"cpu": "Example(R) Processor 9 CPU @ 2.00GHz", "cores": 2, "data_tlb_entries": 3072,
        "caches": [{"level": 1, "bytes": 1 << 15, "shared_by": 1}, {"level": 2, "bytes": 1 << 20, "shared_by": 1},
                   {"level": 3, "bytes": 1 << 25, "shared_by": 2}]}


def record(length, dilation, order, ratio=None, pages=64.0):
    interval = ratio and [ratio - 0.005, ratio + 0.005]
    return {"case": f"n{length}-w1024-r{dilation}-h1-d64-fp32-p1-cpu", "variant": f"dilated/{order}", "kind": "kernel", "status": "ok",
            "params": {"device": "cpu", "dtype": "fp32", "batch": 1, "sequence_length": length, "kv_heads": 1, "head_dim": 64,
                       "segments": [1024], "dilations": [dilation]},
            "speedup": ratio and {"against": "dilated/linear", "ratio": ratio, "ci": interval}, "time_ns": {"median": 1e6},
            "counters": {"layout_pages_4k_per_tile": {"value": pages, "source": "layout"}}, "environment": {"host": HOST}}


class Findings(unittest.TestCase):
    def folder(self, ratios):
        """`ratios`: (length, dilation): {order: (speedup, pages)}."""
        records = []
        for (length, dilation), orders in ratios.items():
            records.append(record(length, dilation, "linear"))
            records += [record(length, dilation, order, *told) for order, told in orders.items()]
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        place = pathlib.Path(held.name)
        (place / "cpu-order").mkdir()
        with gzip.open(place / "cpu-order" / "records.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(one) + "\n" for one in records)
        return Folder(place)

    def test_effects_within_one_per_cent_are_none(self):
        said = orders.block_order_said(self.folder({(4096, 1): {"residue": (1.012, 64), "random": (0.99, 64)}}), "cpu-order")
        self.assertIn("No order was faster than linear by more than 1 % in any of 1 case.", said)
        self.assertIn("No order was slower", said)

    def test_gains_that_the_control_has_too_are_told(self):
        said = orders.block_order_said(self.folder({
            (4096, 4): {"residue": (1.2, 16), "random": (1.21, 64)}, (8192, 4): {"residue": (1.3, 16), "random": (0.8, 64)}}), "cpu-order")
        self.assertIn("`residue` in 2 cases (1.200 to 1.300, dilation 4)", said)
        self.assertIn("`random` in 1 case (0.800, dilation 4)", said)
        self.assertIn("Of 2 gains of an order that is not random, the random control reaches 1 too.", said)

    def test_the_count_that_sorts_the_times_is_named(self):
        speedups = [0.8 + 0.02 * i for i in range(16)]
        sorted_ = {(1024 << i, 4): {"residue": (ratio, 200 - i)} for i, ratio in enumerate(speedups)}
        said = counts.block_counts_said(self.folder(sorted_))
        self.assertIn("the time goes with `layout_pages_4k_per_tile` (layout): rank correlation -1.00", said)
        mixed = {(1024 << i, 4): {"residue": (ratio, 100 + i % 2)} for i, ratio in enumerate(speedups)}
        self.assertIn("no count sorts the times", counts.block_counts_said(self.folder(mixed)))

    def test_working_sets_are_placed_by_what_holds_them(self):
        places = {1 << 20: "within L2 of a core", 2 << 20: "within what a core's data TLB reaches", 1 << 25: "within L3", 1 << 26: "beyond L3"}
        for size, place in places.items():
            self.assertTrue(machine.place_of(size, HOST).startswith(place), machine.place_of(size, HOST))

    def test_rates_stand_against_dense_cases_with_as_many_keys(self):
        folder = self.folder({})
        measured = {("fp32", 2048, 2048, 1): 0.1, ("bf16", 2048, 2048, 1): 0.25, ("fp32", 4096, 512, 1): 0.09,
                 ("fp32", 8192, 8192, 16): 0.081}
        records = []
        for (dtype, length, segment, dilation), rate in measured.items():
            one = record(length, dilation, "linear")
            one["params"].update(dtype=dtype, segments=[segment], threads=1, heads=1)
            records.append({**one, "tflops": rate})
        with gzip.open(folder.path / "cpu-order" / "records.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(one) + "\n" for one in records)
        table = rates.block_rates(Folder(folder.path), "cpu-order").split("\n")
        self.assertIn("| n 8192, 8192/16, h 1, d 64, threads 1 | 512 | 0.081 |  |  | 90.0 % |  | 81.0 % |  |", table)
        self.assertIn("| n 2048, 2048/1, h 1, d 64, threads 1 | 2048 | 0.1 | 0.25 | 2.50 | 100.0 % | 100.0 % | 100.0 % | 100.0 % |", table)

    def test_ranks_share_the_place_of_equals(self):
        self.assertEqual(counts.ranks([3, 1, 3]), [1.5, 0, 1.5])
        self.assertIsNone(counts.rank_correlation([1, 1, 1], [1, 2, 3]))


if __name__ == "__main__":
    unittest.main()
