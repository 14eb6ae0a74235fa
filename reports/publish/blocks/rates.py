"""A block about rates of a kernel between the cases of a sweep: bf16 against fp32, dilated against dense attention."""

from blocks.pairs import keys_of
from cells import grouped, markdown, number, parameters_text

COMPARED_KEYS = 2048  # keys a query reads in the dense case that all cases are compared with


def rates_of(folder, sweep):
    """Of each (head_dim, threads and heads; pattern; keys that a query reads): TFLOP/s by dtype. A pattern is the text
    of a case's length and branches, or of its grid and windows, and whether it is dense."""
    rates = {}
    for record in folder.records(sweep):
        if record["kind"] != "kernel" or record["status"] != "ok":
            continue
        params = record["params"]
        shape = tuple(params[name] for name in ("head_dim", "threads", "heads"))
        pattern = parameters_text(params), is_dense(params)
        rates.setdefault((shape, pattern, keys_of(record)), {})[params["dtype"]] = record["tflops"]
    return rates


def is_dense(params):
    """Without gaps; windows and masks are never dense."""
    return params["segments"] is not None and all(dilation == 1 for dilation in params["dilations"])


def block_rates(folder, sweep):
    rates = rates_of(folder, sweep)
    dtypes = sorted({dtype for known in rates.values() for dtype in known}, reverse=True)
    dense = {(shape, keys): known for (shape, pattern, keys), known in rates.items() if pattern[1]}
    by_shape = sorted(grouped(rates.items(), lambda item: item[0][0]).items())
    rows = [rate_cells(*case, known, dtypes, dense) for _, group in by_shape for case, known in group]
    of = [f"{dtype}, share of the dense rate with {keys} keys"
          for keys in ("as many", COMPARED_KEYS) for dtype in dtypes]
    return markdown(["case (segment/dilation)", "keys"] + [f"{dtype}, TFLOP/s" for dtype in dtypes]
                    + ["bf16 / fp32"] + of, rows)


def rate_cells(shape, pattern, keys, known, dtypes, dense):
    head_dim, threads, heads = shape
    ratio = f"{known['bf16'] / known['fp32']:.2f}" if {"bf16", "fp32"} <= known.keys() else ""
    case = f"{pattern[0]}, h {heads}, d {head_dim}, threads {threads}"
    shares = [share(known, dense.get((shape, count), {}), dtype) for count in (keys, COMPARED_KEYS) for dtype in dtypes]
    return [case, keys, *(number(known.get(dtype, "")) for dtype in dtypes), ratio, *shares]


def share(rates, of, dtype):
    return f"{100 * rates[dtype] / of[dtype]:.1f} %" if dtype in rates and dtype in of else ""
