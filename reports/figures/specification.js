// A figure as a specification of Vega; the page and the static figures draw the same one. A figure is {title, x, y,
// series, lines, rows, namesAside, stems, cells, labels, height, caption, heading}. Axes: {title, log, ratio, min, max,
// ticks, step, text, labels, reverse, binary, percent}; `min` and `max` give way to a point or an interval beyond them, and
// a `ratio` chooses its scale. Series: {name, points, bars, line, bare, hollow, hidden, unnamed, paint, dash}; `bars` is the
// axis of the intervals, `line` joins the points, `bare` shows none of them. Points: {x, y, low, high, text, fill, title,
// lines, record}; `title`, lines() and `record` serve the page. `labels`: [{x, y, text}] beside points. `stems` draws rows
// as bars, `cells` as a table of coloured cells.

// Values of a mark: a field along an axis, or a constant.
const along = (scale, field) => ({scale, field});
const constant = (value) => ({value});
const bySeries = {
  scale: "colour",
  field: "series"
};
const mark = (type, data, update, more = {}) =>
    ({type, ...data && {from: {data}}, interactive: false, ...more, encode: {update}});

// Lines at given values: [axis, value, name, place]. The name of a vertical line stands along it, or `place`: "above"
// the picture.
function guideMarks(lines = []) {
  const quiet = constant(paint("--soft"));
  const nameOf = (here, name, place) => (place === "above" ? {
    x: here,
    y: constant(-6),
    align: {signal: `scale('x', ${here.value}) > 0.75 * width ? 'right' : 'center'`},
    text: constant(name),
    fill: quiet
  } : {
    x: {...here, offset: -4},
    y: {signal: "height", offset: -6},
    angle: constant(-90),
    text: constant(name),
    fill: quiet
  });
  return lines.flatMap(([axis, at, name, place]) => {
    const here = {scale: axis, value: at},
          ends = axis === "x" ? {x: here, y: constant(0), y2: {signal: "height"}} :
                                {y: here, x: constant(0), x2: {signal: "width"}};
    return [
      mark("rule", null, {...ends, stroke: quiet, strokeDash: constant([5, 4])}, {clip: true}),
      ...name ? [mark("text", null, nameOf(here, name, place))] : []
    ];
  });
}

// From the axis to a point as a bar, and its value as text; below the line if there is no room beside the point. The name
// of a row stands above its line.
function stemMarks({x}) {
  const fits = "scale('x', datum.end) + 10 + 6.6 * length(datum.text) < width", quiet = constant(paint("--soft"));
  const chosen = (yes, no) => ({signal: `${fits} ? ${yes} : ${no}`});
  return [
    mark(
        "rule", "points",
        {x: constant(0), x2: along("x", "x"), y: along("y", "y"), stroke: bySeries, strokeOpacity: constant(0.28),
         strokeWidth: constant(x.log ? 2 : 11)}),
    mark("text", "points", {
      x: chosen("scale('x', datum.end) + 10", "width"),
      y: {...along("y", "y"), offset: chosen("0", "12")},
      align: chosen("'left'", "'right'"),
      baseline: constant("middle"),
      text: {field: "text"},
      fill: quiet
    })
  ];
}

function pointMarks(lines) {
  const place = {x: along("x", "x"), y: along("y", "y")};
  return [
    ...lines.map(
        ({data, look}) => mark(
            "line", data,
            {...place, stroke: constant(look.colour), strokeWidth: constant(1.8), strokeDash: constant(look.dash)},
            {clip: true})),
    mark(
        "rule", "intervals", {
          x: along("x", "x0"),
          x2: along("x", "x1"),
          y: along("y", "y0"),
          y2: along("y", "y1"),
          stroke: bySeries,
          strokeWidth: constant(1.5)
        },
        {clip: true}),
    mark(
        "symbol", "points", {
          ...place,
          shape: {scale: "shape", field: "series"},
          stroke: bySeries,
          strokeWidth: constant(1.5),
          size: {signal: "datum.hollow ? 150 : 52"},
          fill: [{test: "datum.hollow", value: "transparent"}, bySeries]
        },
        {interactive: true}),
    mark("symbol", "active", {
      ...place,
      shape: constant("circle"),
      size: constant(260),
      stroke: constant(paint("--ink")),
      strokeWidth: constant(1.5),
      fill: constant(null)
    })
  ];
}

function barMarks() {
  const place = {
    x: {scale: "x", field: "x", offset: {scale: "within", field: "series"}},
    width: {scale: "within", band: 1},
    y: along("y", "y"),
    y2: {scale: "y", value: 0}
  };
  return [
    mark("rect", "points", {...place, fill: bySeries}, {interactive: true}),
    mark("rule", "intervals", {
      x: {scale: "x", field: "x0", offset: {signal: "scale('within', datum.series) + bandwidth('within') / 2"}},
      y: along("y", "y0"),
      y2: along("y", "y1"),
      stroke: constant(paint("--ink")),
      strokeWidth: constant(1.5)
    }),
    mark("rect", "active", {...place, fill: constant(null), stroke: constant(paint("--ink")), strokeWidth: constant(2)})
  ];
}

// Where the names of rows stand, and in how many lines at most: above each row, or, if `namesAside` asks for it and the
// picture is wide enough, left of the axis.
function namesOf(figure, width) {
  const rows = figure.rows ?? [];
  if (rows.length === 0) return {rows, aside: 0, lines: 1};
  const aside = figure.namesAside && width >= 700 ? Math.min(0.4 * width, 400) : 0;
  const wrapped = rows.map((name) => linesOfTitle(name, (aside || width) - 24));
  return {rows: wrapped, aside, lines: Math.max(...wrapped.map((lines) => lines.length))};
}

// Names of rows; paper around the letters keeps lines apart from them. Of a picture that stands alone, the width is
// only estimated, and too large.
function rowMarks(still, {aside}) {
  const above = {x: constant(2), y: {...along("y", "row"), offset: {signal: "-9 - 14 * (datum.lines - 1)"}}};
  const left = {
    x: constant(-10),
    align: constant("right"),
    baseline: constant("middle"),
    y: {...along("y", "row"), offset: {signal: "4 - 7 * (datum.lines - 1)"}}
  };
  const named = {
    ...aside ? left : above,
    text: {field: "name"},
    lineHeight: constant(14),
    limit: {signal: aside ? String(aside) : still ? "1.25 * width" : "width"}
  };
  return [
    mark("text", "rows", {...named, stroke: constant(paint("--paper")), strokeWidth: constant(4)}),
    mark("text", "rows", {...named, fill: constant(paint("--ink"))})
  ];
}

function legendOf(figure, names, width) {
  const values = names.filter((name) => figure.series.some((one) => one.name === name && !one.unnamed));
  if (figure.stems || values.length < 2) return {rows: 0, legends: []};
  const room = Math.max(1, Math.floor((width - 60) / (30 + 7.2 * Math.max(...values.map((name) => name.length)))));
  const rows = Math.ceil(values.length / room);  // Vega fills column by column, and expects full ones
  return {
    rows,
    legends: [{
      orient: "bottom",
      fill: "colour",
      values,
      columns: Math.ceil(values.length / rows),
      labelLimit: width - 60,
      symbolSize: 80,
      columnPadding: 18,
      offset: 14,
      ...figure.x.labels ? {symbolType: "square"} : {stroke: "colour", shape: "shape"}
    }]
  };
}

function themeOf(still) {
  const font = still ? "DejaVu Sans, sans-serif" : "system-ui, DejaVu Sans, sans-serif", soft = paint("--soft"),
        line = paint("--line");
  return {
    background: still ? paint("--paper") : null,
    aria: false,
    text: {font, fontSize: 12},
    axis: {
      labelFont: font,
      titleFont: font,
      labelFontSize: 12,
      titleFontSize: 12,
      titleFontWeight: "normal",
      labelColor: soft,
      titleColor: soft,
      domainColor: line,
      gridColor: paint("--grid"),
      ticks: false,
      labelPadding: 6,
      labelSeparation: 8,
      titlePadding: 8
    },
    legend: {labelFont: font, labelFontSize: 12, labelColor: paint("--ink")},
    title: {
      font,
      fontSize: 15,
      subtitleFont: font,
      subtitleFontSize: 12,
      color: paint("--ink"),
      subtitleColor: soft,
      anchor: "start",
      offset: 14,
      subtitlePadding: 5
    },
  };
}

function dataOf(figure, names, shown, lines, domains) {
  const within = (name, value) =>
      (figure[name].labels ? value : Math.min(Math.max(value, domains[name][0]), domains[name][1]));
  const intervals = shown.flatMap(
      ({name, bars, points}) => points.filter((point) => bars && point.low != null).map(({x, y, low, high}) => {
        const [from, to] = [within(bars, low), within(bars, high)];
        return {series: name, ...bars === "x" ? {x0: from, x1: to, y0: y, y1: y} : {x0: x, x1: x, y0: from, y1: to}};
      }));
  return [
    {
      name: "points",
      values: shown.filter((one) => !one.bare)
                  .flatMap(
                      ({name, hollow = false, points}) => points.map(
                          (point) => ({...point, series: name, hollow, end: Math.max(point.x, point.high ?? point.x)})))
    },
    {name: "intervals", values: intervals}, {name: "active", values: []},
    {name: "rows", values: names.rows.map((name, row) => ({name, row, lines: [name].flat().length}))},
    ...lines.map(({data, points}) => ({name: data, values: points.map(({x, y}) => ({x, y}))}))
  ];
}

// `width`: of the whole picture. `still`: {machine}, for a picture that stands alone; it has title and legend, which
// the page shows beside the figure.
function specificationOf(described, width, still) {
  const shown = described.series.filter((one) => !one.hidden && one.points.length > 0),
        looks = looksOf(described.series, Boolean(described.x.labels));
  const figure =
      {...described, x: scaleOfRatios(described.x, shown, "x"), y: scaleOfRatios(described.y, shown, "y")};
  const names = [...new Set(shown.map((one) => one.name))];
  const domains = {x: domainOf(figure, shown, "x"), y: domainOf(figure, shown, "y")};
  const lines = shown.filter((one) => one.line)
                    .map((one, place) => ({data: `line${place}`, points: one.points, look: looks.get(one.name)}));
  const {rows, legends} = still ? legendOf(figure, names, width) : {rows: 0, legends: []};
  const rowNames = namesOf(figure, width);
  const labels = placedLabels(figure, domains, width - 90, (figure.height ?? 380) - 120);
  const rowHeight = rowNames.aside || rowNames.lines === 1 ? 38 : 36 + 14 * rowNames.lines;
  const heads = figure.cells ? headsOf(figure.x.labels, width - 40).high : 0;
  const height = figure.height ?? (figure.rows ? 90 + heads + rowHeight * figure.rows.length : 380);
  return {
    width,
    height: height + (still ? 60 + 22 * rows : 0),
    autosize: {type: "fit", contains: "padding"},
    padding: still ? 14 : 4,
    config: themeOf(still),
    title: still ? {text: figure.title, subtitle: still.machine} : undefined,
    data: [...dataOf(figure, rowNames, shown, lines, domains), {name: "labels", values: labels}],
    scales: scalesOf(figure, domains, looks, names, width - 40, still),
    axes: [
      axisOf(figure, "x", domains.x, width - (figure.cells ? 40 : 70 + rowNames.aside)),
      ...figure.rows ? [] : [axisOf(figure, "y", domains.y, height - 70)]
    ],
    legends,
    marks: [
      ...guideMarks(figure.lines), ...figure.stems ? stemMarks(figure) : [],
      ...figure.cells ? cellMarks() : figure.x.labels ? barMarks() : pointMarks(lines),
      ...figure.rows ? rowMarks(still, rowNames) : [], ...labelMarks()
    ],
  };
}
