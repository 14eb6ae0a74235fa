"""Writes a stub of a source: the same functions, each of which throws that this build does not have the code.

Usage: stub.py TREE SOURCE OUTPUT

What the linker sees of a source of this tree stands behind its anonymous namespace, and clang-format puts the first
line of each function and the brace that ends it at the left edge. What is missed is an undefined name when linking.
"""

import pathlib
import re
import sys

DEFINITION = re.compile(r"^(?!template|using|namespace|struct|class|enum|constexpr|static|extern|typedef|#|//|[}\s])"
                        r"(?P<head>[^;={}]+\([^;{}]*\)[^;{}]*)\{\n.*?^\}$", re.MULTILINE | re.DOTALL)
ANONYMOUS = re.compile(r"^namespace \{$.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)


def includes_of(text):
    """Headers that the host compiler reads; .cuh is device code."""
    return re.findall(r'^#include [<"][^">]+(?<!\.cuh)[">]$', text, re.MULTILINE)


def stub_of(source, text):
    namespace = re.search(r"^namespace (hilbench[\w:]*) \{$", text, re.MULTILINE).group(1)
    declared = re.findall(r"^(?:struct|class) \w+;$", text, re.MULTILINE)
    functions = [match["head"].strip() for match in DEFINITION.finditer(ANONYMOUS.sub("", text))]
    if not functions:
        raise SystemExit(f"stub.py: {source} defines no function")
    lines = [f"// Made from {source} by .cmake/stub.py.", *includes_of(text), "#include <stdexcept>", "",
             f"namespace {namespace} {{", *declared, "",
             "[[noreturn]] static void refuse() {",
             f'  throw std::runtime_error("this build has a stub of {source}: build it with '
             '-DHILBENCH_DEVICE_CODE=COMPILED");', "}", ""]
    for head in functions:
        lines += [f"{head} {{", "  refuse();", "}", ""]
    lines.append(f"}}  // namespace {namespace}")
    return "\n".join(lines) + "\n"


def main():
    tree, source, output = sys.argv[1:]
    pathlib.Path(output).write_text(stub_of(source, (pathlib.Path(tree) / source).read_text()))


if __name__ == "__main__":
    main()
