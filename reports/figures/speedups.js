// Speedups against what a case asks for, and against what was counted.
const SPEEDUP_AXIS = {
  title: "speedup (above 1: faster)"
};

// Whether the cases differ in `key`: against one value nothing can be drawn.
const variesOver = (key) => distinct(compared.map((record) => record.of[key])).length > 1;

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

// By a number `key` of the case, which `name` names.
function speedupBy(key, name, records) {
  const xs = distinct(records.map((record) => record.of[key]));
  const windows = records.some((record) => record.of.windows);  // cases of one length are not alike
  const series = byVariant(records, (record) => speedupPoint(record, record.of[key]), {bars: "y"});
  besideEachOther(series, xs.length > 8 ? 0.03 : 0.055);
  return {
    title: `Speedup against ${name}: above 1 is faster`,
    x: {log: true, title: name, min: xs[0] / 1.6, max: xs.at(-1) * 1.6, ticks: xs, text: String},
    y: SPEEDUP_AXIS,
    lines: [["y", 1]],
    series: windows ? series : withMedians(series),
    caption:
        "Time of the reference / time of the variant, without the time to permute. Bars: 95 % intervals, cut at " +
        "the edge. " +
        `${windows ? "" : "Lines join the medians of the cases. "}Points of one ${
            name} are drawn side by side. random is the control: an ` +
        "effect that random has too is no effect of another order. @tokens computes a different function."
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
  const xs = series.flatMap((one) => one.points.map((point) => point.x));
  const [least, most] = xs.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
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
