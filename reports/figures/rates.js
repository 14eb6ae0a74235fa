// Rates of kernels and libraries: by sequence length, and under the measured limits of the machine.
const recordNamed = new Map(DATA.records.map((record) => [`${record.of.id}/${record.id}`, record]));

// The ends of a rate, from those of the time.
function endsOfRate(rate, record) {
  const [middle, low, high] = record?.time?.ns ?? [];
  return low == null ? {} : {low: rate * middle / high, high: rate * middle / low};
}

// Rates of one length, or of panels that have one each: a row for each library.
const IN_TFLOPS = {"TFLOP/s": 1, "GFLOP/s": 1e-3};
function rateRows(panels) {
  const rows = [], series = [], unit = panels[0].unit, several = panels.length > 1;
  for (const panel of panels) {
    const work = `${panel.lengths[0]} positions, ${panel.shared}`, factor = IN_TFLOPS[panel.unit] / IN_TFLOPS[unit];
    if (several) rows.push(`${work}:`);
    for (const {library, bars: [bar]} of panel.series) {
      if (!bar) continue;
      const rate = bar[0] * factor, record = recordNamed.get(bar[1]);
      const point = {x: rate, y: rows.length, ...endsOfRate(rate, record), record, title: library};
      series.push({
        name: library,
        bars: "x",
        points: [{...point, text: `${num(rate, 3)} ${unit}`, lines: () => [`${num(rate)} ${unit}`, work]}]
      });
      rows.push(library);
    }
  }
  return {
    heading: "Rate",
    title: `Rate${several ? "" : ` (${panels[0].lengths[0]} positions, ${panels[0].shared})`}: right is better`,
    rows,
    stems: true,
    series,
    y: rowsAxis(rows),
    x: {title: `${unit} (right is better)`, min: 0},
    caption: `${panels[0].reading} Bars: 95 % intervals. ${DATA.machine}.`
  };
}

// Grouped bars of a panel of DATA.rates.
function rateBars(panel) {
  const {shared, unit, reading, lengths, series} = panel;
  if (lengths.length === 1) return rateRows([panel]);
  const pointOf = (library, place, [rate, name]) => ({
    x: String(lengths[place]),
    y: rate,
    ...endsOfRate(rate, recordNamed.get(name)),
    title: `${library}, ${lengths[place]} positions`,
    record: recordNamed.get(name),
    lines: () => [`${num(rate)} ${unit}`, shared]
  });
  return {
    title: `Rate by sequence length (${shared}): higher is better`,
    x: {title: "sequence length", labels: lengths.map(String)},
    y: {title: `${unit} (higher is better)`, min: 0},
    series: series.map(({library, bars}) => ({
                         name: library,
                         bars: "y",
                         points: bars.flatMap((bar, place) => (bar ? [pointOf(library, place, bar)] : []))
                       })),
    caption: `${reading} Lines at the ends of bars: 95 % intervals. Shared by all bars: ${shared}. ${DATA.machine}.`
  };
}
const ratesHaveLengths = () => DATA.rates.some((panel) => panel.lengths.length > 1);

// The measured limits of each dtype: the highest peak, the lowest one, and the clocks at which they were measured.
function roofsOf(records) {
  const copy = DATA.cases.reduce((most, one) => Math.max(most, one.copy ?? 0), 0);
  return distinct(records.map((record) => record.of.dtype)).flatMap((dtype) => {
    const [lowest, peak] =
        rangeOf(DATA.cases.filter((one) => one.dtype === dtype && one.peak > 0).map((one) => one.peak / 1e12));
    const clocks = DATA.records.filter((record) => record.id === "peak" && record.of.dtype === dtype && CLOCK(record))
                       .flatMap(CLOCK);
    return peak > 0 && copy > 0 ? [{dtype, peak, lowest, copy, clocks: clocks.length ? rangeOf(clocks) : null}] : [];
  });
}
const clocksText = ([low, high]) => (low === high ? `${low} MHz` : `${low} to ${high} MHz`);

// A roofline needs a roof, or several intensities.
const showsRates = (records) => records.length > 0 &&
    (roofsOf(records).length > 0 || distinct(records.map((record) => record.flops / record.min_bytes)).length > 1);

// The roof of a dtype from `foot` to `end`, both FLOP per byte; dashed, the lowest peak if it lies clearly below.
function roofSeries({dtype, peak, lowest, copy}, foot, end, unit) {
  const name = `measured limits, ${dtype}`, slope = copy / 1e12;
  const line = (points) =>
      ({name, line: true, bare: true, paint: "--soft", points: points.map(([x, y]) => ({x, y: y / unit}))});
  const roof = line([[foot, foot * slope], [peak / slope, peak], [end, peak]]);
  if (lowest > 0.97 * peak) return [roof];
  const lower = line([[lowest / slope, lowest], [end, lowest]]);
  return [roof, {...lower, name: `lowest measured peak, ${dtype}`, dash: [5, 4]}];
}

function roofText({dtype, peak, lowest, copy, clocks}) {
  const beside = lowest > 0.97 * peak ? "" : `, at least ${rateText(lowest)} (dashed)`;
  return `${dtype} ${rateText(peak)}${beside}${clocks ? `, at ${clocksText(clocks)}` : ""}, ${num(copy / 1e9, 3)} GB/s`;
}

function ratePoint(record, unit) {
  const ends = endsOfRate(record.tflops / unit, record), clock = clockOf(record);
  return {
    x: record.flops / record.min_bytes,
    y: record.tflops / unit,
    ...ends,
    lines: () => linesOf(
        record, rateText(record.tflops),
        record.of_peak ? `${shareText(record)} of the measured peak, ${rateText(record.of.peak / 1e12)}` : null,
        clock ? `at ${clock[3]}` : null, `${num(record.flops / record.min_bytes, 3)} FLOP per compulsory byte`)
  };
}

function roofline(records) {
  const roofs = roofsOf(records), [unit, unitName] = unitOf(RATES, Math.max(...records.map((record) => record.tflops)));
  const series = byVariant(records, (record) => ratePoint(record, unit), {bars: "y"});
  besideEachOther(series, 0.05);
  const points = series.flatMap((one) => one.points), ridges = roofs.map(({peak, copy}) => peak * 1e12 / copy);
  const [least, most] = rangeOf([...points.map((point) => point.x), ...ridges]);
  const foot = least / (roofs.length ? 4 : 1.5), end = most * 2;
  return {
    title: roofs.length ? "Roofline: higher is better, the line is the limit of this machine" :
                          "Rate against arithmetic intensity: higher is better",
    x: {log: true, title: "arithmetic intensity (FLOP per compulsory byte)", min: foot, max: end},
    series: [...series, ...roofs.flatMap((roof) => roofSeries(roof, foot, end, unit))],
    y: {log: true, title: `${unitName} (higher is better)`},
    caption: roofs.length ? "The roof is the measured peak and the measured copy bandwidth: " +
            roofs.map(roofText).join("; ") +
            ". Compulsory bytes: each operand read once, the output written once. Points of one intensity are drawn " +
            "side by side." :
                            "No peak was measured with these records, so there is no roof."
  };
}
