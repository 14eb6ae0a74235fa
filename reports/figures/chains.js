// A claim taken apart: a row for each step of a chain, with its factor and the ratio so far.
function chainOf({work, claimed, end, steps}) {
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
    title: `${claimed ? `${num(claimed, 3)} was reported: ` : ""}what each step does to the time`,
    rows,
    namesAside: true,
    y: rowsAxis(rows),
    lines: [
      ["x", 1], ...claimed ? [["x", claimed, `${num(claimed, 3)} was reported`, "above"]] : [],
      ...goesOn ? [["y", within - 0.56]] : []
    ],
    x: {log: true, title: "time before / time after (right of 1: faster)"},
    series: [
      {name: "this step alone", points: pointsOf("factor", 0, "this step"), bars: "x"},
      {name: "all steps so far", points: pointsOf("so_far", 0.22, "from the first step"), bars: "x", hollow: true}
    ],
    caption: `${work}. Bars: 95 % intervals, of rounds in which all steps took turns. ${
        goesOn ? "Steps below the dashed line go beyond the claim. " : ""}${CASE_WORDS} ${DATA.machine}.`
  };
}

// The chain with the largest claim, which the title of a sweep names.
const largestClaim = () => DATA.chains.reduce(
    (largest, chain, place) => ((chain.claimed ?? 0) > (DATA.chains[largest].claimed ?? 0) ? place : largest), 0);
