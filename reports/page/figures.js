// The figures of the page.
const MOST_ROWS = 60;
const CASE_WORDS = "Cases: n sequence length, segment/dilation of each branch, h heads, d head_dim.";
const timed = DATA.records.filter((record) => record.status === "ok" && record.time && record.id !== "peak");
const compared = timed.filter((record) => record.speedup && !record.baseline);

function linesOf(record, ...more) {
  return [`${record.of.label}${record.kernel && !record.id.startsWith(`${record.kernel}/`) ? ` (ran ${record.kernel})` : ""}`,
          ...more, record.verdict || null, "click or press Enter to open the record"].filter(Boolean);
}

// One series for each variant, in the order of the records. More than eight are hidden until chosen in the legend, except the control.
function byVariant(records, pointOf, more = {}) {
  const series = new Map();
  for (const record of records) {
    const point = pointOf(record);
    if (!point || !Number.isFinite(point.x) || !Number.isFinite(point.y)) continue;
    if (!series.has(record.id)) series.set(record.id, {name: record.id, points: [], ...more});
    series.get(record.id).points.push({...point, title: record.id, record});
  }
  return [...series.values()].map((one, place) => ({...one, hidden: place >= 8 && !one.name.includes("/random")}));
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Adds a line through the medians at each x, with the dashes of the series.
function withMedians(series) {
  const lines = series.map((one) => {
    const groups = Map.groupBy(one.points, (point) => point.at ?? point.x);
    const points = [...groups].sort((a, b) => a[0] - b[0])
      .map(([, group]) => ({x: group[0].x, y: median(group.map((point) => point.y))}));
    return {name: one.name, points, line: true, bare: true, unnamed: true, hidden: one.hidden};
  });
  return [...series, ...lines];
}

// The kernel of the reference, chosen first: speedups of other kernels would hide the effect of orders.
const REFERENCE_KERNEL = (() => {
  const reference = timed.find((record) => record.id === compared[0]?.against)?.kernel;
  return compared.some((record) => record.kernel === reference) ? reference : "";
})();
function kernelSelect(held, hold) {
  const kernels = distinct(compared.map((record) => record.kernel));
  if (kernels.length < 2) return [];
  const control = select("Kernel that ran", kernels, hold);
  control.querySelector("select").value = held.kernel = REFERENCE_KERNEL;
  return [control];
}

function pagesSelect(hold) {
  const sizes = distinct(compared.map((record) => record.of.pages));
  return sizes.length > 1 ? [select("Pages", sizes, hold)] : [];
}

function speedupFigure(id, title, xTitle, key, others) {
  const held = {kernel: "", dtype: "", pages: ""};
  let block = null;
  const hold = (name) => (value) => { held[name] = value; block.redraw(); };
  const controls = kernelSelect(held, hold("kernel"));
  const dtypes = distinct(compared.map((record) => record.of.dtype));
  if (dtypes.length > 1) controls.push(select("Data type", dtypes, hold("dtype")));
  controls.push(...pagesSelect(hold("pages")));
  const values = distinct(compared.map((record) => record.of[others.key]));
  if (values.length > 1) controls.push(select(others.title, values, hold("other")));
  block = figure({id, title, controls, spec: () => {
    const chosen = compared.filter((record) => (!held.kernel || record.kernel === held.kernel) &&
      (!held.dtype || record.of.dtype === held.dtype) && (!held.pages || record.of.pages === held.pages) &&
      (!held.other || String(record.of[others.key]) === held.other));
    const xs = distinct(chosen.map((record) => record.of[key]));
    const series = byVariant(chosen, (record) => ({x: record.of[key], at: record.of[key], y: record.speedup[0],
      low: record.speedup[1], high: record.speedup[2],
      lines: () => linesOf(record, `speedup ${ratioInterval(record.speedup)} over ${record.against}`)}), {bars: "y"});
    series.forEach((one, place) => one.points.forEach((point) => {
      point.x *= 2 ** ((xs.length > 8 ? 0.03 : 0.055) * (place - (series.length - 1) / 2));
    }));
    return {x: {log: true, title: xTitle, min: xs[0] / 1.6, max: xs.at(-1) * 1.6, ticks: xs, text: String},
            y: {title: "speedup (above 1: faster)"}, lines: [["y", 1]], series: withMedians(series),
            caption: "Time of the reference / time of the variant, without the time to permute. Bars: 95 % intervals, cut at the edge. " +
              `Lines join the medians of the cases. Points of one ${xTitle} are drawn side by side. random is the negative control: an ` +
              "effect that random has too is no effect of another order. @tokens computes a different function."};
  }});
  return block;
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

function workingSetFigure() {
  const marks = memoryMarks(), held = {kernel: "", pages: "", other: ""};
  if (marks.length === 0 || distinct(compared.map((record) => record.of.kv)).length < 2) return null;
  const controls = kernelSelect(held, (value) => { held.kernel = value; block.redraw(); });
  controls.push(...pagesSelect((value) => { held.pages = value; block.redraw(); }));
  const dilations = distinct(compared.map((record) => record.of.r));
  if (dilations.length > 1) controls.push(select("Largest dilation", dilations, (value) => { held.other = value; block.redraw(); }));
  const block = figure({id: "figure-working-set", title: "Speedup against the size of K and V", controls, spec: () => {
    const chosen = compared.filter((record) => (!held.kernel || record.kernel === held.kernel) && (!held.pages || record.of.pages === held.pages) &&
      (!held.other || String(record.of.r) === held.other));
    const series = byVariant(chosen, (record) => ({x: record.of.kv, at: record.of.kv, y: record.speedup[0], low: record.speedup[1],
      high: record.speedup[2], lines: () => linesOf(record, `K and V: ${bytesText(record.of.kv)}`, `speedup ${ratioInterval(record.speedup)}`)}), {bars: "y"});
    const xs = distinct(chosen.map((record) => record.of.kv));
    series.forEach((one, place) => one.points.forEach((point) => { point.x *= 2 ** (0.06 * (place - (series.length - 1) / 2)); }));
    return {x: {log: true, title: "size of K and V", min: Math.min(xs[0], marks[0][0]) / 1.6, max: Math.max(xs.at(-1), marks.at(-1)[0]) * 1.6, ticks: xs,
                text: (bytes) => inUnit(BYTES, bytes, 1)},
            y: {title: "speedup (above 1: faster)"}, lines: [["y", 1], ...marks.map(([bytes, name]) => ["x", bytes, name])],
            series: withMedians(series),
            caption: `Dashed: ${marks.map(([bytes, name]) => `${name} ${inUnit(BYTES, bytes, 3)}`).join(", ")}. A case with dilation reads ` +
              "only part of K and V, one segment after another; the order decides on which lines and pages this part lies. random is the " +
              "negative control."};
  }});
  return block;
}

function claimsFigure() {
  const rows = DATA.claims.slice(0, MOST_ROWS);
  const points = (key, below) => rows.flatMap((claim, row) => claim[key] ? [{x: claim[key][0], y: row + below, low: claim[key][1],
    high: claim[key][2], title: `${claim.title} (${claim.provenance})`,
    lines: () => [claim.work, `${key} ${ratioInterval(claim[key])}`, `claimed ${num(claim.claimed, 3)}: ${claim.verdict}`]}] : []);
  const claimed = rows.map((claim, row) => ({x: claim.claimed, y: row, title: `${claim.title} (${claim.provenance})`,
                                             lines: () => [claim.work, `claimed ${num(claim.claimed, 3)}: ${claim.verdict}`]}));
  return figure({id: "figure-claims", title: "Speedup of Hilbert order: claimed and measured", spec: () => ({
    rows: rows.map((claim) => `${claim.id} (${claim.provenance}): ${claim.work}`),
    x: {log: true, title: "speedup of hilbert over linear (right of 1: hilbert is faster)"}, y: rowsAxis(rows), lines: [["x", 1]],
    series: [{name: "claimed", points: claimed}, {name: "measured here", points: points("measured", 0), bars: "x"},
             {name: "random order here (control)", points: points("control", 0.22), bars: "x"},
             {name: "@tokens here (different function)", points: points("tokens", 0.22), bars: "x", hidden: true}],
    caption: `Bars: 95 % intervals. In brackets: how the authors of the claim obtained it. ${CASE_WORDS}${DATA.claims.length > MOST_ROWS
      ? ` The first ${MOST_ROWS} of ${DATA.claims.length} rows are drawn; the table holds all.` : ""} ${DATA.machine}.`})});
}

function rivalsFigure() {
  const names = distinct(DATA.rivals.map((pair) => `${pair.kernel}: ${pair.work}`)).slice(0, MOST_ROWS);
  const series = distinct(DATA.rivals.map((pair) => pair.rival)).map((rival) => ({name: rival, bars: "x",
    points: DATA.rivals.filter((pair) => pair.rival === rival)
      .map((pair) => ({x: pair.ratio[0], low: pair.ratio[1], high: pair.ratio[2],
                       y: names.indexOf(`${pair.kernel}: ${pair.work}`), title: `${pair.kernel} against ${rival}`,
                       lines: () => [pair.work, `time of the rival / of the kernel: ${ratioInterval(pair.ratio)}`]}))
      .filter((point) => point.y >= 0)}));
  return figure({id: "figure-rivals", title: `Time of ${series.length === 1 ? series[0].name : "the rival"} / time of the kernel`, spec: () => ({
    rows: names, x: {log: true, title: "time of the rival / time of the kernel (right of 1: the kernel is faster)"},
    y: rowsAxis(names), lines: [["x", 1]], series,
    caption: `Kernel and rival computed the same case in the same rounds, the kernel in linear order. Bars: 95 % intervals. ${CASE_WORDS} ${DATA.machine}.`})});
}

function rooflineFigure() {
  const points = timed.filter((record) => record.flops && record.min_bytes && record.tflops);
  const roofs = [];
  for (const dtype of distinct(points.map((record) => record.of.dtype))) {
    const cases = DATA.cases.filter((one) => one.dtype === dtype);
    const peak = Math.max(...cases.map((one) => one.peak ?? 0)), copy = Math.max(...DATA.cases.map((one) => one.copy ?? 0));
    if (peak > 0 && copy > 0) roofs.push({dtype, peak: peak / 1e12, copy});
  }
  return figure({id: "figure-roofline", title: roofs.length ? "Roofline" : "Rate against arithmetic intensity", spec: () => {
    const series = byVariant(points, (record) => ({x: record.flops / record.min_bytes, y: record.tflops,
      lines: () => linesOf(record, rateText(record.tflops), record.of_peak ? `${percentText(record.of_peak)} of the measured peak` : null,
                     `${num(record.flops / record.min_bytes, 3)} FLOP per compulsory byte`)}));
    const xs = series.flatMap((one) => one.points.map((point) => point.x));
    const ys = series.flatMap((one) => one.points.map((point) => point.y));
    let least = Math.min(...xs), most = Math.max(...xs) * 2, low = Math.min(...ys);
    for (const roof of roofs) least = Math.min(least, roof.peak * 1e12 / roof.copy / 6);
    for (const roof of roofs) {
      const ridge = roof.peak * 1e12 / roof.copy, foot = least / 1.5;
      low = Math.min(low, foot * roof.copy / 1e12);
      series.push({name: `measured limits, ${roof.dtype}`, line: true, bare: true, paint: "--soft", points: [
        {x: foot, y: foot * roof.copy / 1e12}, {x: ridge, y: roof.peak}, {x: Math.max(most, ridge * 2), y: roof.peak}]});
      most = Math.max(most, ridge * 2);
    }
    const top = Math.max(...ys, ...roofs.map((roof) => roof.peak)) * 1.6;
    return {x: {log: true, title: "FLOP per compulsory byte", min: least / 1.5, max: most}, series,
            y: {log: true, title: "rate", min: low / 1.6, max: top, text: (tflops) => inUnit(RATES, tflops, 1)},
            caption: roofs.length ? "Higher is better. The roof is the measured peak and the measured copy bandwidth: " +
              roofs.map((roof) => `${roof.dtype} ${rateText(roof.peak)}, ${num(roof.copy / 1e9, 3)} GB/s`).join("; ") +
              ". Compulsory bytes: each operand read once, the output written once."
              : "Higher is better. No peak was measured with these records, so there is no roof."};
  }});
}

// A panel for one case, with a row for each variant.
function casePanel(id, title, chosen, valueOf, axis, caption) {
  return figure({id, title, spec: () => {
    const records = timed.filter((record) => record.case === chosen.place);
    const rows = records.filter((record) => valueOf(record) != null).slice(0, MOST_ROWS);
    const values = rows.map((record) => valueOf(record)[0]), log = Math.min(...values) > 0 && Math.max(...values) > 30 * Math.min(...values);
    return {rows: rows.map((record) => record.id + (record.id.startsWith(record.kernel) ? "" : ` (${record.kernel})`)), stems: true,
            x: log ? {...axis, log} : {min: 0, ...axis}, y: rowsAxis(rows), series: rows.map((record, row) => {
              const [x, low, high, text] = valueOf(record);
              const point = {x, low, high, y: row, record, title: record.id, text: text.replace(/ \[.*/, "")};
              return {name: record.id, bars: "x", points: [{...point, lines: () => linesOf(record, text)}]};
            }), caption};
  }});
}

const CLOCK = (record) => record.passing?.device_state?.sm_mhz;
const EXPLAINED = {
  dram_of_compulsory: "Bytes that DRAM moved / bytes that every implementation must move. Below 1, part of them was still in the cache from " +
    "the previous execution, because the caches are warm.",
  l2_read_hit_rate: "Share of L2 reads that hit.", l1_load_hit_rate: "Share of sectors that L1 loads hit. Data that TMA brings does not pass through the L1.",
  llc_read_hit_rate: "Share of last-level reads that hit.", l1d_read_hit_rate: "Share of L1 reads that hit.",
  dram_of_copy: "DRAM bytes per second / the measured copy bandwidth.",
};

// Exact counts of the layout; they need no hardware.
const LAID_OUT = {
  layout_lines_64_per_tile: ["64-byte lines that a tile touches", "Different lines of K that one tile of queries reads, mean over tiles."],
  layout_pages_4k_per_tile: ["4 KiB pages that a tile touches", "Different pages of K that one tile of queries reads, mean over tiles."],
  layout_mean_jump: ["Distance from one key to the next, in rows", "How far apart in memory the keys are that a tile reads one after another, mean over tiles."],
};

// Kernel time plus 1/k of a permutation, against the reference, which permutes nothing.
function amortisedFigure(chosen) {
  const uses = [1, 3, 10, 30, 100, 300, 1000];
  const pointAt = (record, k) => {
    const y = record.speedup[0] * record.time.ns[0] / (record.time.ns[0] + record.permute_ns / k);
    return {x: k, y, record, title: record.id,
            lines: () => linesOf(record, `${k} uses: ${num(y)}`, `one permutation: ${timeText(record.permute_ns)}`)};
  };
  return figure({id: "figure-amortised", title: "Speedup if one permutation serves k uses", spec: () => {
    const records = timed.filter((record) => record.case === chosen.place && record.permute_ns && record.speedup);
    return {x: {log: true, title: "k: executions that share one permutation", min: 0.9, max: 1100, ticks: uses},
            y: {title: "speedup (above 1: the permutation pays)"}, lines: [["y", 1]],
            series: records.map((record, place) => ({name: record.id, line: true, hidden: place >= 8,
                                                     points: uses.map((k) => pointAt(record, k))})),
            caption: "Kernel time plus 1/k of the time to permute K and V, against the reference, which permutes nothing."};
  }});
}

function casePanels() {
  const chosen = {place: Math.max(0, DATA.cases.findIndex((one, place) => timed.some((record) => record.case === place)))};
  const panels = [casePanel("figure-times", "Time of one execution", chosen,
    (record) => [record.time.ns[0] / 1e6, record.time.ns[1] / 1e6, record.time.ns[2] / 1e6, timeInterval(record.time)],
    {title: "milliseconds (left is better)"}, "Medians; bars: 95 % intervals.")];
  for (const [key, caption] of Object.entries(EXPLAINED)) {
    if (!(key in DATA.figures)) continue;
    panels.push(casePanel(`figure-case-${key}`, DATA.figures[key], chosen,
      (record) => record.figures[key] == null ? null : [record.figures[key], null, null, num(record.figures[key], 3)],
      {title: DATA.figures[key]}, `${caption} Read after the timing, in separate executions.`));
  }
  for (const [name, [title, caption]] of Object.entries(LAID_OUT))
    if (timed.some((record) => counter(record, name) != null))
      panels.push(casePanel(`figure-case-${name}`, title, chosen, (record) => {
        const count = counter(record, name);
        return count == null ? null : [count, null, null, num(count, 4)];
      }, {title}, `${caption} Exact: counted from the layout.`));
  if (timed.some(CLOCK)) panels.push(casePanel("figure-case-clock", "GPU clock during the timing", chosen, (record) => {
    const range = CLOCK(record);
    if (!range) return null;
    const [low, high] = range;
    return [(low + high) / 2, low, high, low === high ? `${low} MHz` : `${low} to ${high} MHz`];
  }, {title: "MHz"}, "From the lowest to the highest reading around the timing."));
  const amortised = timed.some((record) => record.permute_ns && record.speedup) ? amortisedFigure(chosen) : null;
  const control = select("Case", DATA.cases.map((one, place) => [place, one.label]), (value) => {
    chosen.place = Number(value);
    for (const panel of [...panels, amortised]) panel?.redraw?.();
  }, null);
  control.querySelector("select").value = chosen.place;
  return [el("div", {class: "controls"}, control), el("div", {class: "panels"}, ...panels), amortised];
}

// Speedup against a counter or layout count that may explain it.
function metricFigure() {
  const metrics = new Map(Object.entries(DATA.figures).map(([key, title]) => [key, [title, (record) => record.figures[key]]]));
  for (const one of DATA.counters)
    if (compared.some((record) => counter(record, one.name) != null))
      metrics.set(one.name, [`${readable(one.name)}${one.unit ? ` (${one.unit})` : ""}, ${one.source}`, (record) => counter(record, one.name)]);
  if (metrics.size === 0) return null;
  let metric = ["dram_of_compulsory", "llc_read_hit_rate", "layout_lines_64_per_tile", metrics.keys().next().value]
    .find((key) => metrics.has(key));
  const control = select("Counter", [...metrics].map(([key, [title]]) => [key, title]), (value) => { metric = value; block.redraw(); }, null);
  control.querySelector("select").value = metric;
  const held = {kernel: ""}, kernels = kernelSelect(held, (value) => { held.kernel = value; block.redraw(); });
  const block = figure({id: "figure-metric", title: "Speedup against a counter", controls: [control, ...kernels], spec: () => {
    const [title, of] = metrics.get(metric);
    const series = byVariant(compared.filter((record) => !held.kernel || record.kernel === held.kernel), (record) => ({x: of(record) ?? NaN, y: record.speedup[0], low: record.speedup[1], high: record.speedup[2],
      lines: () => linesOf(record, `${title}: ${num(of(record))}`, `speedup ${ratioInterval(record.speedup)}`)}), {bars: "y"});
    const xs = series.flatMap((one) => one.points.map((point) => point.x)), least = Math.min(...xs), most = Math.max(...xs);
    const log = least > 0 && most / least > 20;
    return {x: {title, log}, y: {title: "speedup (above 1: faster)"}, lines: [["y", 1]], series,
            caption: "If a counter explains the times, points with the same count have the same speedup. If they differ, something else explains them. " +
              `${EXPLAINED[metric] ?? ""}`};
  }});
  return block;
}

function errorFigure() {
  const records = timed.filter((record) => record.verify && record.verify.tolerance > 0);
  const names = distinct(records.map((record) => record.id)).slice(0, MOST_ROWS);
  const told = ({verify}) => `${num(verify.worst, 3)} of the tolerance ${verify.tolerance.toExponential(2)} over ${verify.rows} rows`;
  return figure({id: "figure-error", title: "Largest error as a share of the tolerance", spec: () => ({
    rows: names, x: {log: true, title: "largest |output - reference| / tolerance (left of 1: correct)"}, y: rowsAxis(names), lines: [["x", 1]],
    series: [{name: "largest error", points: records.filter((record) => names.includes(record.id)).map((record) => ({
      x: Math.max(record.verify.worst, 1e-6), y: names.indexOf(record.id), record, title: record.id,
      lines: () => linesOf(record, told(record))}))}],
    caption: "One point for each case. Outputs are compared with a double-precision reference before anything is timed. Shares below 1e-6 are drawn at 1e-6."})});
}

// Series of predictions: hollow, with the names and legend entries of the measured series.
function predictedSeries(family, records, predictedOf) {
  const told = DATA.forecasts.filter((one) => one.family === family).sort((a, b) => a.ring - b.ring);
  const named = byVariant(records, () => ({x: 1, y: 1})), apart = (place) => 2 ** (0.03 * (place - (named.length - 1) / 2) + 0.012);
  return named.map((one, place) => ({
    name: one.name, unnamed: true, hollow: true, hidden: one.hidden, bars: "y",
    points: told.filter((prediction) => prediction.variant === one.name).flatMap((prediction) => {
      const [y, low, high, text] = predictedOf(prediction) ?? [NaN];
      if (!Number.isFinite(y)) return [];
      const basis = prediction.fitted ? "the model was fitted on this ring" : "the model was not fitted on this ring";
      return [{x: prediction.ring * apart(place), y, low, high, title: `${one.name}, predicted`, lines: () => [`${prediction.ring} ranks`, text, basis]}];
    })}));
}

function ringFigures() {
  const ringed = timed.filter((record) => record.of.ring > 1);
  if (ringed.length === 0) return [];
  let family = ringed[0].of.family;
  const ring = (id, title, axis, valueOf, predictedOf, caption) => figure({id, title, spec: () => {
    const records = timed.filter((record) => record.of.family === family);
    const series = byVariant(records, (record) => {
      const [y, low, high, text] = valueOf(record) ?? [NaN];
      const how = record.ring_algorithm ? `${record.ring_algorithm} by ${record.transport}` : null;
      return {x: record.of.ring, at: record.of.ring, y, low, high, lines: () => linesOf(record, text, how)};
    }, {bars: "y"});
    const predictions = predictedSeries(family, records, predictedOf).filter((one) => one.points.length > 0);
    const xs = distinct([...records.map((record) => record.of.ring),
                         ...DATA.forecasts.filter((one) => one.family === family).map((one) => one.ring)]);
    series.forEach((one, place) => one.points.forEach((point) => { point.x *= 2 ** (0.03 * (place - (series.length - 1) / 2)); }));
    return {x: {log: true, title: "ranks", min: 0.8, max: xs.at(-1) * 1.3, ticks: xs, text: String}, y: axis,
            series: [...withMedians(series), ...predictions],
            caption: predictions.length ? `${caption} Large and hollow: predicted by a model fitted on 1 and 2 ranks; the text below says how well it fits.`
              : caption};
  }});
  const overlap = (record) => counter(record, "ring_overlap");
  const figures = [
    ring("figure-ring-time", "Time against ring size", {title: "milliseconds (lower is better)", min: 0},
         (record) => [record.time.ns[0] / 1e6, record.time.ns[1] / 1e6, record.time.ns[2] / 1e6, timeInterval(record.time)],
         (one) => [...one.ns.map((ns) => ns / 1e6), timeInterval(one)],
         "From the start of the first rank to the end of the last. Bars: 95 % intervals. Ranks that are threads share the cores of the machine."),
    ring("figure-ring-bytes", "Bytes sent against ring size", {title: "bytes sent by all ranks", min: 0, text: bytesText, binary: true},
         (record) => record.comm_bytes == null ? null : [record.comm_bytes, null, null, bytesText(record.comm_bytes)],
         (one) => [one.bytes, null, null, bytesText(one.bytes)], "As planned by the closed form. A run fails if its transport counts other numbers."),
    ring("figure-ring-overlap", "Hidden share of the exchange against ring size", {title: "hidden share", min: 0, max: 1, text: percentText},
         (record) => overlap(record) == null ? null : [overlap(record), null, null, percentText(overlap(record))],
         (one) => one.hidden == null ? null : [one.hidden, null, null, percentText(one.hidden)],
         "(time of computation + time of exchange - time of both together) / time of exchange. Left out if repeated runs differ by more than the exchange takes.")];
  const control = select("Case", distinct(ringed.map((record) => record.of.family)), (value) => {
    family = value;
    for (const one of figures) one.redraw();
  }, null);
  control.querySelector("select").value = family;
  return [el("div", {class: "controls"}, control), el("div", {class: "panels wide"}, ...figures)];
}

// Sections of figures. If the markup already has a section with that id, its figures go below its title.
function figureSections() {
  const sections = [];
  const add = (id, title, blocks) => {
    const filled = blocks.filter(Boolean);
    const known = document.querySelector(`#${id} h2`);
    if (known) known.after(...filled);
    else if (filled.length) sections.push(sectionOf(id, title, ...filled));
  };
  if (compared.length) {
    const several = (key) => new Set(compared.map((record) => record.of[key])).size > 1;
    const panels = [];
    if (several("n") || !several("r")) panels.push(speedupFigure("figure-length", "Speedup against sequence length", "sequence length",
                                                                 "n", {key: "r", title: "Largest dilation"}));
    if (several("r")) panels.push(speedupFigure("figure-dilation", "Speedup against dilation", "largest dilation",
                                                "r", {key: "n", title: "Sequence length"}));
    add("speedups", "Speedup by length and dilation", [el("div", {class: "panels wide"}, ...panels), workingSetFigure()]);
  }
  if (timed.length) add("one-case", "One case: times, and what explains them", casePanels());
  if (compared.length) add("counts", "What the counters explain", [metricFigure()]);
  add("rings", "Rings", ringFigures());
  if (timed.some((record) => record.flops && record.min_bytes && record.tflops)) add("rates", "Rates and limits", [rooflineFigure()]);
  if (timed.some((record) => record.verify?.tolerance > 0)) add("errors", "Errors", [errorFigure()]);
  return sections;
}
