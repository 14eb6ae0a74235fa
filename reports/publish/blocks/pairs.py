"""Variants of a kernel beside linear order of the same case, from records."""

import math

STUDIES = ("cpu-order", "cpu-working-set")  # sweeps that study orders on a processor


class Pair:
    """A variant of a case beside linear order of the same case."""

    def __init__(self, record, reference, speedup):
        self.record, self.reference, self.params = record, reference, record["params"]
        self.ratio, (self.low, self.high) = speedup["ratio"], speedup["ci"]
        self.variant = record["variant"].split("/", 1)[1]
        self.kv = kv_bytes(self.params)
        self.keys = keys_of(record)
        self.gains, self.loses = speedup["verdict"] == "faster", speedup["verdict"] == "slower"

    def is_random(self):
        return self.variant.startswith("random")


def kv_bytes(params):
    """What K and V hold together."""
    size = {"fp32": 4, "bf16": 2, "fp16": 2}[params["dtype"]]
    return 2 * params["batch"] * params["sequence_length"] * params["kv_heads"] * params["head_dim"] * size


def keys_of(record):
    """Keys that a query reads, of its longest branch; of windows, what it sees far from the ends of the grid; of a mask
    of blocks, their mean over the queries, rounded."""
    params = record["params"]
    if params.get("mask"):
        return round(record["pairs"]["needed"] / math.prod(params[name] for name in ("batch", "heads", "sequence_length")))
    if params.get("grid"):
        return math.prod(params["window"])
    branches = zip(params["segments"], params["dilations"])
    return max(math.ceil(min(w, params["sequence_length"]) / r) for w, r in branches)


def pairs_of(folder, sweeps):
    pairs = []
    for sweep in sweeps:
        if sweep not in folder.sweeps:
            continue
        records, speedups = folder.records(sweep), folder.speedups(sweep)
        known = {(record["case"], record["variant"]): record for record in records}
        for record in records:
            speedup = speedups.get((record["case"], record["variant"]))
            if record["kind"] == "kernel" and record["status"] == "ok" and speedup:
                pairs.append(Pair(record, known[record["case"], speedup["against"]], speedup))
    return pairs
