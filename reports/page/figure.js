// A figure on the page: its picture by Vega, legend, values at the pointer, and reading by keyboard.
const MOST_ELEMENTS = 3000;  // points of a picture made of elements; one with more is painted on a canvas
const GLYPHS = ["\u25cf", "\u25b2", "\u25a0", "\u25c6", "\u271a", "\u25bc", "\u25b6", "\u2716"];
const drawn = [];
const hasCharts = typeof vega !== "undefined";

function paint(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// With the interpreter of Vega: the policy of the page forbids code made of text.
function viewOf(specification, container, points) {
  return new vega.View(
      vega.parse(specification, null, {ast: true}),
      {expr: vega.expressionInterpreter, container, renderer: points > MOST_ELEMENTS ? "canvas" : "svg", hover: false});
}

// Where the axes of a picture begin, from its corner.
function originOf(view) {
  const [left, top] = view.origin(), padding = view.padding();
  return [left + padding.left, top + padding.top];
}

// The point at the pointer: the mark that is hit, else the nearest within 14 pixels.
function pointAt(view, event, item) {
  if (item?.datum?.series !== undefined && "hollow" in item.datum) return item.datum;
  const [left, top] = originOf(view), frame = view.container().getBoundingClientRect(), x = view.scale("x"),
               y = view.scale("y");
  const at = {x: event.clientX - frame.left - left, y: event.clientY - frame.top - top};
  let nearest = null, least = 14;
  for (const point of x.bandwidth ? [] : view.data("points")) {
    const away = Math.hypot(x(point.x) - at.x, y(point.y) - at.y);
    if (away < least) [nearest, least] = [point, away];
  }
  return nearest;
}
const toldOf = (point) => [point.title ?? point.series, ...point.lines?.() ?? []];

function showTip(tip, view, point) {
  tip.hidden = !point;
  if (!point) return;
  const [title, ...lines] = toldOf(point), [left, top] = originOf(view), x = view.scale("x"), y = view.scale("y");
  tip.replaceChildren(el("strong", {}, title), ...lines.map((line) => el("div", {}, line)));
  const room = view.container().clientWidth - tip.offsetWidth, at = left + x(point.x) + (x.bandwidth?.() ?? 0) / 2;
  tip.style.left = `${Math.max(0, Math.min(at + 14, room))}px`;
  tip.style.top = `${top + y(point.y) + 16}px`;
}

function followPointer(view, stage, tip) {
  view.addEventListener("pointermove", (event, item) => {
    const point = pointAt(view, event, item);
    stage.style.cursor = point?.record ? "pointer" : "";
    showTip(tip, view, point);
  });
  view.addEventListener("click", (event, item) => {
    const point = pointAt(view, event, item);
    if (point?.record) openRecord(point.record);
  });
  stage.addEventListener("pointerleave", () => showTip(tip, view, null));
}

// Left and right arrows move from point to point, up and down from series to series; Enter opens the record.
function walkByKeyboard(view, stage, tip, readout) {
  const series = [...groupsOf(view.data("points"), (point) => `${point.hollow}/${point.series}`).values()];
  let at = 0, place = -1;
  stage.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], turn = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === "Enter" && series[at]?.[place]?.record) {
      event.preventDefault();  // otherwise the same key press activates the first button of the dialog
      return openRecord(series[at][place].record);
    }
    if (!step && !turn || series.length === 0) return;
    event.preventDefault();
    at = (at + (turn ?? 0) + series.length) % series.length;
    place = Math.min(Math.max(place + (step ?? 0), 0), series[at].length - 1);
    const point = series[at][place];
    view.data("active", [{x: point.x, y: point.y, series: point.series}]).run();
    showTip(tip, view, point);
    readout.textContent = toldOf(point).join("; ");
  });
}

function legendOfPage({series, x}, toggle) {
  const looks = looksOf(series, Boolean(x.labels)), named = series.filter((one) => !one.unnamed);
  const glyphOf = (one) => (one.bare ? "\u2014" : x.labels ? "\u25a0" : GLYPHS[looks.get(one.name).shape]);
  return el("div", {class: "legend", role: "group", "aria-label": "Series"}, ...named.map((one) => {
    const mark = el("span", {"aria-hidden": "true"}, glyphOf(one));
    mark.style.color = looks.get(one.name).colour;
    return el(
        "button", {type: "button", "aria-pressed": String(!one.hidden), click: () => toggle(one.name, one.hidden)},
        mark, one.name);
  }));
}

// A figure. `describe()` is called again whenever controls or colours change; it returns what specificationOf() takes,
// or null if nothing is left to draw.
function figure({id, title, controls = [], describe}) {
  const host = el("div", {class: "plot"}), heading = el("h3", {}, title), below = el("div"), caption = el("figcaption");
  const readout = el("p", {class: "readout", "aria-live": "polite"}), toggled = new Map();
  const more = el("button", {type: "button", class: "more", hidden: true, click: () => {
    unfolded = true;
    entry.draw();
  }});
  const block =
      el("figure", {id}, heading, controls.length ? el("div", {class: "controls"}, ...controls) : null,
         host, more, below, readout, caption);
  const entry = {view: null, host};
  let unfolded = false;
  const toggle = (name, shown) => {
    const place = [...below.querySelectorAll("button")].indexOf(document.activeElement);
    toggled.set(name, shown);
    entry.draw();
    below.querySelectorAll("button")[place]?.focus();
  };
  entry.draw = async () => {
    entry.close();
    const whole = describe(), now = whole && !unfolded ? foldedRows(whole) : whole;
    heading.textContent = now?.heading ?? title;
    more.hidden = !now || now === whole;
    more.textContent = `Show all ${whole?.rows?.length} rows`;
    readout.textContent = "";
    if (!now || now.series.every((one) => one.points.length === 0)) {
      host.style.minHeight = "";
      host.replaceChildren(el("p", {class: "empty"}, "No record here has values for this figure."));
      below.replaceChildren();
      return;
    }
    for (const one of now.series) one.hidden = !(toggled.get(one.name) ?? !one.hidden);
    const points = now.series.reduce((sum, one) => sum + (one.bare || one.hidden ? 0 : one.points.length), 0);
    const stage = el("div", {
      class: "stage",
      tabindex: "0",
      role: "img",
      "aria-label": `${title}: ${points} points; read them with the arrow keys. ${now.caption}`
    });
    const tip = el("div", {class: "tip", hidden: true});
    host.replaceChildren(stage, tip);
    below.replaceChildren(
        now.series.filter((one) => !one.unnamed).length > 1 && !now.stems ? legendOfPage(now, toggle) : "");
    const waiting = now.series.some((one) => one.hidden && !one.unnamed);
    caption.textContent =
        now.caption + (waiting ? " Series that are crossed out in the legend are hidden; click to show them." : "");
    if (points === 0 && now.series.every((one) => one.hidden || !one.bare)) return;
    const width = host.clientWidth || 640, specification = specificationOf(now, width);
    host.style.minHeight = `${specification.height}px`;  // so that nothing below moves while the picture is made
    const view = viewOf(specification, stage, points);
    Object.assign(entry, {view, width});
    await view.runAsync();
    if (entry.view !== view) return;  // drawn anew meanwhile
    followPointer(view, stage, tip);
    walkByKeyboard(view, stage, tip, readout);
  };
  entry.close = () => {
    entry.view?.finalize();
    entry.view = null;
  };
  drawn.push(entry);
  block.redraw = entry.draw;
  return block;
}

// Fits the pictures to a window of another width.
function fitAll() {
  for (const entry of drawn) {
    const width = entry.view && entry.host.clientWidth;
    if (!width || width === entry.width) continue;
    entry.draw();
  }
}
