// All records as one table with views, and each of them by itself.
const ROWS_A_STEP = 50;
const TONES = {faster: "good", slower: "bad", failed: "bad", invalid: "bad"};
const toneOf = (text) => TONES[text] ?? (text && text !== "ok" ? "muted" : "");

// A column: title, what sorts it, what it shows (none: the value), and its tone.
const column = (title, value, show, tone) => ({title, value, show, tone});
const COMMON = {
  kernel: column("kernel that ran", (r) => r.kernel),
  label: column("case (segment/dilation)", (r) => r.of.label),
  time: column("time, median [95 %]", (r) => r.time?.ns[0], (r) => timeInterval(r.time)),
  speedup: column("speedup [95 %]", (r) => r.speedup?.[0], (r) => ratioInterval(r.speedup)),
  verdict: column("verdict", (r) => r.status === "ok" ? r.verdict ?? "" : r.status, null, toneOf),
};
const VIEWS = {
  Speed: [COMMON.kernel, COMMON.label, COMMON.time, COMMON.speedup, COMMON.verdict,
    column("rate", (r) => r.tflops, (r) => rateText(r.tflops)), column("of peak", (r) => r.of_peak, (r) => percentText(r.of_peak))],
  "Permutation and memory": [COMMON.label, COMMON.time, COMMON.speedup, column("one permutation", (r) => r.permute_ns, (r) => timeText(r.permute_ns)),
    ...[1, 10, 100].map((k, place) => column(`speedup, paid over ${k}`, (r) => r.amortised?.[place], (r) => num(r.amortised?.[place], 3))),
    column("memory", (r) => r.memory, (r) => bytesText(r.memory))],
  Errors: [COMMON.label, column("largest error", (r) => r.verify?.max_abs, (r) => r.verify?.max_abs.toExponential(2) ?? ""),
    column("tolerance", (r) => r.verify?.tolerance, (r) => r.verify?.tolerance.toExponential(2) ?? ""),
    column("relative L2", (r) => r.verify?.rel_l2, (r) => r.verify?.rel_l2?.toExponential(2) ?? ""),
    column("rows compared", (r) => r.verify?.rows)],
};

function addViews() {
  const figures = Object.entries(DATA.figures);
  if (figures.length) VIEWS["Counters beside times"] = [COMMON.label, COMMON.time, COMMON.speedup,
    ...figures.map(([key, title]) => column(title, (r) => r.figures[key], (r) => num(r.figures[key], 3)))];
  for (const [title, layout] of [["Layout counts", true], ["Hardware counters", false]]) {
    const names = distinct(DATA.counters.filter((one) => (one.source === "layout") === layout && one.source !== "measured").map((one) => one.name))
      .filter((name) => DATA.records.some((record) => counter(record, name) != null));
    if (names.length) VIEWS[title] = [COMMON.label, COMMON.time, COMMON.speedup, ...names.map((name) => column(readable(name), (r) => counter(r, name), (r) => num(counter(r, name))))];
  }
  if (DATA.records.some((record) => record.of.ring > 1)) VIEWS.Rings = [COMMON.label, COMMON.time, column("algorithm", (r) => r.ring_algorithm),
    column("transport", (r) => r.transport), column("bytes sent", (r) => r.comm_bytes, (r) => bytesText(r.comm_bytes)),
    column("computation alone", (r) => counter(r, "ring_compute_ns"), (r) => timeText(counter(r, "ring_compute_ns"))),
    column("exchange alone", (r) => counter(r, "ring_exchange_ns"), (r) => timeText(counter(r, "ring_exchange_ns"))),
    column("overlap", (r) => counter(r, "ring_overlap"), (r) => percentText(counter(r, "ring_overlap"))),
    column("largest rank", (r) => counter(r, "ring_rank_memory"), (r) => bytesText(counter(r, "ring_rank_memory")))];
}

function recordsSection() {
  addViews();
  const state = {view: "Speed", words: "", case: "", variant: "", verdict: "", sort: null, down: false, shown: ROWS_A_STEP};
  const table = el("table"), count = el("span", {class: "count", "aria-live": "polite"});
  const more = el("button", {type: "button", class: "more", click: () => { state.shown += 5 * ROWS_A_STEP; fill(); }}, "Show more");
  const texts = new Map(DATA.records.map((r) => [r, `${r.id} ${r.kernel} ${r.of.id} ${r.of.label} ${r.status} ${r.verdict ?? ""} ${r.why ?? ""}`]));
  const status = (record) => (record.status === "ok" ? record.verdict ?? "without a ratio" : record.status);
  const set = (key) => (value) => { state[key] = value; state.shown = ROWS_A_STEP; fill(); };
  const columns = () => [column("variant", (r) => r.id), ...VIEWS[state.view]];

  function chosen() {
    const matches = matcher(state.words);
    const rows = DATA.records.filter((record) => matches(texts.get(record)) && (state.case === "" || record.case === Number(state.case)) &&
      (!state.variant || record.id === state.variant) && (!state.verdict || status(record) === state.verdict));
    const by = state.sort && columns().find((one) => one.title === state.sort);
    if (!by) return rows;
    return rows.map((record) => [by.value(record), record])
      .sort(([a], [b]) => (a == null || b == null || a === "" || b === "" || !state.down ? compareValues(a, b) : compareValues(b, a)))
      .map(([, record]) => record);
  }
  function head() {
    const cells = columns().map((one) => el("th", {scope: "col", "aria-sort": state.sort === one.title ? (state.down ? "descending" : "ascending") : null},
      el("button", {type: "button", class: "sort", click: (event) => {
        state.down = state.sort === one.title && !state.down;
        state.sort = one.title;
        fill();
        table.querySelector(`th:nth-child(${event.target.closest("th").cellIndex + 1}) button`)?.focus();
      }}, one.title)));
    return el("thead", {}, el("tr", {}, ...cells));
  }
  function rowOf(record) {
    const opener = el("button", {type: "button", class: "open", title: "samples, environment, command", click: () => openRecord(record)}, record.id);
    return el("tr", {}, el("td", {}, opener), ...columns().slice(1).map((one) => {
      const value = one.value(record), shown = one.show ? one.show(record) : String(value ?? "");
      return el("td", {class: [typeof value === "number" ? "num" : shown.length > 40 ? "wide" : "", one.tone?.(value) ?? ""].join(" ").trim() || null}, shown);
    }));
  }
  function fill() {
    const rows = chosen();
    table.replaceChildren(head(), el("tbody", {}, ...rows.slice(0, state.shown).map(rowOf)));
    count.textContent = `${Math.min(state.shown, rows.length)} of ${rows.length} records shown`;
    more.hidden = rows.length <= state.shown;
  }
  const words = el("input", {type: "search", placeholder: "e.g. hilbert 8192 slower", input: () => set("words")(words.value)});
  const controls = el("div", {class: "controls"}, select("Columns", Object.keys(VIEWS), set("view"), null),
    el("label", {class: "control"}, el("span", {}, "Words"), words),
    select("Case", DATA.cases.map((one, place) => [place, one.label]), set("case")),
    select("Variant", DATA.variants.map((one) => one.id), set("variant")),
    select("Verdict", distinct(DATA.records.map(status)), set("verdict")));
  fill();
  return el("section", {id: "records", "aria-labelledby": "records-title"}, el("h2", {id: "records-title"}, "Every record"),
    el("p", {}, "Speedup is the time of the case's reference over the time of the variant, paired round by round: above 1 is faster, an interval that holds 1 shows no difference. ",
       "dilated is a name that resolves to the kernel in the next column, which is why dilated/linear may run the same code as another row. ",
       "The first column opens a record: samples, verification, counters, environment, and the command that repeats it.",
       DATA.held.records < DATA.held.of ? ` The page holds the first ${DATA.held.records} of ${DATA.held.of} records; tables/comparison.csv holds all.` : ""),
    controls, el("p", {class: "tally"}, count), el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Records"}, table), more);
}

function facts(rows) {
  return el("div", {class: "scroll"}, el("table", {class: "facts"}, el("tbody", {}, ...rows.filter(([, value]) => value !== "" && value != null)
    .map(([name, value]) => el("tr", {}, el("th", {scope: "row"}, name), el("td", {}, String(value)))))));
}
function flattened(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, value === null ? "unknown" : String(value)]];
  if (Array.isArray(value)) return [[path, value.map((one) => flattened(one).map(([key, text]) => (key ? `${key} ${text}` : text)).join(", ")).join("; ")]];
  return Object.entries(value).flatMap(([key, inside]) => flattened(inside, path ? `${path}.${key}` : key));
}

function samplesFigures(record) {
  const {time} = record;
  if (!time?.samples) {
    const names = ["least", "first quartile", "median", "third quartile", "most"];
    return [el("p", {}, `This run has more than ${DATA.held.most_samples} samples, so the page holds what sums each record up; the samples are in the store and its export.`),
            facts((time?.quartiles ?? []).map((value, place) => [names[place], timeText(value)]))];
  }
  if (typeof Chart === "undefined") return [facts([["samples, in order", time.samples.map(timeText).join(", ")]])];
  const [size, unit] = unitOf(TIMES, time.ns[0]), values = time.samples.map((ns) => ns / size);
  let begin = 0;
  const series = time.rounds.map((rounds, process) => {
    const points = values.slice(begin, begin + rounds).map((y, place) => ({x: begin + place + 1, y, lines: () => [`round ${place + 1}: ${num(y)} ${unit}`]}));
    begin += rounds;
    return {name: time.rounds.length > 1 ? `process ${process + 1}` : "sample", line: true, points};
  });
  const low = Math.min(...values), high = Math.max(...values), bins = Math.min(24, Math.max(6, Math.ceil(Math.sqrt(values.length) * 1.5)));
  const width = (high - low) / bins || low * 1e-3 || 1, counts = new Array(bins).fill(0);
  for (const value of values) ++counts[Math.min(bins - 1, Math.floor((value - low) / width))];
  const steps = counts.flatMap((y, bin) => [{x: low + bin * width, y}, {x: low + (bin + 1) * width, y}]);
  return [el("div", {class: "panels"},
    figure({id: "figure-samples", title: "Samples in the order measured", spec: () => ({height: 230, x: {title: "round"}, y: {title: unit},
      lines: [["y", time.ns[0] / size]], series, caption: `Dashed: the median, ${timeInterval(time)}.`})}),
    figure({id: "figure-distribution", title: "Their distribution", spec: () => ({height: 230, x: {title: unit}, y: {title: "samples", min: 0},
      lines: [["x", time.ns[0] / size]], series: [{name: "samples", line: true, bare: true, points: [{x: low, y: 0}, ...steps, {x: high, y: 0}]}],
      caption: `${values.length} samples in ${bins} bins, timed by ${time.timer}.`})}))];
}

function openRecord(record) {
  const dialog = document.getElementById("record"), before = drawn.length, command = commandOf(record);
  const copy = el("button", {type: "button", click: async () => {
    await navigator.clipboard?.writeText(command).catch(() => {});
    copy.textContent = "Copied";
  }}, "Copy");
  const {verify} = record;
  dialog.replaceChildren(
    el("form", {method: "dialog"}, el("h2", {}, record.id), el("button", {class: "close", "aria-label": "Close"}, "Close")),
    el("p", {class: "case"}, record.of.label, el("br"), el("code", {}, record.of.id)),
    facts([["status", record.status], ["reason", record.why], ["kernel that ran", record.kernel], ["time, median [95 %]", timeInterval(record.time)],
           ["speedup [95 %]", record.speedup ? `${ratioInterval(record.speedup)} over ${record.against}` : ""], ["verdict", record.verdict],
           ["rate", rateText(record.tflops)], ["of the measured peak", percentText(record.of_peak)], ["one permutation", timeText(record.permute_ns)],
           ["speedup, paid over 1 / 10 / 100 uses", record.amortised?.map((ratio) => num(ratio, 3)).join(" / ")],
           ["memory", bytesText(record.memory)], ["compulsory bytes", bytesText(record.min_bytes)], ["bytes sent", record.of.ring > 1 ? bytesText(record.comm_bytes) : ""],
           ["ring", record.ring_algorithm ? `${record.ring_algorithm} by ${record.transport}` : ""], ["threads", record.threads], ["caches", record.cache]]),
    el("h3", {}, "The command that repeats it"), el("pre", {tabindex: "0"}, el("code", {}, command)), copy,
    ...record.time ? [el("h3", {}, "Samples"), ...samplesFigures(record)] : [],
    el("h3", {}, "Verification"), verify ? facts([["largest error", `${verify.max_abs.toExponential(3)} of ${verify.tolerance.toExponential(3)} allowed`],
      ["relative L2 error", verify.rel_l2?.toExponential(3)], ["largest error of LSE", verify.lse_max_abs?.toExponential(3) ?? "gives none"],
      ["(row, head) pairs compared", verify.rows]]) : el("p", {}, "Nothing was verified."),
    ...record.counters || record.unread ? [el("h3", {}, "Counters"), facts([
      ...countersOf(record).map((one) => [readable(one.name), `${num(one.value, 6)} ${one.unit} (${one.source}${one.passes ? `, ${one.passes} passes` : ""})`]),
      ...Object.entries(record.unread ?? {}).map(([place, why]) => [readable(DATA.counters[place].name), `not read: ${DATA.reasons[why] || "no reason given"}`])])] : [],
    el("h3", {}, "Environment"), facts([...flattened(record.passing), ...flattened(DATA.environments[record.environment])]));
  if (typeof Chart !== "undefined") for (const entry of drawn.slice(before)) entry.draw();
  history.replaceState(null, "", `#record=${encodeURIComponent(`${record.of.id}/${record.id}`)}`);
  dialog.onclose = () => {
    for (const entry of drawn.splice(before)) entry.chart?.destroy();
    dialog.replaceChildren();
    history.replaceState(null, "", location.pathname + location.search);
  };
  dialog.showModal();
  for (const entry of drawn.slice(before)) entry.chart?.resize();
  dialog.scrollTop = 0;
}
