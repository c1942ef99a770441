// The shell: rooms in the navigation, theme, keys, what is said when the server is gone.
//
// A room is a module rooms/<name>.js with one function,
//
//   export async function enter(view, {parts, params, signal, studio}) { ... }
//
// which fills the element `view`. It is called anew whenever the address changes by a step (`go`); the
// signal is aborted when the room is left, for listeners, timers and requests.

import { get, onOutage, post } from "./lib/api.js";
import { h, show } from "./lib/dom.js";
import { go, link, onRoute, route } from "./lib/route.js";
import { say } from "./lib/say.js";

const main = document.getElementById("main");
let studio = null;
let left = new AbortController();
let present = "";

async function enter() {
  const now = route();
  const room = studio.rooms.find((one) => one.name === now.room);
  if (!room) {
    history.replaceState(null, "", link(studio.rooms[0].name));
    return enter();
  }
  left.abort();
  left = new AbortController();
  const { signal } = left;
  const isNew = present !== room.name;
  present = room.name;
  for (const one of document.querySelectorAll("#rooms a")) {
    if (one.dataset.room === room.name) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  document.title = `${room.title} · Novum Studio`;
  const view = h("div", { class: `room ${room.name}` });
  try {
    const module = await import(`./rooms/${room.name}.js`);
    if (signal.aborted) return;
    if (isNew) show(main, view);
    await module.enter(view, { ...now, signal, studio });
    if (!signal.aborted && view.parentNode !== main) show(main, view);
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    // A module that cannot be loaded means that nobody serves it; asking says so.
    if (error instanceof TypeError) get("/api/studio").catch(() => null);
    show(main, view);
    show(view, h("h1", null, room.title), h("p", { class: "notice danger", role: "alert" }, error.message));
  }
  if (isNew) say(`${room.title}. ${room.description}`);
}

const THEMES = ["system", "light", "dark"];
function theme(chosen) {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem("novum-theme", chosen);
  } catch {
    // Not kept, but used.
  }
  const button = document.getElementById("theme");
  button.textContent = { system: "Auto", light: "Light", dark: "Dark" }[chosen];
  button.setAttribute("aria-label", `Theme: ${button.textContent}. Change it.`);
}

function keys() {
  const pairs = [
    ...studio.rooms.map((room, i) => [`Alt + Shift + ${i + 1}`, room.title]),
    ["Alt + Shift + D", "Light, dark or as the system"],
    ["Tab, Enter, Space", "From control to control, and use them"],
    ["Arrows", "Move sliders, walk through a tree"],
    ["Esc", "Close a window like this one"],
  ];
  const box = h("dialog", { "aria-label": "Keys", onclose: () => box.remove() },
    h("h2", null, "Keys"), h("dl", { class: "pairs" }, pairs.map(([key, what]) => [h("dt", null, h("kbd", null, key)), h("dd", null, what)])),
    h("p", { class: "quiet" }, "The address holds what you see. Copy it to come back, or to show it to somebody in their own studio."),
    h("form", { method: "dialog" }, h("button", null, "Close")));
  document.body.append(box);
  box.showModal();
}

async function begin() {
  let kept = "system";
  try {
    kept = localStorage.getItem("novum-theme") ?? "system";
  } catch {
    // As the system.
  }
  let chosen = THEMES.includes(kept) ? kept : "system";
  theme(chosen);
  const nextTheme = () => {
    chosen = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length];
    theme(chosen);
    say(`Theme: ${chosen}`);
  };
  document.getElementById("theme").addEventListener("click", nextTheme);
  document.getElementById("help").addEventListener("click", keys);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  document.getElementById("leave").addEventListener("click", async () => {
    await post("/api/leave");
    left.abort();
    show(main, h("p", { class: "empty" }, "You have logged out, and no other window is known any more. To come back, open the link that the terminal shows."));
  });
  const box = document.getElementById("outage");
  onOutage(({ lost, said }) => {
    box.hidden = !lost;
    box.textContent = lost ? said : "";
  });
  try {
    studio = await get("/api/studio");
  } catch (error) {
    show(main, h("p", { class: "empty" }, error.message));
    return;
  }
  document.getElementById("folder").textContent = studio.folder;
  show(document.getElementById("rooms"), studio.rooms.map((room) => h("li", null, h("a", { href: link(room.name), dataset: { room: room.name }, title: room.description }, room.title))));
  addEventListener("keydown", (event) => {
    if (!event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return;
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit && studio.rooms[digit[1] - 1]) {
      event.preventDefault();
      go(studio.rooms[digit[1] - 1].name);
    } else if (event.code === "KeyD") {
      event.preventDefault();
      nextTheme();
    }
  });
  onRoute(enter);
  await enter();
}

begin();
