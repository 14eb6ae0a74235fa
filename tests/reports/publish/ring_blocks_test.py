"""What pages say of rings: speedups, links, launches, predictions, memory."""

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

    def test_a_profiled_rival_stands_beside_the_ring(self):
        rival = record(4, "torch", {"gpu_busy_ns": {"value": 3e6}})
        table = kernels.block_busy(Tables([record(4, "dilated/linear"), rival]), "peer").splitlines()
        self.assertEqual(table[2:], ["| n 8, 8/1, h 1, d 64, bf16 | torch | 2 | 3 | 1.50 | 1.50 |"])

class Planned(unittest.TestCase):
    def test_rings_that_nobody_measured_are_what_the_program_expects(self):
        table = "| case | variant | ranks |\n|---|---|---:|\n| n8 | dilated/linear | 8 |"
        said = f"Fitted on few.\n\n| coefficient | value |\n|---|---:|\n| a | 1 |\n\nPredicted.\n\n{table}\n"
        folder = unittest.mock.Mock(path=pathlib.Path("folder"))
        with unittest.mock.patch.object(ring_plans.render, "hilbench", return_value=2 * f"{said}\n") as asked:
            self.assertEqual(ring_plans.block_expected(folder, "peer", "1,2,4", "8", "/linear$"), f"{table}\n\n\n{table}")
        self.assertEqual(asked.call_args.args[1:], (pathlib.Path("folder/peer"), "--fit-ranks", "1,2,4", "--ring", "8",
                                                    "--filter", "/linear$", "--format", "markdown"))

    def test_memory_is_held_against_the_plan(self):
        fell = [record(4, name, {"ring_device_memory": {"value": mib << 20}})
                for name, mib in (("dilated/linear", 80), ("dilated/linear.zigzag", 96))]
        table = ring_plans.block_ring_memory(Tables([*fell, record(1, "dilated/linear")]))
        self.assertIn("| peer | ring | 2 | 80 to 96 | 1.250 to 1.500 | 16 to 32 |", table)


if __name__ == "__main__":
    unittest.main()
