// Draws the static figures with Node.js: node SCRIPT DATA FOLDER [NAME]. FOLDER gets a .svg for each, or only one,
// named NAME; and figures.json, which lists them as {name, title, caption}, or {name, fault}.
const MOST_POINTS = 240;
const [, , , FOLDER, ONLY] = process.argv;

// The first block of the colours is for light paper.
function paint(name) { return new RegExp(`${name}: (#[0-9a-f]+);`).exec(COLOURS)[1]; }

// Without a canvas, Vega estimates the width of texts from these shares of the size of the font.
vega.textMetrics.width = (item, text) => (item.fontSize ?? 11) *
    [...String(text ?? item.text)].reduce(
        (sum, letter) => sum +
            (/[ iljtfrI.,:;|!'()[\]/-]/.test(letter) ? 0.36 :
                 /[mwMW@%]/.test(letter)             ? 0.92 :
                 /[A-Z]/.test(letter)                ? 0.7 :
                                                       0.63),
        0);

// At most `most` points: one for each x, or, if there are more, one for each of `most` sections of a logarithmic axis.
// Each is the median of its group; the interval goes from the lowest low end to the highest high end.
function collapsed(points, most) {
  let groups = groupsOf(points, (point) => point.x);
  if (groups.size > most) {
    const xs = [...groups.keys()].map(Math.log).sort((a, b) => a - b), low = xs[0], high = xs.at(-1);
    groups = groupsOf(points, (point) => Math.floor((Math.log(point.x) - low) / (high - low) * (most - 1)));
  }
  const ends = (group, key, of) => (group[0].low == null ? null : of(...group.map((point) => point[key])));
  return [...groups.values()].map((group) => ({
                                    x: median(group.map((point) => point.x)),
                                    y: median(group.map((point) => point.y)),
                                    low: ends(group, "low", Math.min),
                                    high: ends(group, "high", Math.max)
                                  }));
}

// Leaves out series, and joins points, until the figure is readable; the caption says so.
function thinned(described) {
  const figure = foldedRows(described);
  const named = figure.series.filter((one) => !one.unnamed), hidden = named.filter((one) => one.hidden).length;
  if (named.length <= MOST_SERIES)
    for (const one of figure.series) one.hidden = false;
  else if (hidden)
    figure.caption += ` ${named.length - hidden} of ${named.length} series are drawn; the tables hold all.`;
  figure.series = figure.series.filter((one) => !one.hidden);
  const marked = figure.series.filter((one) => !one.bare),
        medians = figure.series.filter((one) => one.bare && one.unnamed);
  if (figure.rows || figure.x.labels || marked.reduce((sum, one) => sum + one.points.length, 0) <= MOST_POINTS)
    return figure;
  for (const one of [...marked, ...medians]) one.points = collapsed(one.points, MOST_POINTS / marked.length);
  figure.caption +=
      " Points are medians of neighbouring cases; bars go from the lowest to the highest end of their intervals.";
  return figure;
}

// Times of the first cases, as many as have room.
function timesOfCases() {
  const cases = [...groupsOf(timed, (record) => record.case).values()]
                    .sort(([a], [b]) => inOrder(a.of.label, b.of.label));
  let rows = 0;
  const shown = cases.filter((records, place) => (rows += records.length + 1) <= MOST_ROWS || place === 0);
  const figure = rowsOfCases(panelsOfCases()[0], shown.flat());
  if (shown.length < cases.length) figure.caption += ` ${shown.length} of ${cases.length} cases are drawn.`;
  return {...figure, title: "Time of one execution: left is better"};
}

const rated = timed.filter((record) => record.flops && record.min_bytes && record.tflops);
const STILLS = {
  chain: () => (DATA.chains.length ? chainOf(DATA.chains[largestClaim()]) : null),
  protocols: () =>
      (DATA.chains[largestClaim()]?.protocols.length ? protocolsOf(DATA.chains[largestClaim()]) : null),
  claims: () => (DATA.claims.length ? claimedAndMeasured() : null),
  windows: () => (windowed.length ? speedupByPairs(windowed) : null),
  rates: () => (DATA.rates.length ? (ratesHaveLengths() ? rateBars(DATA.rates[0]) : rateRows(DATA.rates)) : null),
  ...Object.fromEntries(AXES.map((axis) => [`speedup_${axis.file}`, () => speedupAlong(axis, compared)])),
  speedups: () => (compared.length && AXES.length === 0 && !windowed.length ? speedupRows(compared) : null),
  heat: () => (showsHeat(compared) ? heatOfSpeedups(compared) : null),
  scaling: () => (scaledFamily ? ringFigure(RING_FIGURES.find((one) => one.ideal), scaledFamily) : null),
  roofline: () => (showsRates(rated) ? roofline(rated) : null),
  rivals: () => (new Set(DATA.rivals.map((pair) => pair.rival)).size > 1 ? kernelsAgainstRivals() : null),
  rates_side_by_side: ratesBeside,
  speedups_side_by_side: speedupsBeside,
  times: () => (timed.length ? timesOfCases() : null),
};

// XML has no other characters, not even escaped.
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const escaped = (text) => text.replace(/[<>&]/g, (letter) => ({"<": "&lt;", ">": "&gt;", "&": "&amp;"})[letter]);

async function pictureOf(figure) {
  const faults = [], ignore = () => {},
        logger = {level: ignore, info: ignore, debug: ignore, warn: ignore, error: (fault) => faults.push(fault)};
  const specification = specificationOf(figure, 860, {machine: DATA.machine});
  const view = new vega.View(
      vega.parse(specification, null, {ast: true}), {expr: vega.expressionInterpreter, renderer: "none", logger});
  const svg = await view.toSVG();
  if (faults.length) throw faults[0];
  const titled = svg.replace(/<svg[^>]*>/, (opening) => `${opening}<title>${escaped(figure.title)}</title>`);
  return titled.replace(NOT_IN_XML, "\ufffd");
}

async function drawStill(name, describe) {
  try {
    const described = describe();
    if (!described) return null;
    const figure = thinned(described), file = ONLY ?? name;
    FILES.writeFileSync(`${FOLDER}/${file}.svg`, await pictureOf(figure));
    const machine = figure.caption.includes(DATA.machine) ? "" : ` ${DATA.machine}.`;
    return {name: file, title: figure.title, caption: figure.caption + machine};
  } catch (fault) {
    return {name, fault: String(fault.message ?? fault)};
  }
}

(async () => {
  const made = [];
  for (const [name, describe] of Object.entries(STILLS)) {
    const still = await drawStill(name, describe);
    if (still) made.push(still);
    if (still && ONLY) break;
  }
  FILES.writeFileSync(`${FOLDER}/figures.json`, JSON.stringify(made));
})();
