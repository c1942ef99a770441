// Asking the server; answers are JSON.
//
// The key of the session came with the page and goes along as a header. It is stored by the origin,
// which other servers of this machine are not, unlike the cookie, which opens the page's files alone.

import { h } from "./dom.js";

export class StudioError extends Error {}

const KEY = "novum-key";
let store = {};
try {
  store = localStorage;
} catch {
  // A browser that keeps nothing has this window alone.
}
const brought = document.querySelector(`meta[name="${KEY}"]`);
if (brought) {
  store[KEY] = brought.content;
  brought.remove();
  // The token was used, and people copy the address.
  history.replaceState(null, "", `/${location.hash}`);
}
const headers = (more = {}) => ({ [KEY]: store[KEY] ?? "", ...more });

const outage = new EventTarget();
// Told when the server does not answer, and when it does again: {lost: bool, said}.
export const onOutage = (listener) => outage.addEventListener("change", (event) => listener(event.detail));
const tell = (detail) => outage.dispatchEvent(new CustomEvent("change", { detail }));
let lost = false;

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    lost = true;
    tell({ lost, said: "The studio does not answer. Start it again with novum studio; runs are not lost, and go on or can be resumed." });
    throw new StudioError("The studio does not answer.");
  }
  if (lost && answer.status !== 403) tell({ lost: (lost = false) });
  if (answer.status === 403) {
    lost = true;
    tell({ lost, said: "The studio does not know this window any more: it was started again, or somebody has logged out. Open the link that its terminal shows." });
  }
  const body = answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new StudioError(body.error || `The server answered with ${answer.status}.`);
  return body;
}

// get("/api/tables/list", {name: "a.csv"}, signal): parameters that are null or undefined are left out.
export function get(path, parameters = {}, signal) {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams(pairs).toString();
  return ask(query ? `${path}?${query}` : path, { signal });
}

export function post(path, body = {}, signal) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
}

// The address of a file for a frame or a download, which send no headers: it opens for a minute.
export async function ticketed(path, signal) {
  const { ticket } = await get("/api/ticket", { path }, signal);
  return `${path}?${new URLSearchParams({ ticket })}`;
}

// A link that downloads a file.
export const fileLink = (path, text, attributes) => h("a", { href: path, ...attributes, onclick: async (event) => {
  event.preventDefault();
  h("a", { href: await ticketed(path), download: "" }).click();
} }, text);

// Sends a file as it is, with its progress; `fetch` cannot tell how much was sent.
export function upload(path, file, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${path}?${new URLSearchParams({ name: file.name })}`);
    for (const [name, value] of Object.entries(headers({ "content-type": "application/octet-stream" }))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => onProgress?.(event.loaded / Math.max(event.total, 1));
    request.onerror = () => reject(new StudioError("The file was not sent: it is larger than the studio takes, or the studio does not answer."));
    request.onload = () => {
      let body;
      try {
        body = JSON.parse(request.responseText);
      } catch {
        body = { error: request.responseText };
      }
      if (request.status < 300) resolve(body);
      else reject(new StudioError(body.error || `The server answered with ${request.status}.`));
    };
    request.send(file);
  });
}
