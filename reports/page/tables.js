// Tables in the markup: a click on a column's head sorts them, words filter them.
const UNIT_FACTORS = Object.fromEntries([...TIMES, ...BYTES, ...RATES].map(([size, name]) => [name, size]));

// "12.35 ms [12.30, 12.41]" is 12.35e6; text that does not begin with a number stays text.
function sortValue(text) {
  const match = /^([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%|[A-Za-z/]+)?/.exec(text);
  return match ? Number(match[1]) * (UNIT_FACTORS[match[2]] ?? 1) : text.toLowerCase();
}
function compareValues(a, b) {
  const none = (value) => value === "" || value == null;
  if (none(a) || none(b)) return none(a) - none(b);
  if (typeof a === typeof b) return (a > b) - (a < b);
  return typeof a === "number" ? -1 : 1;
}

// True for texts that contain all words, in any order.
function matcher(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLowerCase().includes(word));
}

// Sets aria-sort on one head and removes it from the others. Returns true if it sorts downwards.
function markSorted(head, heads) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  return down;
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = el("button", {type: "button", class: "sort", click: () => {
      const down = markSorted(head, heads);
      const keyed = [...body.rows].map((row) => [sortValue(row.cells[column].textContent.trim()), row]);
      keyed.sort(([a], [b]) => (a === "" || b === "" || !down ? compareValues(a, b) : compareValues(b, a)));
      body.append(...keyed.map(([, row]) => row));
    }}, head.textContent);
    head.replaceChildren(button);
  });
}

function makeFilterable(table, frame) {
  const rows = [...table.tBodies[0].rows], count = el("span", {class: "count", "aria-live": "polite"}, `${rows.length} rows`);
  const input = el("input", {type: "search", placeholder: "words in a row", input: () => {
    const matches = matcher(input.value);
    let shown = 0;
    for (const row of rows) shown += !(row.hidden = !matches(row.textContent));
    count.textContent = `${shown} of ${rows.length} rows`;
  }});
  frame.before(el("div", {class: "controls"}, el("label", {class: "control"}, el("span", {}, "Filter"), input), count));
}

// The first rows of a long table; a button, words in its filter and an address of one of its rows show all.
const LONGEST = 20, SHOWN = 15;
function makeShort(table, frame) {
  const rows = table.tBodies[0].rows.length;
  const button = el("button", {type: "button", class: "more", click: () => show()}, `Show all ${rows} rows`);
  const show = () => { table.classList.remove("short"); button.remove(); };
  const follow = () => {
    const target = table.querySelector(":target");
    if (!target) return;
    show();
    target.scrollIntoView();
  };
  table.classList.add("short");
  frame.after(button);
  frame.previousElementSibling.querySelector("input").addEventListener("input", show);
  addEventListener("hashchange", follow);
  follow();
}

function enhanceTables() {
  for (const frame of document.querySelectorAll("main .scroll")) {
    const table = frame.querySelector("table");
    if (table.querySelector("tr.group")) continue;  // its rows belong to what stands above them
    if (table.tBodies[0].rows.length > 1) makeSortable(table);
    if (table.tBodies[0].rows.length > 8) makeFilterable(table, frame);
    if (table.tBodies[0].rows.length > LONGEST) makeShort(table, frame);
  }
}
