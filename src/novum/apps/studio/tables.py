"""The room of tables: look at one, correct its kinds, start a run, watch it, compare two.

Everything that is said about a table comes from `novum profile`, and a run is that of `novum run`:
what the page sends becomes the same `Request` that the command line makes of its options.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict

from novum import data
from novum.apps.cli.profile import looked_at
from novum.apps.job import request as requests
from novum.apps.job.families import FAMILIES
from novum.apps.job.outputs import LEADERBOARD, SCRIPT
from novum.apps.job.record_json import from_json, to_json
from novum.apps.report.names import cleaned
from novum.apps.studio.cells import cell_text
from novum.apps.studio.folder import OpenedFolder
from novum.apps.studio.guard import REPORT_POLICY
from novum.apps.studio.rooms import Studio
from novum.apps.studio.runs import MODEL, PREDICTIONS, REPORT, RUN
from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation import corrected_t_test

# Settings of a run that a page may name: not those that are paths, which are checked on their own.
SETTINGS = (
    "target", "targets", "task", "metric", "positive", "prior", "cost_fn", "cost_fp", "preset",
    "models", "repeats", "folds", "holdout", "weight", "group", "time", "exposure", "id", "kind",
    "levels", "missing_values", "sql", "sheet", "seed", "refit", "coverage", "n_jobs",
)  # fmt: skip
# Files of a run that are given away; no others.
FILES = (REPORT, PREDICTIONS, LEADERBOARD, MODEL, SCRIPT, RUN, "assignments.csv", "scores.csv")
MOST_ROWS = 200


class Asked(BaseModel):
    """A table and what is said about it; `settings` are those of `Request`, `budget` a time."""

    model_config = ConfigDict(extra="forbid")

    table: str
    settings: dict[str, Any] = {}
    budget: str = ""
    test: str = ""


def routes(studio: Studio) -> APIRouter:
    """The routes of the room."""
    room = APIRouter()
    folder, runs = studio.folder, studio.runs

    @room.get("/list")
    def listed() -> Any:
        files = [
            {"name": name, "bytes": stat.st_size, "modified": stat.st_mtime}
            for name, stat in folder.files().items()
        ]
        return {
            "tables": files,
            "unnamed": folder.unnamed(),
            "bundled": list(data.available()),
            "runs": [runs.summary(name) for name in runs.names()],
        }

    @room.get("/choices")
    def choices() -> Any:
        """What can be chosen from in a form."""
        families = [{"name": one.name, "title": one.title} for one in FAMILIES]
        return {"tasks": requests.TASKS, "kinds": requests.KINDS, "families": families}

    @room.post("/upload")
    async def upload(request: Request, name: str) -> Any:
        return {"name": await folder.receive(name, request.stream())}

    @room.get("/rows")
    def rows(table: str, start: int = 0, count: int = 20) -> Any:
        """Some rows of a table as they were read."""
        read = studio.tables.read(table)
        part = read.slice(max(start, 0), min(max(count, 0), MOST_ROWS))
        cells = [[cell_text(cell) for cell in column.to_pylist()] for column in part.columns]
        return {
            "columns": read.column_names,
            "rows": list(map(list, zip(*cells, strict=True))),
            "n_rows": read.num_rows,
        }

    @room.post("/profile")
    def profile(asked: Asked) -> Any:
        """What `novum profile` says."""
        request = request_of(folder, asked)
        request = replace(request, table=path_of(folder, asked.table))
        _, record, findings, notes = looked_at(request)
        parts = {"profile": cleaned(record), "findings": cleaned(findings)}
        plain = {key: json.loads(to_json(part))["record"] for key, part in parts.items()}
        target = request.target
        if target is None and asked.table in data.available():
            target = data.load(asked.table).target
        return {**plain, "notes": notes, "target": target}

    @room.post("/runs")
    def start(asked: Asked) -> Any:
        return {"name": runs.start(request_of(folder, asked))}

    @room.get("/runs/{name}")
    def run(name: str) -> Any:
        return runs.details(name)

    @room.post("/runs/{name}/{action}")
    def act(name: str, action: Literal["cancel", "resume", "forget"]) -> Any:
        getattr(runs, action)(name)
        return {}

    @room.get("/runs/{name}/report")
    def report(name: str) -> Response:
        page = runs.file(name, REPORT).read_bytes()
        headers = {"content-security-policy": REPORT_POLICY}
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    @room.get("/runs/{name}/files/{file}")
    def download(name: str, file: str) -> Response:
        if file not in FILES:
            raise InputError(f"A run gives away {', '.join(FILES)}, and nothing else.")
        path = runs.file(name, file)
        return FileResponse(path, media_type="application/octet-stream", filename=f"{name}-{file}")

    @room.get("/compare")
    def compare(first: str, second: str) -> Any:
        if first == second:
            raise InputError("Choose two different runs.")
        records = {name: runs.record(name) for name in (first, second)}
        return {"runs": records, **compared(*records.values())}

    return room


# --- Requests -------------------------------------------------------------------------------------


def path_of(folder: OpenedFolder, table: str) -> str:
    """The path of a table of the folder, or the name of a bundled one."""
    return table if table in data.available() else str(folder.file(table))


def request_of(folder: OpenedFolder, asked: Asked) -> requests.Request:
    """The request that the command line makes of the same settings, in the opened folder."""
    path_of(folder, asked.table)
    strange = sorted(set(asked.settings) - set(SETTINGS))
    if strange:
        raise InputError(f"{printable(strange[0], 60)!r} is no setting of a run.")
    known = asdict(requests.Request(asked.table)) | asked.settings
    if asked.budget.strip():
        known["budget_seconds"] = requests.seconds_of(asked.budget)
    if asked.test:
        known["test"] = folder.file(asked.test).name
    request = from_json(json.dumps({"format": 1, "record": known}), requests.Request)
    families = [one.name for one in FAMILIES]
    for name in request.models:
        if name not in families:
            raise InputError(
                f"There is no family {printable(name, 60)!r}; there are {', '.join(families)}."
            )
    return request


# --- Two runs -------------------------------------------------------------------------------------


def compared(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """What two runs differ in, and whether their chosen models can be told apart.

    Folds are shared where table, target, measure and plan are the same; then the corrected
    resampled t test compares the chosen models fold by fold.
    """
    settings = sorted(set(first["settings"]) | set(second["settings"]))
    differing = [
        {"setting": name, "first": _shown(first, name), "second": _shown(second, name)}
        for name in settings
        if first["settings"].get(name) != second["settings"].get(name)
    ]
    reason = _not_comparable(first, second)
    if reason:
        return {"differing": differing, "sentence": reason, "test": None}
    chosen = [
        next(one for one in run["leaderboard"] if one["is_chosen"]) for run in (first, second)
    ]
    pairs = zip(chosen[0]["fold_scores"], chosen[1]["fold_scores"], strict=True)
    test = corrected_t_test([a - b for a, b in pairs], 1 / (first["plan"]["folds"] - 1))
    difference, interval = test.estimate, test.interval
    # A mean of differences always has them.
    assert difference is not None
    assert interval is not None
    greater = first["task_record"]["greater_is_better"]
    names = [one["title"] for one in chosen]
    if test.p_value != test.p_value or test.p_value >= 0.05:
        said = f"On the folds that they share, {names[0]} and {names[1]} cannot be told apart."
    else:
        winner, loser = names if (difference > 0) == greater else reversed(names)
        said = f"On the folds that they share, {winner} is better than {loser}."
    return {
        "differing": differing,
        "sentence": said,
        "test": {
            "difference": _finite(difference),
            "low": _finite(interval.low),
            "high": _finite(interval.high),
            "p_value": _finite(test.p_value),
            "metric": first["task_record"]["metric"],
        },
    }


def _not_comparable(first: dict[str, Any], second: dict[str, Any]) -> str:
    """Why there is no test, or nothing."""
    for run in (first, second):
        if "plan" not in run:
            return "Runs of several targets, groups and unusual rows are read side by side."
    same = {
        "the table": [run["data"]["sha256"] for run in (first, second)],
        "the target": [run["task_record"]["target"] for run in (first, second)],
        "the measure": [run["task_record"]["metric"] for run in (first, second)],
        "the rows that were learned from": [
            [run["data"]["n_train"], run["data"]["holdout_way"]] for run in (first, second)
        ],
        "folds or seed": [
            [run["plan"][key] for key in ("repeats", "folds", "seed")] for run in (first, second)
        ],
        "the costs": [
            [run["task_record"]["priors"], run["task_record"]["cost"]] for run in (first, second)
        ],
    }
    for what, (one, other) in same.items():
        if one != other:
            return f"There is no test of the two, because they differ in {what}."
    return ""


def _shown(run: dict[str, Any], name: str) -> str:
    value = run["settings"].get(name)
    return "–" if value in (None, [], "") else json.dumps(value, ensure_ascii=False).strip('"')


def _finite(value: float) -> float | None:
    return float(value) if value == value and abs(value) != float("inf") else None
