"""Rates of a kernel between the cases of a sweep: bf16 against fp32, dilated against dense attention."""

from blocks.orders import keys_of
from published import grouped, markdown, number

COMPARED_KEYS = 2048  # keys a query of the dense case that all are compared with


def rates_of(folder, sweep):
    """(all that a case is but its dtype and pattern, pattern, keys a query): {dtype: FLOP/s}."""
    rates = {}
    for record in folder.records(sweep):
        if record["kind"] != "kernel" or record["status"] != "ok":
            continue
        params = record["params"]
        shape = tuple(params[name] for name in ("head_dim", "threads", "heads"))
        pattern = (params["sequence_length"], tuple(params["segments"]), tuple(params["dilations"]))
        rates.setdefault((shape, pattern, keys_of(params)), {})[params["dtype"]] = record["tflops"]
    return rates


def is_dense(pattern):
    return all(dilation == 1 for dilation in pattern[2])


def block_rates(folder, sweep):
    rates = rates_of(folder, sweep)
    dtypes = sorted({dtype for told in rates.values() for dtype in told}, reverse=True)
    dense = {(shape, keys): told for (shape, pattern, keys), told in rates.items() if is_dense(pattern)}

    def shares(shape, keys, told):
        other = dense.get((shape, keys), {})
        return [f"{100 * told[dtype] / other[dtype]:.1f} %" if dtype in told and dtype in other else ""
                for dtype in dtypes]

    rows = []
    for shape, group in sorted(grouped(rates.items(), lambda item: item[0][0]).items()):
        for (_, (length, segments, dilations), keys), told in group:
            pattern = " + ".join(f"{w}/{r}" for w, r in zip(segments, dilations))
            ratio = f"{told['bf16'] / told['fp32']:.2f}" if {"bf16", "fp32"} <= told.keys() else ""
            rows.append([f"n {length}, {pattern}, h {shape[2]}, d {shape[0]}, threads {shape[1]}", keys]
                        + [number(told.get(dtype, "")) for dtype in dtypes] + [ratio]
                        + shares(shape, keys, told) + shares(shape, COMPARED_KEYS, told))
    of = [f"{dtype}, of dense with {keys} keys" for keys in ("as many", COMPARED_KEYS) for dtype in dtypes]
    return markdown(["case (segment/dilation)", "keys"] + [f"{dtype}, TFLOP/s" for dtype in dtypes]
                    + ["bf16 / fp32"] + of, rows)
