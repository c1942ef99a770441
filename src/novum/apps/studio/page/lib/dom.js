// Building the page: elements from data, never from markup. Text stays text, whatever is in it.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    // Single properties are allowed by the content policy, an attribute "style" is not.
    else if (name === "style") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else if (["value", "checked", "disabled", "open", "indeterminate", "selected"].includes(name) && name in node) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

// h("p", {class: "quiet"}, "text", h("b", null, "more")): an element with attributes and children;
// attributes that begin with "on" are listeners, those that are null or false are left out.
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// The same for drawings.
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// New children in place of the old ones.
export function show(node, ...children) {
  node.replaceChildren();
  add(node, children);
  return node;
}

let lastId = 0;
export const newId = (stem = "id") => `${stem}-${++lastId}`;

// A control with its label in front: field("Target", h("select", ...), "what it means").
export function field(label, control, hint) {
  control.id ||= newId("field");
  const said = hint ? h("small", { id: `${control.id}-hint`, class: "hint" }, hint) : null;
  if (said) control.setAttribute("aria-describedby", said.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, said);
}

// options: texts, or [value, text].
export function select(options, chosen, attributes) {
  return h("select", attributes, options.map((one) => {
    const [value, text] = Array.isArray(one) ? one : [one, one];
    return h("option", { value, selected: String(value) === String(chosen ?? "") }, text);
  }));
}

// A table of rows; a column is {title, cell: row => node or text, number: bool, wide: bool}. Where
// the window is narrow each row becomes a card, whose labels are the titles.
export function table(columns, rows, { caption, rowAttributes, id } = {}) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? "Table" },
    h("table", { class: "rows", id },
      caption ? h("caption", null, caption) : null,
      h("thead", null, h("tr", null, columns.map((one) => h("th", { scope: "col", class: one.number ? "number" : null }, one.title)))),
      h("tbody", null, rows.map((row, i) => h("tr", rowAttributes?.(row, i), columns.map((one, j) =>
        h(j === 0 ? "th" : "td", { scope: j === 0 ? "row" : null, class: one.number ? "number" : null, "data-label": one.title }, one.cell(row, i))))))));
}

// Calls `work` once, after nothing has happened for `delay` milliseconds.
export function settled(work, delay = 150) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), delay);
  };
}

// Runs `work` one call at a time; of the calls that come meanwhile only the last one follows.
export function latest(work) {
  let busy = false;
  let next = null;
  return async function run(...given) {
    if (busy) {
      next = given;
      return;
    }
    busy = true;
    try {
      await work(...given);
    } finally {
      busy = false;
      if (next) {
        const last = next;
        next = null;
        run(...last);
      }
    }
  };
}
