// The figures of the page, with what can be chosen in them.
// The kernel of the reference, chosen first: speedups of other kernels would hide the effect of orders.
const REFERENCE_KERNEL = (() => {
  const reference = timed.find((record) => record.id === compared[0]?.against)?.kernel;
  return compared.some((record) => record.kernel === reference) ? reference : "";
})();

// Choices among `compared`: controls, and the records that they select. `keys`: [title, value of a record, first
// choice].
function choicesOf(keys, redraw) {
  const held = new Map(), controls = [];
  for (const [title, of, first = ""] of keys) {
    const values = distinct(compared.map(of));
    if (values.length < 2) continue;
    const control = select(title, values, (value) => {
      held.set(of, value);
      redraw();
    });
    control.querySelector("select").value = first;
    held.set(of, first);
    controls.push(control);
  }
  return {
    controls,
    chosen: () =>
        compared.filter((record) => [...held].every(([of, value]) => value === "" || String(of(record)) === value))
  };
}
const BY_KERNEL = ["Kernel that ran", (record) => record.kernel, REFERENCE_KERNEL];
const BY_DTYPE = ["Data type", (record) => record.of.dtype];
const BY_PAGES = ["Pages", (record) => record.of.pages];
const byAxis = ({key, title}) => [title[0].toUpperCase() + title.slice(1), (record) => record.of.at[key]];
const MOST_AXES = 6;  // figures of speedups

// A figure of the records that its controls choose.
function chosenFigure(id, title, keys, describe, more = []) {
  const {controls, chosen} = choicesOf(keys, () => block.redraw());
  const block = figure({
    id,
    title,
    controls: [...more, ...controls],
    describe: () => {
      const records = chosen();
      return records.length ? describe(records) : null;
    }
  });
  return block;
}

function workingSetFigure() {
  const marks = memoryMarks();
  if (marks.length === 0 || distinct(compared.map((record) => record.of.kv)).length < 2) return null;
  return chosenFigure(
      "figure-working-set", "Speedup against the size of K and V", [BY_KERNEL, BY_PAGES, ...AXES.filter(({key}) => key !== "n").map(byAxis)], (records) => speedupByWorkingSet(records, marks));
}

// Those of the records that the controls choose which know their pairs.
function windowsFigure() {
  if (!windowed.length) return null;
  return chosenFigure(
      "figure-windows", "Windows: speedup against computed / needed pairs", [BY_KERNEL.slice(0, 2), BY_DTYPE],
      (records) => speedupByPairs(records.filter((record) => record.pairs)));
}

function metricFigure() {
  const metrics = metricsOf();
  if (metrics.size === 0) return null;
  let metric = [
    "dram_of_compulsory", "llc_read_hit_rate", "layout_lines_64_per_tile", metrics.keys().next().value
  ].find((key) => metrics.has(key));
  const control = select("Counter", [...metrics].map(([key, [title]]) => [key, title]), (value) => {
    metric = value;
    block.redraw();
  }, null);
  control.querySelector("select").value = metric;
  const block = chosenFigure(
      "figure-metric", "Speedup against a counter", [BY_KERNEL],
      (records) => speedupByMetric(records, metrics.get(metric), EXPLAINED[metric]), [control]);
  return block;
}

function casePanels() {
  const chosen = {
    place: Math.max(0, DATA.cases.findIndex((one, place) => timed.some((record) => record.case === place)))
  };
  const recordsHere = () => timed.filter((record) => record.case === chosen.place);
  const panels = panelsOfCases().map(
      (panel) => figure({
        id: panel.id,
        title: panel.title,
        describe: () =>
            rowsOfCases(panel, recordsHere().filter((record) => panel.valueOf(record) != null))
      }));
  const payable = (record) => record.permute_ns && record.speedup;
  const amortised = timed.some(payable) ? figure({
    id: "figure-amortised",
    title: "Speedup if one permutation serves k uses",
    describe: () => amortisedSpeedup(recordsHere().filter(payable))
  }) :
                                          null;
  const inRows = DATA.cases.map((one, place) => [place, one.label]).sort(([, a], [, b]) => inOrder(a, b));
  const control = select("Case", inRows, (value) => {
    chosen.place = Number(value);
    for (const panel of [...panels, amortised]) panel?.redraw?.();
  }, null);
  control.querySelector("select").value = chosen.place;
  return [el("div", {class: "controls"}, control), el("div", {class: "panels"}, ...panels), amortised];
}

function ratesFigure() {
  let chosen = 0;
  const names = DATA.rates.map((panel, place) => [place, panel.shared]);
  const choose = (value) => {
    chosen = Number(value);
    block.redraw();
  };
  const block = figure({
    id: "figure-rates",
    title: ratesHaveLengths() ? "Rate by sequence length" : "Rates",
    controls: names.length > 1 && ratesHaveLengths() ? [select("Shared by all bars", names, choose, null)] : [],
    describe: () => (ratesHaveLengths() ? rateBars(DATA.rates[chosen]) : rateRows(DATA.rates))
  });
  return block;
}

function ringFigures() {
  if (ringed.length === 0) return [];
  let family = scaledFamily ?? ringed[0].of.family;
  const figures =
      RING_FIGURES.filter((one) => !one.ideal || scaledFamily)
          .map((one) => figure({id: one.id, title: one.title, describe: () => ringFigure(one, family)}));
  const control = select("Case", distinct(ringed.map((record) => record.of.family)), (value) => {
    family = value;
    for (const one of figures) one.redraw();
  }, null);
  control.querySelector("select").value = family;
  return [el("div", {class: "controls"}, control), el("div", {class: "panels wide"}, ...figures)];
}

function chainFigures() {
  if (DATA.chains.length === 0) return [];
  let chosen = largestClaim();
  const control = select("Case", DATA.chains.map((chain, place) => [place, chain.work]), (value) => {
    chosen = Number(value);
    for (const block of blocks) block.redraw();
  }, null);
  control.querySelector("select").value = chosen;
  const blocks = [figure({
    id: "figure-chain",
    title: "What each step does",
    controls: DATA.chains.length > 1 ? [control] : [],
    describe: () => chainOf(DATA.chains[chosen])
  })];
  if (DATA.chains.every(({protocols}) => protocols.length > 0))
    blocks.push(figure({
      id: "figure-protocols",
      title: "What a single timing reports",
      describe: () => protocolsOf(DATA.chains[chosen])
    }));
  return blocks;
}

const claimsFigure = () => figure(
    {id: "figure-claims", title: "Speedup of Hilbert order: claimed and measured", describe: claimedAndMeasured});
const rivalsFigure = () =>
    figure({id: "figure-rivals", title: "Time of a rival / time of the kernel", describe: kernelsAgainstRivals});

// Sections of figures. If the markup already has a section with that id, its figures go below its title.
function figureSections() {
  const sections = [];
  const add = (id, title, blocks) => {
    const filled = blocks.filter(Boolean);
    const known = document.querySelector(`#${id} h2`);
    if (known)
      known.after(...filled);
    else if (filled.length)
      sections.push(sectionOf(id, title, ...filled));
  };
  if (compared.length) {
    const shared = [BY_KERNEL, BY_DTYPE, BY_PAGES], panels = AXES.slice(0, MOST_AXES).map((axis) => chosenFigure(
        `figure-${axis.file}`, `Speedup ${axis.number ? "against" : "by"} ${axis.title}`,
        [...shared, ...AXES.filter((one) => one !== axis).map(byAxis)], (records) => speedupAlong(axis, records)));
    if (!AXES.length && !windowed.length)
      panels.push(chosenFigure("figure-speedups", "Speedup", shared, speedupRows));
    add("speedups", "Speedups", [
      windowsFigure(), panels.length ? el("div", {class: "panels wide"}, ...panels) : null,
      showsHeat(compared) ?
          chosenFigure("figure-heat", "Speedup of each variant in each case", shared, heatOfSpeedups) :
          null,
      workingSetFigure()
    ]);
  }
  if (timed.length) add("one-case", "One case: times, and what explains them", casePanels());
  if (compared.length) add("counts", "What the counters explain", [metricFigure()]);
  add("chains", "The reported ratio, step by step", chainFigures());
  add("rings", "Rings", ringFigures());
  const rated = timed.filter((record) => record.flops && record.min_bytes && record.tflops);
  if (showsRates(rated)) {
    const title = roofsOf(rated).length ? "Roofline" : "Rate against arithmetic intensity";
    add("rates", "Rates and limits", [figure({id: "figure-roofline", title, describe: () => roofline(rated)})]);
  }
  const verified = timed.filter((record) => record.verify?.tolerance > 0);
  if (verified.length)
    add("errors", "Errors", [
      figure(
          {id: "figure-error", title: "Largest error as a share of the tolerance", describe: () => errorsOf(verified)})
    ]);
  return sections;
}
