"""The room of understanding: a tree to walk through, a row to change, columns to follow, odd rows.

A tree that was chosen is shown itself. Of any other model a small tree is shown that imitates it:
it is fitted to the model's own answers, and how often it gives the same one is measured on rows
that it has not seen. Contributions, dependences and reasons are those of the report
(`apps/job/effects.py`, `apps/job/novelty.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from novum.apps.cli.model_rows import features_for, schema_of
from novum.apps.job.building import learner_of
from novum.apps.job.effects import contributions, dependences
from novum.apps.job.novelty import unusual_rows
from novum.apps.job.outputs import Predictions
from novum.apps.job.record import RunRecord
from novum.apps.job.record_json import read_record, to_json
from novum.apps.job.request import Request
from novum.apps.studio.cells import cell_text
from novum.apps.studio.rooms import Kept, Studio, stamp_of
from novum.apps.studio.runs import MODEL, RUN
from novum.apps.studio.tables import path_of
from novum.core.decisions import OrderedClassifier, RetargetedClassifier
from novum.core.errors import FileFormatError, InputError
from novum.core.files import load
from novum.core.learners import Pipeline
from novum.core.tables import Kind
from novum.evaluation import measure
from novum.numerics import cached_property
from novum.trees import DecisionTreeClassifier, DecisionTreeRegressor, IsolationForest, outline

# Leaves of an imitation, rows that it is made from, and nodes of any tree that are shown.
LEAVES, IMITATED_ROWS, MOST_NODES = 16, 20_000, 600
# Rows that a changed row is compared with, rows of a list, odd rows.
BACKGROUND, MOST_ROWS, MOST_UNUSUAL = 300, 50, 25
MOST_LEVELS = 60


class Changed(BaseModel):
    """Cells of a row in place of those of the table; None is missing."""

    model_config = ConfigDict(extra="forbid")

    row: int
    cells: dict[str, str | float | None] = {}


@dataclass(frozen=True, eq=False)
class Understood:
    """A finished run with its model and all rows of its table.

    Attributes
    ----------
    record : RunRecord
    model : estimator
        Without its working point.
    there : estimator
        At its working point, if it has one.
    X : pyarrow.Table
        What the model predicts from, of all rows.
    ids : array or None
    """

    record: RunRecord
    model: Any
    there: Any
    X: pa.Table
    ids: Any

    @property
    def is_classifier(self) -> bool:
        return bool(self.record.task.classes)

    @property
    def columns(self) -> list[str]:
        """The most important first."""
        judged = sorted(self.record.chosen.importances, key=lambda term: -(term[1].value or 0.0))
        known = [name for name, _ in judged if name in self.X.column_names]
        return [*known, *(name for name in self.X.column_names if name not in set(known))]

    @property
    def positive(self) -> Any:
        """The class that is spoken of, where there are two."""
        wanted = self.record.task.positive
        if wanted is None:
            return None
        return next(label for label in self.model.classes_ if str(label) == wanted)

    @property
    def point(self) -> Any:
        return self.there.point if isinstance(self.there, RetargetedClassifier) else None

    @cached_property
    def learner(self) -> Any:
        """The tree that is shown, and the rows as it reads them."""
        own = learner_of(self.model)
        whole = self.model.model if isinstance(self.model, OrderedClassifier) else self.model
        if isinstance(own, (DecisionTreeClassifier, DecisionTreeRegressor)):
            table = self.X
            if isinstance(whole, Pipeline):
                for _, step in whole.steps[:-1]:
                    table = step.transform(table)
            return own, table, None
        return (*_imitation(self), _fidelity(self))

    @cached_property
    def unusual(self) -> list[dict[str, Any]]:
        """The rows that random cuts isolate first, with the cells that make them odd."""
        schema = schema_of(self.model)
        kept = [
            c.name for c in schema.columns if c.kind in (Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL)
        ]
        if not kept:
            raise InputError("There is no column of numbers or levels to look at.")
        table = self.X.select(kept)
        forest = IsolationForest(n_estimators=100, random_state=0).fit(table)
        scores = -forest.score_samples(table)
        ranks = np.argsort(np.argsort(scores, kind="stable")) / max(len(scores) - 1, 1)
        rows = np.arange(table.num_rows)
        unusual = unusual_rows(forest, table, ranks, rows, self.ids, most=MOST_UNUSUAL)
        return [
            {
                "row": one.row,
                "name": one.name,
                "score": float(scores[one.row - 1]),
                "reasons": [list(reason) for reason in one.reasons],
            }
            for one in unusual
        ]


def routes(studio: Studio) -> APIRouter:
    """The routes of the room."""
    room = APIRouter()
    kept = Kept(3)

    def understood(name: str) -> Understood:
        model, record = studio.runs.file(name, MODEL), studio.runs.file(name, RUN)
        view: Understood = kept(
            (name, stamp_of(model), stamp_of(record)), lambda: _read(studio, record, model)
        )
        return view

    @room.get("/list")
    def listed() -> Any:
        """Finished runs of one target."""
        runs = studio.runs
        there = [
            one for one, _ in runs.of_one_target() if (runs.path(one["name"]) / MODEL).is_file()
        ]
        return {"runs": there}

    @room.get("/{name}")
    def opened(name: str) -> Any:
        """The run in brief, its columns, and its tree."""
        view = understood(name)
        importances = {column: one.value for column, one in view.record.chosen.importances}
        return {
            "name": name,
            "target": view.record.task.target,
            "title": view.record.chosen.title,
            "classes": view.record.task.classes,
            "positive": view.record.task.positive,
            "n_rows": view.X.num_rows,
            "columns": [_column(view, one, importances) for one in view.columns],
            "tree": _tree(view),
        }

    @room.get("/{name}/node")
    def node(name: str, node: int, start: int = 0) -> Any:
        """The rows that reach a node."""
        view = understood(name)
        learner, table, _ = view.learner
        if not 0 <= node < learner.tree_.n_nodes:
            raise InputError(f"The tree has the nodes 0 to {learner.tree_.n_nodes - 1}.")
        path = learner.decision_path(table).tocsc()
        rows = np.sort(path.indices[path.indptr[node] : path.indptr[node + 1]])
        shown = rows[max(start, 0) : max(start, 0) + MOST_ROWS]
        return {
            "n_rows": len(rows),
            "columns": view.columns,
            "rows": [[int(row) + 1, *_cells(view, int(row))] for row in shown],
        }

    @room.get("/{name}/row")
    def row(name: str, row: int) -> Any:
        """The cells of a row, from 1, as they can be changed."""
        view = understood(name)
        _check_row(view, row)
        cells = dict(zip(view.columns, _cells(view, row - 1), strict=True))
        return {"row": row, "cells": cells}

    @room.post("/{name}/whatif")
    def whatif(name: str, asked: Changed) -> Any:
        """The answer for a row with other cells, and what each column adds to it."""
        view = understood(name)
        _check_row(view, asked.row)
        return _explained(view, asked)

    @room.get("/{name}/dependence")
    def dependence(name: str, column: str) -> Any:
        """Mean predictions as one column changes."""
        view = understood(name)
        if column not in view.X.column_names:
            raise InputError(f"The model predicts from no column {column!r}.")
        known = dependences(
            view.model, view.X, [column], seed=0, positive=view.positive, point=view.point
        )
        if not known:
            raise InputError(f"All cells of {column!r} are missing, so there is nothing to follow.")
        return _plain(known[0])

    @room.get("/{name}/unusual")
    def unusual(name: str) -> Any:
        return {"rows": understood(name).unusual}

    return room


# --- Reading --------------------------------------------------------------------------------------


def _read(studio: Studio, record_path: Path, model_path: Path) -> Understood:
    try:
        record = read_record(record_path, RunRecord)
    except FileFormatError:
        raise InputError(
            "Models are understood one target at a time. Open a run of one target."
        ) from None
    settings = record.settings
    table = path_of(studio.folder, str(settings["table"]))
    request = Request(
        table,
        id=settings.get("id"),
        sheet=settings.get("sheet"),
        sql=settings.get("sql"),
        missing_values=tuple(settings.get("missing_values", ())),
    )
    there = load(model_path)
    model = there.model if isinstance(there, RetargetedClassifier) else there
    X, ids = features_for(model, request)
    return Understood(record, model, there, X, ids)


def _check_row(view: Understood, row: int) -> None:
    if not 1 <= row <= view.X.num_rows:
        raise InputError(f"Rows have the numbers 1 to {view.X.num_rows:,}, got {row}.")


def _cells(view: Understood, place: int) -> list[str | None]:
    return [cell_text(view.X.column(name)[place].as_py()) for name in view.columns]


def _column(view: Understood, name: str, importances: dict[str, float | None]) -> dict[str, Any]:
    """A column as a form needs it: numbers with their range, levels with their names."""
    column = next(one for one in schema_of(view.model).columns if one.name == name)
    cells = view.X.column(name)
    is_number = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
    content: dict[str, Any] = {
        "name": name,
        "kind": str(column.kind.value),
        "importance": importances.get(name),
        "levels": [str(level) for level in column.levels[:MOST_LEVELS]],
    }
    if is_number:
        numbers = cells.to_numpy()
        numbers = numbers[np.isfinite(numbers)]
        content["range"] = [float(numbers.min()), float(numbers.max())] if len(numbers) else None
    return content


# --- Trees ----------------------------------------------------------------------------------------


def _imitation(view: Understood) -> tuple[Any, pa.Table]:
    """A small tree fitted to the answers of the model."""
    learner = _small_tree(view)
    rows = _drawn(view.X.num_rows, IMITATED_ROWS)
    some = view.X.take(pa.array(rows))
    return learner.fit(some, view.there.predict(some)), view.X


def _fidelity(view: Understood) -> dict[str, Any]:
    """How well a small tree imitates: fitted to two thirds of the rows, measured on the others."""
    rows = np.random.default_rng(0).permutation(_drawn(view.X.num_rows, IMITATED_ROWS))
    third = max(len(rows) // 3, 1)
    tested, learned = (view.X.take(pa.array(one)) for one in (rows[:third], rows[third:]))
    imitated = _small_tree(view).fit(learned, view.there.predict(learned)).predict(tested)
    answers = view.there.predict(tested)
    name = "accuracy" if view.is_classifier else "r2"
    if view.is_classifier:
        value = float(np.mean(np.asarray(imitated, object) == np.asarray(answers, object)))
    else:
        value = float(measure(name)(answers, imitated))
    return {"measure": name, "value": value if np.isfinite(value) else None}


def _small_tree(view: Understood) -> Any:
    kind = DecisionTreeClassifier if view.is_classifier else DecisionTreeRegressor
    return kind(max_leaf_nodes=LEAVES, random_state=0)


def _drawn(n_rows: int, most: int) -> Any:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def _tree(view: Understood) -> dict[str, Any]:
    learner, _, fidelity = view.learner
    whole = outline(learner.tree_)
    depth = None
    if whole.n_nodes > MOST_NODES:
        # As deep as the list of nodes stays readable.
        counts = np.cumsum(np.bincount(learner.tree_.depths))
        depth = max(int(np.searchsorted(counts, MOST_NODES)) - 1, 1)
        whole = outline(learner.tree_, max_depth=depth)
    entries = [
        {
            "node": one.node,
            "parent": None if one.parent < 0 else whole.entries[one.parent].node,
            "children": [whole.entries[child].node for child in one.children],
            "asked": one.asked,
            "answer": one.answer,
            "condition": one.condition or "all rows",
            "prediction": one.prediction,
            "counts": one.counts,
            "shares": [float(share) for share in one.answers],
            "weight": float(one.weight),
            "hidden": one.hidden,
        }
        for one in whole.entries
    ]
    labels = [] if learner.tree_.classes is None else [str(c) for c in learner.tree_.classes[0]]
    return {"entries": entries, "summary": whole.summary, "labels": labels, "fidelity": fidelity}


# --- What if --------------------------------------------------------------------------------------


def _explained(view: Understood, asked: Changed) -> dict[str, Any]:
    changed = _row_with(view, asked)
    background = view.X.take(pa.array(_drawn(view.X.num_rows, BACKGROUND)))
    table = pa.concat_tables([changed, background])
    predicted = view.there.predict(changed)
    answers = Predictions(
        np.arange(1), "", None, np.repeat(np.asarray(view.model.predict(changed)), 1)
    )
    (credit,) = contributions(
        view.model,
        table,
        answers,
        [(0, "")],
        view.columns,
        seed=0,
        positive=view.positive,
        point=view.point,
    )
    content: dict[str, Any] = {"credit": _plain(credit), "prediction": cell_text(_item(predicted))}
    if view.is_classifier:
        shares = np.asarray(view.there.predict_proba(changed))[0]
        content["probabilities"] = [float(share) for share in shares]
        content["classes"] = [str(label) for label in view.there.classes_]
        if hasattr(view.there, "decide"):
            content["decision"] = str(_item(view.there.decide(changed)))
    return content


def _item(values: Any) -> Any:
    first = np.asarray(values)[0]
    return first.item() if isinstance(first, np.generic) else first


def _row_with(view: Understood, asked: Changed) -> pa.Table:
    """One row of the table with some cells changed, each of the type of its column."""
    row = view.X.slice(asked.row - 1, 1)
    for name, cell in asked.cells.items():
        if name not in row.column_names:
            raise InputError(f"The model predicts from no column {name!r}.")
        kind = row.schema.field(name).type
        try:
            value = pa.array([cell], pa.string() if isinstance(cell, str) else None).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(f"{str(cell)[:40]!r} is no value of {name!r}.") from None
        row = row.set_column(row.column_names.index(name), row.schema.field(name), value)
    return row


def _plain(record: Any) -> Any:
    return json.loads(to_json(record))["record"]
