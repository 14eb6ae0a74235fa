// Elements of a page. Text is only ever added as text nodes.

// el("td", {class: "num"}, "text", other, ...) makes an element with attributes and children. No markup is parsed.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// A name as text nodes, which a narrow column breaks between its parts: dilated_|wgmma/|hilbert@|tokens.
function breakable(name) {
  return name.split(/(?<=[/_@])(?=.)/s).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));
}

// A <select> with a label. `changed` gets the chosen value, or "" for all.
function select(label, options, changed, all = "all") {
  const box = el("select", {change: () => changed(box.value)});
  if (all !== null) box.append(el("option", {value: ""}, all));
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    box.append(el("option", {value}, String(text)));
  }
  return el("label", {class: "control"}, el("span", {}, label), box);
}

function sectionOf(id, title, ...blocks) {
  return el("section", {id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title), ...blocks);
}
