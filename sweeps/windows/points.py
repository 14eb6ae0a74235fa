"""Makes points-raster.npy and points-hilbert.npy, the masks of points.yaml: python3 points.py (needs NumPy).

8,192 points in the unit square, most of them in clusters. Each attends to what lies within RADIUS of it. The two masks
hold the same neighbourhoods: of the points sorted row by row, as a raster numbers them, and along a Hilbert curve. A
block of queries sees a block of keys if some point of the one is a neighbour of some point of the other.
"""

import pathlib

import numpy as np

POINTS, BLOCK, RADIUS, SEED = 8192, 64, 0.05, 1
CELLS, ROW = 1 << 10, 8  # along a side of the square; in the height of a row


def clustered_points(rng):
    """Three quarters of the points around 24 centres, the rest anywhere."""
    centres = rng.random((24, 2))
    near = centres[rng.integers(0, len(centres), POINTS * 3 // 4)] + rng.normal(0, 0.03, (POINTS * 3 // 4, 2))
    anywhere = rng.random((POINTS - len(near), 2))
    return np.clip(np.concatenate([near, anywhere]), 0, np.nextafter(1, 0))


def hilbert_rank(cells):
    """Where each cell of a square of CELLS x CELLS stands along the Hilbert curve."""
    x, y = cells[:, 0].copy(), cells[:, 1].copy()
    rank = np.zeros(len(cells), dtype=np.int64)
    side = CELLS // 2
    while side:
        right, up = (x & side) > 0, (y & side) > 0
        rank += side * side * ((3 * right) ^ up)
        turned = right & ~up
        x, y = np.where(turned, CELLS - 1 - x, x), np.where(turned, CELLS - 1 - y, y)
        x, y = np.where(up, x, y), np.where(up, y, x)
        side //= 2
    return rank


def mask_of(points):
    """[blocks, blocks]: some point of a block of queries has a neighbour in a block of keys."""
    blocks = POINTS // BLOCK
    mask = np.zeros((blocks, blocks), dtype=bool)
    for first in range(0, POINTS, BLOCK):
        apart = points[first:first + BLOCK, None] - points[None]
        near = (apart**2).sum(-1) <= RADIUS**2
        mask[first // BLOCK] = near.any(0).reshape(blocks, BLOCK).any(1)
    return mask


def main():
    points = clustered_points(np.random.Generator(np.random.PCG64(SEED)))
    cells = (points * CELLS).astype(np.int64)
    rows = cells[:, 1] // ROW * CELLS + cells[:, 0]
    for name, key in (("raster", rows), ("hilbert", hilbert_rank(cells))):
        mask = mask_of(points[np.argsort(key, kind="stable")])
        np.save(pathlib.Path(__file__).with_name(f"points-{name}.npy"), mask)
        print(f"points-{name}.npy: {mask.mean():.1%} of all pairs of blocks")


main()
