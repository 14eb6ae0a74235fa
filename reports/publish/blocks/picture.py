"""The picture of README.md: claimed and measured speedup of Hilbert order, as the first page of a site has it."""

import render


def picture(published):
    return render.hilbench("show", published.root, "--picture")
