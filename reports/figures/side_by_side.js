// Two runs beside each other: DATA.beside of `compare --side-by-side`.
const besideRows = () => DATA.beside?.rows ?? [];

// A row for each variant of a case, with the rates of both runs.
function ratesBeside() {
  const held = besideRows().filter(({rates}) => rates.every(Boolean));
  const {short, shared} = shortLabels(distinct(held.map((row) => row.work)));
  if (held.length === 0) return null;
  const [unit, unitName] = unitOf(RATES, Math.max(...held.flatMap(({rates}) => rates.map(([rate]) => rate))));
  const rows = held.map(({work, variant}) => `${variant}: ${short(work)}`);
  const series = [DATA.beside.a, DATA.beside.b].map((name, run) => ({
    name,
    bars: "x",
    points: held.map(({rates}, row) => {
      const [x, low, high] = rates[run].map((rate) => rate / unit);
      return {x, low, high, y: row + 0.16 * run, title: rows[row], lines: () => [`${num(x)} ${unitName}`]};
    })
  }));
  return {
    title: "Rates of both runs: right is better",
    rows,
    y: rowsAxis(rows),
    x: {title: `${unitName} (right is better)`, ratio: true},
    series,
    caption: `Bars: 95 % intervals. ${CASE_WORDS}${shared}`
  };
}

// Each speedup in B against the same in A.
function speedupsBeside() {
  const held = besideRows().filter(({speedups}) => speedups?.every(Boolean));
  if (held.length === 0) return null;
  const series = [...groupsOf(held, (row) => row.variant)].map(([name, rows]) => ({
    name,
    bars: "y",
    points: rows.map(({work, speedups: [[x], [y, low, high]]}) => ({x, y, low, high, title: name, lines: () => [work]}))
  }));
  const ends = rangeOf([1, ...held.flatMap(({speedups}) => speedups.map(([ratio]) => ratio))]);
  const log = ends[1] > 6 * ends[0], diagonal = ends.map((end) => ({x: end, y: end}));
  return {
    title: "Speedup over the same reference in both runs",
    x: {title: `speedup in ${DATA.beside.a}`, log},
    y: {title: `speedup in ${DATA.beside.b}`, log},
    lines: [["x", 1], ["y", 1]],
    series: [
      {name: "the same in both", line: true, bare: true, paint: "--soft", dash: [5, 4], points: diagonal},
      ...series
    ],
    caption:
        "One point for each case. On the dashed diagonal, a variant gains in B what it gains in A; right of 1 it is faster " +
        "in A, above 1 in B. Bars: 95 % intervals in B."
  };
}
