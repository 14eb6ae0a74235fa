// A dialog with one record.
function commandOf(record) {
  const filter = `^${record.of.word}/${DATA.variants[record.variant].word}$`;
  return `${DATA.command.head}'${filter}'${DATA.command.tail}`;
}

function facts(rows) {
  return el("div", {class: "scroll"}, el("table", {class: "facts"}, el("tbody", {}, ...rows.filter(([, value]) => value !== "" && value != null)
    .map(([name, value]) => el("tr", {}, el("th", {scope: "row"}, name), el("td", {}, String(value)))))));
}
function flattened(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, value === null ? "unknown" : String(value)]];
  const words = (one) => flattened(one).map(([key, text]) => (key ? `${key} ${text}` : text)).join(", ");
  if (Array.isArray(value)) return [[path, value.map(words).join("; ")]];
  return Object.entries(value).flatMap(([key, inside]) => flattened(inside, path ? `${path}.${key}` : key));
}

function samplesFigures(record) {
  const {time} = record;
  if (!time?.samples) {
    const names = ["lowest", "first quartile", "median", "third quartile", "highest"];
    return [el("p", {}, `This run has more than ${DATA.held.most_samples} samples, so the page holds only the quartiles of each record. `,
               "The store and its export hold all samples."),
            facts((time?.quartiles ?? []).map((value, place) => [names[place], timeText(value)]))];
  }
  if (!hasCharts) return [facts([["samples, in order", time.samples.map(timeText).join(", ")]])];
  const [size, unit] = unitOf(TIMES, time.ns[0]), values = time.samples.map((ns) => ns / size);
  const panel = (id, described) => figure({id, title: described.title, describe: () => described});
  return [el("div", {class: "panels"}, panel("figure-samples", samplesOf(time, unit, values)),
             panel("figure-distribution", distributionOf(values, unit, time.ns[0] / size, time.timer)))];
}

function recordFacts(record) {
  const ring = record.of.ring > 1;
  return facts([
    ["status", record.status], ["reason", record.why], ["kernel that ran", record.kernel],
    ["time, median [95 %]", timeInterval(record.time)],
    ["speedup [95 %]", record.speedup ? `${ratioInterval(record.speedup)} over ${record.against}` : ""],
    ["verdict", record.verdict], ["rate", rateOfRecord(record)], ["share of the measured peak", shareText(record)],
    ["time of one permutation", timeText(record.permute_ns)],
    ["speedup if a permutation serves 1 / 10 / 100 uses", record.amortised?.map((ratio) => num(ratio, 3)).join(" / ")],
    ["memory", bytesText(record.memory)], ["compulsory bytes", bytesText(record.min_bytes)],
    ["held between the passes of a training, by plan", record.held_bytes == null ? "" : bytesText(record.held_bytes)],
    ["most that a step of it holds, by plan", record.peak_bytes == null ? "" : bytesText(record.peak_bytes)],
    ["bytes sent", ring ? bytesText(record.comm_bytes) : ""],
    ["of them between groups of ranks", record.comm_bytes_between == null ? "" : bytesText(record.comm_bytes_between)],
    ["ring", record.ring_algorithm ? `${record.ring_algorithm} by ${record.transport}` : ""],
    ["threads", record.threads], ["caches", record.cache],
    ["steady", record.steady_s ? `executions back to back for ${num(record.steady_s)} s or more` : ""],
    ["J per run", num(record.joules)], ["J per run is unknown", record.no_joules]]);
}

function verificationFacts(verify) {
  if (!verify) return el("p", {}, "The output was not verified.");
  return facts([["largest error", verify.max_abs?.toExponential(3)],
                ["share of a row's tolerance", verify.worst == null ? "" : `${num(verify.worst, 3)} of ${verify.tolerance.toExponential(3)}`],
                ["relative L2 error", verify.rel_l2?.toExponential(3)],
                ["largest error of the LSE", verify.lse_max_abs?.toExponential(3) ?? "the variant returns no LSE"],
                ["(row, head) pairs compared", verify.rows]]);
}

function counterFacts(record) {
  const passes = (one) => (one.passes ? `, ${one.passes} passes` : "");
  return facts([
    ...countersOf(record).map((one) => [readable(one.name), `${num(one.value, 6)} ${one.unit} (${one.source}${passes(one)})`]),
    ...Object.entries(record.unread ?? {}).map(([place, why]) =>
      [readable(DATA.counters[place].name), `not read: ${DATA.reasons[why] || "no reason given"}`])]);
}

let leaveRecord = () => {};

function openRecord(record) {
  leaveRecord();
  const dialog = document.getElementById("record"), before = drawn.length, command = commandOf(record);
  const copy = el("button", {type: "button", click: async () => {
    await navigator.clipboard?.writeText(command).catch(() => {});
    copy.textContent = "Copied";
  }}, "Copy");
  const titled = (title, ...blocks) => [el("h3", {}, title), ...blocks];
  dialog.replaceChildren(
    el("form", {method: "dialog"}, el("h2", {}, record.id), el("button", {class: "close", "aria-label": "Close"}, "Close")),
    el("p", {class: "case"}, record.of.label, el("br"), el("code", {}, record.of.id)), recordFacts(record),
    ...titled("Command that repeats it", el("pre", {tabindex: "0"}, el("code", {}, command)), copy),
    ...record.time ? titled("Samples", ...samplesFigures(record)) : [],
    ...titled("Verification", verificationFacts(record.verify)),
    ...record.counters || record.unread ? titled("Counters", counterFacts(record)) : [],
    ...titled("Environment", facts([...flattened(record.passing), ...flattened(DATA.environments[record.environment])])));
  history.replaceState(null, "", `#record=${encodeURIComponent(`${record.of.id}/${record.id}`)}`);
  leaveRecord = () => {
    leaveRecord = () => {};
    for (const entry of drawn.splice(before)) entry.close();
    dialog.replaceChildren();
    history.replaceState(null, "", location.pathname + location.search);
  };
  dialog.onclose = () => { if (!dialog.open) leaveRecord(); };  // the event comes late, maybe after the next record
  if (!dialog.open) dialog.showModal();
  if (hasCharts) for (const entry of drawn.slice(before)) entry.draw();
  dialog.scrollTop = 0;
}
