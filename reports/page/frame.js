// What stands around the content of a page: colours and navigation. "recolour" is sent if colours change.
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
}

function startTheme() {
  const wanted = matchMedia("(prefers-color-scheme: dark)");
  setTheme(wanted.matches ? "dark" : "light");
  wanted.addEventListener("change", () => {
    setTheme(wanted.matches ? "dark" : "light");
    dispatchEvent(new Event("recolour"));
  });
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    dispatchEvent(new Event("recolour"));
  });
  let before = null;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
    for (const folded of document.querySelectorAll("main details")) folded.open = true;
    dispatchEvent(new Event("recolour"));
  });
  addEventListener("afterprint", () => { setTheme(before); dispatchEvent(new Event("recolour")); });
}

function fillNavigation() {
  const links = [...document.querySelectorAll("main > section")].map((section) =>
    el("a", {href: `#${section.id}`}, section.querySelector("h2").textContent));
  document.querySelector("nav").replaceChildren(...links);
}
