"""Stability selection: the order of entry, the error bound, kinds, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import lasso_path
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.evaluation import StabilitySelection
from novum.linear import ElasticNet, Lasso, Ridge


def table(n: int, p: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    return X, (X[:, :3] / X[:, :3].std(axis=0)).sum(axis=1) + rng.normal(size=n)


@parametrize_with_checks([StabilitySelection(Lasso(), n_pairs=1, expected_errors=50.0)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("seed", range(4))
def test_columns_come_in_as_on_a_fine_path(seed: int) -> None:
    X, y = table(60, 12, seed)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    _, coefs, _ = lasso_path(Z, y - y.mean(), alphas=2000, eps=1e-3)
    entered = np.argmax(coefs != 0, axis=1)
    expected = np.argsort(np.where((coefs != 0).any(axis=1), entered, 10**6), kind="stable")
    assert Lasso().entry_order(X, y, 4).tolist() == expected[:4].tolist()


def test_a_column_of_levels_comes_in_as_one() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": rng.normal(size=90), "color": np.tile(list("abc"), 30)})
    y = frame["color"].map({"a": 0.0, "b": 3.0, "c": -2.0}) + 0.1 * rng.normal(size=90)
    assert ElasticNet(l1_ratio=0.7).entry_order(frame, y, 1).tolist() == [1]
    model = StabilitySelection(Lasso(), n_pairs=5, random_state=0).fit(frame, y)
    assert model.transform(frame).columns.tolist() == ["color"]
    assert "color" in model.table().as_text().splitlines()[1]


@pytest.mark.slow
def test_errors_stay_below_their_bound() -> None:
    # 30 tables of 30 columns: without any effect, errors on average within 3 standard errors.
    errors = []
    for seed in range(30):
        X, y = table(80, 30, seed)
        noise = np.random.default_rng(seed).permutation(y)
        model = StabilitySelection(Lasso(tol=1e-3), n_pairs=10, threshold=0.6, random_state=seed)
        errors.append(model.fit(X, noise).get_support().sum())
    assert model.error_bound_ == pytest.approx(model.n_first_**2 / (0.2 * 30))
    assert np.mean(errors) <= model.error_bound_ + 3 * np.std(errors) / np.sqrt(30)
    assert model.error_bound_ <= 1.0
    effects = [
        StabilitySelection(Lasso(), expected_errors=5.0, n_pairs=10, random_state=seed)
        .fit(*table(200, 30, seed))
        .get_support()[:3]
        for seed in range(5)
    ]
    assert np.all(effects)


def test_two_classes_threads_and_files(tmp_path: Path) -> None:
    X, y = table(60, 8, 5)
    labels = np.where(y > 0, "yes", "no")
    model = StabilitySelection(Lasso(), n_pairs=4, random_state=1)
    first = model.fit(X, labels).frequencies_
    again = StabilitySelection(Lasso(), n_pairs=4, random_state=1, n_jobs=2).fit(X, y > 0)
    assert first.tobytes() == again.frequencies_.tobytes()
    save(model, tmp_path / "selection.novum")
    assert load(tmp_path / "selection.novum").get_support().tolist() == model.get_support().tolist()


def test_bad_input() -> None:
    X, y = table(20, 4, 0)
    with pytest.raises(InputError, match="needs a learner that says in which order"):
        StabilitySelection(Ridge()).fit(X, y)
    with pytest.raises(InputError, match="none was given"):
        StabilitySelection().fit(X, y)
    with pytest.raises(InputError, match="y has 3 classes"):
        StabilitySelection(Lasso()).fit(X, np.array(list("abc") * 6 + ["a", "b"]))
    with pytest.raises(InputError, match="at least four rows"):
        StabilitySelection(Lasso()).fit(X[:3], y[:3])
    with pytest.raises(InputError, match="y has 19"):
        StabilitySelection(Lasso()).fit(X, y[:19])
