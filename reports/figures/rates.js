// Rates of kernels and libraries: by sequence length, and under the measured limits of the machine.
const recordNamed = new Map(DATA.records.map((record) => [`${record.of.id}/${record.id}`, record]));

// Grouped bars of a panel of DATA.rates.
function rateBars({shared, unit, reading, lengths, series}) {
  const pointOf = (library, place, [rate, name]) => ({
    x: String(lengths[place]),
    y: rate,
    title: `${library}, ${lengths[place]} positions`,
    record: recordNamed.get(name),
    lines: () => [`${num(rate)} ${unit}`, shared]
  });
  return {
    title: `Rate by sequence length (${shared}): higher is better`,
    x: {title: "sequence length", labels: lengths.map(String)},
    y: {title: `${unit} (higher is better)`, min: 0},
    series: series.map(
        ({library, bars}) =>
            ({name: library, points: bars.flatMap((bar, place) => (bar ? [pointOf(library, place, bar)] : []))})),
    caption: `${reading} Shared by all bars: ${shared}. ${DATA.machine}.`
  };
}

// The measured limits; each dtype has its own peak.
function roofsOf(records) {
  const copy = DATA.cases.reduce((most, one) => Math.max(most, one.copy ?? 0), 0);
  return distinct(records.map((record) => record.of.dtype)).flatMap((dtype) => {
    const peak =
        DATA.cases.filter((one) => one.dtype === dtype).reduce((most, one) => Math.max(most, one.peak ?? 0), 0);
    return peak > 0 && copy > 0 ? [{dtype, peak: peak / 1e12, copy}] : [];
  });
}

// A roofline needs a roof, or several intensities.
const showsRates = (records) => records.length > 0 &&
    (roofsOf(records).length > 0 || distinct(records.map((record) => record.flops / record.min_bytes)).length > 1);

function roofline(records) {
  const roofs = roofsOf(records),
        series = byVariant(records, (record) => ({
                                      x: record.flops / record.min_bytes,
                                      y: record.tflops,
                                      lines: () => linesOf(
                                          record, rateText(record.tflops),
                                          record.of_peak ? `${percentText(record.of_peak)} of the measured peak` : null,
                                          `${num(record.flops / record.min_bytes, 3)} FLOP per compulsory byte`)
                                    }));
  const over = (key) =>
      series.flatMap((one) => one.points.map((point) => point[key]))
          .reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  let [least, most] = over("x"), [low, high] = over("y");
  most *= 2;
  for (const roof of roofs) least = Math.min(least, roof.peak * 1e12 / roof.copy / 6);
  for (const roof of roofs) {
    const ridge = roof.peak * 1e12 / roof.copy, foot = least / 1.5;
    low = Math.min(low, foot * roof.copy / 1e12);
    series.push({
      name: `measured limits, ${roof.dtype}`,
      line: true,
      bare: true,
      paint: "--soft",
      points: [
        {x: foot, y: foot * roof.copy / 1e12}, {x: ridge, y: roof.peak}, {x: Math.max(most, ridge * 2), y: roof.peak}
      ]
    });
    most = Math.max(most, ridge * 2);
    high = Math.max(high, roof.peak);
  }
  return {
    title: roofs.length ? "Roofline: higher is better, the line is the limit of this machine" :
                          "Rate against arithmetic intensity: higher is better",
    x: {log: true, title: "FLOP per compulsory byte", min: least / 1.5, max: most},
    series,
    y: {log: true, title: "rate", min: low / 1.6, max: high * 1.6, text: (tflops) => inUnit(RATES, tflops, 1)},
    caption: roofs.length ? "Higher is better. The roof is the measured peak and the measured copy bandwidth: " +
            roofs.map((roof) => `${roof.dtype} ${rateText(roof.peak)}, ${num(roof.copy / 1e9, 3)} GB/s`).join("; ") +
            ". Compulsory bytes: each operand read once, the output written once." :
                            "Higher is better. No peak was measured with these records, so there is no roof."
  };
}
