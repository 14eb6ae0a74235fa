"""A block about rings: what they send, hide and gain."""

from cells import interval, markdown, number, work


def block_rings(folder, sweep):
    rings = [row for row in folder.rows("rings", sweep) if row["ring_size"] != "1"]
    counted = any(row.get("nvlink_data_per_ring_byte") for row in rings)
    heads = (["case (segment/dilation)", "variant", "algorithm", "ranks", "ms", "MiB sent"]
             + (["share counted on NVLink"] if counted else [])
             + ["computation alone, ms", "exchange alone, ms", "exchange hidden, %", "speedup over one rank",
                "efficiency"])
    return markdown(heads, [ring_cells(row, counted) for row in rings])


def ring_cells(row, counted):
    def scaled(key, unit):
        return f"{float(row[key]) / unit:.4g}" if row[key] else ""

    links = [f"{float(row['nvlink_data_per_ring_byte']):.4f}"] if counted else []
    return [work(row["case"]), row["variant"], row["ring_algorithm"], row["ring_size"], scaled("time_ns", 1e6),
            scaled("comm_bytes", 2**20), *links, scaled("compute_ns", 1e6), scaled("exchange_ns", 1e6),
            scaled("overlap", 0.01), interval(row), number(row["efficiency"], 3)]
