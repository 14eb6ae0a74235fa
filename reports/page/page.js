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

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
}

function startTheme() {
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  setTheme(wanted.matches ? "dark" : "light");
  wanted.addEventListener("change", () => { setTheme(wanted.matches ? "dark" : "light"); redrawAll(); });
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    redrawAll();
  });
  let before = null;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
    for (const folded of document.querySelectorAll("main details")) folded.open = true;
    redrawAll();
  });
  addEventListener("afterprint", () => { setTheme(before); redrawAll(); });
}

function fillNavigation() {
  const links = [...document.querySelectorAll("main > section")].map((section) =>
    el("a", {href: `#${section.id}`}, section.querySelector("h2").textContent));
  document.querySelector("nav").replaceChildren(...links);
}

function openNamedRecord() {
  const name = /^#record=(.+)$/.exec(location.hash)?.[1];
  const wanted = name && decodeURIComponent(name);
  const record = wanted && DATA.records.find((one) => `${one.of.id}/${one.id}` === wanted);
  if (record) openRecord(record);
}

startTheme();
if (typeof Chart !== "undefined") {
  document.getElementById("figures").replaceWith(...figureSections());
  if (DATA.claims.length) document.querySelector("#claims .scroll")?.after(claimsFigure());
  if (DATA.rivals.length) document.querySelector("#rivals .fold")?.before(rivalsFigure());
}
enhanceTables();
document.getElementById("explorer").replaceWith(recordsSection());
fillNavigation();
if (typeof Chart !== "undefined") document.body.append(el("footer", {}, `Charts are drawn by Chart.js ${Chart.version} (MIT licence), which this file contains.`));
addEventListener("hashchange", openNamedRecord);
openNamedRecord();
document.documentElement.dataset.ready = "yes";
if (typeof Chart !== "undefined") drawAll();
