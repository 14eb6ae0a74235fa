"""Which rows of a tensor a call of torch_sdpa.py reads and writes: strided views, or by index."""

torch = None  # torch_sdpa.py sets it


class Rows:
    """The rows that some heads select in `segments` equal stretches of the sequence, in a contiguous
    [batch, sequence, width, x] tensor: segment s of head h has rows begin + s * length + offsets[h] + j * step for
    `count` values of j. A strided view if the rows of successive heads are equally spaced, else an index."""

    def __init__(self, begin, segments, length, heads, offsets, step, count, width, device):
        first = [offset * width + head for offset, head in zip(offsets, heads)]  # row of each head at j = 0
        apart = first[1] - first[0] if len(first) > 1 else 1
        self.shape = segments, count, len(heads)
        self.strides = length * width, step * width, apart
        self.begin = begin * width + first[0]
        self.index = None
        if apart <= 0 or first != [first[0] + i * apart for i in range(len(first))]:
            s, j = torch.meshgrid(torch.arange(segments), torch.arange(count), indexing="ij")
            rows = ((begin + s * length + j * step) * width).unsqueeze(-1) + torch.tensor(first)
            self.index = rows.flatten().to(device)

    def view(self, x):
        batch, _, _, size = x.shape
        strides = [x.stride(0), *(stride * size for stride in self.strides), 1]
        return x.as_strided([batch, *self.shape, size], strides, x.storage_offset() + self.begin * size)

    def take(self, x):
        """[batch * segments, heads, count, x]"""
        if self.index is None:
            return self.view(x).flatten(0, 1).transpose(1, 2)
        rows = x.flatten(1, 2).index_select(1, self.index)
        return rows.view(-1, *self.shape[1:], x.shape[-1]).transpose(1, 2)

    def rows_of(self, x):
        """[batch * segments, count, heads, x] of x itself, or None if there is no such view."""
        if x is None or self.index is not None:
            return None
        rows = self.view(x)
        if rows.shape[0] > 1 and rows.shape[1] > 1 and rows.stride(0) != rows.shape[1] * rows.stride(1):
            return None
        return rows.flatten(0, 1)

    def add(self, x, rows):
        """Adds rows to x; of an index several may be the same one of x."""
        rows, batch = rows.transpose(1, 2), x.shape[0]
        if self.index is None:
            self.view(x).add_(rows.unflatten(0, (batch, self.shape[0])))
        else:
            rows = rows.reshape(batch, -1, x.shape[-1]).to(x.dtype)
            x.view(batch, -1, x.shape[-1]).index_add_(1, self.index, rows)

    def put(self, x, rows):
        rows = rows.transpose(1, 2)
        if self.index is None:
            self.view(x).copy_(rows.unflatten(0, (x.shape[0], self.shape[0])))
        else:
            x.view(x.shape[0], -1, x.shape[-1]).index_copy_(1, self.index, rows.reshape(x.shape[0], -1, x.shape[-1]))
