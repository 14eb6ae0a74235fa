// Series of records.
const MOST_SERIES = 12;  // of a figure; more are hidden until chosen in the legend
const CASE_WORDS = "Cases: n sequence length, segment/dilation of each branch, h heads, d head_dim.";
const timed = DATA.records.filter((record) => record.status === "ok" && record.time && record.id !== "peak");
// What a speedup is asked of: kernels, or, if no kernel was compared with another, libraries.
const compared = ((all) => {
  const kernels = all.filter((record) => !record.baseline);
  return kernels.length ? kernels : all;
})(timed.filter((record) => record.speedup));

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

// One series for each variant, in the order of the records. The control is never hidden.
function byVariant(records, pointOf, more = {}) {
  const series = new Map(), nameOf = namingOf(records);
  for (const record of records) {
    const point = pointOf(record), name = nameOf(record);
    if (!point || !Number.isFinite(point.x) || !Number.isFinite(point.y)) continue;
    if (!series.has(name)) series.set(name, {name, variant: record.id, points: [], ...more});
    series.get(name).points.push({...point, title: name, record});
  }
  return [...series.values()].map(
      (one, place) => ({...one, hidden: place >= MOST_SERIES && !one.variant.includes("/random")}));
}

// What tells labels of cases apart: short(label) has the parts, between commas, that not all of them have; `shared` says
// the others.
function shortLabels(labels) {
  const [first = [], ...others] = labels.map((label) => label.split(", "));
  const all = others.length === 0 ? first.slice(1) : first.filter((part) => others.every((one) => one.includes(part)));
  return {
    short: (label) => label.split(", ").filter((part) => !all.includes(part)).join(", ") || label,
    shared: all.length ? ` All: ${all.join(", ")}.` : ""
  };
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
