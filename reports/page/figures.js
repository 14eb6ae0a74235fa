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
const BY_DILATION = ["Largest dilation", (record) => record.of.r];
const BY_LENGTH = ["Sequence length", (record) => record.of.n];

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
      "figure-working-set", "Speedup against the size of K and V", [BY_KERNEL, BY_PAGES, BY_DILATION],
      (records) => speedupByWorkingSet(records, marks));
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
            rowsOfCases(panel, recordsHere().filter((record) => panel.valueOf(record) != null).slice(0, MOST_ROWS))
      }));
  const payable = (record) => record.permute_ns && record.speedup;
  const amortised = timed.some(payable) ? figure({
    id: "figure-amortised",
    title: "Speedup if one permutation serves k uses",
    describe: () => amortisedSpeedup(recordsHere().filter(payable))
  }) :
                                          null;
  const control = select("Case", DATA.cases.map((one, place) => [place, one.label]), (value) => {
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
    title: "Rate by sequence length",
    controls: names.length > 1 ? [select("Shared by all bars", names, choose, null)] : [],
    describe: () => rateBars(DATA.rates[chosen])
  });
  return block;
}

function ringFigures() {
  if (ringed.length === 0) return [];
  let family = ringed[0].of.family;
  const figures =
      RING_FIGURES.map((one) => figure({id: one.id, title: one.title, describe: () => ringFigure(one, family)}));
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
    const panels = [];
    if (variesOver("n"))
      panels.push(chosenFigure(
          "figure-length", "Speedup against sequence length", [BY_KERNEL, BY_DTYPE, BY_PAGES, BY_DILATION],
          (records) => speedupBy("n", "sequence length", records)));
    if (variesOver("r"))
      panels.push(chosenFigure(
          "figure-dilation", "Speedup against dilation", [BY_KERNEL, BY_DTYPE, BY_PAGES, BY_LENGTH],
          (records) => speedupBy("r", "largest dilation", records)));
    add("speedups", "Speedup by length and dilation",
        [panels.length ? el("div", {class: "panels wide"}, ...panels) : null, workingSetFigure()]);
  }
  if (timed.length) add("one-case", "One case: times, and what explains them", casePanels());
  if (compared.length) add("counts", "What the counters explain", [metricFigure()]);
  add("chains", "The reported ratio, step by step", chainFigures());
  add("rings", "Rings", ringFigures());
  const rated = timed.filter((record) => record.flops && record.min_bytes && record.tflops);
  if (showsRates(rated))
    add("rates", "Rates and limits",
        [figure({id: "figure-roofline", title: "Rate against arithmetic intensity", describe: () => roofline(rated)})]);
  const verified = timed.filter((record) => record.verify?.tolerance > 0);
  if (verified.length)
    add("errors", "Errors", [
      figure(
          {id: "figure-error", title: "Largest error as a share of the tolerance", describe: () => errorsOf(verified)})
    ]);
  return sections;
}
