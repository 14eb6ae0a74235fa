// Rates by sequence length, as grouped bars. The panels come ready made: the static figure draws the same.
function ratesFigure() {
  let chosen = 0;
  const panels = DATA.rates, names = panels.map((panel, place) => [place, panel.shared]);
  const choose = (value) => { chosen = Number(value); block.redraw(); };
  const controls = panels.length > 1 ? [select("Shared by all bars", names, choose, null)] : [];
  const named = new Map(DATA.records.map((record) => [`${record.of.id}/${record.id}`, record]));
  const block = figure({id: "figure-rates", title: "Rate by sequence length", controls, spec: () => {
    const {shared, unit, reading, lengths, series} = panels[chosen];
    const pointOf = (library, place, [rate, name]) => ({
      x: String(lengths[place]), y: rate, title: `${library}, ${lengths[place]} positions`, record: named.get(name),
      lines: () => [`${num(rate)} ${unit}`, shared]});
    return {x: {title: "sequence length", labels: lengths.map(String)}, y: {title: `${unit} (higher is better)`, min: 0},
            series: series.map(({library, bars}) => ({
              name: library, points: bars.flatMap((bar, place) => (bar ? [pointOf(library, place, bar)] : []))})),
            caption: `${reading} Shared by all bars: ${shared}. ${DATA.machine}.`};
  }});
  return block;
}
