"""Which pairs of positions attention computes by windows on a grid or a mask of blocks (docs/definitions.md), and the
order in which boxes of the grid are stored: what torch_windows.py needs of them. Coordinates are numbers, or tensors of
integers that broadcast; numbers need no PyTorch.
"""

import itertools
import math

MOST_INTERVALS = 128  # of queries, that are looked at to choose boxes

torch = None  # torch_windows.py sets it


def least(a, b):
    """The smaller of two values, of which each is a number or a tensor."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    if isinstance(a, int) or isinstance(b, int):
        tensor, limit = (b, a) if isinstance(a, int) else (a, b)
        return tensor.clamp(max=limit)
    return torch.minimum(a, b)


def not_negative(a):
    return max(a, 0) if isinstance(a, int) else a.clamp(min=0)


class Dimension:
    """One dimension of the windows: which keys a query sees along it."""

    def __init__(self, extent, window, dilation, stride, causal, edges):
        self.extent, self.window, self.dilation, self.stride = extent, window, dilation, stride
        self.causal, self.shift = causal, edges == "shift"

    def sees_all(self):
        return self.shift and not self.causal and self.dilation == 1 and self.window == self.extent

    def reach(self, i, length):
        """The first key that query i sees of `length` in its residue class, and the one after the last. Edges that cut
        let them lie outside."""
        s, w = self.stride, self.window
        leader = least(i // s * s + (s - 1 if self.causal else s // 2), length - 1) if s > 1 else i
        if self.causal:
            return not_negative(leader - w + 1), i + 1
        first = leader - w // 2
        if self.shift:
            first = least(not_negative(first), length - w)
        return first, first + w

    def class_length(self, query):
        """Keys in the residue class of a query."""
        d = self.dilation
        return (self.extent - query % d + d - 1) // d if self.extent % d else self.extent // d

    def keys(self, query):
        """The range of keys that sees() is true for. Of numbers only."""
        i, group = divmod(query, self.dilation)
        length = self.class_length(query)
        first, end = self.reach(i, length)
        return range(max(first, 0) * self.dilation + group, min(end, length) * self.dilation + group, self.dilation)

    def sees(self, query, key):
        d = self.dilation
        first, end = self.reach(query // d, self.class_length(query)) if d > 1 else self.reach(query, self.extent)
        j = key // d if d > 1 else key
        seen = (j >= first) & (j < end)
        return seen & (query % d == key % d) if d > 1 else seen


class Windows:
    """The windows of a case on its grid; or its mask of blocks, without a grid on one of one dimension."""

    def __init__(self, case):
        self.grid = getattr(case, "grid", None) or [case.sequence_length]
        self.causal = case.causal
        self.dimensions, self.blocks = [], getattr(case, "mask", None)
        if self.blocks is not None:
            self.block = case.mask_block
            return
        lists = case.grid, case.window, case.window_dilation, case.window_stride, case.window_causal
        self.dimensions = [Dimension(*values, case.edges) for values in zip(*lists)]

    def position(self, coordinates):
        position = 0
        for coordinate, extent in zip(coordinates, self.grid):
            position = position * extent + coordinate
        return position

    def sees(self, query, key):
        """Of two lists of coordinates."""
        seen = None
        for dimension, i, j in zip(self.dimensions, query, key):
            if not dimension.sees_all():
                part = dimension.sees(i, j)
                seen = part if seen is None else seen & part
        if self.blocks is not None:
            seen = self.blocks[self.position(query) // self.block, self.position(key) // self.block]
        if self.causal:
            part = self.position(key) <= self.position(query)
            seen = part if seen is None else seen & part
        return seen


def unravel(index, extents):
    coordinates = []
    for extent in reversed(extents):
        coordinates.append(index % extent)
        index = index // extent
    return coordinates[::-1]


class Order:
    """Slots of the positions of a grid: row-major, or boxes row-major with row-major positions inside. Boxes at the end
    of a dimension are cut."""

    def __init__(self, grid, box, device):
        self.grid, self.box, self.tables = grid, box, None
        if box and any(extent % side for extent, side in zip(grid, box)):
            columns = zip(*self.slots())
            self.tables = [torch.tensor(column, dtype=torch.int32, device=device) for column in columns]

    def slots(self):
        """Coordinates of every slot."""
        if not self.box:
            return list(itertools.product(*map(range, self.grid)))
        starts = (range(0, extent, side) for extent, side in zip(self.grid, self.box))
        return [cell for corner in itertools.product(*starts)
                for cell in itertools.product(*(range(first, min(first + side, extent)) for first, side, extent
                                                in zip(corner, self.box, self.grid)))]

    def coordinates(self, slot):
        """Of a number or a tensor; by arithmetic, unless boxes are cut."""
        if not self.box:
            return unravel(slot, self.grid)
        if self.tables:
            return [table[slot] for table in self.tables]
        boxes = [extent // side for extent, side in zip(self.grid, self.box)]
        volume = math.prod(self.box)
        corner, inside = unravel(slot // volume, boxes), unravel(slot % volume, self.box)
        return [c * side + i for c, side, i in zip(corner, self.box, inside)]


def boxes_of_keys(side, dimension):
    """How many intervals of `side` keys the queries of one such interval see, on average."""
    extent = dimension.extent
    intervals = range(0, extent, side)
    intervals = intervals[::-(-len(intervals) // MOST_INTERVALS)]
    seen = 0
    for first in intervals:
        keys = [dimension.keys(query) for query in range(first, min(first + side, extent))]
        dense = dimension.dilation <= side  # then every interval between two keys holds a key
        seen += len(set().union(*(range(k[0] // side, k[-1] // side + 1) if dense else (key // side for key in k)
                                  for k in keys if k)))
    return seen / len(intervals)


def box_for(windows, volume):
    """The box with `volume` positions whose queries need the fewest boxes of keys, a causal mask aside; None if no box
    of powers of two fits."""
    best = None
    powers = [1 << i for i in range(volume.bit_length())]
    for box in itertools.product(powers, repeat=len(windows.grid)):
        if math.prod(box) != volume or any(side > extent for side, extent in zip(box, windows.grid)):
            continue
        needed = math.prod(map(boxes_of_keys, box, windows.dimensions))
        best = min(best or (math.inf, ()), (needed, box))
    return list(best[1]) if best else None


class Pairs:
    """The pairs of (query, key) slots that a case needs, as rows of booleans."""

    def __init__(self, windows, order, device):
        self.windows, self.device = windows, device
        self.count = math.prod(windows.grid)
        self.coordinates = order.coordinates(torch.arange(self.count, device=device))
        self.tables = []  # of each dimension, [query, key]: sees
        for dimension in windows.dimensions:
            along = torch.arange(dimension.extent, device=device)
            self.tables.append(dimension.sees(along.unsqueeze(1), along.unsqueeze(0)))

    def rows(self, first, last):
        """[last - first, positions] of the slots from `first` to before `last`."""
        seen = None
        if self.windows.blocks is not None:
            at = self.windows.position(self.coordinates) // self.windows.block
            seen = self.windows.blocks[at[first:last]][:, at]
        for table, at in zip(self.tables, self.coordinates):
            part = table[at[first:last].long()][:, at.long()]
            seen = part if seen is None else seen & part
        if self.windows.causal:
            position = self.windows.position(self.coordinates)
            seen = seen & (position <= position[first:last].unsqueeze(1))
        return seen

    def in_blocks(self, size):
        """[blocks of queries, blocks of keys]: how many pairs of each are needed."""
        blocks = -(-self.count // size)
        counts = []
        for first in range(0, self.count, size):
            padded = torch.zeros(blocks * size, dtype=torch.int64, device=self.device)
            padded[:self.count] = self.rows(first, min(first + size, self.count)).sum(0)
            counts.append(padded.view(blocks, size).sum(1))
        return torch.stack(counts)
