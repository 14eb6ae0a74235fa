// Starts the page.
function redrawAll() {
  if (typeof Chart !== "undefined") for (const entry of drawn) entry.draw();
}

// Draws one figure after another, so that the page can respond in between.
async function drawAll() {
  for (const entry of [...drawn]) {
    if (!entry.chart) entry.draw();
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
startTheme();
if (typeof Chart !== "undefined") {
  document.getElementById("figures").replaceWith(...figureSections());
  if (DATA.claims.length) document.querySelector("#claims .scroll")?.after(claimsFigure());
  if (DATA.rivals.length)
    document.querySelector("#rivals .fold")?.before(...DATA.rates.length ? [ratesFigure()] : [], rivalsFigure());
}
enhanceTables();
document.getElementById("explorer").replaceWith(recordsSection());
fillNavigation();
if (typeof Chart !== "undefined") document.body.append(el("footer", {}, `Charts are drawn by Chart.js ${Chart.version} (MIT licence), which this file contains.`));
addEventListener("hashchange", openNamedRecord);
openNamedRecord();
document.documentElement.dataset.ready = "yes";
if (typeof Chart !== "undefined") drawAll();
