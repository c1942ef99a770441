"""Targets whose levels have an order: how they are declared, decided, judged and written."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import novum
from novum.apps.job.job import run
from novum.apps.job.record import RunRecord
from novum.apps.job.table.formalizing import formalize
from novum.apps.job.table.reading import read
from novum.apps.report import render
from novum.core import load
from novum.core.decisions import OrderedClassifier, RetargetedClassifier
from novum.core.errors import InputError
from novum.linear import OrdinalRegression
from tests.apps.job.runs import held_out, quick, read_csv, run_on, write_csv

LEVELS = ("low", "medium", "high")
DECLARED = (("y", LEVELS),)


def graded(n: int = 90, levels: tuple[Any, ...] = LEVELS, seed: int = 0) -> dict[str, Any]:
    """Levels that follow a number, with a level of its own beside."""
    rng = np.random.default_rng(seed)
    places = np.arange(n) % len(levels)
    return {
        "u": (places + 0.6 * rng.normal(size=n)).round(4).tolist(),
        "noise": rng.normal(size=n).round(4).tolist(),
        "c": ["pq"[k] for k in rng.integers(0, 2, n)],
        "y": [levels[place] for place in places],
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunRecord, Path]:
    folder = tmp_path_factory.mktemp("ordinal")
    columns = graded()
    columns["y"][4] = None
    return run_on(folder, columns, levels=DECLARED, models=("ordinal", "tree")), folder / "out"


def test_levels_keep_their_order_everywhere(finished: tuple[RunRecord, Path]) -> None:
    record, folder = finished
    assert record.task.kind == "ordinal"
    assert record.task.classes == LEVELS
    assert record.task.metric == "mean_level_error"
    assert record.holdout is not None
    assert record.holdout.confusion_columns == LEVELS
    model = load(folder / "model.novum")
    assert isinstance(model, OrderedClassifier)
    assert model.classes_.tolist() == list(LEVELS)
    lines = read_csv(folder / "predictions.csv")
    assert [name for name in lines[0] if name.startswith("probability")] == [
        f"probability {level}" for level in LEVELS
    ]


def test_every_decision_is_the_median_by_enumeration(finished: tuple[RunRecord, Path]) -> None:
    _, folder = finished
    lines = read_csv(folder / "predictions.csv")
    assert {line["answered"] for line in lines} == {"out of fold", "hold-out", "no target"}
    for line in lines:
        p = [float(line[f"probability {level}"]) for level in LEVELS]
        costs = [sum(p[j] * abs(j - k) for j in range(3)) for k in range(3)]
        assert costs[LEVELS.index(line["prediction"])] <= min(costs) + 1e-5


def test_the_judgment_is_that_of_the_decisions(finished: tuple[RunRecord, Path]) -> None:
    record, folder = finished
    lines = held_out(folder)
    off = [abs(LEVELS.index(a["prediction"]) - LEVELS.index(a["target"])) for a in lines]
    assert record.holdout is not None
    measures = dict(record.holdout.measures)
    assert measures["mean error in levels"].value == pytest.approx(np.mean(off))
    assert "quadratically weighted kappa" in measures
    saving = record.holdout.saving
    assert saving is not None
    # The same answer for every row is the median level, which is also the middle one here.
    assert saving.answer == "medium"
    assert saving.model.value == pytest.approx(np.mean(off))
    always = np.mean([abs(1 - LEVELS.index(a["target"])) for a in lines])
    assert saving.constant.value == pytest.approx(always)
    mistakes = record.holdout.mistakes
    assert mistakes is not None
    assert mistakes.kind == "levels"
    assert mistakes.n_wrong == np.count_nonzero(off)
    assert "levels on average" in record.verdict[1]


def test_the_page_speaks_of_levels(finished: tuple[RunRecord, Path]) -> None:
    record, _ = finished
    page = render(record)
    assert "levels on average; always saying “medium”" in page
    assert "could not be made" not in page


def test_the_program_makes_the_model_again(
    finished: tuple[RunRecord, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = finished
    monkeypatch.chdir(folder)
    made = runpy.run_path(str(folder / "model.py"))["model"]
    X = made.predict_proba
    model = load(folder / "model.novum")
    table = read(quick(str(folder.parent / "t.csv"), levels=DECLARED)).table.drop_columns(["y"])
    assert np.allclose(X(table), model.predict_proba(table))


def test_settings_are_chosen_and_the_best_stacked(tmp_path: Path) -> None:
    record = run_on(
        tmp_path,
        graded(),
        levels=DECLARED,
        preset="standard",
        models=("ordinal", "tree", "naive_bayes"),
        repeats=1,
        folds=2,
    )
    families = {row.family for row in record.leaderboard}
    assert families == {"ordinal", "tree", "naive_bayes", "stack", "constant"}
    assert not any("could not be made" in line for line in record.not_done)


def test_costs_lead_where_they_are_given(tmp_path: Path) -> None:
    cost = tmp_path / "cost.csv"
    cost.write_text(",low,medium,high\nlow,0,1,2\nmedium,5,0,1\nhigh,9,5,0\n")
    record = run_on(tmp_path, graded(), levels=DECLARED, models=("ordinal",), cost=str(cost))
    assert record.task.metric == "bayes_risk"
    assert record.task.actions == LEVELS
    assert not any("median" in said for said in record.task.sentences)
    model = load(tmp_path / "out" / "model.novum")
    assert isinstance(model, RetargetedClassifier)
    assert model.classes_.tolist() == list(LEVELS)
    table = np.array([[0, 1, 2], [5, 0, 1], [9, 5, 0]], float)
    for line in held_out(tmp_path / "out"):
        p = np.array([float(line[f"probability {level}"]) for level in LEVELS])
        assert line["decision"] == LEVELS[int((p @ table).argmin())]


# --- Ways to say it -------------------------------------------------------------------------------


def task_of(tmp_path: Path, columns: dict[str, Any], **more: Any) -> Any:
    request = quick(write_csv(tmp_path / "t.csv", columns), **more)
    return formalize(read(request), request)


def test_numbers_are_levels_if_asked(tmp_path: Path) -> None:
    columns = graded(levels=(3, 4, 10))
    task = task_of(tmp_path, columns, task="ordinal")
    assert (task.kind, task.classes.tolist()) == ("ordinal", [3, 4, 10])
    same = task_of(tmp_path, columns, kind=(("y", "ordinal"),))
    assert (same.kind, [float(label) for label in same.classes]) == ("ordinal", [3, 4, 10])
    hinted = task_of(tmp_path, columns)
    assert hinted.kind == "multiclass"
    assert any("--task ordinal" in said for said in hinted.sentences)


def test_words_of_a_scale_are_hinted_at(tmp_path: Path) -> None:
    task = task_of(tmp_path, graded())
    assert task.kind == "multiclass"
    assert any("say --levels y=low,medium,high." in said for said in task.sentences)
    asked = task_of(tmp_path, graded(), task="ordinal")
    assert asked.classes.tolist() == list(LEVELS)
    # Whoever says classes is not asked again.
    said = task_of(tmp_path, graded(), task="multiclass").sentences
    assert not any("Please look" in one for one in said)


def test_two_levels_are_two_classes_of_which_the_higher_is_positive(tmp_path: Path) -> None:
    columns = graded(levels=("low", "high"))
    task = task_of(tmp_path, columns, levels=(("y", ("low", "high")),))
    assert (task.kind, task.positive) == ("binary", "high")
    assert any("the higher of both" in said for said in task.sentences)


def test_an_ordered_frame_declares_its_order() -> None:
    frame = pd.DataFrame(graded(60))
    frame["y"] = pd.Categorical(frame["y"], LEVELS, ordered=True)
    found = novum.run(frame, "y", preset="quick", models=["ordinal"])
    record = found.record
    assert record.task.classes == LEVELS
    assert [row.family for row in record.leaderboard] == ["ordinal", "constant"]
    learner = found.model.model.steps[-1][1]
    assert isinstance(learner, OrdinalRegression)
    assert learner.classes_.tolist() == list(LEVELS)
    # Levels rise with u, so its coefficient is positive.
    name, coefficient = record.chosen.explanation.terms[0]
    assert name == "u"
    assert (coefficient.value or 0) > 0
    assert found.model.classes_.tolist() == list(LEVELS)
    assert list(found.leaderboard.columns[:2]) == ["model", "mean_level_error"]
    assert set(found.predictions["prediction"]) <= set(LEVELS)
    assert len(found.explain(row=0)) > 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"levels": (("y", ("low", "high")),)}, "'medium'.*none of the levels that --levels lists"),
        ({"task": "ordinal", "positive": "high"}, "--positive 'high' is for two classes"),
        ({"metric": "quadratic_kappa"}, "for levels with an order, which nobody has told"),
        ({"levels": DECLARED, "metric": "f1"}, "is for two classes"),
        ({"levels": DECLARED, "kind": (("y", "drop"),)}, "Leave out one of them"),
    ],
)
def test_misuse_gets_one_sentence(tmp_path: Path, more: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        task_of(tmp_path, graded(), **more)


def test_an_order_that_nobody_knows_is_asked_for(tmp_path: Path) -> None:
    columns = graded(levels=("red", "green", "blue"))
    with pytest.raises(InputError, match=r"--levels y=LOW,\.\.\.,HIGH"):
        task_of(tmp_path, columns, task="ordinal")


def test_a_level_that_training_folds_may_lack_breaks_nothing(tmp_path: Path) -> None:
    columns = graded(60, levels=("low", "medium", "high"))
    columns["y"] = ["rare" if i == 7 else level for i, level in enumerate(columns["y"])]
    declared = (("y", ("rare", *LEVELS)),)
    record = run(quick(write_csv(tmp_path / "t.csv", columns), levels=declared), tmp_path / "out")
    assert record.task.classes == ("rare", *LEVELS)
    assert not any("could not be made" in line for line in record.not_done)
