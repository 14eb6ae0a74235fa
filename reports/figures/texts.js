// Numbers and names as text.
function num(value, digits = 4) {
  if (value == null || !Number.isFinite(value)) return "";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e15) return value.toExponential(digits - 2);
  return value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
}

function unitOf(units, value) {
  return units.find(([size]) => Math.abs(value) >= size) ?? units[units.length - 1];
}
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const BYTES = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const RATES = [[1, "TFLOP/s"], [1e-3, "GFLOP/s"], [1e-6, "MFLOP/s"]];

function inUnit(units, value, digits) {
  if (value == null) return "";
  const [size, name] = unitOf(units, value);
  return `${num(value / size, digits)} ${name}`;
}
const timeText = (ns) => inUnit(TIMES, ns);
const bytesText = (bytes) => inUnit(BYTES, bytes);
const rateText = (tflops) => inUnit(RATES, tflops);
const percentText = (share) => (share == null ? "" : `${(share * 100).toFixed(1)} %`);

function readable(name) {
  return name.replace(/^layout_/, "").replaceAll("_", " ");
}

// Numbers within texts count as numbers: "n 4096" comes before "n 16384".
const COLLATOR = new Intl.Collator("en", {numeric: true});
const inOrder = (a, b) => (typeof a === "string" && typeof b === "string" ? COLLATOR.compare(a, b) : (a > b) - (a < b));

// The different values, in order.
function distinct(values) { return [...new Set(values)].filter((value) => value != null).sort(inOrder); }
