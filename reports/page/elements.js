// Elements of a page, and numbers as text. Text is only ever added as text nodes.

// el("td", {class: "num"}, "text", other, ...) makes an element with attributes and children. No markup is parsed.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

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

// The different values, sorted.
function distinct(values) {
  return [...new Set(values)].filter((value) => value != null).sort((a, b) => (a > b) - (a < b));
}

// A <select> with a label. `changed` gets the chosen value, or "" for all.
function select(label, options, changed, all = "all") {
  const box = el("select", {change: () => changed(box.value)});
  if (all !== null) box.append(el("option", {value: ""}, all));
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    box.append(el("option", {value}, String(text)));
  }
  return el("label", {class: "control"}, el("span", {}, label), box);
}

function sectionOf(id, title, ...blocks) {
  return el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title), ...blocks);
}
