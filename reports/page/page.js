// Starts the page.
function redrawAll() {
  if (hasCharts) for (const entry of drawn) entry.draw();
}

// Draws one figure after another, the upper ones first, so that the page can respond in between.
async function drawAll() {
  const below = (a, b) => (a.host.compareDocumentPosition(b.host) & Node.DOCUMENT_POSITION_PRECEDING ? 1 : -1);
  for (const entry of [...drawn].sort(below)) {
    if (!entry.view) await entry.draw();
    await new Promise((then) => setTimeout(then));
  }
  document.documentElement.dataset.drawn = "yes";
}

// "" if it is no address.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

// True if the page holds the record.
function openNamedRecord(hash) {
  const wanted = decoded(/^#record=(.+)$/.exec(hash)?.[1] ?? "");
  const record = DATA.records.find((one) => `${one.of.id}/${one.id}` === wanted);
  if (record) openRecord(record);
  return Boolean(record);
}

// Directly, not by the address: it may still be that of a record that closes just now.
function openLinkedRecord(event) {
  const link = event.target.closest("a[href^='#record=']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (openNamedRecord(link.hash)) event.preventDefault();
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
addEventListener("hashchange", () => openNamedRecord(location.hash));
document.addEventListener("click", openLinkedRecord);
openNamedRecord(location.hash);
document.documentElement.dataset.ready = "yes";
if (hasCharts) drawAll();
