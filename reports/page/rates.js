// Rates by sequence length.
// Grouped bars, as papers of this field draw rates. The panels come ready made: the static figure draws the same.
function ratesFigure() {
  let chosen = 0;
  const panels = DATA.rates, controls = panels.length > 1
    ? [select("Shared by all bars", panels.map((panel, place) => [place, panel.shared]), (value) => { chosen = Number(value); block.redraw(); }, null)] : [];
  const named = new Map(DATA.records.map((record) => [`${record.of.id}/${record.id}`, record]));
  const block = figure({id: "figure-rates", title: "Rate by sequence length", controls, spec: () => {
    const {shared, unit, reading, lengths, series} = panels[chosen];
    return {x: {title: "sequence length", labels: lengths.map(String)}, y: {title: `${unit} (higher is better)`, min: 0},
            series: series.map(({library, bars}) => ({name: library, points: bars.flatMap((bar, place) => bar ? [{
              x: String(lengths[place]), y: bar[0], title: `${library}, ${lengths[place]} positions`, record: named.get(bar[1]),
              lines: () => [`${num(bar[0])} ${unit}`, shared]}] : [])})),
            caption: `${reading} Shared by all bars: ${shared}. ${DATA.machine}.`};
  }});
  return block;
}
