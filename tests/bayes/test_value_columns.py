"""Columns without a form: kernel densities and bins within classes, and where columns are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KernelDensity

from novum.bayes import BinnedColumn, GaussianColumn, KernelColumn, NaiveBayes
from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.data.cut_points import equal_frequency_cuts, mdl_cuts

MODELS = [
    NaiveBayes(numeric=KernelColumn()),
    NaiveBayes(numeric=BinnedColumn()),
    NaiveBayes(numeric=BinnedColumn("equal_width", bins=8)),
    NaiveBayes(numeric=BinnedColumn("equal_frequency", bins=4)),
]


def table(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    # One class is between the two halves of the other, which no single normal sees.
    X[:, 0] += np.where(y == 1, np.where(rng.random(n) < 0.5, -4, 4), 0)
    return X, np.array(["in", "out"])[y]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", MODELS, ids=["kernel", "mdl", "width", "frequency"])
def test_contracts(model: Any, check: Any) -> None:
    check(Case(model, *table()))


@pytest.mark.parametrize("model", MODELS, ids=["kernel", "mdl", "width", "frequency"])
def test_sums_files_and_missing_cells(model: Any, tmp_path: Any) -> None:
    X, y = table()
    X[3, 0] = X[7, 1] = np.nan
    whole = model.fit(X, y)
    assert (whole.predict(X) == y).mean() > 0.9
    expected = whole.predict_proba(X)
    a, b = model.statistics(X[:50], y[:50]), model.statistics(X[50:], y[50:])
    np.testing.assert_allclose(model.fit_statistics(a + b).predict_proba(X), expected, atol=1e-9)
    np.testing.assert_allclose(
        model.fit_statistics((a + b) - a).predict_proba(X),
        model.fit(X[50:], y[50:]).predict_proba(X),
        atol=1e-9,
    )
    whole = model.fit(X, y)
    save(whole, tmp_path / "m.novum")
    assert np.array_equal(load(tmp_path / "m.novum").predict_proba(X), expected)
    drawn = whole.sample(50, random_state=0)
    assert len(drawn[0] if isinstance(drawn, tuple) else drawn) == 50


def test_kernel_columns_are_densities_of_the_classes() -> None:
    X, y = table()
    model = NaiveBayes(numeric=KernelColumn(0.5)).fit(X, y)
    odds = np.log(model.predict_proba(X)[:, 0]) - np.log(model.predict_proba(X)[:, 1])
    expected = sum(
        sign * KernelDensity(bandwidth=0.5).fit(X[y == label][:, [j]]).score_samples(X[:, [j]])
        for j in range(2)
        for sign, label in ((1, "in"), (-1, "out"))
    )
    np.testing.assert_allclose(odds, expected, rtol=1e-7, atol=1e-7)


def test_what_normals_miss_is_seen() -> None:
    X, y = table(400)
    folds = np.arange(400) % 4

    def accuracy(model: Any) -> float:
        hits = [
            (model.fit(X[folds != k], y[folds != k]).predict(X[folds == k]) == y[folds == k]).mean()
            for k in range(4)
        ]
        return float(np.mean(hits))

    for model in MODELS:
        assert accuracy(model) > 0.9
    # Constant columns and classes of one row say what they can.
    constant = NaiveBayes(numeric=KernelColumn()).fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    np.testing.assert_allclose(constant.predict_proba([[1.0]]), [[1 / 3, 2 / 3]])
    lonely = NaiveBayes(columns={"x0": KernelColumn()}, numeric=GaussianColumn())
    assert lonely.fit([[0.0], [5.0], [6.0]], ["a", "b", "b"]).predict([[0.1]]).tolist() == ["a"]


def test_cuts_by_description_length_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    # Classes that do not depend on the column leave it whole.
    nothing = np.eye(2)[rng.integers(0, 2, 200)]
    assert len(mdl_cuts(np.arange(200.0), nothing)) == 0
    y = np.repeat([0, 1, 0, 2], [20, 15, 25, 30])
    cuts = mdl_cuts(np.arange(90.0), np.eye(3)[y])
    assert cuts.tolist() == [19.5, 34.5, 59.5]
    # A weight is a repetition.
    noisy = np.eye(2)[(np.arange(60) + rng.normal(size=60) * 8 > 30).astype(int)]
    assert np.array_equal(
        mdl_cuts(np.arange(60.0), 3 * noisy), mdl_cuts(np.arange(60.0), noisy * 3.0)
    )
    heavy = equal_frequency_cuts(np.array([0.0, 1.0, 2.0]), np.array([8.0, 1.0, 1.0]), 2)
    assert heavy.tolist() == [0.5]


def test_what_is_wrong_is_said() -> None:
    for step, words in (
        (lambda: KernelColumn(0), "positive number, 'silverman'"),
        (lambda: KernelColumn("best"), "got 'best'"),
        (lambda: BinnedColumn("entropy"), "'mdl', 'equal_width' or 'equal_frequency'"),
        (lambda: BinnedColumn(bins=1), "at least 2, got 1"),
        (lambda: BinnedColumn(smoothing=-1), "at least 0, got -1"),
    ):
        with pytest.raises(InputError, match=words):
            step()
