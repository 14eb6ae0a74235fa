// Speedups of all variants in all cases as a table of coloured cells.
const MOST_COLUMNS = 12;

// Names without what all of them begin and end with: a kernel, ".qkv".
function shortNames(names) {
  const shorter = (cut) => (names.every((name) => cut(name) !== name && cut(name)) ? names.map(cut) : names);
  const kernel = names[0]?.split("/")[0];
  names = shorter((name) => (name.startsWith(`${kernel}/`) ? name.slice(kernel.length + 1) : name));
  return shorter((name) => name.replace(/\.qkv$/, ""));
}

const showsHeat = (records) =>
    new Set(records.map((record) => record.id)).size > 1 && new Set(records.map((record) => record.of)).size > 1;

function heatOfSpeedups(records) {
  const cases = [...new Set(records.map((record) => record.of))].sort((a, b) => inOrder(a.label, b.label));
  const every = [...groupsOf(records, (record) => record.id)].sort(([, a], [, b]) => b.length - a.length);
  const ids = every.slice(0, MOST_COLUMNS).map(([id]) => id), columns = shortNames(ids);
  const shown = records.filter((record) => ids.includes(record.id));
  const most = Math.max(...shown.map(({speedup: [ratio]}) => Math.max(ratio, 1 / ratio)));
  const {short, shared} = shortLabels(cases.map((one) => one.label));
  const undecided = (record) => /^inconclusive/.test(record.verdict ?? "");
  return {
    title: "Speedup of each variant in each case: blue is faster, orange is slower",
    cells: true,
    rows: cases.map((one) => short(one.label)),
    y: rowsAxis(cases),
    x: {labels: columns},
    series: [{
      name: "speedup",
      points: shown.map((record) => ({
                          ...speedupPoint(record, columns[ids.indexOf(record.id)]),
                          y: cases.indexOf(record.of),
                          title: record.id,
                          text: undecided(record) ? `(${num(record.speedup[0], 3)})` : num(record.speedup[0], 3),
                          fill: colourOfRatio(record.speedup[0], most)
                        }))
    }],
    caption: `Time of the reference / time of the variant. In brackets: inconclusive. ${
        ids.length < every.length ? `${ids.length} of ${every.length} variants are drawn. ` : ""}${CASE_WORDS}${shared}`
  };
}
