"""The machine that a folder's results come from."""

import re

from cells import markdown, plural, size_text


def any_record(folder):
    """The record whose process could use most cores: runs of one thread may be pinned to a quiet core."""
    return max(folder.records(folder.sweeps[0]), key=lambda record: record["environment"]["host"]["cores"])


def host_of(folder):
    return any_record(folder)["environment"]["host"]


def on_processor(folder):
    return bool(folder.sweeps) and any_record(folder)["params"]["device"] == "cpu"


def machine_title(folder):
    host = host_of(folder)
    return f"{host['cpu']}, {plural(host['cores'], 'core')}"


def short_name(folder):
    """"Intel(R) Xeon(R) Processor" with 16 cores: Intel Xeon, 16 cores; of GPUs the name of one."""
    if on_processor(folder):
        words = re.sub(r"\((R|TM)\)|@.*|\b(CPU|Processor|\d+-Core)\b", " ", host_of(folder)["cpu"])
        return f"{' '.join(words.split())}, {plural(host_of(folder)['cores'], 'core')}"
    return any_record(folder)["environment"]["device"]["name"]


def reaches(host):
    """Caches and the reach of the data TLB, smallest first: (bytes, name)."""
    found = [(cache["bytes"], f"L{cache['level']}" + (" of a core" if cache["shared_by"] < host["cores"] else ""))
             for cache in host.get("caches") or [] if cache["level"] > 1]
    if host.get("data_tlb_entries"):
        found.append((4096 * host["data_tlb_entries"], "the reach of a core's data TLB"))
    return sorted(found)


def place_of(size, host):
    """The smallest cache, or reach of the TLB, that holds this many bytes."""
    limits = reaches(host)
    for limit, name in limits:
        if size <= limit:
            return f"within {name} ({size_text(limit)})"
    return f"beyond {limits[-1][1]} ({size_text(limits[-1][0])})" if limits else "unknown caches"


def cache_text(cache):
    shared = f" shared by {cache['shared_by']} cores" if cache["shared_by"] > 1 else ""
    return f"L{cache['level']} {size_text(cache['bytes'])}{shared}"


def block_machine(folder):
    host = host_of(folder)
    entries = host.get("data_tlb_entries")
    tlb = f"{entries} entries reach {size_text(4096 * entries)}" if entries else "unknown"
    return markdown(["", ""], [
        ["processor", host["cpu"]], ["cores used", host["cores"]],
        ["data caches", ", ".join(map(cache_text, host["caches"]))], ["data TLB, 4 KiB pages", tlb],
        ["large pages", host.get("transparent_hugepages") or "unknown"],
        ["virtual machine", "yes" if host.get("virtual") else "no"]])
