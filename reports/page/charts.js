// Charts: all have points with intervals on two axes, drawn by Chart.js. A point is {x, y, low, high, text, lines,
// record}: `low` and `high` are on the axis that `bars` names, `text` is shown next to it, lines() is its tooltip.
const drawn = [];
const variantPlaces = new Map(DATA.variants.map((variant, place) => [variant.id, place]));
const SHAPES = ["circle", "triangle", "rect", "rectRot", "cross", "star", "crossRot", "rectRounded"];
const GLYPHS = ["\u25cf", "\u25b2", "\u25a0", "\u25c6", "+", "\u2733", "\u00d7", "\u25ac"];
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 4], [1, 2], [6, 2, 2, 2]];

function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
// A variant looks the same in every figure; other series look by their place. Shapes differ before colours do.
function lookOf(name, at) {
  const place = variantPlaces.get(name) ?? at, turn = 3 * Math.floor(place / 8);
  return {colour: paint(`--series-${(place + turn) % 8}`), shape: SHAPES[place % 8], glyph: GLYPHS[place % 8], dash: DASHES[(place + turn) % 8]};
}

const intervalBars = {
  id: "intervalBars",
  beforeDatasetsDraw(chart) {
    const {ctx, scales, chartArea: area} = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top - 8, area.right - area.left + 8, area.bottom - area.top + 8);
    ctx.clip();
    chart.data.datasets.forEach((set, place) => {
      if (!set.bars || !chart.isDatasetVisible(place)) return;
      ctx.strokeStyle = set.borderColor;
      ctx.lineWidth = 1.5;
      for (const point of set.data) {
        if (point.low == null) continue;
        const across = set.bars === "x", along = across ? scales.x : scales.y;
        const from = along.getPixelForValue(point.low), to = along.getPixelForValue(point.high);
        const at = (across ? scales.y : scales.x).getPixelForValue(across ? point.y : point.x);
        ctx.beginPath();
        for (const [a, b, c, d] of [[from, at, to, at], [from, at - 4, from, at + 4], [to, at - 4, to, at + 4]])
          across ? (ctx.moveTo(a, b), ctx.lineTo(c, d)) : (ctx.moveTo(b, a), ctx.lineTo(d, c));
        ctx.stroke();
      }
    });
    ctx.restore();
  },
};

// Lines at given values, stems from the axis to points, and the names of rows.
const guides = {
  id: "guides",
  beforeDatasetsDraw(chart) {
    const {ctx, scales, chartArea: area} = chart, spec = chart.options.spec;
    ctx.save();
    ctx.font = "12px system-ui, sans-serif";
    for (const [axis, at, name] of spec.lines ?? []) {
      const place = scales[axis].getPixelForValue(at);
      if (!Number.isFinite(place)) continue;
      ctx.strokeStyle = paint("--soft");
      ctx.setLineDash([5, 4]);
      ctx.beginPath();
      if (axis === "y") { ctx.moveTo(area.left, place); ctx.lineTo(area.right, place); }
      else { ctx.moveTo(place, area.top); ctx.lineTo(place, area.bottom); }
      ctx.stroke();
      if (!name) continue;
      ctx.save();  // vertical, next to its line
      ctx.fillStyle = paint("--soft");
      ctx.translate(place - 4, area.bottom - 6);
      ctx.rotate(-Math.PI / 2);
      ctx.fillText(name, 0, 0);
      ctx.restore();
    }
    ctx.setLineDash([]);
    ctx.strokeStyle = paint("--line");
    ctx.fillStyle = paint("--soft");
    for (const {data} of spec.stems ? chart.data.datasets : [])
      for (const point of data) {
        const at = scales.y.getPixelForValue(point.y), width = ctx.measureText(point.text).width;
        const end = scales.x.getPixelForValue(Math.max(point.x, point.high ?? point.x)), inside = end + 10 + width < area.right;
        ctx.beginPath();
        ctx.moveTo(area.left, at);
        ctx.lineTo(end, at);
        ctx.stroke();
        ctx.fillText(point.text, inside ? end + 10 : area.right - width, inside ? at + 4 : at - 9);
      }
    ctx.fillStyle = paint("--ink");
    (spec.rows ?? []).forEach((name, row) => {
      let text = name;
      while (text.length > 4 && ctx.measureText(text).width > area.width)
        text = `${text.slice(0, -4)}\u2026`;
      ctx.fillText(text, area.left + 2, scales.y.getPixelForValue(row) - 9);
    });
    ctx.restore();
  },
};

function logTicks(low, high) {
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10)
    for (const step of high / low > 200 ? [1] : high / low > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7])
      if (decade * step >= low * 0.999 && decade * step <= high * 1.001) ticks.push({value: decade * step});
  return ticks;
}

// "1.005", "0.02", "1e-6": all digits of the value, six at most.
const tickText = (value) => (value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential(0) : String(Number(value.toPrecision(6))));

// The range of an axis: of the points, and of their intervals as far as the points stay readable.
function reachOf(series, name) {
  const shown = series.filter((one) => !one.hidden), none = [Infinity, -Infinity];
  const over = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], none);
  const [least, most] = over(shown.flatMap((one) => one.points.map((point) => point[name])));
  const [low, high] = over(shown.filter((one) => one.bars === name).flatMap((one) =>
    one.points.flatMap((point) => (point.low == null ? [] : [point.low, point.high]))));
  const room = 2 * (most - least || Math.abs(most) * 0.1);
  return [Math.max(Math.min(least, low), least - room), Math.min(Math.max(most, high), most + room)];
}

function axisOptions(axis, name, spec) {
  const words = {title: {display: Boolean(axis.title), text: axis.title, color: paint("--soft")}};
  if (axis.labels) return {type: "category", labels: axis.labels, ...words, grid: {display: false}, border: {color: paint("--line")},
                           ticks: {color: paint("--soft"), maxRotation: 0}};
  const [low, high] = reachOf(spec.series, name), held = (spec.lines ?? []).filter(([at]) => at === name).map(([, value]) => value);
  const from = Math.min(low, ...held), to = Math.max(high, ...held), room = (to - from) * 0.04 || Math.abs(to) * 0.02 || 1;
  const options = {
    type: axis.log ? "logarithmic" : "linear", reverse: axis.reverse,
    min: "min" in axis ? axis.min : axis.log ? from / 1.15 : undefined, max: axis.max ?? (axis.log ? to * 1.15 : undefined),
    suggestedMin: axis.log ? undefined : from < 0 ? from - room : Math.max(from - room, 0), suggestedMax: axis.log ? undefined : to + room,
    ...words,
    grid: {color: paint("--grid"), drawTicks: false}, border: {color: paint("--line")},
    ticks: {color: paint("--soft"), maxRotation: 0, padding: 6, autoSkipPadding: 12,
            callback: (value) => (axis.text ?? tickText)(value)},
  };
  if (axis.binary) options.ticks.stepSize = 2 ** Math.ceil(Math.log2(Math.max(to, 1) / 8));
  if (axis.ticks) options.afterBuildTicks = (scale) => { scale.ticks = axis.ticks.map((value) => ({value})); };
  else if (axis.log) options.afterBuildTicks = (scale) => { scale.ticks = logTicks(scale.min, scale.max); };
  return options;
}

function datasetsOf(series) {
  return series.map((one, place) => {
    const look = lookOf(one.name, place);
    return {
      label: one.name, data: one.points, bars: one.bars, showLine: Boolean(one.line), hidden: one.hidden,
      borderColor: one.paint ? paint(one.paint) : look.colour, backgroundColor: one.hollow ? paint("--paper") : look.colour, pointStyle: look.shape, borderWidth: 1.8,
      borderDash: one.line ? look.dash : [], pointRadius: one.bare ? 0 : one.hollow ? 6.5 : 4.5, pointHoverRadius: one.bare ? 0 : 7,
      pointHitRadius: one.bare ? 0 : 9, pointBorderWidth: 1.8, order: one.bare ? 1 : 0,
    };
  });
}

function optionsOf(spec) {
  return {
    spec, responsive: true, maintainAspectRatio: false, animation: false, normalized: true,
    interaction: {mode: "nearest", intersect: true},
    onClick: (event, hit, chart) => {
      const point = hit[0] && chart.data.datasets[hit[0].datasetIndex].data[hit[0].index];
      if (point?.record) openRecord(point.record);
    },
    layout: {padding: {top: spec.rows ? 14 : 6, right: 10}},
    scales: {x: axisOptions(spec.x, "x", spec), y: axisOptions(spec.y, "y", spec)},
    plugins: {
      legend: {display: false},
      tooltip: {
        displayColors: false,
        callbacks: {title: (items) => items[0]?.raw.title ?? items[0]?.dataset.label ?? "",
                    label: (item) => item.raw.lines?.() ?? ""},
      },
    },
  };
}

// Left and right arrows move from point to point, up and down from series to series; Enter opens the record.
function walkByKeyboard(canvas, chart, readout) {
  let series = 0, place = -1;
  const points = () => chart.data.datasets[series].data;
  const walkable = (at) => chart.isDatasetVisible(at) && chart.data.datasets[at].pointRadius !== 0;
  canvas.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], turn = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (event.key === "Enter" && points()[place]?.record) {
      event.preventDefault();  // otherwise the same key press activates the first button of the dialog
      return openRecord(points()[place].record);
    }
    if (!step && !turn) return;
    event.preventDefault();
    const sets = chart.data.datasets.length;
    for (let tried = 0; tried < sets && (turn || !walkable(series)); ++tried) {
      series = (series + (turn ?? 1) + sets) % sets;
      if (walkable(series)) break;
    }
    place = Math.min(Math.max(place + (step ?? 0), 0), points().length - 1);
    const active = [{datasetIndex: series, index: place}];
    const at = chart.getDatasetMeta(series).data[place];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, {x: at.x, y: at.y});
    chart.update("none");
    readout.textContent = [points()[place].title ?? chart.data.datasets[series].label, ...points()[place].lines?.() ?? []].join("; ");
  });
}

function legendOf(chart, series) {
  const legend = el("div", {class: "legend", role: "group", "aria-label": "Series"});
  series.forEach((one, place) => {
    if (one.unnamed) return;
    const look = lookOf(one.name, place);
    const mark = el("span", {"aria-hidden": "true"}, one.bare ? "\u2014" : look.glyph);
    mark.style.color = one.paint ? paint(one.paint) : look.colour;
    const button = el("button", {type: "button", "aria-pressed": String(!one.hidden), click: () => {
      const shown = !chart.isDatasetVisible(place);
      series.forEach((other, at) => { if (other.name === one.name) chart.setDatasetVisibility(at, shown); });
      chart.update("none");
      button.setAttribute("aria-pressed", String(shown));
    }}, mark, one.name);
    legend.append(button);
  });
  return legend;
}

// A figure. `spec()` is called again whenever controls or colours change, and returns {x, y, series, lines, rows, height,
// caption}, or null if nothing is left to draw.
function figure({id, title, controls = [], spec}) {
  const host = el("div", {class: "plot", style: "height: 380px"}), below = el("div"), caption = el("figcaption");
  const readout = el("p", {class: "readout", "aria-live": "polite"});
  const block = el("figure", {id}, el("h3", {}, title),
                   controls.length ? el("div", {class: "controls"}, ...controls) : null, host, below, readout, caption);
  const entry = {chart: null};
  entry.draw = () => {
    entry.chart?.destroy();
    entry.chart = null;
    const now = spec();
    readout.textContent = "";
    if (!now || now.series.every((one) => one.points.length === 0)) {
      host.style.height = "";
      host.replaceChildren(el("p", {class: "empty"}, "No record here has values for this figure."));
      below.replaceChildren();
      return;
    }
    const points = now.series.reduce((sum, one) => sum + (one.bare ? 0 : one.points.length), 0);
    const canvas = el("canvas", {tabindex: "0", role: "img", "aria-label":
      `${title}: ${points} points; read them with the arrow keys. ${now.caption}`});
    host.style.height = `${now.height ?? (now.rows ? 90 + 38 * now.rows.length : 380)}px`;
    host.replaceChildren(canvas);
    entry.chart = new Chart(canvas, {type: now.x.labels ? "bar" : "scatter", data: {datasets: datasetsOf(now.series)},
                                     options: optionsOf(now), plugins: [guides, intervalBars]});
    walkByKeyboard(canvas, entry.chart, readout);
    below.replaceChildren(now.series.length > 1 && !now.stems ? legendOf(entry.chart, now.series) : "");
    const waiting = now.series.some((one) => one.hidden && !one.unnamed);
    caption.textContent = now.caption + (waiting ? " Series that are crossed out in the legend are hidden; click to show them." : "");
  };
  drawn.push(entry);
  block.redraw = entry.draw;
  return block;
}

const rowsAxis = (rows) => ({min: -0.75, max: rows.length - 0.5, reverse: true, ticks: [], text: () => ""});
