"""What pages say of rings: speedups, links, launches, predictions, memory."""

import json
import pathlib
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reports/publish"))
from blocks import kernels, ring_plans, rings  # noqa: E402

CASE = "n8-w8-r1-h1-d64-bf16-p{}-cuda"


class Tables:
    """A folder of one sweep, whose records and tables are given."""

    def __init__(self, records, **tables):
        self.sweeps, self.given, self.tables = ["peer"], records, tables

    def records(self, sweep):
        return self.given

    def rows(self, table, sweep):
        return iter(self.tables[table])


def row(ranks, variant, ns, **more):
    """Of the table of rings."""
    algorithm = variant.partition("/linear/")[2].split(".")[0] or "ring"
    return {"case": CASE.format(ranks), "variant": variant, "ring_algorithm": algorithm, "ring_size": str(ranks),
            "time_ns": str(ns), "comm_bytes": str(3 << 20), "comm_bytes_between": "", "compute_ns": "1e6",
            "exchange_ns": "5e5", "overlap": "0.5", "speedup": "", "efficiency": "", "predicted_ns": "", **more}


def record(ranks, variant, counters=None):
    return {"case": CASE.format(ranks), "variant": variant, "params": {"ring_size": ranks, "ring_algorithm": "ring"},
            "memory_bytes": 64 << 20, "counters": counters or {},
            "time_ns": {"median": 2e6, "samples": [[2e6, 2e6], [2e6]]}}


class Measured(unittest.TestCase):
    def test_chosen_variants_are_shown(self):
        rows = [row(1, "dilated/linear", 8e6), row(4, "dilated/linear", 2e6), row(4, "dilated/linear/ulysses", 2e6),
                row(4, "torch", 2e6)]
        folder = Tables([], rings=rows)
        self.assertEqual(len(rings.block_rings(folder, "peer").splitlines()), 2 + 3)
        self.assertEqual(len(rings.block_rings(folder, "peer", "linear").splitlines()), 2 + 1)

    def test_speedups_stand_in_one_row_a_case(self):
        gain = {"speedup": "3.5", "speedup_low": "3.4", "speedup_high": "3.6"}
        rows = [row(1, "dilated/linear", 8e6), row(4, "dilated/linear", 2e6, **gain),
                row(4, "dilated/linear/ring_packed", 2e6, **gain), row(4, "dilated/linear/ulysses", 2e6, **gain)]
        folder = Tables([record(4, one["variant"]) for one in rows[1:]], rings=rows)
        table = rings.block_ring_speedups(folder, "peer", "linear(/ring_packed)?").splitlines()
        self.assertTrue(table[0].endswith("| one GPU, ms | dilated/linear | dilated/linear/ring_packed |"))
        self.assertEqual(table[2:], ["| n 8, 8/1, h 1, d 64, bf16 | 4 | 2 | 8 | 3.500 [3.400, 3.600] | "
                                     "3.500 [3.400, 3.600] |"])

    def test_one_round_has_no_interval(self):
        gain = {"speedup": "3.5", "speedup_low": "", "speedup_high": ""}
        folder = Tables([], rings=[row(4, "dilated/linear", 2e6, **gain)])
        self.assertTrue(rings.block_rings(folder, "peer").splitlines()[2].endswith("| 50 | 3.500 |  |"))

    def test_groups_are_compared_over_the_same_link(self):
        link = {"comm_bytes_between": str(1 << 20), "link_inside_gb_per_s": "300"}
        rows = [row(4, "dilated/linear/ring.2", 1e6, link_between_gb_per_s="300", **link),
                row(4, "dilated/linear/ring.2.emulated_host", 4e6, link_between_gb_per_s="27", **link),
                row(4, "dilated/linear/hierarchical.2.emulated_host", 2e6, link_between_gb_per_s="27", **link)]
        compared = [{**one, "speedup": "0.5", "speedup_low": "0.4", "speedup_high": "0.6"} for one in rows]
        table = rings.block_links(Tables([], rings=rows, comparison=compared), "peer").splitlines()
        self.assertIn("| ring | slow | 300.0 | 27.00 | 2 | 1 | 4 | 0.5 | 50 | 0.500 [0.400, 0.600] | 1.000 |", table[3])
        self.assertTrue(table[4].endswith("| 2.000 |"))

    def test_one_launch_stands_beside_steps_of_its_algorithm(self):
        rows = [row(4, "dilated/linear", 1e6), row(4, "dilated/linear/auto.persistent", 3e6),
                row(4, "dilated/linear/allgather", 2e6), row(4, "dilated/linear/allgather.persistent", 1e6)]
        compared = [{**one, "speedup": "0.8", "speedup_low": "0.7", "speedup_high": "0.9"} for one in rows]
        folder = Tables([record(4, one["variant"]) for one in rows], rings=rows, comparison=compared)
        table = rings.block_launches(folder, "peer").splitlines()
        self.assertIn("| ring | 4 | 2, 1 | 1 | 0.5 | 1 | 3 | 0.333 | 0.800 [0.700, 0.900] |", table[2])
        self.assertIn("| allgather | 4 | 2, 1 | 1 | 0.5 | 2 | 1 | 2.000 | 0.800 [0.700, 0.900] |", table[3])

    def test_the_fastest_of_all_ways_is_named(self):
        records = [record(4, name) for name in ("dilated/linear", "dilated/linear/ulysses", "dilated/linear/allgather")]
        for one, ns in zip(records, (2e6, 1e6, 4e6)):
            one.update(flops=8e12, time_ns={"median": ns, "samples": [[ns]]})
        folder = Tables([record(1, "dilated/linear"), *records])
        folder.speedups = lambda _: {(CASE.format(4), "dilated/linear/ulysses"):
                                     {"against": "dilated/linear", "ratio": 2.0, "ci": [1.9, 2.1]}}
        table = rings.block_ring_choices(folder, "peer").splitlines()
        self.assertIn("| ranks | dilated/linear, ms | dilated/linear/ulysses | dilated/linear/allgather |", table[0])
        self.assertEqual(table[2:], ["| n 8, 8/1, h 1, d 64, bf16 | 4 | 2 | 2.000 [1.900, 2.100] |  | "
                                     "dilated/linear/ulysses | 2000 |"])

    def test_a_profiled_rival_stands_beside_the_ring(self):
        rival = record(4, "torch", {"gpu_busy_ns": {"value": 3e6}})
        table = kernels.block_busy(Tables([record(4, "dilated/linear"), rival]), "peer").splitlines()
        self.assertEqual(table[2:], ["| n 8, 8/1, h 1, d 64, bf16 | torch | 2 | 3 | 1.50 | 1.50 |"])

    def test_the_strongest_rival_is_named(self):
        duels = [{"kernel": "dilated_wgmma", "variant": "dilated/linear", "case": CASE.format(ranks), "rival": rival,
                  "ratio": ratio} for ranks, rival, ratio in ((2, "a", "1.5"), (2, "b", "1.4"), (4, "b", "1.2"))]
        folder = Tables([record(4, "dilated/linear")], rivals=duels)
        with unittest.mock.patch.object(kernels, "short_name", lambda _: "NVIDIA H200"):
            said = kernels.block_strongest(folder, "peer").replace("\n", " ")
        self.assertIn("In all 2 cases the strongest rival on 4 GPUs (H200) is b (1.20 to 1.40): in brackets", said)

    def test_rivals_of_rings_are_those_on_all_their_gpus(self):
        self.assertEqual(kernels.gpus_text("H200", [record(4, "dilated/linear")]), "4 GPUs (H200)")
        self.assertEqual(kernels.gpus_text("H200", [record(1, "dilated/linear")]), "an H200")


class Planned(unittest.TestCase):
    def test_only_rings_larger_than_the_fit_are_held_against_it(self):
        near = {"predicted_ns": "1.1e6", "predicted_ns_low": "9e5", "predicted_ns_high": "1.2e6"}
        rows = [row(2, "dilated/linear", 9e6, predicted_fitted="true", **near),
                row(2, "dilated/linear/ulysses", 9e6, predicted_fitted="false", **near),
                row(4, "dilated/linear", 1e6, predicted_fitted="false", **near),
                row(4, "dilated/linear/ulysses", 2e6, predicted_fitted="false", time_ns_low="1.9e6",
                    time_ns_high="2.1e6", **near)]
        said = ring_plans.block_predicted(Tables([], rings=rows), "peer").replace("\n", " ")
        self.assertIn("Of 2 rings of 4 ranks, predicted from those of up to 2, 1 lies inside", said)
        self.assertIn("27.5 % in the median and 45.0 % at worst: `dilated/linear/ulysses`,", said)
        self.assertIn("predicted 1.1 ms [0.9, 1.2], measured 2 ms [1.9, 2.1].", said)
        self.assertIn("| ring | 1 | 10.0 % | 10.0 % | 1 of 1 | 1.100 |", said)
        self.assertIn("No ring was measured", ring_plans.block_predicted(Tables([], rings=rows[:2]), "peer"))

    def test_an_interval_that_is_not_known_is_not_shown(self):
        self.assertEqual(ring_plans.interval_ms(row(4, "dilated/linear", 2e6, time_ns_low="", time_ns_high=""),
                                                "time_ns"), "2 ms")

    def test_rings_that_nobody_measured_are_what_the_program_expects(self):
        one = {"case": CASE.format(8), "variant": "dilated/linear", "ring_algorithm": "ring", "ring_size": 8,
               "time_ns": {"value": 2e6, "ci": [1e6, 4e6]}, "compute_ns": 1.5e6, "exchange_ns": 5e5, "speedup": 6.4,
               "efficiency": 0.8, "comm_bytes": 1e6}
        said = json.dumps({"predictions": [one, {**one, "variant": "dilated/linear/ulysses"}]})
        folder = unittest.mock.Mock(path=pathlib.Path("folder"))
        with unittest.mock.patch.object(ring_plans.render, "hilbench", return_value=said) as asked:
            table = ring_plans.block_expected(folder, "peer", "1,2,4", "8", "linear$")
        self.assertEqual(asked.call_args.args[1:], (pathlib.Path("folder/peer"), "--fit-ranks", "1,2,4", "--ring", "8",
                                                    "--format", "json"))
        self.assertIn("| dilated/linear | ring | 8 | 2 ms [1, 4] | 1.5 | 0.5 | 6.40 | 0.8 |", table)
        self.assertNotIn("ulysses", table)

    def test_memory_is_held_against_the_plan(self):
        fell = [record(4, name, {"ring_device_memory": {"value": mib << 20}})
                for name, mib in (("dilated/linear", 80), ("dilated/linear.zigzag", 96))]
        table = ring_plans.block_ring_memory(Tables([*fell, record(1, "dilated/linear")]))
        self.assertIn("| peer | ring | 2 | 80 to 96 | 1.250 to 1.500 | 16 to 32 |", table)


if __name__ == "__main__":
    unittest.main()
