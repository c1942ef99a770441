"""The table of families says the truth about its learners: they exist, and take what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier, is_regressor

from novum.apps.job.building import build, candidate, imported, learner_of
from novum.apps.job.families import FAMILIES, Family, Part, family
from novum.core import load, save
from novum.core.errors import InputError
from tests.apps.job.runs import labeled, numbered

KINDS = ("binary", "regression")
ROLES = [(row, kind) for row in FAMILIES for kind in KINDS if row.role(kind) is not None]
NAMES = [f"{row.name}-{kind}" for row, kind in ROLES]


def table(kind: str, *names: str) -> tuple[pa.Table, np.ndarray]:
    columns = labeled(40) if kind == "binary" else numbered(40)
    y = np.array(columns.pop("y"))
    return pa.table({name: columns[name] for name in names or columns}), y


def with_holes(X: pa.Table) -> pa.Table:
    cells = X.column("u").to_pylist()
    cells[3] = cells[17] = None
    return X.set_column(0, "u", pa.array(cells, pa.float64()))


def test_names_are_unique_and_found() -> None:
    names = [row.name for row in FAMILIES]
    assert len(set(names)) == len(names)
    assert [family(name) for name in names] == list(FAMILIES)


def test_every_family_has_a_title_of_its_own() -> None:
    for kind in KINDS:
        titles = [row.title_for(kind) for row in FAMILIES]
        assert len(set(titles)) == len(titles)
    assert family("linear").title_for("binary") == "logistic regression"
    assert family("linear").title_for("regression") == "ridge regression"
    assert family("tree").title_for("multiclass") == "decision tree"


def test_multiclass_tasks_take_the_classifier() -> None:
    for row in FAMILIES:
        assert row.role("multiclass") is row.role("binary") is row.classification
        assert row.role("regression") is row.regression


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_learners_are_of_their_role(row: Family, kind: str) -> None:
    learner = build(row, kind, seed=0)
    assert is_classifier(learner) == (kind == "binary")
    assert is_regressor(learner) == (kind == "regression")


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_candidates_are_different_settings_of_the_learner(row: Family, kind: str) -> None:
    role = row.role(kind)
    assert role is not None
    assert len(role.candidates) >= 1
    every = (*role.candidates, *role.if_missing)
    assert len({repr(sorted(one.items())) for one in every}) == len(every)
    assert role.n_candidates(False) == len(role.candidates)
    assert role.n_candidates(True) == len(every)
    model = build(row, kind, seed=3)
    for number in range(len(every)):
        settings = candidate(row, kind, number, model, 3)
        found = clone(model).set_params(**settings).get_params()
        for name, value in settings.items():
            assert repr(found[name]) == repr(value)


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_prices_are_of_a_fit_that_costs_something(row: Family, kind: str) -> None:
    role = row.role(kind)
    assert role is not None
    price = role.price
    assert price.fixed > 0
    assert min(price.per_row, price.per_cell, price.class_power) >= 0
    assert price.missing_factor >= 1


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_it_says_rightly_whether_missing_cells_are_taken(row: Family, kind: str) -> None:
    X, y = table(kind, "u", "v")
    model = build(row, kind, seed=0)
    if not row.takes_missing:
        with pytest.raises(InputError, match="missing"):
            clone(learner_of(model)).fit(with_holes(X), y)
    assert len(clone(model).fit(with_holes(X), y).predict(with_holes(X))) == len(y)
    # A gap in a row to come needs none in training.
    assert len(model.fit(X, y).predict(with_holes(X))) == len(y)


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_it_says_rightly_whether_levels_are_taken(row: Family, kind: str) -> None:
    X, y = table(kind)
    learner = build(row, kind, seed=0)
    if row.takes_kinds:
        assert len(learner.fit(X, y).predict(X)) == len(y)
    else:
        with pytest.raises((InputError, ValueError), match=r"'c'|nominal|numeric|numbers"):
            learner.fit(X, y)


@pytest.mark.parametrize(("row", "kind"), ROLES, ids=NAMES)
def test_weights_and_model_files(row: Family, kind: str, tmp_path: Path) -> None:
    X, y = table(kind, "u", "v")
    weight = np.where(np.arange(len(y)) % 3, 1.0, 0.25)
    model = build(row, kind, seed=0).fit(X, y, sample_weight=weight)
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if kind == "binary":
        # What a working point needs of a classifier.
        np.testing.assert_allclose(sum(model.class_prior_), 1.0, rtol=1e-12)


def test_parts_are_learners_by_import_string() -> None:
    parts = [
        value
        for row, kind in ROLES
        for one in row.role(kind).candidates  # type: ignore[union-attr]
        for value in one.values()
        if isinstance(value, Part)
    ]
    assert len(parts) == 6
    for part in parts:
        assert imported(part.learner)(**part.settings).get_params()["max_depth"] >= 1
