// Starts the page.
function redrawAll() {
  if (hasCharts) for (const entry of drawn) entry.draw();
}

// Draws one figure after another, so that the page can respond in between.
async function drawAll() {
  for (const entry of [...drawn]) {
    if (!entry.view) await entry.draw();
    await new Promise((then) => setTimeout(then));
  }
  document.documentElement.dataset.drawn = "yes";
}

function openNamedRecord() {
  const name = /^#record=(.+)$/.exec(location.hash)?.[1];
  const wanted = name && decodeURIComponent(name);
  const record = wanted && DATA.records.find((one) => `${one.of.id}/${one.id}` === wanted);
  if (record) openRecord(record);
}

addEventListener("recolour", redrawAll);
addEventListener("resize", fitAll);
startTheme();
if (hasCharts) {
  document.getElementById("figures").replaceWith(...figureSections());
  if (DATA.claims.length) document.querySelector("#claims .scroll")?.after(claimsFigure());
  if (DATA.rivals.length)
    document.querySelector("#rivals .fold")?.before(...DATA.rates.length ? [ratesFigure()] : [], rivalsFigure());
}
enhanceTables();
document.getElementById("explorer").replaceWith(recordsSection());
fillNavigation();
if (hasCharts) document.body.append(el("footer", {}, "Charts are drawn by Vega (BSD 3-Clause licence), which these pages contain."));
addEventListener("hashchange", openNamedRecord);
openNamedRecord();
document.documentElement.dataset.ready = "yes";
if (hasCharts) drawAll();
