"""Small tables and quick runs that the tests of the main job share."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novum.apps.job.clock import Listener, Silent
from novum.apps.job.families import family
from novum.apps.job.job import metric_of, run
from novum.apps.job.planning import PLANNED, STACK
from novum.apps.job.record import PlannedTrial, PlanRecord, RunRecord
from novum.apps.job.request import Request
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.partition import Parts, set_aside
from novum.apps.job.table.reading import read
from novum.apps.job.table.task import Task
from novum.apps.job.trials import LearningRows, Trials
from novum.evaluation.validation.fold_fits import FoldRun
from novum.evaluation.validation.splits import plan_splits
from novum.trees import DecisionTreeClassifier, RandomForestClassifier
from tests.apps.job.table.tables import task_of

Columns = Mapping[str, Sequence[Any]]

# Families of little price, for tests to which the family does not matter.
CHEAP = ("tree", "naive_bayes")


def write_csv(path: Path, columns: Columns) -> str:
    """Writes columns as a CSV file; None is an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        rows = zip(*columns.values(), strict=True)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return str(path)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def labeled(n: int = 90, labels: str = "ab", seed: int = 0, spread: float = 1.0) -> dict[str, Any]:
    """Classes that overlap: two numbers that say something, one that does not, and a level."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(labels)
    rng.shuffle(codes)
    return {
        "u": (codes + spread * rng.normal(size=n)).round(6).tolist(),
        "v": (2.0 * (codes % 2) + 2 * spread * rng.normal(size=n)).round(6).tolist(),
        "noise": rng.normal(size=n).round(6).tolist(),
        "c": [("red", "green")[k] for k in (codes + (rng.random(n) < 0.3)) % 2],
        "y": [labels[code] for code in codes],
    }


def numbered(n: int = 90, seed: int = 0) -> dict[str, Any]:
    """A number that depends on two others and on a level."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, n)).round(6)
    c = rng.integers(0, 3, n)
    y = 3 * u - v + c + 0.3 * rng.normal(size=n)
    return {
        "u": u.tolist(),
        "v": v.tolist(),
        "c": ["xyz"[code] for code in c],
        "y": y.round(6).tolist(),
    }


def quick(table: str, target: str | None = "y", **more: Any) -> Request:
    """A request for a run of few seconds."""
    given: dict[str, Any] = {"preset": "quick", "models": CHEAP, **more}
    return Request(table, target, **given)


def run_on(
    folder: Path, columns: Columns, listener: Listener | None = None, **more: Any
) -> RunRecord:
    """A quick run on columns; the table is `folder/t.csv`, the results are in `folder/out`."""
    table = write_csv(folder / "t.csv", columns)
    return run(quick(table, **more), folder / "out", listener)


def task_and_parts(request: Request) -> tuple[Task, Parts]:
    """What the first steps of a run find."""
    loaded = read(request)
    task = formalize(loaded, request)
    return task, set_aside(task, request, loaded)


def rows_of(request: Any = None, **columns: Any) -> tuple[LearningRows, Any]:
    task = task_of(request=request, **columns)
    return LearningRows.of(task, task.rows()), metric_of(task)


def most(name: str) -> int:
    """How many candidates a family has; a stack is one."""
    if name == STACK:
        return 1
    role = family(name).classification or family(name).regression
    assert role is not None
    return len(role.candidates)


def plan_of(
    *names: str,
    n_rows: int = 90,
    n_candidates: int = 1,
    repeats: int = 1,
    folds: int = 3,
    inner_folds: int = 3,
    seed: int = 0,
    **more: Any,
) -> PlanRecord:
    """A plan without forecasts; titles are the names."""
    trials = tuple(
        PlannedTrial(
            name, name, min(n_candidates, most(name)), n_rows, repeats * folds, 0.0, PLANNED
        )
        for name in names
    )
    given: dict[str, Any] = {
        "preset": "quick",
        "budget_seconds": 120.0,
        "machine_factor": 1.0,
        **more,
    }
    return PlanRecord(
        repeats=repeats, folds=folds, inner_folds=inner_folds, seed=seed, trials=trials, **given
    )


def trials_of(
    scores: Mapping[str, Sequence[float]],
    candidates: Mapping[str, Sequence[int]] | None = None,
) -> Trials:
    """Trials on 1 x n folds of 100 rows with these scores."""
    n_folds = len(next(iter(scores.values())))
    splits = plan_splits(np.zeros((100, 1)), np.arange(100) % 2, f"1x{n_folds}")
    runs = {
        name: tuple(
            FoldRun(
                {"metric": float(score)},
                fit_seconds=float(k),
                score_seconds=0.5 * k,
                n_test=20,
                facts={"candidate": (candidates or {}).get(name, [0] * n_folds)[k]},
            )
            for k, score in enumerate(values)
        )
        for name, values in scores.items()
    }
    stacked = tuple(("forest", "linear") for _ in range(n_folds)) if STACK in scores else ()
    return Trials(splits, runs, stacked)


class StopError(RuntimeError):
    """Raised by a listener to end a run in its middle."""


@dataclass
class Told(Silent):
    """A listener that remembers; it stops the run when a step has begun, if it is told to."""

    stop_at: int | None = None
    stages: list[str] = field(default_factory=list)
    steps: list[tuple[str, int, int]] = field(default_factory=list)

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def understood(self, *parts: Any) -> None:
        self.parts = parts

    def expect(self, forecasts: Any, limit: float) -> None:
        self.expected = (dict(forecasts), limit)

    def step(self, title: str, done: int, total: int) -> None:
        self.steps.append((title, done, total))
        if done == self.stop_at:
            raise StopError(title)


def timeless_model(path: Path) -> dict[str, bytes]:
    """The entries of a model file, without the seconds of certificates and their checksum."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = entries["manifest.json"]
    manifest = re.sub(rb'"seconds":[-+.e0-9]+', b'"seconds":0', manifest)
    entries["manifest.json"] = re.sub(rb'"[0-9a-f]{64}"', b'""', manifest)
    return entries


def timeless(text: str) -> str:
    """The text of a `run.json` without what is measured by the clock."""
    content = json.loads(text)
    record = content["record"]
    record["stage_seconds"] = [name for name, _ in record["stage_seconds"]]
    record["date"] = ""
    for standing in record["leaderboard"]:
        standing["fit_seconds"] = standing["predict_seconds"] = standing["search_seconds"] = 0.0
    return json.dumps(content, indent=1)


def same_results(one: Path, other: Path) -> None:
    """Two runs have the same files, but for what the clock measured."""
    for name in ("predictions.csv", "model.py"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert timeless_model(one / "model.novum") == timeless_model(other / "model.novum")
    first, second = (timeless((folder / "run.json").read_text()) for folder in (one, other))
    assert first == second


def held_out(folder: Path) -> list[dict[str, str]]:
    """Answers for the rows set aside."""
    return [line for line in read_csv(folder / "predictions.csv") if line["answered"] == "hold-out"]


def spy_on_fits(monkeypatch: pytest.MonkeyPatch) -> list[set[float]]:
    """From now on, the values of the column u in every fit of a tree or a forest."""
    seen: list[set[float]] = []
    for learner in (DecisionTreeClassifier, RandomForestClassifier):
        fit = learner.fit

        def spied(self: Any, X: Any, y: Any, *more: Any, _fit: Any = fit, **named: Any) -> Any:
            seen.append(set(X.column("u").to_pylist()))
            return _fit(self, X, y, *more, **named)

        monkeypatch.setattr(learner, "fit", spied)
    return seen
