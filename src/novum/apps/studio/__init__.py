"""The studio: a local page for who does not type commands (`novum studio`).

FastAPI and uvicorn serve one page, plain ES modules and CSS that lie in `page/` as they are: there
is no build step, and a clone works at once (`docs/decisions/0013-studio-without-a-build.md`).

| file | what it is |
|---|---|
| `guard.py` | who may ask: host, origin, token and cookie, size of bodies, content policy |
| `server.py` | the application: files of the page, routes of the rooms, errors as one sentence |
| `folder.py` | the opened folder: files by name, never by path; files that are dropped |
| `runs.py`, `child.py` | runs as folders on the disk, and the processes that make them |
| `rooms.py` | the list of rooms, and what they share: `Studio` with `folder`, `runs`, `tables` |
| `tables.py`, ... | one room each |
| `page/index.html`, `studio.js`, `studio.css` | the shell |
| `page/lib/` | the client library: `dom.js`, `api.js`, `route.js`, `say.js`, `chart.js` |
| `page/rooms/<name>.js` | the view of one room |

A new room in four steps
------------------------
1. A line in `rooms.ROOMS`: `Room("networks", "Networks", "One sentence.")`. The navigation, its
   keys (Alt + Shift + number) and the help follow from it.
2. `networks.py` with `def routes(studio: Studio) -> APIRouter`. Its routes are below
   `/api/networks`. Plain `def` functions run in threads and may compute; `async def` only for
   streams of bytes (`request.stream()`). Bodies are pydantic models at the level of the module.
   Raise `InputError` with one sentence for what people can mend: the page shows it. Name files of
   the folder by `studio.folder.file(name, suffixes)` and take new ones by `studio.folder.receive`;
   never make a path of what a browser sent. Keep what is expensive in a `rooms.Kept`. Answers are
   plain data without NaN. What changes anything is a POST.
3. `page/rooms/networks.js` with `export async function enter(view, {parts, params, signal})`, which
   fills the element `view`. Build with `h`, `s` (SVG) and `show` of `lib/dom.js`, never with
   innerHTML; ask with `get`, `post` and `upload` of `lib/api.js` (they throw a sentence, which the
   shell shows if nobody catches it). `signal` is aborted when the room is left: pass it to
   listeners and requests, and stop timers by it. The address is the state: `go(room, parts,
   params)` makes a step and draws anew, `keep(params)` notes a state without drawing, as sliders
   need it. `say(text)` tells a screen reader what changed elsewhere. Wrap what follows a slider in
   `latest(...)`, so that requests never queue up.
4. Tests in `tests/apps/studio`: `served` (conftest) is a real server with a client that has
   entered, `browser_page` a page of a real Chromium that has; `checks.py` holds what every room
   must pass (`overflowing`, `serious_findings`) at 390 and 1280 px, light and dark.

The content policy forbids inline scripts, inline styles and everything from elsewhere. Styles are
classes in `studio.css`; a width that depends on data is set as a property: `h("i", {style: {width:
"40%"}})` does that. Colors are variables (`--series-1` to `--series-8`, classes `fill-1`,
`stroke-1`, `back-1`), so that light and dark come by themselves.
"""
