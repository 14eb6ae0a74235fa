// Ratios, a row each: claims with what was measured of them, and kernels against rivals.
function claimedAndMeasured() {
  const rows = DATA.claims;
  const pointOf = (claim, y, ratio, told) => ({
    x: ratio[0],
    y,
    low: ratio[1],
    high: ratio[2],
    title: `${claim.title} (${claim.provenance})`,
    lines: () => [claim.work, ...told, `claimed ${num(claim.claimed, 3)}: ${claim.verdict}`]
  });
  const points = (key, below) => rows.flatMap(
      (claim, row) =>
          (claim[key] ? [pointOf(claim, row + below, claim[key], [`${key} ${ratioInterval(claim[key])}`])] : []));
  return {
    title: "Speedup of Hilbert order, claimed and measured: right of 1 is faster",
    rows: rows.map((claim) => `${claim.id} (${claim.provenance}): ${claim.work}`),
    y: rowsAxis(rows),
    lines: [["x", 1]],
    x: {log: true, title: "speedup of hilbert over linear (right of 1: hilbert is faster)"},
    series: [
      {name: "claimed", points: rows.map((claim, row) => pointOf(claim, row, [claim.claimed], []))},
      {name: "measured here", points: points("measured", 0), bars: "x"},
      {name: "random order here (control)", points: points("control", 0.22), bars: "x"},
      {name: "@tokens here (different function)", points: points("tokens", 0.22), bars: "x", hidden: true}
    ],
    caption: `Bars: 95 % intervals. In brackets: how the authors of the claim obtained it. ${CASE_WORDS} ${
        DATA.machine}.`
  };
}

function kernelsAgainstRivals() {
  const {short, shared} = shortLabels(distinct(DATA.rivals.map((pair) => pair.work)));
  const nameOf = (pair) => `${pair.kernel}: ${short(pair.work)}`;
  const byKernel = [...DATA.rivals].sort((a, b) => inOrder(a.kernel, b.kernel) || inOrder(a.work, b.work));
  const names = [...new Set(byKernel.map(nameOf))];
  const rows = new Map(names.map((name, row) => [name, row]));
  const series =
      distinct(DATA.rivals.map((pair) => pair.rival))
          .map((rival) => ({
                 name: rival,
                 bars: "x",
                 points:
                     DATA.rivals.filter((pair) => pair.rival === rival)
                         .map((pair) => ({
                                x: pair.ratio[0],
                                low: pair.ratio[1],
                                high: pair.ratio[2],
                                y: rows.get(nameOf(pair)),
                                title: `${pair.kernel} against ${rival}`,
                                lines:
                                    () => [pair.work, `time of the rival / of the kernel: ${ratioInterval(pair.ratio)}`]
                              }))
               }));
  return {
    title: `Time of ${
        series.length === 1 ? series[0].name : "the rival"} / time of the kernel: right of 1 the kernel is faster`,
    rows: names,
    y: rowsAxis(names),
    lines: [["x", 1]],
    series,
    x: {log: true, title: "time of the rival / time of the kernel (right of 1: the kernel is faster)"},
    caption:
        "Kernel and rival computed the same case in the same rounds, the kernel in linear order. Bars: 95 % " +
        "intervals. " +
        `${CASE_WORDS}${shared} ${DATA.machine}.`
  };
}
