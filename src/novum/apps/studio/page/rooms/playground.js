// Playground: painted points and learners at work, step by step; a grid world.
//
//   #/playground/LESSON?points=&step=&NAME=   points are five signs each: x, y (base 36), class
//   #/playground/grid?fields=&method=&step=   fields are rows of signs, from above, divided by "/"

import { get, post } from "../lib/api.js";
import { field, h, latest, s, select, settled, show } from "../lib/dom.js";
import { go, keep, link, route } from "../lib/route.js";
import { number, say } from "../lib/say.js";

const API = "/api/playground";
const MOST_POINTS = 400;
const CLASSES = ["First", "Second", "Third", "Fourth"];
const NONE = "-";

export async function enter(view, { parts, params, signal }) {
  const { lessons, methods } = await get(`${API}/lessons`, {}, signal);
  const name = parts[0] ?? "k_means";
  const lesson = lessons.find((one) => one.name === name);
  if (name !== "grid" && !lesson) return go("playground", ["k_means"]);
  const main = h("div", { class: "stack" });
  show(view, h("div", { class: "split side" },
    h("aside", { class: "card", "aria-label": "Lessons" }, h("h2", null, "Watch"),
      h("ul", { class: "list" }, lessons.map((one) => entry(one.name, one.title, name)), entry("grid", "Grid world", name))),
    main));
  if (lesson) points(main, lesson, params, signal);
  else grid(main, methods, params, signal);
}

// The points are taken along from lesson to lesson, as they are when the link is followed.
const entry = (name, title, present) => h("li", null, h("a", { href: link("playground", [name]), "aria-current": name === present ? "page" : null, onclick: (event) => {
  if (name !== "grid") event.currentTarget.setAttribute("href", link("playground", [name], { points: route().params.points }));
} }, title));

// --- Walking through frames ----------------------------------------------------------------------

// Asks for the frames of a lesson or a world and shows them, or says why there are none.
async function load(steps, said, draw, signal, path, question) {
  try {
    const { frames } = await post(`${API}/${path}`, question, signal);
    said.hidden = true;
    steps.load(frames);
  } catch (error) {
    if (signal.aborted) return;
    said.hidden = false;
    said.textContent = error.message;
    steps.clear();
    draw(null);
  }
}

// Buttons, a slider and a text for frames; `draw(frame)` shows one. `load(frames)` takes new ones.
function walk(draw, params, signal) {
  let frames = [];
  let at = 0;
  let timer = 0;
  const slider = h("input", { type: "range", min: 0, max: 0, step: 1, value: 0, "aria-label": "Step" });
  const title = h("h2", null, "");
  const formula = h("p", { class: "formula" });
  const numbers = h("dl", { class: "facts" });
  const count = h("span", { class: "quiet" });
  const play = h("button", { type: "button", "aria-pressed": "false" }, "Play");
  const move = (to, told = true) => {
    if (!frames.length) return;
    at = Math.max(0, Math.min(frames.length - 1, to));
    const frame = frames[at];
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${at + 1} of ${frames.length}: ${frame.title}`);
    title.textContent = frame.title;
    formula.textContent = frame.formula;
    count.textContent = `${at + 1} of ${frames.length}`;
    show(numbers, frame.numbers.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, number(value)))));
    draw(frame);
    keep({ step: at || null });
    if (told) say(frame.title);
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (at === frames.length - 1) move(0, false);
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      if (at >= frames.length - 1) return stop();
      move(at + 1, false);
    }, 700);
  });
  slider.addEventListener("input", () => {
    stop();
    move(Number(slider.value), false);
  });
  signal.addEventListener("abort", stop);
  const step = (text, label, to) => h("button", { type: "button", "aria-label": label, onclick: () => { stop(); move(to()); } }, text);
  const panel = h("section", { class: "card", "aria-label": "Steps" }, title, formula, numbers,
    h("div", { class: "line steps" }, step("|‹", "First step", () => 0), step("‹", "One step back", () => at - 1), h("div", { class: "grow" }, slider), step("›", "One step on", () => at + 1), step("›|", "Last step", () => frames.length - 1), play, count));
  let wanted = Number(params.step ?? 0) || 0;
  return {
    panel,
    load(found) {
      stop();
      frames = found;
      slider.max = Math.max(0, found.length - 1);
      // The step of the link at first, and the start of what follows a change.
      move(Math.min(wanted, found.length - 1), false);
      wanted = 0;
    },
    clear() {
      stop();
      frames = [];
      slider.max = 0;
      title.textContent = formula.textContent = count.textContent = "";
      show(numbers);
    },
  };
}

// --- Points --------------------------------------------------------------------------------------

const code = (value) => Math.round(value * 1000).toString(36).padStart(2, "0");
const encoded = (list) => list.map(([x, y, c]) => code(x) + code(y) + c).join("");
function decoded(text) {
  const found = [];
  for (let i = 0; i + 5 <= (text ?? "").length && found.length < MOST_POINTS; i += 5) {
    const x = parseInt(text.slice(i, i + 2), 36) / 1000;
    const y = parseInt(text.slice(i + 2, i + 4), 36) / 1000;
    const c = Number(text[i + 4]);
    if (x >= 0 && x <= 1 && y >= 0 && y <= 1 && c >= 0 && c < CLASSES.length) found.push([x, y, c]);
  }
  return found;
}

// The same cloud for everybody: a small generator of its own.
function cloud(seed) {
  let state = seed;
  const uniform = () => ((state = (state * 1664525 + 1013904223) % 4294967296) + 0.5) / 4294967296;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal };
}
const within = (value) => Math.min(0.98, Math.max(0.02, value));
const EXAMPLES = {
  "Three groups": () => groups([[0.25, 0.3], [0.7, 0.35], [0.45, 0.75]], 0.07, 7),
  "Two groups": () => groups([[0.3, 0.35], [0.68, 0.66]], 0.09, 3),
  "Groups that overlap": () => groups([[0.42, 0.45], [0.6, 0.58]], 0.12, 5),
  "Two moons": () => {
    const { normal } = cloud(11);
    return Array.from({ length: 60 }, (_, i) => {
      const turn = (Math.PI * (i % 30)) / 29;
      const lower = i >= 30;
      const x = lower ? 0.5 + 0.25 * (1 - Math.cos(turn)) : 0.25 + 0.25 * (1 - Math.cos(turn)) - 0.05;
      const y = lower ? 0.5 - 0.27 * Math.sin(turn) : 0.45 + 0.27 * Math.sin(turn);
      return [within(x + 0.02 * normal()), within(y + 0.02 * normal()), Number(lower)];
    });
  },
  "A ring and its middle": () => {
    const { normal } = cloud(13);
    return Array.from({ length: 60 }, (_, i) => {
      const radius = i < 20 ? 0.05 : 0.32;
      const turn = 2.4 * i;
      return [within(0.5 + radius * Math.cos(turn) + 0.03 * normal()), within(0.5 + radius * Math.sin(turn) + 0.03 * normal()), Number(i >= 20)];
    });
  },
  "A long cloud": () => {
    const { normal } = cloud(17);
    return Array.from({ length: 45 }, () => {
      const along = 0.2 * normal();
      return [within(0.5 + 0.85 * along + 0.04 * normal()), within(0.5 + 0.5 * along + 0.04 * normal()), 0];
    });
  },
};
function groups(middles, spread, seed) {
  const { normal } = cloud(seed);
  return middles.flatMap(([x, y], k) => Array.from({ length: 20 }, () => [within(x + spread * normal()), within(y + spread * normal()), k]));
}
const usual = (lesson) => ({ k_means: "Three groups", mixture: "Three groups", components: "A long cloud", neighbors: "Two moons", tree: "Two moons", regions: "Two moons" })[lesson] ?? "Two groups";

function points(main, lesson, params, signal) {
  let list = decoded(params.points);
  // An empty sheet is kept as such.
  if (!list.length && params.points !== NONE) list = rounded(EXAMPLES[usual(lesson.name)]());
  const past = [];
  let tool = 0;
  const said = h("p", { class: "notice danger", role: "alert", hidden: true });
  const under = s("g", { class: "under" });
  const dots = s("g", { class: "points" });
  const over = s("g", { class: "over" });
  const cursor = s("g", { class: "cursor", hidden: true }, s("circle", { r: 2.2, cx: 50, cy: 50 }));
  const board = s("svg", { class: "board", viewBox: "0 0 100 100", tabindex: "0", role: "application", "aria-label": "Points. Arrow keys move the cursor, Enter paints, Delete erases." }, s("rect", { class: "sheet", width: 100, height: 100 }), under, dots, over, cursor);
  const controls = Object.fromEntries(lesson.settings.map((one) => {
    const value = params[one.name] ?? one.value;
    return [one.name, one.choices.length ? select(one.choices, value) : h("input", { type: "number", min: one.low, max: one.high, step: one.step, value })];
  }));
  const draw = (frame) => {
    show(dots, list.map(([x, y, c], i) => {
      const group = frame?.colors ? frame.colors[i] : c;
      const share = frame?.shares?.[i] ?? 1;
      return s("circle", { class: group < 0 ? "fill-8" : `fill-${group + 1}`, cx: 100 * x, cy: 100 * (1 - y), r: 1.4, opacity: 0.35 + 0.65 * share });
    }));
    show(under, (frame?.marks ?? []).filter((one) => one.kind === "region").map(region));
    show(over, (frame?.marks ?? []).filter((one) => one.kind !== "region").map(mark));
  };
  const steps = walk(draw, params, signal);
  const ask = latest(async () => {
    const settings = Object.fromEntries(Object.entries(controls).map(([name, one]) => [name, one.value]));
    await load(steps, said, draw, signal, "frames", { lesson: lesson.name, points: list, settings });
  });
  const soon = settled(ask, 120);
  const changed = () => {
    draw(null);
    steps.clear();
    keep({ points: encoded(list) || NONE, step: null });
    soon();
  };
  const remember = () => {
    past.push(list.slice());
    if (past.length > 100) past.shift();
  };
  const paint = (x, y) => {
    if (tool === "erase") {
      const near = list.findIndex((one) => Math.hypot(one[0] - x, one[1] - y) < 0.03);
      if (near < 0) return;
      list.splice(near, 1);
    } else {
      if (list.length >= MOST_POINTS) return say(`${MOST_POINTS} points are enough.`);
      list.push(...rounded([[within(x), within(y), tool]]));
    }
    changed();
  };
  for (const one of Object.values(controls)) one.addEventListener("change", () => {
    keep({ ...Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control.value])), step: null });
    ask();
  });

  // Painting by pointer: a point where it goes down, and along its way.
  let last = null;
  const place = (event) => {
    const box = board.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
  };
  board.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    board.setPointerCapture(event.pointerId);
    remember();
    last = place(event);
    paint(...last);
  });
  board.addEventListener("pointermove", (event) => {
    if (!last) return;
    const here = place(event);
    if (Math.hypot(here[0] - last[0], here[1] - last[1]) < 0.035) return;
    last = here;
    if (here.every((one) => one >= 0 && one <= 1)) paint(...here);
  });
  for (const kind of ["pointerup", "pointercancel"]) board.addEventListener(kind, () => (last = null));
  const at = [0.5, 0.5];
  board.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const here = cursor.firstChild;
    if (way) {
      at[0] = within(at[0] + 0.02 * way[0]);
      at[1] = within(at[1] + 0.02 * way[1]);
      cursor.removeAttribute("hidden");
      here.setAttribute("cx", 100 * at[0]);
      here.setAttribute("cy", 100 * (1 - at[1]));
    } else if (event.key === "Enter" || event.key === " ") {
      remember();
      paint(...at);
      say(`${list.length} points`);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      remember();
      const chosen = tool;
      tool = "erase";
      paint(...at);
      tool = chosen;
      say(`${list.length} points`);
    } else return;
    event.preventDefault();
  });
  board.addEventListener("blur", () => cursor.setAttribute("hidden", ""));

  const tools = [...CLASSES.entries(), ["erase", "Erase"]].map(([value, text]) => h("button", { type: "button", class: "small", "aria-pressed": String(value === tool), onclick: (event) => {
    tool = value;
    for (const one of event.currentTarget.parentNode.children) one.setAttribute("aria-pressed", String(one === event.currentTarget));
  } }, value === "erase" ? null : h("span", { class: `dot back-${value + 1}`, "aria-hidden": "true" }), text));
  const example = select([["", "Take an example"], ...Object.keys(EXAMPLES)], "", { "aria-label": "Examples", class: "fit" });
  example.addEventListener("change", () => {
    if (!example.value) return;
    remember();
    list = rounded(EXAMPLES[example.value]());
    example.value = "";
    changed();
  });
  const undo = h("button", { type: "button", class: "small", onclick: () => {
    if (!past.length) return say("There is nothing to undo.");
    list = past.pop();
    changed();
  } }, "Undo");
  const clear = h("button", { type: "button", class: "small", onclick: () => {
    remember();
    list = [];
    changed();
  } }, "Clear");
  show(main, h("div", { class: "line ends" }, h("h1", null, lesson.title), copier()), h("p", null, lesson.about),
    h("div", { class: "split right" },
      h("section", { class: "card", "aria-label": "Board" },
        h("div", { class: "line" }, h("div", { class: "line tools-of-board", role: "group", "aria-label": "Brush" }, tools), undo, clear, example),
        board, said, h("p", { class: "quiet" }, "Click or drag to paint points. The link in the address keeps them.")),
      h("div", { class: "stack" },
        lesson.settings.length ? h("section", { class: "card", "aria-label": "Settings" }, h("div", { class: "fields" }, lesson.settings.map((one) => field(one.title, controls[one.name])))) : null,
        steps.panel)));
  draw(null);
  ask();
}

const rounded = (list) => list.map(([x, y, c]) => [Math.round(1000 * x) / 1000, Math.round(1000 * y) / 1000, c]);

function copier() {
  const button = h("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(location.href.replace(/\?token=[^#]*/, ""));
      say("The link is copied.");
      button.textContent = "Copied";
    } catch {
      say("This browser does not let the page copy. Copy the address.");
    }
  } }, "Copy link");
  return button;
}

// Rows of equal cells are one box each.
function region({ cells, classes, pale }) {
  const size = 100 / cells;
  const boxes = [];
  for (let row = 0; row < cells; row += 1) {
    let from = 0;
    const sign = (column) => classes[row * cells + column] + (pale ? pale[row * cells + column] : "0");
    for (let column = 1; column <= cells; column += 1) {
      if (column < cells && sign(column) === sign(from)) continue;
      boxes.push(s("rect", { class: `region fill-${Number(sign(from)[0]) + 1}${sign(from)[1] === "1" ? " pale" : ""}`, x: from * size, y: 100 - (row + 1) * size, width: (column - from) * size + 0.05, height: size + 0.05 }));
      from = column;
    }
  }
  return boxes;
}

function mark(one) {
  if (one.kind === "path") {
    return s("path", { class: `way stroke-${one.series}${one.dashed ? " dashed" : ""}`, d: `M${one.points.map(([x, y]) => `${(100 * x).toFixed(2)} ${(100 * (1 - y)).toFixed(2)}`).join("L")}` });
  }
  const [x, y] = [100 * one.x, 100 * (1 - one.y)];
  if (one.kind === "ring") return s("circle", { class: "around", cx: x, cy: y, r: 2.4 });
  return s("path", { class: `middle fill-${one.series}`, d: `M${x} ${y - 3}L${x + 3} ${y}L${x} ${y + 3}L${x - 3} ${y}Z` });
}

// --- Grid world ----------------------------------------------------------------------------------

const NOTES = "...+/.#.-/S...";
const ARROWS = { up: "↑", right: "→", down: "↓", left: "←" };
const SIGNS = [[".", "Field"], ["#", "Wall"], ["+", "Goal +1"], ["-", "Pit −1"], ["S", "Start"]];

function grid(main, methods, params, signal) {
  let rows = readRows(params.fields) ?? readRows(NOTES);
  let tool = "#";
  const method = select(methods.map((one) => one.name), params.method ?? methods[0].name);
  const living = h("input", { type: "number", min: -10, max: 10, step: 0.01, value: params.living ?? -0.04 });
  const slip = h("input", { type: "number", min: 0, max: 1, step: 0.05, value: params.slip ?? 0.2 });
  const discount = h("input", { type: "number", min: 0.01, max: 1, step: 0.01, value: params.discount ?? 1 });
  const size = select(["3 x 3", "4 x 3", "5 x 5", "8 x 6", "10 x 10"], `${rows[0].length} x ${rows.length}`);
  const said = h("p", { class: "notice danger", role: "alert", hidden: true });
  const board = h("div", { class: "world", role: "group", "aria-label": "Fields" });
  const about = h("p");
  const draw = (frame) => {
    const values = new Map((frame?.fields ?? []).map((one) => [one.field.join(), one]));
    const most = Math.max(0.01, ...[...values.values()].map((one) => Math.abs(one.value)));
    board.style.setProperty("--columns", rows[0].length);
    const focused = board.contains(document.activeElement) ? [...board.children].indexOf(document.activeElement) : -1;
    show(board, rows.flatMap((line, r) => [...line].map((sign, c) => {
      const one = values.get([c + 1, rows.length - r].join());
      const name = SIGNS.find(([key]) => key === sign)?.[1] ?? "Field";
      const isAt = frame?.at?.join() === [c + 1, rows.length - r].join();
      const value = one ? one.value.toFixed(3).replace("-", "−") : "";
      const shade = one ? Math.round((42 * Math.abs(one.value)) / most) : 0;
      return h("button", { type: "button", class: `place ${sign === "#" ? "wall" : one && one.value < 0 ? "loss" : "gain"}${isAt ? " here" : ""}`, style: { "--shade": `${shade}%` }, "aria-label": `Column ${c + 1}, row ${rows.length - r}: ${name}${one ? `, worth ${value}` : ""}${one?.move ? `, go ${one.move}` : ""}`, onclick: () => put(r, c) },
        sign === "#" ? null : [h("span", { class: "move" }, one?.move ? ARROWS[one.move] : sign === "." || sign === "S" ? "" : sign === "-" ? "−1" : "+1"), h("span", { class: "value" }, value), sign === "S" ? h("span", { class: "start" }, "start") : null]);
    })));
    board.children[focused]?.focus();
  };
  const steps = walk(draw, params, signal);
  const ask = latest(async () => {
    about.textContent = methods.find((one) => one.name === method.value)?.about ?? "";
    await load(steps, said, draw, signal, "world", { fields: rows.join("\n"), method: method.value, living_reward: Number(living.value), slip: Number(slip.value), discount: Number(discount.value) });
  });
  const changed = () => {
    keep({ fields: rows.join("/"), method: method.value, living: living.value, slip: slip.value, discount: discount.value, step: null });
    steps.clear();
    draw(null);
    ask();
  };
  const put = (r, c) => {
    rows = rows.map((line, i) => [...line].map((sign, j) => (i === r && j === c ? tool : tool === "S" && sign === "S" ? "." : sign)).join(""));
    changed();
  };
  for (const one of [method, living, slip, discount]) one.addEventListener("change", changed);
  size.addEventListener("change", () => {
    const [width, height] = size.value.split(" x ").map(Number);
    rows = Array.from({ length: height }, (_, r) => Array.from({ length: width }, (_, c) => (r === 0 && c === width - 1 ? "+" : r === 1 && c === width - 1 ? "-" : r === height - 1 && c === 0 ? "S" : ".")).join(""));
    changed();
  });
  const brushes = SIGNS.map(([sign, text]) => h("button", { type: "button", class: "small", "aria-pressed": String(sign === tool), onclick: (event) => {
    tool = sign;
    for (const one of event.currentTarget.parentNode.children) one.setAttribute("aria-pressed", String(one === event.currentTarget));
  } }, text));
  show(main, h("div", { class: "line ends" }, h("h1", null, "Grid world"), copier()), about,
    h("div", { class: "split right" },
      h("section", { class: "card", "aria-label": "World" },
        h("div", { class: "line" }, h("div", { class: "line tools-of-board", role: "group", "aria-label": "Brush" }, brushes)), board, said,
        h("p", { class: "quiet" }, "Click a field to change it. Arrows are the best moves so far; the framed field is the one whose equation is shown.")),
      h("div", { class: "stack" },
        h("section", { class: "card", "aria-label": "Settings" }, h("div", { class: "fields" }, field("Method", method), field("Size", size), field("Reward of a field", living), field("Chance to slip", slip), field("Discount", discount))),
        steps.panel)));
  draw(null);
  ask();
}

function readRows(text) {
  const found = (text ?? "").split("/").filter(Boolean);
  const fits = found.length > 0 && found.length <= 10 && found.every((line) => line.length === found[0].length && line.length <= 10 && /^[.#+\-SG]+$/.test(line));
  return fits ? found : null;
}
