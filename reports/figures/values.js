// The records of DATA, which whoever includes this defines, and their values as text.

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

// The share of the peak that judges a record; a share that no honest peak allows is told as such.
const shareText = ({of_peak: share, above_peak: above}) =>
    percentText(share) + (above ? " (peak measured too low)" : "");

// The rate of a record. Of `peak` also the one that judges the case, if it is another.
function rateOfRecord(record) {
  const rate = rateText(record.tflops), judging = record.of.peak && rateText(record.of.peak / 1e12);
  return record.id !== "peak" || !judging || judging === rate ? rate : `${judging} judges; ${rate} in these rounds`;
}

// Counters of a record by name.
function countersOf(record) {
  return Object.entries(record.counters ?? {}).map(([place, value]) => ({...DATA.counters[place], value}));
}
function counter(record, name) {
  return countersOf(record).find((one) => one.name === name)?.value;
}
