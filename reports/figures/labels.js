// Texts inside a picture: names beside points, and values in cells.

// Where each of figure.labels stands, beside its point, so that it covers no other label and no point. `wide`, `high`:
// about what the axes span, in pixels. A label that finds no free place may cover points.
function placedLabels({labels = [], series, x, y}, domains, wide, high) {
  if (labels.length === 0) return [];
  const share = (axis, [low, end], value) =>
      (axis.log ? Math.log(value / low) / Math.log(end / low) : (value - low) / (end - low));
  const acrossOf = (point) => share(x, domains.x, point.x) * wide;
  const downOf = (point) => (1 - share(y, domains.y, point.y)) * high;
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const points = series.filter((one) => !one.bare).flatMap((one) => one.points).map((point) => {
    const across = acrossOf(point), down = downOf(point);
    return {left: across - 5, right: across + 5, top: down - 5, bottom: down + 5};
  });
  const placed = [], ordered = [...labels].sort((a, b) => b.y - a.y);
  return ordered.map((label) => {
    const across = acrossOf(label), down = downOf(label);
    const whole = 6.6 * label.text.length, leftwards = across + whole + 8 > wide && across > wide / 2;
    const limit = (leftwards ? across : wide - across) - 8, width = Math.min(whole, limit);
    const boxAt = (dy) => {
      const left = leftwards ? across - 8 - width : across + 8;
      return {left, right: left + width, top: down + dy - 7, bottom: down + dy + 7, dy};
    };
    const boxes = [0, -12, 12, -24, 24, -36, 36, -48, 48, -60, 60, -72].map(boxAt).filter(
        (box) => box.top > 0 && box.bottom < high);
    const free = (taken) => boxes.find((one) => !taken.some((other) => meets(one, other)));
    const box = free([...points, ...placed]) ?? free(placed) ?? boxAt(-12);
    placed.push(box);
    return {...label, dx: leftwards ? -8 : 8, dy: box.dy, limit, align: leftwards ? "right" : "left"};
  });
}

// Paper around the letters keeps lines apart from them.
function labelMarks() {
  const place = {
    x: {...along("x", "x"), offset: {field: "dx"}},
    y: {...along("y", "y"), offset: {field: "dy"}},
    align: {field: "align"},
    baseline: constant("middle"),
    limit: {field: "limit"},
    text: {field: "text"}
  };
  const to = {x2: {...along("x", "x"), offset: {field: "dx"}}, y2: {...along("y", "y"), offset: {field: "dy"}}};
  const thread = {x: along("x", "x"), y: along("y", "y"), ...to, stroke: constant(paint("--soft"))};
  return [
    mark("rule", "labels", {...thread, strokeOpacity: {signal: "abs(datum.dy) > 12 ? 0.7 : 0"}}),
    mark("text", "labels", {...place, stroke: constant(paint("--paper")), strokeWidth: constant(4)}),
    mark("text", "labels", {...place, fill: constant(paint("--ink"))})
  ];
}

// Cells that are too narrow for their values are coloured all the same.
const CELL_HEIGHT = 22;
function cellMarks() {
  const place = {
    x: along("x", "x"),
    width: {scale: "x", band: 1},
    y: {...along("y", "y"), offset: constant(-4)},
    height: constant(CELL_HEIGHT)
  };
  const middle = {
    x: {...along("x", "x"), band: 0.5},
    y: {...along("y", "y"), offset: constant(CELL_HEIGHT / 2 - 4)},
    align: constant("center"),
    baseline: constant("middle"),
    fontSize: {signal: "bandwidth('x') < 40 ? 10 : 12"},
    text: {signal: "bandwidth('x') < 6.6 * length(datum.text) ? '' : datum.text"},
    fill: constant(paint("--ink"))
  };
  return [
    mark("rect", "points", {...place, fill: {field: "fill"}}, {interactive: true}), mark("text", "points", middle),
    mark("rect", "active", {...place, fill: constant(null), stroke: constant(paint("--ink")), strokeWidth: constant(2)})
  ];
}

// A colour between paper and the colour of faster (above 1) or slower; `most` is the farthest ratio, or its inverse.
function colourOfRatio(ratio, most) {
  const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const paper = parts(paint("--paper")), full = parts(paint(ratio >= 1 ? "--series-0" : "--series-1"));
  const share = 0.62 * Math.min(1, Math.abs(Math.log(ratio)) / Math.max(Math.log(most), 0.05));
  const mixed = paper.map((from, at) => Math.round(from + share * (full[at] - from)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
