// A claim taken apart: a row for each step of a chain, with its factor and the ratio so far.
function chainOf({work, of, claimed, end, steps}) {
  const shown = steps.filter((step) => step.factor || step.so_far);
  const rows = shown.map((step) => `${step.variant}${step.change ? `: ${step.change}` : ""}`);
  const within = shown.filter((step) => steps.indexOf(step) <= end).length, goesOn = within < shown.length;
  const pointsOf = (key, below, told) => shown.flatMap((step, row) => (step[key] ? [{
    x: step[key][0],
    y: row + below,
    low: step[key][1],
    high: step[key][2],
    title: step.variant,
    lines: () => [work, step.change, `${told} ${ratioInterval(step[key])}`].filter(Boolean)
  }] : []));
  return {
    title: `${claimed ? `${num(claimed, 3)} was reported: ` : ""}what each step does to the ${of}`,
    rows,
    namesAside: true,
    y: rowsAxis(rows),
    lines: [
      ["x", 1], ...claimed ? [["x", claimed, `${num(claimed, 3)} was reported`, "above"]] : [],
      ...goesOn ? [["y", within - 0.56]] : []
    ],
    x: {log: true, title: `${of} before / ${of} after (right of 1: ${of === "time" ? "faster" : "fewer"})`},
    series: [
      {name: "this step alone", points: pointsOf("factor", 0, "this step"), bars: "x"},
      {name: "all steps so far", points: pointsOf("so_far", 0.22, "from the first step"), bars: "x", hollow: true}
    ],
    caption: `${work}. ${of === "time" ? "Bars: 95 % intervals, of rounds in which all steps took turns. " : ""}${
        goesOn ? "Steps below the dashed line go beyond the claim. " : ""}${CASE_WORDS} ${DATA.machine}.`
  };
}

// What single timings of the ends of a chain report, way by way, beside the paired rounds.
function protocolsOf({work, claimed, end, steps, protocols}) {
  const paired = steps[end].so_far;
  const rows = [...protocols.map(({how, reported}) => how + (reported ? " (reported)" : "")), "paired rounds"];
  const point = ([x, low, high], y, title, line) => ({x, y, low, high, title, lines: () => [work, line]});
  return {
    title: "What a single timing reports",
    rows,
    namesAside: true,
    y: rowsAxis(rows),
    lines: [
      ["x", 1], ["x", paired[0]],
      ...claimed ? [["x", claimed, `${num(claimed, 3)} was reported`, "above"]] : []
    ],
    x: {log: true, title: `time of ${steps[0].variant} / time of ${steps[end].variant}`},
    series: [
      {
        name: "single timings: lowest, median, highest",
        bars: "x",
        hollow: true,
        points: protocols.map(({how, trials, ratio}, row) => point(
            ratio, row, how, `${num(ratio[1], 3)} to ${num(ratio[2], 3)} in ${trials} trials`))
      },
      {
        name: "paired rounds: 95 % interval",
        bars: "x",
        points: [point(paired, protocols.length, "paired rounds", ratioInterval(paired))]
      }
    ],
    caption: `${work}. Each trial is one ratio that a script would report. Verdicts rest on the paired rounds alone. ${
        DATA.machine}.`
  };
}

// The chain with the largest claim, which the title of a sweep names.
const largestClaim = () => DATA.chains.reduce(
    (largest, chain, place) => ((chain.claimed ?? 0) > (DATA.chains[largest].claimed ?? 0) ? place : largest), 0);
