// Series of records, and how series look.
const MOST_ROWS = 60;
const CASE_WORDS = "Cases: n sequence length, segment/dilation of each branch, h heads, d head_dim.";
const timed = DATA.records.filter((record) => record.status === "ok" && record.time && record.id !== "peak");
const compared = timed.filter((record) => record.speedup && !record.baseline);

function linesOf(record, ...more) {
  return [
    `${record.of.label}${record.kernel && !record.id.startsWith(`${record.kernel}/`) ? ` (ran ${record.kernel})` : ""}`,
    ...more, record.verdict || null, "click or press Enter to open the record"
  ].filter(Boolean);
}

// The name of a record's series among `records`: its variant, and what else tells the series apart.
function namingOf(records) {
  const several = (key) => new Set(records.map((record) => record.of[key])).size > 1;
  const dtypes = several("dtype"), pages = several("pages");
  return (record) => `${record.id}${dtypes ? `, ${record.of.dtype}` : ""}${pages ? `, pages ${record.of.pages}` : ""}`;
}

// One series for each variant, in the order of the records. More than eight are hidden until chosen in the legend,
// except the control.
function byVariant(records, pointOf, more = {}) {
  const series = new Map(), nameOf = namingOf(records);
  for (const record of records) {
    const point = pointOf(record), name = nameOf(record);
    if (!point || !Number.isFinite(point.x) || !Number.isFinite(point.y)) continue;
    if (!series.has(name)) series.set(name, {name, variant: record.id, points: [], ...more});
    series.get(name).points.push({...point, title: name, record});
  }
  return [...series.values()].map((one, place) => ({...one, hidden: place >= 8 && !one.variant.includes("/random")}));
}

// Moves the points of each series aside on a logarithmic axis, so that intervals do not cover each other.
function besideEachOther(series, step) {
  const most = Math.min(series.length, 9);
  series.forEach((one, place) => one.points.forEach((point) => {
    point.x *= 2 ** (step * (place % 9 - (most - 1) / 2));
  }));
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function groupsOf(points, keyOf) {
  const groups = new Map();
  for (const point of points) {
    const key = keyOf(point);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(point);
  }
  return groups;
}

// Adds a line through the medians at each x, with the dashes of the series.
function withMedians(series) {
  const lines = series.map((one) => {
    const points = [...groupsOf(one.points, (point) => point.at ?? point.x)]
                       .sort((a, b) => a[0] - b[0])
                       .map(([, group]) => ({x: group[0].x, y: median(group.map((point) => point.y))}));
    return {name: one.name, points, line: true, bare: true, unnamed: true, hidden: one.hidden};
  });
  return [...series, ...lines];
}

const SHAPES = [
  "circle", "triangle-up", "square", "diamond", "cross", "triangle-down", "triangle-right",
  "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 4], [1, 2], [6, 2, 2, 2]];
const variantPlaces = new Map(DATA.variants.map((variant, place) => [variant.id, place]));

// A variant looks the same in every figure; other series look by their place. Shapes differ before colours do.
function lookOf(one, at) {
  const place = variantPlaces.get(one.name) ?? at, turn = 3 * Math.floor(place / 8);
  return {
    colour: paint(one.paint ?? `--series-${(place + turn) % 8}`),
    shape: place % 8,
    dash: DASHES[(place + turn) % 8]
  };
}
function looksOf(series) {
  const looks = new Map();
  series.forEach((one, place) => {
    if (!looks.has(one.name)) looks.set(one.name, lookOf(one, place));
  });
  return looks;
}
