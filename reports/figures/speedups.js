// Speedups against what varies in the sweep, and against what was counted.
const SPEEDUP_AXIS = {
  title: "speedup (above 1: faster)",
  ratio: true
};
const SPEEDUP_WORDS =
    "Time of the reference / time of the variant, without the time to permute. Bars: 95 % intervals. random is the " +
    "control: an effect that random has too is no effect of another order.";

const windowed = compared.filter((record) => record.pairs);
// What varies among the cases that were compared: DATA.axes. Lengths of windows are no axis, as windows differ in more.
const ofAxis = ({key}, records) => (key === "n" ? records.filter((record) => !record.of.windows) : records);
const AXES = DATA.axes.filter(
    (axis) => distinct(ofAxis(axis, compared).map((record) => record.of.at[axis.key])).length > 1);

function speedupPoint(record, x, ...told) {
  return {
    x,
    at: x,
    y: record.speedup[0],
    low: record.speedup[1],
    high: record.speedup[2],
    record,
    lines: () => linesOf(record, ...told, `speedup ${ratioInterval(record.speedup)} over ${record.against}`)
  };
}

// Where nothing varies that an axis could show: a bar for each variant.
function speedupRows(records) {
  const against = distinct(records.map((record) => record.against));
  const byCase = [...records].sort((a, b) => inOrder(a.of.label, b.of.label));
  return {
    heading: "Speedup",
    ...rowsOfCases(
        {
          title: "Speedup: right of 1 is faster",
          axis: {title: `speedup over ${against.length === 1 ? against[0] : "the reference"} (right of 1: faster)`},
          valueOf: (record) => [...record.speedup, ratioInterval(record.speedup)],
          caption: SPEEDUP_WORDS
        },
        byCase),
    lines: [["x", 1]]
  };
}

// A row for each word, such as a kind of input, and a series for each variant.
function speedupByWords({key, title}, records) {
  const words = distinct(records.map((record) => record.of.at[key]));
  const series = byVariant(records, (record) => {
    const {y, ...point} = speedupPoint(record, 0);
    return {...point, x: y, y: words.indexOf(record.of.at[key])};
  }, {bars: "x"});
  series.forEach((one, place) => one.points.forEach((point) => { point.y += 0.05 * (place % 9); }));
  return {
    title: `Speedup by ${title}: right of 1 is faster`,
    rows: words.map((word) => `${title}: ${word}`),
    y: rowsAxis(words),
    x: {title: "speedup (right of 1: faster)", ratio: true},
    lines: [["x", 1]],
    series,
    caption: `${SPEEDUP_WORDS} One point for each case.`
  };
}

// Along one of AXES.
function speedupAlong(axis, chosen) {
  const records = ofAxis(axis, chosen), xs = distinct(records.map((record) => record.of.at[axis.key]));
  if (xs.length < 2) return speedupRows(records.length ? records : chosen);
  if (!axis.number) return speedupByWords(axis, records);
  const windows = records.some((record) => record.of.windows);  // cases with the same number are not alike
  const series = byVariant(records, (record) => speedupPoint(record, record.of.at[axis.key]), {bars: "y"});
  const log = xs[0] > 0, room = log ? 0 : 0.1 * (xs.at(-1) - xs[0]);
  besideEachOther(series, xs.length > 8 ? 0.03 : 0.055);
  return {
    title: `Speedup against ${axis.title}: above 1 is faster`,
    x: {
      log,
      title: axis.title,
      min: log ? xs[0] / 1.6 : xs[0] - room,
      max: log ? xs.at(-1) * 1.6 : xs.at(-1) + room,
      ticks: xs,
      text: String
    },
    y: SPEEDUP_AXIS,
    lines: [["y", 1]],
    series: windows ? series : withMedians(series),
    caption: `${SPEEDUP_WORDS} ${windows ? "" : "Lines join the medians of the cases. "}Points of one ${
        axis.title} are drawn side by side. @tokens computes a different function.`
  };
}

// Windows: speedup against the pairs that tiles compute for each pair that is needed. A line joins what was measured of
// one window.
function speedupByPairs(records) {
  const cases = new Set(records.map((record) => record.of));
  const told = (record) => `computed / needed ${num(record.pairs, 3)}`;
  const references = timed.filter(
      (record) => record.pairs && cases.has(record.of) &&
          records.some((one) => one.of === record.of && one.against === record.id));
  const all = [...references, ...records];
  if (distinct(all.map((record) => record.pairs)).length < 2) return speedupRows(records);
  const series = byVariant(
      all,
      (record) => (record.speedup ?
                       speedupPoint(record, record.pairs, told(record)) :
                       {x: record.pairs, y: 1, lines: () => linesOf(record, told(record), "the reference")}),
      {bars: "y"});
  const windows = [...groupsOf(series.flatMap((one) => one.points), (point) => point.record.of.label)];
  const {short, shared} = shortLabels(windows.map(([label]) => label)), labels = [];
  const lines = windows.map(([label, points]) => {
    const along = points.map(({x, y}) => ({x, y})).sort((a, b) => a.x - b.x || b.y - a.y);
    labels.push({...along[0], text: short(label)});
    return {name: label, points: along, line: true, bare: true, unnamed: true, paint: "--line"};
  });
  const [least, most] = rangeOf(all.map((record) => record.pairs));
  return {
    title: "Windows: speedup against computed / needed pairs: above 1 is faster",
    x: {log: most / least > 4, title: "pairs that tiles compute / pairs that are needed (left: less in vain)"},
    y: {...SPEEDUP_AXIS, title: "speedup over raster order (above 1: faster)"},
    lines: [["y", 1]],
    height: 440,
    series: [...lines, ...series],
    labels,
    caption:
        `A grey line joins the variants of one window, which is named at its end. Time of raster order / time of the ` +
        `variant. Bars: 95 % intervals. random is the control.${shared}`
  };
}

// Sizes to compare K and V with: the caches of the device, and the reach of the data TLB of a core.
function memoryMarks() {
  const {host, device} = DATA.environments[compared[0]?.environment] ?? {}, marks = [];
  if (device?.l2_bytes) return [[device.l2_bytes, "L2"]];
  for (const {level, bytes, shared_by: sharing} of host?.caches ?? [])
    marks.push([bytes, `L${level}${sharing < host.cores ? " of a core" : ""}`]);
  if (host?.data_tlb_entries) marks.push([4096 * host.data_tlb_entries, "TLB reach of a core, 4 KiB pages"]);
  return marks.sort(([a], [b]) => a - b);
}

function speedupByWorkingSet(records, marks) {
  const series = byVariant(
      records, (record) => speedupPoint(record, record.of.kv, `K and V: ${bytesText(record.of.kv)}`), {bars: "y"});
  const xs = distinct(records.map((record) => record.of.kv));
  besideEachOther(series, 0.06);
  return {
    title: "Speedup against the size of K and V: above 1 is faster",
    x: {
      log: true,
      title: "size of K and V",
      min: Math.min(xs[0], marks[0][0]) / 1.6,
      max: Math.max(xs.at(-1), marks.at(-1)[0]) * 1.6,
      ticks: xs,
      text: (bytes) => inUnit(BYTES, bytes, 1)
    },
    y: SPEEDUP_AXIS,
    lines: [["y", 1], ...marks.map(([bytes, name]) => ["x", bytes, name])],
    series: withMedians(series),
    caption: `Dashed: ${
                 marks.map(([bytes, name]) => `${name} ${inUnit(BYTES, bytes, 3)}`)
                     .join(", ")}. A case with dilation reads ` +
        "only part of K and V, one segment after another; the order decides on which lines and pages this part " +
        "lies. random is the control."
  };
}

// Counters and layout counts that may explain a speedup: [title, value of a record] by name.
function metricsOf() {
  const metrics =
      new Map(Object.entries(DATA.figures).map(([key, title]) => [key, [title, (record) => record.figures[key]]]));
  for (const [key, [, of]] of metrics)
    if (distinct(compared.map(of)).length < 2) metrics.delete(key);
  for (const one of DATA.counters)
    if (distinct(compared.map((record) => counter(record, one.name))).length > 1)
      metrics.set(one.name, [
        `${readable(one.name)}${one.unit ? ` (${one.unit})` : ""}, ${one.source}`, (record) => counter(record, one.name)
      ]);
  return metrics;
}

function speedupByMetric(records, [title, of], explained = "") {
  const series = byVariant(
      records, (record) => speedupPoint(record, of(record) ?? NaN, `${title}: ${num(of(record))}`), {bars: "y"});
  const [least, most] = rangeOf(series.flatMap((one) => one.points.map((point) => point.x)));
  return {
    title: "Speedup against a counter",
    x: {title, log: least > 0 && most / least > 20},
    y: SPEEDUP_AXIS,
    lines: [["y", 1]],
    series,
    caption:
        "If a counter explains the times, points with the same count have the same speedup. If they differ, " +
        "something else explains them. " +
        explained
  };
}
