// The data of the page, and its values as text.
const DATA = JSON.parse(document.getElementById("data").textContent);

for (const record of DATA.records) {
  record.of = DATA.cases[record.case];
  record.id = DATA.variants[record.variant].id;
  record.figures ??= {};
}

function timeInterval(time) {
  if (!time) return "";
  const [median, low, high] = time.ns, [size] = unitOf(TIMES, median);
  return low == null ? timeText(median) : `${timeText(median)} [${num(low / size)}, ${num(high / size)}]`;
}
function ratioInterval(ratio) {
  if (!ratio) return "";
  return ratio[1] == null ? num(ratio[0]) : `${num(ratio[0])} [${num(ratio[1])}, ${num(ratio[2])}]`;
}

function commandOf(record) {
  const filter = `^${record.of.word}/${DATA.variants[record.variant].word}$`;
  return `${DATA.command.head}'${filter}'${DATA.command.tail}`;
}

// Counters of a record by name.
function countersOf(record) {
  return Object.entries(record.counters ?? {}).map(([place, value]) => ({...DATA.counters[place], value}));
}
function counter(record, name) {
  return countersOf(record).find((one) => one.name === name)?.value;
}
