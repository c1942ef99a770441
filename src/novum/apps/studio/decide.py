"""The room of decisions: a model's working point as sliders, and what changes with it.

What is shown is about rows that the answering model had not seen: rows set aside, and training rows
answered by the models of the folds that left them out (`predictions.csv`). Their posteriors are
moved to the priors of the point, and every decision is the one of least expected cost there
(`novum.core.WorkingPoint`). Nothing is learned anew.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from fastapi import APIRouter
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict

from novum.apps.job.outputs import Identifiers, Predictions, safe_cell, write_predictions
from novum.apps.job.record import RunRecord
from novum.apps.job.record_json import read_record
from novum.apps.studio.cells import cell_text
from novum.apps.studio.folder import keep_private
from novum.apps.studio.rooms import Kept, Studio, stamp_of
from novum.apps.studio.runs import MODEL, PREDICTIONS, RUN
from novum.core.decisions import RetargetedClassifier, WorkingPoint, label_array
from novum.core.errors import FileFormatError, InputError
from novum.core.files import load, save
from novum.evaluation import blind_risk, risk_of_actions, roc_curve, threshold_curve
from novum.numerics import Floats, Integers, cached_property

DECIDED, DECISIONS = "model-decided.novum", "decisions.csv"
# Points of a curve that is drawn, rows of a list, columns shown beside a row.
MOST_POINTS, MOST_ROWS, MOST_COLUMNS = 201, 40, 4
# Thresholds at which the cost of a large table is computed.
MOST_CUTS = 2000


class Point(BaseModel):
    """A working point as the page has it: in the order of the classes of the run."""

    model_config = ConfigDict(extra="forbid")

    priors: list[float]
    cost: list[list[float]]
    reject: float | None = None
    part: str = "unseen"


@dataclass(frozen=True, eq=False)
class Answered:
    """Rows that were answered by models that had not seen them.

    Attributes
    ----------
    record : RunRecord
    classes : tuple of str
    rows : array (n,)
        Positions in the table, or in the test file.
    source : array (n,) of str
        Who answered.
    codes : array (n,)
        True classes.
    posteriors : array (n, K)
        Under `priors`.
    priors : array (K,)
    ids : Identifiers or None
    """

    record: RunRecord
    classes: tuple[str, ...]
    rows: Integers
    source: Any
    codes: Integers
    posteriors: Floats
    priors: Floats
    ids: Identifiers | None

    def part(self, name: str) -> Answered:
        """All rows, or those set aside alone."""
        if name == "unseen":
            return self
        if name != "aside":
            raise InputError(f"The rows are 'unseen' or 'aside', got {name!r}.")
        kept = np.flatnonzero(self.source != "out of fold")
        if not len(kept):
            raise InputError("This run has set no rows aside.")
        return replace(
            self,
            rows=self.rows[kept],
            source=self.source[kept],
            codes=self.codes[kept],
            posteriors=self.posteriors[kept],
            ids=None if self.ids is None else replace(self.ids, names=self.ids.names[kept]),
        )

    @property
    def truth(self) -> Any:
        return label_array(self.classes)[self.codes]

    @cached_property
    def before(self) -> Integers:
        """The actions at the run's own point."""
        return self.start.actions_for(self.posteriors)

    @cached_property
    def cuts(self) -> tuple[Floats, Integers, Floats]:
        """Of two classes: posteriors to cut at, with the rows between one cut and the next.

        Returns
        -------
        posteriors : array (m, 2)
        is_positive : array (m,)
        weight : array (m,)
            Rows. Where there are few rows, each is a cut of its own.
        """
        at = self.classes.index(_positive(self))
        order = np.argsort(self.posteriors[:, at], kind="stable")
        scores = self.posteriors[order, at]
        n_cuts = min(len(order), MOST_CUTS)
        some = np.linspace(0, len(order), n_cuts, endpoint=False).astype(np.int64)
        # Rows of one piece are accepted together, from its lowest score on; equal scores stay
        # together.
        starts = np.unique(np.searchsorted(scores, scores[some]))
        is_positive = (self.codes[order] == at).astype(float)
        n_positive = np.add.reduceat(is_positive, starts)
        n_rows = np.diff(np.append(starts, len(order)))
        posteriors = self.posteriors[order[starts]]
        weight = np.concatenate([n_positive, n_rows - n_positive])
        kept = weight > 0
        labels = np.repeat([1, 0], len(starts))
        return np.concatenate([posteriors, posteriors])[kept], labels[kept], weight[kept]

    def point(self, asked: Point) -> WorkingPoint:
        """The point that the page asks for; priors are shares, whatever their sum."""
        total = sum(asked.priors)
        if len(asked.priors) != len(self.classes) or not total > 0:
            raise InputError(f"A point has a prior above 0 for {len(self.classes)} classes.")
        shares = np.array(asked.priors, float) / total
        return WorkingPoint(self.classes, shares, asked.cost, asked.reject, self.actions)  # type: ignore[arg-type]

    @property
    def actions(self) -> tuple[str, ...]:
        """What can be done: the classes, or what the table of costs of the run names."""
        return tuple(self.record.task.actions) or self.classes

    @property
    def start(self) -> WorkingPoint:
        """Where the run decides: its own point, or least errors under the shares of the rows."""
        cost = self.record.task.cost or (1.0 - np.eye(len(self.classes)))
        return WorkingPoint(self.classes, self.priors, cost, None, self.actions)  # type: ignore[arg-type]


def routes(studio: Studio) -> APIRouter:
    """The routes of the room."""
    room = APIRouter()
    kept = Kept(4)

    def answered(name: str) -> Answered:
        path = studio.runs.file(name, PREDICTIONS)
        record = studio.runs.file(name, RUN)
        answers: Answered = kept(
            (name, stamp_of(path), stamp_of(record)), lambda: read_answers(record, path)
        )
        return answers

    @room.get("/list")
    def listed() -> Any:
        """Finished runs that decide between classes."""
        return {"runs": [one for one, task in studio.runs.of_one_target() if task.get("classes")]}

    @room.get("/{name}")
    def opened(name: str) -> Any:
        """The run with its own point, and the curve that no point changes."""
        answers = answered(name)
        start, task = answers.start, answers.record.task
        folder = studio.runs.path(name)
        content = {
            "name": name,
            "target": task.target,
            "title": answers.record.chosen.title,
            "classes": answers.classes,
            "actions": answers.actions,
            "positive": _positive(answers),
            "n_rows": len(answers.rows),
            "n_aside": int((answers.source != "out of fold").sum()),
            "point": {"priors": start.priors.tolist(), "cost": start.cost.tolist()},
            "roc": None,
            "saved": (folder / DECIDED).is_file(),
        }
        if len(answers.classes) == 2:
            at = answers.classes.index(_positive(answers))
            curve = roc_curve(answers.codes == at, answers.posteriors[:, at], n_resamples=0)
            shown = _some(len(curve.false_positive_rate))
            content["roc"] = {
                "x": curve.false_positive_rate[shown].tolist(),
                "y": curve.true_positive_rate[shown].tolist(),
                "area": curve.area.estimate,
            }
        return content

    @room.post("/{name}/at")
    def at(name: str, asked: Point) -> Any:
        """What the decisions are at a point, and which rows it changes."""
        answers = answered(name).part(asked.part)
        content = decided(answers, answers.point(asked))
        content["changed"]["rows"] = _told(
            studio, answers, content["changed"].pop("places"), content
        )
        del content["actions_of"], content["before_of"]
        return content

    @room.post("/{name}/save")
    def keep(name: str, asked: Point) -> Any:
        """Writes the model at the point beside the model of the run, which stays."""
        answers = answered(name)
        point = answers.point(asked)
        model = load(studio.runs.file(name, MODEL))
        source = model.model if isinstance(model, RetargetedClassifier) else model
        if [str(label) for label in source.classes_] != list(answers.classes):
            raise InputError("The model has other classes than its record, so nothing was saved.")
        label_of = dict(zip(answers.classes, source.classes_, strict=True))
        actions = [label_of.get(action, action) for action in answers.actions]
        there = WorkingPoint(
            tuple(source.classes_), point.priors, point.cost, point.reject_cost, tuple(actions)
        )
        path = studio.runs.path(name) / DECIDED
        save(source.at(there), path)
        keep_private(path)
        return {"file": DECIDED}

    @room.post("/{name}/export")
    def export(name: str, asked: Point) -> Any:
        """Writes the decisions at the point to a file that is inert in a spreadsheet."""
        answers = answered(name).part(asked.part)
        path = studio.runs.path(name) / DECISIONS
        return {"file": DECISIONS, "n_rows": write_decisions(answers, answers.point(asked), path)}

    @room.get("/{name}/files/{file}")
    def download(name: str, file: str) -> Response:
        if file not in (DECIDED, DECISIONS):
            raise InputError(f"There are {DECIDED} and {DECISIONS} here, and nothing else.")
        path = studio.runs.file(name, file)
        return FileResponse(path, media_type="application/octet-stream", filename=f"{name}-{file}")

    return room


# --- Reading --------------------------------------------------------------------------------------


def read_answers(record_path: Path, path: Path) -> Answered:
    """The answers of a run for rows with a target, by models that had not seen them."""
    try:
        record = read_record(record_path, RunRecord)
    except FileFormatError:
        raise InputError(
            "Decisions are about a run of one target with classes. Open the folder of one of the "
            "targets, or start a run with one."
        ) from None
    classes = tuple(record.task.classes)
    if not classes:
        raise InputError("This run predicts numbers, so there is nothing to decide between.")
    try:
        return _read_rows(record, classes, path)
    except (ValueError, StopIteration, IndexError):
        raise InputError(
            "predictions.csv of the run is not as the run wrote it. Run it again."
        ) from None


def _read_rows(record: RunRecord, classes: tuple[str, ...], path: Path) -> Answered:
    with path.open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    identifier = record.settings.get("id")
    first = 0 if identifier is None else 1
    text = {f"c{place}": pa.string() for place in range(len(head))}
    table = pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(column_names=list(text), skip_rows=1),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=text, strings_can_be_null=False),
    )

    def column(place: int) -> Any:
        return np.array(table.column(place).to_pylist(), object)

    heads = [safe_cell(f"probability {label}") for label in classes]
    places = [head.index(name, first + 4) for name in heads]
    code_of = {safe_cell(label): code for code, label in enumerate(classes)}
    source = column(first + 1)
    codes = np.array([code_of.get(label, -1) for label in column(first + 2)])
    kept = np.flatnonzero((codes >= 0) & (source != "no target"))
    posteriors = np.column_stack([column(place)[kept].astype(float) for place in places])
    posteriors /= posteriors.sum(axis=1, keepdims=True)
    # Without a point, models answer under the shares of the classes that they have learned from.
    trained = source[kept] == "out of fold"
    counts = np.bincount(codes[kept][trained if trained.any() else slice(None)], None, len(classes))
    priors = np.array(record.task.priors) if record.task.priors else counts / counts.sum()
    ids = None if identifier is None else Identifiers(str(identifier), column(0)[kept])
    rows = column(first)[kept].astype(np.int64) - 1
    return Answered(record, classes, rows, source[kept], codes[kept], posteriors, priors, ids)


# --- Deciding -------------------------------------------------------------------------------------


def decided(answers: Answered, point: WorkingPoint) -> dict[str, Any]:
    """Decisions at a point: their counts and cost, and what differs from the run's own point."""
    moved = point.retarget(answers.posteriors, answers.priors)
    actions, before = point.actions_for(moved), answers.before
    names, n_actions = point.action_names, len(point.action_names)
    counts = np.bincount(
        answers.codes * n_actions + actions, None, len(answers.classes) * n_actions
    )
    present = np.bincount(answers.codes, None, len(answers.classes)) > 0
    cost = blind = None
    if present.all():
        cells = np.indices((len(answers.classes), n_actions)).reshape(2, -1)
        truth, taken = label_array(answers.classes)[cells[0]], label_array(names)[cells[1]]
        cost = risk_of_actions(truth, taken, point, sample_weight=counts.astype(float))
        blind = blind_risk(point)[1]
    is_wrong, is_rejected = answers.codes != actions, actions == len(answers.actions)
    changed = np.flatnonzero(actions != before)
    # The surest changes first: those whose new decision is better by most.
    costs = moved[changed] @ point.action_costs
    at = np.arange(len(changed))
    gain = costs[at, before[changed]] - costs[at, actions[changed]]
    order = np.argsort(-gain, kind="stable")[:MOST_ROWS]
    return {
        "actions": [str(name) for name in names],
        "confusion": counts.reshape(len(answers.classes), n_actions).tolist(),
        "cost": cost,
        "blind": blind,
        "wrong": int((is_wrong & ~is_rejected).sum())
        if answers.actions == answers.classes
        else None,
        "rejected": int(is_rejected.sum()),
        "n_rows": len(answers.rows),
        "threshold": _threshold(answers, point, actions),
        "changed": {"n_rows": len(changed), "places": changed[order]},
        "actions_of": actions,
        "before_of": before,
    }


def _threshold(answers: Answered, point: WorkingPoint, actions: Integers) -> dict[str, Any] | None:
    """Of two classes: where the point cuts the posterior, and the cost of all other cuts."""
    if not replace(point, reject_cost=None).has_threshold:
        return None
    at = answers.classes.index(_positive(answers))
    is_positive = answers.codes == at
    costs = point.cost
    miss, alarm = costs[at, 1 - at] - costs[at, at], costs[1 - at, at] - costs[1 - at, 1 - at]
    n_positive, n_negative = is_positive.sum(), (~is_positive).sum()
    if not (n_positive and n_negative and miss > 0 and alarm > 0):
        return None
    share = point.priors[at]
    ordered = WorkingPoint.binary(prior=share, cost_fn=miss, cost_fp=alarm)
    posteriors, labels, weight = answers.cuts
    scores = point.retarget(posteriors, answers.priors)[:, at]
    curve = threshold_curve(ordered, labels, scores, sample_weight=weight, n_resamples=0)
    # The curve is in units of the best constant decision.
    unit = min(share * miss, (1 - share) * alarm)
    # At a threshold, pieces whose lowest score is above it are accepted: from that score on.
    lowest = np.unique(scores)
    above = np.searchsorted(lowest, curve.thresholds, "right")
    inside = above < len(lowest)
    x, y = lowest[above[inside]][::-1], unit * curve.values[inside][::-1]
    shown = _some(len(x))
    called = actions == at
    return {
        # Costs near the largest number have no sum.
        "value": 1.0 / (1.0 + float(miss) / float(alarm)),
        "x": x[shown].tolist(),
        "y": y[shown].tolist(),
        "best": float(curve.best_threshold) if np.isfinite(curve.best_threshold) else None,
        "false_positive_rate": float((called & ~is_positive).sum() / n_negative),
        "recall": float((called & is_positive).sum() / n_positive),
    }


def write_decisions(answers: Answered, point: WorkingPoint, path: Path) -> int:
    """Answers and decisions at a point, one line for each row; returns how many."""
    moved = point.retarget(answers.posteriors, answers.priors)
    parts = []
    for source in dict.fromkeys(answers.source.tolist()):
        kept = np.flatnonzero(answers.source == source)
        parts.append(
            Predictions(
                answers.rows[kept],
                source,
                answers.truth[kept],
                label_array(point.classes)[point.classes_for(moved[kept])],
                moved[kept],
                label_array(point.action_names)[point.actions_for(moved[kept])],
            )
        )
    names = None
    if answers.ids is not None:
        # Identifiers are looked up by the position of a row in its table.
        known: dict[str, Any] = {}
        for kind, is_tested in (("names", False), ("tested", True)):
            here = (answers.source == "test file") == is_tested
            cells = np.full(int(answers.rows.max(initial=0)) + 1, "", object)
            cells[answers.rows[here]] = answers.ids.names[here]
            known[kind] = cells
        names = Identifiers(answers.ids.column, **known)
    n_lines = write_predictions(path, parts, list(answers.classes), names)
    keep_private(path)
    return n_lines


# --- Steps ----------------------------------------------------------------------------------------


def _positive(answers: Answered) -> str:
    return answers.record.task.positive or answers.classes[-1]


def _some(n: int) -> Integers:
    """Positions of a curve's points that are enough to draw it."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))


def _told(
    studio: Studio, answers: Answered, places: Integers, content: dict[str, Any]
) -> list[dict[str, Any]]:
    """Rows whose decision differs, with the cells that matter most."""
    names, table = content["actions"], None
    important = [name for name, _ in answers.record.chosen.importances[:MOST_COLUMNS]]
    if answers.record.settings.get("sql") is None and answers.record.settings.get("sheet") is None:
        try:
            table = studio.tables.read(str(answers.record.settings["table"]))
        except InputError:
            # The table is gone; its answers are not.
            table = None
    told = []
    for place in places.tolist():
        row, source = int(answers.rows[place]), str(answers.source[place])
        cells = []
        if table is not None and source != "test file" and row < table.num_rows:
            cells = [
                [name, cell_text(table.column(name)[row].as_py())]
                for name in important
                if name in table.column_names
            ]
        told.append(
            {
                "row": row + 1,
                "source": source,
                "name": None if answers.ids is None else str(answers.ids.names[place]),
                "true": answers.classes[int(answers.codes[place])],
                "before": answers.actions[int(content["before_of"][place])],
                "now": names[int(content["actions_of"][place])],
                "probability": float(answers.posteriors[place].max()),
                "cells": cells,
            }
        )
    return told
