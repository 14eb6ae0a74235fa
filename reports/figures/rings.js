// Rings against their number of ranks, beside what a model predicts.
const ringed = timed.filter((record) => record.of.ring > 1);
const overlapOf = (record) => counter(record, "ring_overlap");

// The first family of which one rank and a ring were timed.
const scaledFamily = ringed.find((record) => record.over_one)?.of.family;

// {id, title, axis, valueOf, predictedOf, caption}: the values are [value, low, high, text], or null.
const RING_FIGURES = [
  {
    id: "figure-ring-time",
    title: "Time against ring size",
    axis: {title: "ms (lower is better)", min: 0},
    valueOf: (record) =>
        [record.time.ns[0] / 1e6, record.time.ns[1] / 1e6, record.time.ns[2] / 1e6, timeInterval(record.time)],
    predictedOf: (one) => [...one.ns.map((ns) => ns / 1e6), timeInterval(one)],
    caption:
        "From the start of the first rank to the end of the last. Bars: 95 % intervals. Ranks that are threads " +
        "share the cores of the machine."
  },
  {
    id: "figure-ring-scaling",
    title: "Scaling over ranks",
    axis: {title: "speedup over one rank (higher is better)"},
    valueOf: (record) => (record.of.ring === 1 ? [1, null, null, "one rank"] :
                              record.over_one  ? [...record.over_one, ratioInterval(record.over_one)] :
                                                 null),
    predictedOf: () => null,
    ideal: true,
    caption:
        "Speedup over one rank on the same work. Dashed: ranks that share the work without any loss. Bars: 95 % " +
        "intervals."
  },
  {
    id: "figure-ring-bytes",
    title: "Bytes sent against ring size",
    axis: {title: "bytes sent by all ranks", min: 0, text: bytesText, binary: true},
    valueOf: (record) =>
        (record.comm_bytes == null ? null : [record.comm_bytes, null, null, bytesText(record.comm_bytes)]),
    predictedOf: (one) => [one.bytes, null, null, bytesText(one.bytes)],
    caption: "As planned by the closed form. A run fails if its transport counts other numbers."
  },
  {
    id: "figure-ring-overlap",
    title: "Hidden share of the exchange against ring size",
    axis: {title: "hidden share", min: 0, max: 1, percent: true},
    valueOf: (record) =>
        (overlapOf(record) == null ? null : [overlapOf(record), null, null, percentText(overlapOf(record))]),
    predictedOf: (one) => (one.hidden == null ? null : [one.hidden, null, null, percentText(one.hidden)]),
    caption:
        "(time of computation + time of exchange - time of both together) / time of exchange. Left out if " +
        "repeated runs differ by more than the exchange takes."
  },
];

// Series of predictions: hollow, with the names and legend entries of the measured series.
function predictedSeries(told, measured, predictedOf) {
  const apart = (place) => 2 ** (0.03 * (place - (measured.length - 1) / 2) + 0.012);
  return measured
      .map((one, place) => ({
             name: one.name,
             unnamed: true,
             hollow: true,
             hidden: one.hidden,
             bars: "y",
             points: told.filter((prediction) => prediction.variant === one.variant).flatMap((prediction) => {
               const [y, low, high, text] = predictedOf(prediction) ?? [NaN];
               if (!Number.isFinite(y)) return [];
               const basis =
                   prediction.fitted ? "the model was fitted on this ring" : "the model was not fitted on this ring";
               return [{
                 x: prediction.ring * apart(place),
                 y,
                 low,
                 high,
                 title: `${one.name}, predicted`,
                 lines: () => [`${prediction.ring} ranks`, text, basis]
               }];
             })
           }))
      .filter((one) => one.points.length > 0);
}

// Ranks that share the work of one without any loss.
const idealScaling = (ranks) => ({
  name: "ideal: as many times as ranks",
  line: true,
  bare: true,
  paint: "--soft",
  dash: [5, 4],
  points: [ranks[0], ranks.at(-1)].map((many) => ({x: many, y: many}))
});

function ringFigure({title, axis, valueOf, predictedOf, ideal, caption}, family) {
  const records = timed.filter((record) => record.of.family === family && valueOf(record) != null);
  const told = DATA.forecasts.filter((one) => !ideal && one.family === family).sort((a, b) => a.ring - b.ring);
  const series = byVariant(records, (record) => {
    const [y, low, high, text] = valueOf(record) ?? [NaN];
    const how = record.ring_algorithm ? `${record.ring_algorithm} by ${record.transport}` : null;
    return {x: record.of.ring, at: record.of.ring, y, low, high, lines: () => linesOf(record, text, how)};
  }, {bars: "y"});
  const predictions = predictedSeries(told, series, predictedOf);
  const xs = distinct([...records.map((record) => record.of.ring), ...told.map((one) => one.ring)]);
  if (xs.length < 2) {
    const heading = `${title.replace(/ (against|over) .*/, "")}, ring of ${xs[0]}`;
    const sideways = axis.title.replace("lower", "left").replace("higher", "right");
    return {...rowsOfCases({title: heading, axis: {...axis, title: sideways}, valueOf, caption}, records), heading};
  }
  const step = ideal ? 0.006 : 0.03;
  series.forEach((one, place) => one.points.forEach((point) => {
    point.x *= 2 ** (step * (place - (series.length - 1) / 2));
  }));
  return {
    title,
    x: {log: true, title: "ranks", min: xs[0] * 0.8, max: xs.at(-1) * 1.3, ticks: xs, text: String},
    y: ideal ? {...axis, log: true, ticks: xs} : axis,
    series: [...ideal ? [idealScaling(xs)] : [], ...withMedians(series), ...predictions],
    caption: predictions.length ?
        `${caption} Large hollow points are predicted by a model fitted on 1 and 2 ranks; the text below says how well ` +
        `it fits.` :
        caption
  };
}
