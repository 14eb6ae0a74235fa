"""LaTeX sets the latex export, hostile texts included. usage: latex.py WRITE_EXPORTS"""

import pathlib
import shutil
import subprocess
import sys

from exports import SKIPPED, Exports, check

DOCUMENT = r"""\documentclass{article}
\usepackage{booktabs}
\begin{document}
\input{table.tex}
\end{document}
"""


def main(write_exports):
    if shutil.which("pdflatex") is None:
        print("skipped: no pdflatex (Debian: texlive-latex-base)")
        return SKIPPED
    found = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True)
    if found.returncode != 0:
        print("skipped: no booktabs.sty (Debian: texlive-latex-recommended)")
        return SKIPPED
    with Exports(write_exports) as exports:
        folder = pathlib.Path(exports.folder)
        for export in ("latex", "latex-hostile"):
            shutil.copy(exports.file(export), folder / "table.tex")
            (folder / "document.tex").write_text(DOCUMENT)
            done = subprocess.run(["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "document.tex"],
                                  cwd=folder, capture_output=True, text=True, errors="replace", timeout=100)
            check(done.returncode == 0, f"{export} compiles:\n{done.stdout[-2000:]}")
            check("Missing character" not in (folder / "document.log").read_text(errors="replace"),
                  f"{export}: every character is set")
            check((folder / "document.pdf").stat().st_size > 1000, f"{export}: a page")
            (folder / "document.pdf").unlink()
    return 0


sys.exit(main(*sys.argv[1:]))
