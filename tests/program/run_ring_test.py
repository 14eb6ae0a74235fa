"""Rings whose ranks are threads: what they send, their outputs, and what `predict` says of larger ones.

Usage: run_ring_test.py PATH_OF_HILBENCH [unittest arguments]
"""

import json
import sys
import unittest

from program import SANITIZED, Program, largest_difference, read_npy, refuse_constant

RING = """
name: ring
axes: {sequence_length: [66, 37], segments: [[64]], dilations: [[4]], heads: 4, head_dim: 16, threads: 2,
       causal: [false, true], ring_size: [1, 2, 4]}
variants:
  - {kernel: dilated, ring_algorithm: [auto, allgather, ring_packed, allgather_packed], sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: allgather_packed, sharding: contiguous}
  - {kernel: dilated, ring_algorithm: [hierarchical, hierarchical_packed, ulysses], ring_groups: 2,
     sharding: [auto, zigzag, striped]}
  - {kernel: dilated, ring_algorithm: [ring, hierarchical], ring_groups: 2, outer_link: emulated_host}
  - {kernel: dilated, ring_algorithm: ring_packed, order: hilbert}
  - {kernel: dilated, order: hilbert, order_span: global}
  - {kernel: dilated, order: seed_d2xy}
baselines: [gemm, longnet_allgather]
counters: [default, software]
measure: {budget_s: 0.01, min_rounds: 3}
"""
LENGTHS = 1 if SANITIZED else 2
if SANITIZED:
    RING = RING.replace("[66, 37]", "66")


class RingTest(unittest.TestCase):
    """Ranks as threads: measured once; each test looks at one side of it."""

    @classmethod
    def setUpClass(cls):
        cls.program = Program(BINARY)
        cls.addClassCleanup(cls.program.close)
        cls.program.run("run", cls.program.sweep(RING), "-o", "out", "--dump", "dump")
        cls.records = cls.program.records("out")
        cls.rings = [r for r in cls.records if r["params"]["ring_size"] > 1 and r["status"] == "ok"]

    def test_all_is_ok_but_what_cannot_be(self):
        self.assertEqual(len(self.records), LENGTHS * 2 * 3 * 29)
        for record in self.records:
            with self.subTest(case=record["case"], variant=record["variant"]):
                ranks = record["params"]["ring_size"]
                expected = ("ok", None)
                if record["variant"] == "gemm" and ranks > 1:
                    expected = ("skipped", f"ring_size {ranks}: gemm runs on one rank")
                if record["variant"] == "longnet_allgather" and ranks == 1:
                    expected = ("skipped", "longnet_allgather gathers from the ranks of a ring: ring_size must be above 1")
                if record["params"]["order"] == "seed_d2xy":
                    self.assertEqual(record["status"], "invalid")
                    continue
                # On one rank all rings of an order are one kernel.
                first = {"linear": "dilated/linear", "hilbert": "dilated/hilbert/ring_packed"}.get(record["params"]["order"])
                if ranks == 1 and record["kind"] == "kernel" and record["variant"] != first:
                    expected = ("skipped", f"ring_size 1: the same as {first}")
                self.assertEqual((record["status"], record["reason"]), expected)

    def test_what_is_sent_is_what_was_planned(self):
        self.assertEqual(len(self.rings), LENGTHS * 2 * 2 * 27)
        for record in self.rings:
            with self.subTest(case=record["case"], variant=record["variant"]):
                params, counters = record["params"], record["counters"]
                self.assertEqual(counters["ring_bytes"]["value"], record["comm_bytes"])
                self.assertGreater(counters["ring_compute_ns"]["value"], 0)
                sends = record["comm_bytes"] > 0
                self.assertEqual(params["ring_algorithm"] == "local", not sends)
                overlap = counters["ring_overlap"]
                self.assertTrue(overlap["reason"] if overlap["value"] is None else 0 <= overlap["value"] <= 1 and sends)
                self.assertEqual(counters["ring_exchange_ns"]["value"] is not None, sends)
                self.assertEqual(params["transport"], "threads")
                transport = {"name": "threads", "threads_per_rank": 2 // params["ring_size"] or 1}
                if params["outer_link"] == "emulated_host":
                    transport["outer_link"] = {"emulated": True, "through": "a buffer in between",
                                               "chunk_bytes": 4 << 20}
                self.assertEqual(record["environment"]["transport"], transport)
                for name, groups in (("ring_link_between", 2), ("ring_link_inside", params["ring_size"] // 2)):
                    link = counters[name]
                    has_link = params["ring_groups"] is not None and groups > 1
                    self.assertEqual(link["value"] is not None and link["value"] > 0, has_link, link)
                self.assertIn(params["sharding"], ("contiguous", "zigzag", "striped"))
                clock = counters["task_clock"]  # counted by every rank, if the kernel permits it
                if clock["value"] is None:
                    self.assertTrue(clock["reason"])
                else:
                    self.assertEqual(len(clock["ranks"]), params["ring_size"])
                    self.assertAlmostEqual(sum(clock["ranks"]), clock["counts"][-1], delta=1)
                    self.assertGreaterEqual(len(clock["counts"]), 5)
                    self.assertGreater(min(clock["ranks"]), 0)
                ordered = params["order"] != "linear" and params["order_span"] == "shard"
                self.assertEqual(record["permute_ns"] is not None, ordered)

    def test_algorithms_send_what_they_should(self):
        sent = {(r["case"], r["variant"]): r["comm_bytes"] for r in self.rings}
        case = "n66-w64-r4-h4-d16-fp32-p4-cpu-threads.2"
        row = 2 * 4 * 16 * 4  # of K and V, all heads
        self.assertEqual(sent[case, "dilated/linear/allgather"], 3 * 66 * row)
        self.assertEqual(sent[case, "dilated/linear.striped"], 0)
        self.assertLess(sent[case, "dilated/linear/ring_packed"], sent[case, "dilated/linear"] / 3)
        self.assertEqual(sent[case, "dilated/linear/ulysses.2"], 3 * 66 * (2 * row + 4 * 4) / 4)

    def test_groups_split_what_is_sent(self):
        for record in self.rings:
            parts = [record["comm_bytes_inside"], record["comm_bytes_between"]]
            if record["variant"].endswith((".2", ".2.emulated_host")):
                self.assertEqual(sum(parts), record["comm_bytes"])
                self.assertEqual(record["params"]["ring_groups"], 2)
                self.assertEqual(parts[0] == 0, record["params"]["ring_size"] == 2 or record["comm_bytes"] == 0)
            else:
                self.assertEqual(parts, [None, None])
                self.assertIsNone(record["params"]["ring_groups"])

    def test_longnets_scheme_is_the_packed_gathering(self):
        packed = {r["case"]: r for r in self.rings if r["variant"] == "dilated/linear.contiguous/allgather_packed"}
        longnet = [r for r in self.rings if r["variant"] == "longnet_allgather"]
        self.assertEqual(len(longnet), LENGTHS * 2 * 2)
        for record in longnet:
            with self.subTest(case=record["case"]):
                ours = packed[record["case"]]
                self.assertEqual((record["kind"], record["params"]["kernel"]), ("baseline", "dilated_cpu"))
                self.assertEqual(record["params"]["sharding"], "contiguous")
                self.assertEqual(record["comm_bytes"], ours["comm_bytes"])
                self.assertEqual(record["params"]["ring_algorithm"], ours["params"]["ring_algorithm"])
                self.assertEqual(record["verify"]["max_abs"], ours["verify"]["max_abs"])

    def test_one_rank_has_no_ring(self):
        alone = [r for r in self.records if r["params"]["ring_size"] == 1 and r["status"] == "ok"]
        self.assertEqual(len(alone), LENGTHS * 2 * 3)
        for record in alone:
            self.assertEqual(record["comm_bytes"], 0)
            for name in ("ring_algorithm", "ring_groups", "outer_link", "ring_launch", "head_parts", "head_moves",
                         "sharding", "order_span", "transport"):
                self.assertIsNone(record["params"][name])
            self.assertNotIn("ring_bytes", record["counters"])

    def test_a_ring_gives_the_output_of_one_rank(self):
        compared = 0
        for record in self.rings:
            if record["variant"] not in ("dilated/linear.zigzag/ring_packed", "dilated/hilbert.global",
                                         "dilated/linear.zigzag/hierarchical.2", "dilated/linear.zigzag/ulysses.2",
                                         "dilated/linear/hierarchical_packed.2",
                                         "dilated/linear/ring.2.emulated_host"):
                continue
            folder = self.program.folder / "dump" / record["case"]
            one = self.program.folder / "dump" / record["case"].replace(f"-p{record['params']['ring_size']}-", "-p1-")
            for name in ("o.npy", "lse.npy"):
                ring = read_npy(folder / record["variant"].replace("/", "_") / name)[1]
                whole = read_npy(one / "dilated_linear" / name)[1]
                self.assertLess(largest_difference(ring, whole), 1e-4)
            compared += 1
        self.assertEqual(compared, LENGTHS * 2 * 2 * 6)

    def test_what_no_ring_can_do_is_told(self):
        def reasons(options, axes="ring_size: 2"):
            self.program.run("run", self.program.sweep(
                "name: no\naxes: {sequence_length: 512, segments: 64, heads: 1, head_dim: 16, " + axes + "}\n"
                "variants: [{kernel: dilated, " + options + "}]\n", "no.yaml"), "-o", "no", "--fresh")
            return self.program.records("no")[0]["reason"]
        self.assertEqual(reasons("order: linear", "ring_size: 300"), "ring_size 300: rings have at most 256 ranks")
        self.assertIn("start them with mpirun -n 2", reasons("transport: mpi"))
        self.assertIn("memory of GPUs", reasons("transport: nccl"))
        self.assertIn("buffers must be pooled", reasons("buffers: fresh"))
        self.assertIn("index must be cached", reasons("index: computed"))
        self.assertIn("no order_scope tokens", reasons("order_scope: tokens"))
        self.assertIn("ring_groups must say how many", reasons("outer_link: emulated_host"))
        self.assertIn("hierarchical computes in steps",
                      reasons("ring_launch: persistent, ring_algorithm: hierarchical, ring_groups: 2"))
        # Of three shards, segments cross the borders.
        self.assertIn("dilated_cpu computes in steps", reasons("ring_launch: persistent", "ring_size: 3"))
        self.assertIn("order_span must be shard", reasons("order: hilbert, order_span: global, ring_algorithm: ring_packed"))

    def test_larger_rings_are_predicted_and_checked(self):
        out, _ = self.program.run("predict", "out", "--ring", "4,8", "--memory", "2GiB", "--format", "json")
        told = json.loads(out, parse_constant=refuse_constant)
        (fit,) = told["fits"]
        self.assertEqual((fit["kernel"], fit["device"], fit["comparisons"]), ("dilated_cpu", "cpu", LENGTHS * 2 * 2))
        (check,) = fit["checks"]
        self.assertEqual((check["ranks"], check["errors"]["count"]), (4, LENGTHS * 2 * 24))
        times = {p["ring_size"]: p["time_ns"] for p in told["predictions"]
                 if p["variant"] == "dilated/linear" and p["case"].startswith("n66-") and "causal" not in p["case"]}
        self.assertEqual(sorted(times), [4, 8])
        for time_ns in times.values():
            self.assertLess(0, time_ns["ci"][0])
            self.assertLess(time_ns["ci"][0], time_ns["value"])
            self.assertLess(time_ns["value"], time_ns["ci"][1])
        sent = {(r["case"], r["variant"]): r["comm_bytes"] for r in self.rings}
        for prediction in told["predictions"]:
            if prediction["ring_size"] == 4:
                self.assertEqual(prediction["comm_bytes"], sent[prediction["case"], prediction["variant"]])
        self.assertTrue(all(row["positions"] > 0 for row in told["longest"]))
        self.assertEqual({row["claim"] for row in told["claims"]}, {"analysis-projection", "scaling-projection"})
        sweep = self.program.sweep(RING, "other.yaml")
        out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", "sequence_length=1000",
                                  "--axis", "ring_size=3", "--filter", "linear/allgather$", "--format", "markdown")
        self.assertIn("n1000-w64-r4-h4-d16-fp32-p3-cpu-threads.2", out)
        self.assertIn("Compared with records of larger rings", out)
        out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", "sequence_length=1000",
                                  "--axis", "ring_size=2", "--filter", "linear/(hierarchical|ulysses)")
        self.assertRegex(out, r"Not predicted: n1000\S*/dilated/linear/hierarchical\.2\.emulated_host: the model knows the links")
        self.assertNotRegex(out, r"Not predicted: \S*/ulysses")
        for predicted in ("hierarchical.2 ", "hierarchical_packed.2 ", "ulysses.2 "):
            self.assertIn("dilated/linear/" + predicted, out)
        for axis, why in (("head_dim=32", "the records hold no rings with its device, kernel, dtype and head_dim"),
                          ("pass=backward", "rings compute only the forward pass")):
            out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", axis)
            self.assertIn(f"dilated/linear: {why}", out)
            out, _ = self.program.run("predict", sweep, "--calibration", "out", "--axis", axis, "--filter", "linear")
            self.assertIn(f"dilated/linear: {why}", out)

    def test_what_cannot_be_predicted_is_told(self):
        alone = self.program.sweep(RING, "alone.yaml")
        self.program.run("run", alone, "--axis", "ring_size=1", "--filter", "dilated/linear$", "-o", "alone")
        for arguments, said in ((["alone"], "no rings to fit on"), (["nosuch"], "is not a folder of records"),
                                (["out", "--fit-ranks", "3"], "no rings to fit on"), ([alone], "--calibration DIR"),
                                (["out", "--ring", "0"], "rings have 1 to 256 ranks"),
                                (["out", "--format", "xml"], "text, markdown or json"),
                                (["out", "--axis", "heads=8"], "--axis without a sweep"),
                                (["out", "--filter", "("], "bad regular expression"),
                                (["out", "--filter", "(" * 50000 + ")" * 50000], "at most 1000 characters"),
                                (["out", "--filter", "(.*)*(.*)*(.*)*nosuch$"], "matches no ring"),
                                (["out", "--calibration", "out"], "two folders of records")):
            with self.subTest(arguments=arguments):
                out, err = self.program.run("predict", *arguments, status=2)
                self.assertEqual((out, err.count("\n")), ("", 1))
                self.assertIn(said, err)

    def test_more_ranks_than_threads(self):
        self.program.run("run", self.program.sweep(RING), "--axis", "ring_size=7", "--axis", "threads=1",
                         "--filter", "ring_packed", "-o", "many")
        statuses = {record["status"] for record in self.program.records("many") if "ring_packed" in record["variant"]}
        self.assertEqual(statuses, {"ok"})

    def test_wrong_values_are_one_line(self):
        for option, said in (("transport: tcp", "transport"), ("sharding: random", "sharding"),
                             ("ring_algorithm: local", "ring_algorithm"),
                             ("transport: [auto, threads]", "two variants with the id")):
            _, err = self.program.run("plan", self.program.sweep(
                "name: a\ncases: [{ring_size: 2}]\nvariants: [{kernel: dilated, " + option + "}]\n", "bad.yaml"), status=2)
            self.assertEqual(err.count("\n"), 1)
            self.assertIn(said, err)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)
