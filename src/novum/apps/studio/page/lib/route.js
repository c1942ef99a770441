// The state in the address: #/room/part/part?name=value. A link keeps it, and so does "back".

// {room: "tables", parts: ["iris.csv"], params: {target: "class"}}
export function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [room, ...parts] = path.split("/").filter(Boolean).map(decode);
  return { room: room ?? "", parts, params: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The address of a state; parameters that are empty are left out.
export function link(room, parts = [], params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return `#/${[room, ...parts].map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

// Another state: a step that "back" undoes.
export function go(room, parts, params) {
  location.hash = link(room, parts, params);
}

// The same room with other parameters, without a step in the history and without drawing anew:
// for sliders, whose every position would be one.
let late = 0;
let waiting = {};
export function keep(params) {
  const now = route();
  clearTimeout(late);
  waiting = { ...waiting, ...params };
  try {
    history.replaceState(null, "", link(now.room, now.parts, { ...now.params, ...waiting }));
    waiting = {};
  } catch {
    // Browsers allow so many notes in some seconds; the last one is made a little later.
    late = setTimeout(() => (route().room === now.room ? keep({}) : (waiting = {})), 2000);
  }
}

export const onRoute = (listener) => addEventListener("hashchange", listener);
