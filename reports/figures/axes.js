// Ranges, ticks, scales and axes of a figure.
// Round values at even distances, about five.
function evenTicks(low, high) {
  const rough = (high - low) / 5, decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * [1, 2, 5, 10].find((times) => decade * times >= rough), first = Math.ceil(low / step);
  return Array.from({length: Math.floor(high / step) - first + 1}, (_, place) => (first + place) * step);
}
function logTicks(low, high) {
  if (high / low < 2.5) return evenTicks(low, high);
  const ticks = [];
  for (let decade = 10 ** Math.floor(Math.log10(low)); decade <= high; decade *= 10)
    for (const step of high / low > 200 ? [1] : high / low > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 5, 7])
      if (decade * step >= low * 0.999 && decade * step <= high * 1.001) ticks.push(decade * step);
  return ticks;
}
function binaryTicks(high) {
  const step = 2 ** Math.ceil(Math.log2(Math.max(high, 1) / 8));
  return Array.from({length: Math.floor(high / step) + 1}, (_, place) => place * step);
}
// "1.005", "0.02", "1e-6": all digits of the value, six at most.
const tickText = (value) =>
    (value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential(0) : String(Number(value.toPrecision(6))));

const rangeOf = (values) =>
    values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
// The range of an axis: of the points and of their whole intervals. On a logarithmic axis, zero and less have no place.
function reachOf(shown, name, log) {
  const values = shown.flatMap(
      (one) => one.points.flatMap(
          (point) => [point[name], ...one.bars === name && point.low != null ? [point.low, point.high] : []]));
  return rangeOf(log ? values.filter((value) => value > 0) : values);
}
// Ratios that lie far apart need a logarithmic axis.
function scaleOfRatios(axis, shown, name) {
  if (!axis.ratio) return axis;
  const [low, high] = reachOf(shown, name);
  return {...axis, log: low > 0 && high / low > 6};
}
function domainOf(figure, shown, name) {
  const axis = figure[name];
  if (axis.labels) return axis.labels;
  const held = (figure.lines ?? []).filter(([at]) => at === name).map(([, value]) => value),
        [low, high] = reachOf(shown, name, axis.log);
  const from = Math.min(low, ...held), to = Math.max(high, ...held),
        room = (to - from) * 0.04 || Math.abs(to) * 0.02 || 1;
  const least = axis.log && axis.min <= 0 ? undefined : axis.min;  // zero has no place on a logarithmic axis
  const ends = axis.log ? [from / 1.15, to * 1.15] : [from < 0 ? from - room : Math.max(from - room, 0), to + room];
  return [Math.min(least ?? ends[0], low), Math.max(axis.max ?? ends[1], high)];
}

const MOST_TICKS = 14;
function ticksOf(axis, domain) {
  if (axis.labels) return null;
  const stride = Math.ceil((axis.ticks?.length ?? 0) / MOST_TICKS);
  return axis.ticks?.filter((_, place) => place % stride === 0) ??
      (axis.log        ? logTicks(...domain) :
           axis.binary ? binaryTicks(domain[1]) :
                         null);
}
// A name in lines of about `width` pixels, broken behind "/", "." and "_"; null if a part has no room.
function linesOfName(name, width) {
  const lines = [""];
  for (const part of name.match(/[^/._]*[/._]?/g)) {
    if (part.length * 7 > width) return null;
    if (lines.at(-1) && (lines.at(-1) + part).length * 7 > width) lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines;
}

// Heads of columns above them, upright if they have no room beside each other: what an axis needs, and their height.
const HEAD_LINE = 14;
function headsOf(labels, length) {
  const heads = labels.map((label) => linesOfName(label, length / labels.length - 4));
  if (!heads.every(Boolean))
    return {
      high: 7 * Math.max(...labels.map((label) => label.length)),
      axis: {labelAngle: -90, labelAlign: "left", labelBaseline: "middle"}
    };
  const most = Math.max(...heads.map((lines) => lines.length));
  const texts = heads.map((lines) => [...new Array(most - lines.length).fill(""), ...lines]);
  return {
    high: HEAD_LINE * most,
    texts,
    axis: {
      labelPadding: 4 + HEAD_LINE * (most - 1),
      labelLineHeight: HEAD_LINE,
      encode: {labels: {update: {text: {scale: "xText", field: "value"}}}}
    }
  };
}

function scalesOf(figure, domains, looks, names, width, still) {
  const scaleOf = (name) => ({
    name,
    domain: domains[name],
    range: name === "x" ? "width" : "height",
    ...figure[name].labels ?
        {type: "band", paddingInner: figure.cells ? 0.04 : 0.2, paddingOuter: figure.cells ? 0 : 0.1} :
        {type: figure[name].log ? "log" : "linear", zero: false, nice: false, reverse: Boolean(figure[name].reverse)}
  });
  const textsOf = (name) => {
    if (name === "x" && figure.cells) {
      const {texts} = headsOf(figure.x.labels, width);
      return texts ? [{name: "xText", type: "ordinal", domain: figure.x.labels, range: texts}] : [];
    }
    const ticks = ticksOf(figure[name], domains[name]);
    return ticks?.length ?
        [{name: `${name}Text`, type: "ordinal", domain: ticks, range: ticks.map(figure[name].text ?? tickText)}] :
        [];
  };
  const bare = (name) => figure.series.every((one) => one.name !== name || one.bare);
  const styled = (name, range) => ({name, type: "ordinal", domain: names, range});
  return [
    scaleOf("x"), scaleOf("y"), ...textsOf("x"), ...textsOf("y"),
    styled("colour", names.map((name) => looks.get(name).colour)),
    styled("shape", names.map((name) => (still && bare(name) ? "stroke" : SHAPES[looks.get(name).shape]))),
    ...figure.x.labels ?
        [{name: "within", type: "band", domain: names, range: {signal: "[0, bandwidth('x')]"}, paddingInner: 0.06}] :
        []
  ];
}

// A title in lines of about `width` pixels.
function linesOfTitle(title, width) {
  const lines = [""];
  for (const word of title.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length * 6.8 <= width || !lines.at(-1))
      lines[lines.length - 1] = longer;
    else
      lines.push(word);
  }
  return lines;
}

// Of rising ticks along `length` pixels those whose texts have room. Vega's own choice always leaves two.
function roomyTicks(ticks, axis, domain, length) {
  const at = axis.log ? Math.log : Number, [low, high] = domain.map(at);
  let free = -Infinity;
  return ticks.filter((tick) => {
    const half = 3.6 * (axis.text ?? tickText)(tick).length, place = (at(tick) - low) / (high - low) * length;
    if (place - half < free) return false;
    free = place + half + 8;
    return true;
  });
}

function axisOf(figure, name, domain, length) {
  if (figure.cells)
    return {scale: name, orient: "top", domain: false, labelLimit: 0, ...headsOf(figure.x.labels, length).axis};
  const axis = figure[name], all = ticksOf(axis, domain);
  const ticks = name === "x" && all ? roomyTicks(all, axis, domain, length) : all;
  return {
    scale: name,
    orient: name === "x" ? "bottom" : "left",
    title: linesOfTitle(axis.title, length),
    grid: !axis.labels,
    labelOverlap: "greedy",
    ...ticks?.length ? {values: ticks, encode: {labels: {update: {text: {scale: `${name}Text`, field: "value"}}}}} :
                       {tickCount: 6, tickMinStep: axis.step, format: axis.percent ? ".0%" : undefined},
  };
}

// The first rows; the caption says that there are more.
const MOST_ROWS = 20;
function foldedRows(figure) {
  const all = figure.rows?.length ?? 0;
  if (all <= MOST_ROWS) return figure;
  const bare = (row) => figure.series.every((one) => one.points.every((point) => Math.abs(point.y - row) > 0.5));
  let most = MOST_ROWS;
  while (most > 1 && bare(most - 1)) --most;  // a heading without rows
  const rows = figure.rows.slice(0, most), last = most - 0.5;
  return {
    ...figure,
    rows,
    y: rowsAxis(rows),
    series: figure.series.map((one) => ({...one, points: one.points.filter((point) => point.y < last)}))
                .filter((one) => one.points.length > 0),
    caption: `${figure.caption} The first ${most} of ${all} rows are drawn.`
  };
}
const rowsAxis = (rows) => ({min: -0.75, max: rows.length - 0.5, reverse: true});
