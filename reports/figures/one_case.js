// What was measured of one case, or of a few: a row for each variant; and errors of all cases.
const EXPLAINED = {
  dram_of_compulsory:
      "Bytes that DRAM moved / bytes that every implementation must move. Below 1, part of them was still in the " +
      "cache from " +
      "the previous execution, because the caches are warm.",
  l2_read_hit_rate: "Share of L2 reads that hit.",
  l1_load_hit_rate: "Share of sectors that L1 loads hit. Data that TMA brings does not pass through the L1.",
  llc_read_hit_rate: "Share of last-level reads that hit.",
  l1d_read_hit_rate: "Share of L1 reads that hit.",
  dram_of_copy: "DRAM bytes per second / the measured copy bandwidth.",
};

// Exact counts of the layout; they need no hardware.
const LAID_OUT = {
  layout_lines_64_per_tile:
      ["64-byte lines that a tile touches", "Different lines of K that one tile of queries reads, mean over tiles."],
  layout_pages_4k_per_tile:
      ["4 KiB pages that a tile touches", "Different pages of K that one tile of queries reads, mean over tiles."],
  layout_mean_jump: [
    "Distance from one key to the next, in rows",
    "How far apart in memory the keys are that a tile reads one after another, mean over tiles."
  ],
};

const CLOCK = (record) => record.passing?.device_state?.sm_mhz;
function clockOf(record) {
  const range = CLOCK(record);
  if (!range) return null;
  const [low, high] = range;
  return [(low + high) / 2, low, high, low === high ? `${low} MHz` : `${low} to ${high} MHz`];
}

// Panels of one case: {id, title, valueOf, caption}; valueOf(record) is [value, low, high, text], or null.
function panelsOfCases() {
  const panels = [{
    id: "figure-times",
    title: "Time of one execution",
    axis: {title: "ms (left is better)"},
    caption: "Medians; bars: 95 % intervals.",
    valueOf: (record) => [...record.time.ns.map((ns) => ns == null ? ns : ns / 1e6), timeInterval(record.time)]
  }];
  const plain = (value, digits) => (value == null ? null : [value, null, null, num(value, digits)]);
  for (const [key, caption] of Object.entries(EXPLAINED))
    if (key in DATA.figures)
      panels.push({
        id: `figure-case-${key}`,
        title: DATA.figures[key],
        caption: `${caption} Read after the timing, in separate executions.`,
        valueOf: (record) => plain(record.figures[key], 3)
      });
  for (const [name, [title, caption]] of Object.entries(LAID_OUT))
    if (timed.some((record) => counter(record, name) != null))
      panels.push({
        id: `figure-case-${name}`,
        title,
        caption: `${caption} Exact: counted from the layout.`,
        valueOf: (record) => plain(counter(record, name), 4)
      });
  if (distinct(timed.filter(CLOCK).flatMap(CLOCK)).length > 1)
    panels.push({
      id: "figure-case-clock",
      title: "GPU clock during the timing",
      axis: {title: "MHz"},
      valueOf: clockOf,
      caption: "From the lowest to the highest reading around the timing."
    });
  return panels;
}

// The rows of `records`. If they are of several cases, the name of each case stands above its rows.
function rowsOfCases({title, axis, valueOf, caption}, records) {
  const measured = records.filter((record) => valueOf(record) != null),
        several = new Set(measured.map((record) => record.of)).size > 1;
  const values = measured.map((record) => valueOf(record)[0]), rows = [], series = [];
  measured.forEach((record, at) => {
    if (several && record.of !== measured[at - 1]?.of) rows.push(`${record.of.label}:`);
    const [x, low, high, text] = valueOf(record);
    series.push({
      name: record.id,
      bars: "x",
      points: [{
        x,
        low,
        high,
        y: rows.length,
        record,
        title: record.id,
        text: text.replace(/ \[.*/, ""),
        lines: () => linesOf(record, text)
      }]
    });
    rows.push(record.id + (record.id.startsWith(record.kernel) ? "" : ` (${record.kernel})`));
  });
  const [least, most] = rangeOf(values);
  const log = least > 0 && most > 30 * least;
  return {
    title,
    caption,
    rows,
    stems: true,
    series,
    y: rowsAxis(rows),
    x: {title, ...axis, ...log ? {log, min: undefined, binary: false} : {min: 0}}
  };
}

// Kernel time plus 1/k of a permutation, against the reference, which permutes nothing.
function amortisedSpeedup(records) {
  const uses = [1, 3, 10, 30, 100, 300, 1000];
  const pointAt = (record, k) => {
    const y = record.speedup[0] * record.time.ns[0] / (record.time.ns[0] + record.permute_ns / k);
    return {
      x: k,
      y,
      record,
      title: record.id,
      lines: () => linesOf(record, `${k} uses: ${num(y)}`, `one permutation: ${timeText(record.permute_ns)}`)
    };
  };
  return {
    title: "Speedup if one permutation serves k uses",
    x: {log: true, title: "k: executions that share one permutation", min: 0.9, max: 1100, ticks: uses},
    y: {title: "speedup (above 1: the permutation pays)", ratio: true},
    lines: [["y", 1]],
    series: records.map(
        (record, place) =>
            ({name: record.id, line: true, hidden: place >= MOST_SERIES, points: uses.map((k) => pointAt(record, k))})),
    caption: "Kernel time plus 1/k of the time to permute what the order stores, against the reference, which permutes nothing."
  };
}

function errorsOf(records) {
  const names = distinct(records.map((record) => record.id));
  const told = ({verify}) =>
      `${num(verify.worst, 3)} of the tolerance ${verify.tolerance.toExponential(2)} over ${verify.rows} rows`;
  return {
    title: "Largest error as a share of the tolerance",
    rows: names,
    y: rowsAxis(names),
    lines: [["x", 1]],
    x: {log: true, title: "largest |output - reference| / tolerance (left of 1: correct)"},
    series: [{
      name: "largest error",
      points: records.map((record) => ({
                                                                          x: Math.max(record.verify.worst, 1e-6),
                                                                          y: names.indexOf(record.id),
                                                                          record,
                                                                          title: record.id,
                                                                          lines: () => linesOf(record, told(record))
                                                                        }))
    }],
    caption:
        "One point for each case. Outputs are compared with a double-precision reference before anything is " +
        "timed. Shares below 1e-6 are drawn at 1e-6."
  };
}

// Samples in the order measured: a series for each process.
function samplesOf(time, unit, values) {
  let begin = 0;
  const series = time.rounds.map((rounds, process) => {
    const points =
        values.slice(begin, begin + rounds)
            .map((y, place) => ({x: begin + place + 1, y, lines: () => [`round ${place + 1}: ${num(y)} ${unit}`]}));
    begin += rounds;
    return {name: time.rounds.length > 1 ? `process ${process + 1}` : "sample", line: true, points};
  });
  return {
    title: "Samples in the order measured",
    height: 230,
    x: {title: "round"},
    y: {title: unit},
    lines: [["y", time.ns[0] * values[0] / time.samples[0]]],
    series,
    caption: `Dashed: the median, ${timeInterval(time)}.`
  };
}

function distributionOf(values, unit, middle, timer) {
  const low = Math.min(...values), high = Math.max(...values);
  const bins = Math.min(24, Math.max(6, Math.ceil(Math.sqrt(values.length) * 1.5)));
  const width = (high - low) / bins || low * 1e-3 || 1, counts = new Array(bins).fill(0);
  for (const value of values) ++counts[Math.min(bins - 1, Math.floor((value - low) / width))];
  const steps = counts.flatMap((y, bin) => [{x: low + bin * width, y}, {x: low + (bin + 1) * width, y}]);
  const outline = [{x: low, y: 0}, ...steps, {x: low + bins * width, y: 0}];
  return {
    title: "Distribution of the samples",
    height: 230,
    x: {title: unit},
    y: {title: "samples", min: 0, step: 1},
    lines: [["x", middle]],
    series: [{name: "samples", line: true, bare: true, points: outline}],
    caption: `${values.length} samples in ${bins} bins, timed by ${timer}.`
  };
}
