"""Runs on tables as people have them: dates, text, names of rows, levels that may be numbers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from novum.apps.cli.model_rows import features_for
from novum.apps.job.building import build, candidate, grid, settings_text
from novum.apps.job.families import FAMILIES, family
from novum.apps.job.job import run
from novum.apps.job.record import RunRecord
from novum.apps.job.request import Request
from novum.apps.job.table.task import SpecialColumns
from novum.core.files import load
from tests.apps.job.runs import read_csv, write_csv

MESSAGES = Path(__file__).parents[2] / "oracles" / "sms_spam_360.csv"
N = 160
GOOD, BAD = ("lovely", "great", "quick", "clean"), ("slow", "dirty", "broken", "rude")
PLAIN = ("the", "room", "was", "near", "a", "shop", "and", "we", "had", "coffee")


def reviews(n: int = N, seed: int = 0) -> dict[str, Any]:
    """Guests come back after a good review in winter, or for a low price."""
    rng = np.random.default_rng(seed)
    is_good = rng.random(n) < 0.5
    days = np.datetime64("2021-01-01") + rng.integers(0, 800, n)
    text = [
        " ".join(rng.permutation([*rng.choice(PLAIN, 5), *rng.choice(GOOD if g else BAD, 2)]))
        for g in is_good
    ]
    back = is_good ^ (rng.random(n) < 0.08)
    return {
        "guest": [f"0{i}" for i in range(n)],
        "day": [None if i % 17 == 3 else str(day) for i, day in enumerate(days)],
        "review": [None if i % 19 == 4 else t for i, t in enumerate(text)],
        "stars": rng.integers(1, 5, n).tolist(),
        "price": [None if i % 11 == 1 else round(p, 1) for i, p in enumerate(rng.normal(90, 9, n))],
        "back": np.where(back, "yes", "no").tolist(),
    }


def started(path: Path, columns: dict[str, Any], **settings: Any) -> RunRecord:
    request = Request(write_csv(path / "t.csv", columns), "back", preset="quick", **settings)
    return run(request, path / "run")


def test_a_mixed_table_from_run_to_prediction(tmp_path: Path) -> None:
    record = started(tmp_path, reviews(), id="guest", models=("linear", "tree", "svm"), folds=3)
    assert record.chosen.family in ("linear", "svm", "stack")
    tried = {trial.family: trial.status for trial in record.plan.trials}
    assert tried["tree"] == tried["linear"] == tried["svm"] == "planned"
    best = next(one for one in record.leaderboard if one.family == "linear")
    tree = next(one for one in record.leaderboard if one.family == "tree")
    assert best.score.value is not None
    assert tree.score.value is not None
    assert best.score.value > 0.8 > tree.score.value
    kinds = {name: kind for name, kind, _ in record.data.kinds}
    assert (kinds["day"], kinds["review"]) == ("date", "text")
    lines = read_csv(tmp_path / "run" / "predictions.csv")
    assert next(iter(lines[0])) == "guest"
    assert {line["guest"] for line in lines} == set(reviews()["guest"])
    assert all(int(line["guest"][1:]) + 1 == int(line["row"]) for line in lines)
    # New rows, read by the schema of the model: other texts, other days, none of them known.
    path = write_csv(tmp_path / "new.csv", {**reviews(40, 1)})
    model = load(tmp_path / "run" / "model.novum")
    X, names = features_for(model, Request(path, id="guest"))
    assert names[:2].tolist() == ["00", "01"]
    right = np.mean(model.predict(X) == np.array(reviews(40, 1)["back"]))
    assert right > 0.75


def test_telling_words_are_in_the_record(tmp_path: Path) -> None:
    record = started(tmp_path, reviews(), models=("linear",), folds=2)
    terms = [name for name, _ in record.chosen.explanation.terms]
    told = {name.removeprefix("review:") for name in terms if name.startswith("review:")}
    assert told >= {*GOOD, *BAD}


def test_text_alone_leaves_out_who_cannot_take_it(tmp_path: Path) -> None:
    columns = {name: reviews()[name] for name in ("review", "back")}
    record = started(tmp_path, columns, folds=2)
    status = {trial.family: trial.status for trial in record.plan.trials}
    assert status["linear"] == status["naive_bayes"] == status["svm"] == "planned"
    assert status["forest"] == "takes no text, and the table has nothing else"
    assert any("random forest" in said.lower() for said in record.not_done)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.filterwarnings("ignore:1 of 3 folds train without any row of class 'odd'")
def test_a_class_of_one_row_costs_no_family() -> None:
    texts = [*(f"good and {i} lovely" for i in range(20)), *(f"bad {i} dirty" for i in range(20))]
    table = pa.table({"text": [*texts, "neither here nor there"]})
    y = ["good"] * 20 + ["bad"] * 20 + ["odd"]
    alone = SpecialColumns(texts=("text",), n_plain=0)
    for name in ("linear", "naive_bayes", "svm"):
        model = build(family(name), "multiclass", seed=0, columns=alone)
        found = model.fit(table, y).predict_proba(table)
        assert found.shape == (41, 3)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_numbers_are_predicted_from_text(tmp_path: Path) -> None:
    columns = reviews()
    rng = np.random.default_rng(3)
    good = np.array([label == "yes" for label in columns["back"]])
    columns["back"] = (10.0 * good + rng.normal(0, 1, N)).round(3).tolist()
    record = started(tmp_path, columns, models=("linear", "svm"), folds=3)
    scores = {one.family: one.score.value for one in record.leaderboard}
    assert min(scores["linear"], scores["svm"]) < 0.8 * scores["constant"]  # type: ignore[type-var,operator]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "naive_bayes", "svm"])
def test_text_is_as_good_as_a_linear_machine_of_scikit_learn(name: str) -> None:
    """Messages, on the same folds: within a point of LinearSVC on TfidfVectorizer."""
    with MESSAGES.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    texts, labels = [line["text"] for line in lines], np.array([line["label"] for line in lines])
    table = pa.table({"text": pa.array(texts).dictionary_encode()})
    alone = SpecialColumns(texts=("text",), n_plain=0)
    model = build(family(name), "binary", seed=0, columns=alone)
    other = make_pipeline(TfidfVectorizer(), LinearSVC())
    found, expected = [], []
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    for train, test in folds.split(texts, labels):
        ours = clone(model).fit(table.take(pa.array(train)), labels[train])
        found.append(np.mean(ours.predict(table.take(pa.array(test))) == labels[test]))
        theirs = other.fit([texts[i] for i in train], labels[train])
        expected.append(np.mean(theirs.predict([texts[i] for i in test]) == labels[test]))
    assert np.mean(found) > np.mean(expected) - 0.01


# --- Numbers or levels ----------------------------------------------------------------------------

WHOLE = SpecialColumns(levels=("c",), whole=(("grade", 5), ("flag", 2)))


def coded(n: int = 300) -> tuple[pa.Table, Any]:
    """Names of levels written as numbers: the middle one differs from both neighbors."""
    rng = np.random.default_rng(0)
    grade, flag = rng.integers(1, 6, n), rng.integers(0, 2, n)
    table = pa.table(
        {
            "grade": grade.astype(float),
            "flag": flag.astype(float),
            "c": rng.choice(["u", "v"], n),
            "x": rng.normal(size=n),
        }
    )
    return table, np.where((grade == 3) ^ (rng.random(n) < 0.1), "odd", "even")


@pytest.mark.parametrize(
    ("name", "as_levels"), [("linear", ["grade"]), ("naive_bayes", ["grade", "flag"])]
)
@pytest.mark.parametrize("has_missing", [False, True])
def test_both_ways_are_tried_and_levels_win_where_they_should(
    name: str, as_levels: list[str], has_missing: bool
) -> None:
    table, y = coded()
    if has_missing:
        cells = table.column("grade").to_pylist()
        table = table.set_column(0, "grade", pa.array([None, *cells[1:]], pa.float64()))
    row = family(name)
    model = build(row, "binary", seed=0, columns=WHOLE)
    settings = candidate(row, "binary", 1, model, 0, WHOLE)
    assert settings_text(settings)[-1] == ("as levels", ", ".join(["c", *as_levels]))
    as_numbers = clone(model).fit(table, y)
    levels = clone(model).set_params(**settings).fit(table, y)
    assert np.mean(levels.predict(table) == y) > np.mean(as_numbers.predict(table) == y) + 0.05
    # The other candidates keep their order.
    assert candidate(row, "binary", 0, model, 0, WHOLE) == candidate(row, "binary", 0, model, 0)
    n_all = len(grid(row, "binary", len(row.classification.candidates) + 1, model, 0, WHOLE))  # type: ignore[union-attr]
    assert n_all == len(row.classification.candidates) + 1  # type: ignore[union-attr]


def test_only_families_that_care_try_levels() -> None:
    assert [row.name for row in FAMILIES if row.tries_levels(5)] == [
        *("linear", "ordinal", "naive_bayes")
    ]
    assert [row.name for row in FAMILIES if row.tries_levels(2)] == ["naive_bayes"]
    assert not any(row.tries_levels(0) for row in FAMILIES)
