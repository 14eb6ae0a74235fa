// All records as one table, with a choice of columns, sorting and filters.
const ROWS_A_STEP = 50;
const TONES = {faster: "good", slower: "bad", failed: "bad", invalid: "bad"};
// "faster, within one process" has the tone of its first word.
const toneOf = (text) => TONES[text?.split(",")[0]] ?? (text && text !== "ok" ? "muted" : "");

// A column: its title, the value that it sorts by, the text that it shows (by default the value), and its tone.
const column = (title, value, show, tone) => ({title, value, show, tone});
const counterColumn = (title, name, show) => column(title, (r) => counter(r, name), (r) => show(counter(r, name)));
const KERNEL = column("kernel that ran", (r) => r.kernel);
const LABEL = column("case (segment/dilation)", (r) => r.of.label);
const TIME = column("time, median [95 %]", (r) => r.time?.ns[0], (r) => timeInterval(r.time));
const SPEEDUP = column("speedup [95 %]", (r) => r.speedup?.[0], (r) => ratioInterval(r.speedup));
const VERDICT = column("verdict", (r) => (r.status === "ok" ? r.verdict ?? "" : r.status), null, toneOf);
const exponential = (value) => value?.toExponential(2) ?? "";

const VIEWS = {
  Speed: [SPEEDUP, VERDICT, LABEL, TIME, KERNEL,
    column("rate", (r) => r.tflops, rateOfRecord),
    column("share of peak", (r) => r.of_peak, shareText)],
  "Permutation and memory": [SPEEDUP, LABEL, TIME,
    column("time of one permutation", (r) => r.permute_ns, (r) => timeText(r.permute_ns)),
    ...[1, 10, 100].map((k, place) =>
      column(`speedup, ${k} uses of a permutation`, (r) => r.amortised?.[place], (r) => num(r.amortised?.[place], 3))),
    column("memory", (r) => r.memory, (r) => bytesText(r.memory))],
  Errors: [LABEL,
    column("largest error", (r) => r.verify?.max_abs, (r) => exponential(r.verify?.max_abs)),
    column("tolerance", (r) => r.verify?.tolerance, (r) => exponential(r.verify?.tolerance)),
    column("share of a row's tolerance", (r) => r.verify?.worst, (r) => num(r.verify?.worst, 3)),
    column("relative L2", (r) => r.verify?.rel_l2, (r) => exponential(r.verify?.rel_l2)),
    column("rows compared", (r) => r.verify?.rows)],
};

// Views for which only some runs have values.
function addViews() {
  if (DATA.records.some((r) => r.steady_s))
    VIEWS.Speed.push(column("J per run", (r) => r.joules, (r) => num(r.joules)),
                     column("steady", (r) => r.steady_s, (r) => (r.steady_s ? `${num(r.steady_s)} s` : "")));
  const figures = Object.entries(DATA.figures);
  if (figures.length)
    VIEWS["Counters with times"] = [SPEEDUP, LABEL, TIME, ...figures.map(([key, title]) =>
      column(title, (r) => r.figures[key], (r) => num(r.figures[key], 3)))];
  for (const [title, layout] of [["Layout counts", true], ["Hardware counters", false]]) {
    const kind = DATA.counters.filter((one) => (one.source === "layout") === layout && one.source !== "measured");
    const names = distinct(kind.map((one) => one.name)).filter((name) => DATA.records.some((r) => counter(r, name) != null));
    if (names.length) VIEWS[title] = [SPEEDUP, LABEL, TIME, ...names.map((name) => counterColumn(readable(name), name, num))];
  }
  if (DATA.records.some((record) => record.of.ring > 1))
    VIEWS.Rings = [LABEL, TIME, column("algorithm", (r) => r.ring_algorithm), column("transport", (r) => r.transport),
      column("bytes sent", (r) => r.comm_bytes, (r) => bytesText(r.comm_bytes)),
      counterColumn("computation alone", "ring_compute_ns", timeText), counterColumn("exchange alone", "ring_exchange_ns", timeText),
      counterColumn("share of exchange hidden", "ring_overlap", percentText),
      counterColumn("memory per rank", "ring_rank_memory", bytesText)];
}

const verdictOf = (record) => (record.status === "ok" ? record.verdict ?? "no speedup" : record.status);

// The records that `state` selects, in its order; records without a value come last.
function chosenRecords(state, texts, columns) {
  const matches = matcher(state.words);
  const rows = DATA.records.filter((record) => matches(texts.get(record)) &&
    (state.case === "" || record.case === Number(state.case)) && (!state.variant || record.id === state.variant) &&
    (!state.verdict || verdictOf(record) === state.verdict));
  const by = state.sort && columns.find((one) => one.title === state.sort);
  if (!by) return rows;
  const none = (value) => value == null || value === "";
  return rows.map((record) => [by.value(record), record])
    .sort(([a], [b]) => (none(a) || none(b) || !state.down ? compareValues(a, b) : compareValues(b, a)))
    .map(([, record]) => record);
}

function recordRow(record, columns) {
  const opener = el("button", {type: "button", class: "open", title: "opens samples, environment and command",
                               click: () => openRecord(record)}, ...breakable(record.id));
  return el("tr", {}, el("td", {}, opener), ...columns.slice(1).map((one) => {
    const value = one.value(record), shown = one.show ? one.show(record) : String(value ?? "");
    const form = typeof value === "number" ? "num" : shown.length > 40 ? "wide" : "";
    return el("td", {class: `${form} ${one.tone?.(value) ?? ""}`.trim() || null}, shown);
  }));
}

function recordsHead(state, columns, sortBy) {
  return el("thead", {}, el("tr", {}, ...columns.map((one, place) => {
    const sorted = state.sort === one.title ? (state.down ? "descending" : "ascending") : null;
    return el("th", {scope: "col", "aria-sort": sorted},
              el("button", {type: "button", class: "sort", click: () => sortBy(one.title, place)}, one.title));
  })));
}

function recordsSection() {
  addViews();
  const state = {view: "Speed", words: "", case: "", variant: "", verdict: "", sort: null, down: false, shown: ROWS_A_STEP};
  const texts = new Map(DATA.records.map((r) =>
    [r, [r.id, r.kernel, r.of.id, r.of.label, r.status, r.verdict, r.why].filter(Boolean).join(" ")]));
  const table = el("table"), count = el("p", {class: "tally", "aria-live": "polite"});
  const more = el("button", {type: "button", class: "more", click: () => { state.shown += 4 * ROWS_A_STEP; fill(); }}, "Show more");
  const set = (key) => (value) => { state[key] = value; state.shown = ROWS_A_STEP; fill(); };

  function sortBy(title, place) {
    state.down = state.sort === title && !state.down;
    state.sort = title;
    fill();
    table.querySelectorAll("thead button")[place].focus();
  }
  function fill() {
    const columns = [column("variant", (r) => r.id), ...VIEWS[state.view]], rows = chosenRecords(state, texts, columns);
    table.replaceChildren(recordsHead(state, columns, sortBy),
                          el("tbody", {}, ...rows.slice(0, state.shown).map((record) => recordRow(record, columns))));
    count.textContent = `${Math.min(state.shown, rows.length)} of ${rows.length} records shown`;
    more.hidden = rows.length <= state.shown;
  }
  const words = el("input", {type: "search", placeholder: "e.g. hilbert 8192", input: () => set("words")(words.value)});
  const controls = el("div", {class: "controls"}, select("Columns", Object.keys(VIEWS), set("view"), null),
    el("label", {class: "control"}, el("span", {}, "Words"), words),
    select("Case", DATA.cases.map((one, place) => [place, one.label]), set("case")),
    select("Variant", DATA.variants.map((one) => one.id), set("variant")),
    select("Verdict", distinct(DATA.records.map(verdictOf)), set("verdict")));
  fill();
  const {records: held, of} = DATA.held;
  return sectionOf("records", "Every record",
    el("p", {}, "A click on a variant opens its record: samples, verification, counters, environment, and the command that ",
       "repeats it. Speedup is the time of the reference / the time of the variant, paired round by round. Above 1, the variant is ",
       "faster; if the interval holds 1, no difference is shown. If one process measured and the interval comes within 1 % of 1, ",
       "it is not settled which of the two is faster. The name dilated stands for the kernel that the column `kernel that ran` names, so ",
       "dilated/linear may run the same code as another row.",
       held < of ? ` This page holds the first ${held} of ${of} records; tables/comparison.csv holds all.` : ""),
    controls, count, el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Records"}, table), more);
}
