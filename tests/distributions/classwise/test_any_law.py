"""Any law as the law of a column within classes: a new one becomes a model by one line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut

from novum.bayes import GaussianColumn, GaussianNB, LawColumn, NaiveBayes
from novum.core import exact_cross_val_predict, load, save
from novum.core.errors import InputError, ModelFileError
from novum.distributions import Beta, Gamma, Normal, StudentT
from novum.numerics import Floats, Integers


def waiting_times(n: int = 120) -> tuple[Floats, Integers]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = np.column_stack([rng.gamma(2.0 + y, 1.0 + 2 * y), rng.normal(3 * y)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


MODEL = NaiveBayes(columns={"x0": LawColumn(Gamma)})


def test_scores_are_those_of_the_laws_of_the_classes() -> None:
    X, y = waiting_times()
    model = NaiveBayes(columns={"x0": LawColumn(Gamma)}).fit(X, y)
    normal = GaussianNB().fit(X, y)
    expected = np.zeros((len(X), 2))
    for k in (0, 1):
        cells = X[y == k, 0]
        law = Gamma.fit(cells[~np.isnan(cells)])
        expected[:, k] = np.nan_to_num(law.log_density(X[:, 0]))
        law = Normal(normal.theta_[k, 1], normal.var_[k, 1])
        expected[:, k] += np.nan_to_num(law.log_density(X[:, 1]))
    np.testing.assert_allclose(model.log_likelihood(X), expected, rtol=1e-12, atol=1e-12)
    explained = model.explain(X[:1], label=1, against=0)
    odds = expected[0, 1] - expected[0, 0]
    assert explained.contributions.sum() == pytest.approx(odds, rel=1e-10)


def test_a_normal_law_is_the_gaussian_column() -> None:
    X, y = waiting_times()
    found = NaiveBayes(numeric=LawColumn(Normal)).fit(X, y).predict_proba(X)
    expected = NaiveBayes(numeric=GaussianColumn()).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_sums_add_come_off_and_meet_new_classes() -> None:
    X, y = waiting_times()
    first, second = (MODEL.statistics(X[rows], y[rows]) for rows in (slice(70), slice(70, None)))
    whole = MODEL.statistics(X, y)
    assert (first + second).isclose(whole)
    assert (whole - second).isclose(first)
    assert (2.0 * whole).isclose(whole + whole)
    twice = NaiveBayes(columns=MODEL.columns).fit(X, y, np.full(len(y), 2.0))
    assert (2.0 * whole).isclose(twice.statistics_)
    later = MODEL.statistics(X[:5], y[:5] + 7)
    united = whole + later
    assert united.classes.tolist() == [0, 1, *np.unique(y[:5] + 7)]
    assert (united - later).isclose(whole)
    with pytest.raises(InputError, match="never added"):
        first - whole


def test_a_class_without_a_law_of_its_own_takes_that_of_all() -> None:
    X = np.array([[1.0], [2.0], [4.0], [3.0], [np.nan]])
    y = np.array([0, 0, 0, 1, 2])
    model = NaiveBayes(numeric=LawColumn(Gamma)).fit(X, y)
    whole = float(Gamma.fit(X[:4, 0]).log_density(5.0))
    found = model.log_likelihood([[5.0]])[0]
    assert found[1:].tolist() == pytest.approx([whole, whole], rel=1e-12)
    silent = NaiveBayes(numeric=LawColumn(Gamma)).fit(np.full((2, 1), np.nan), [0, 1])
    assert silent.log_likelihood([[1.0]]).tolist() == [[0.0, 0.0]]
    assert np.isnan(silent.sample(2, random_state=0)[0]).all()


def test_drawn_rows_have_the_laws() -> None:
    X, y = waiting_times()
    model = NaiveBayes(numeric=LawColumn(Normal), columns=MODEL.columns).fit(X, y)
    drawn, _ = model.sample(4000, label=1, random_state=0)
    # Four standard errors of the mean of 4000 draws.
    spread = drawn.std(axis=0) / np.sqrt(4000)
    assert (np.abs(drawn.mean(axis=0) - np.nanmean(X[y == 1], axis=0)) < 4 * spread).all()


def test_model_files_hold_the_laws(tmp_path: Path) -> None:
    X, y = waiting_times()
    model = NaiveBayes(columns=MODEL.columns).fit(X, y)
    save(model, tmp_path / "model.novum")
    loaded = load(tmp_path / "model.novum")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.columns == model.columns
    loaded.partial_fit(X, y)
    assert loaded.statistics_.isclose(2.0 * model.statistics_)


def test_exact_folds_refit() -> None:
    X, y = waiting_times(30)
    found = exact_cross_val_predict(MODEL, X, y, LeaveOneOut())
    for row in range(0, 30, 6):
        rest = np.delete(np.arange(30), row)
        refit = NaiveBayes(columns=MODEL.columns).fit(X[rest], y[rest])
        assert found[row] == refit.predict(X[[row]])[0]


def test_what_no_law_can_be_is_refused() -> None:
    for law in (StudentT, "Gamma", Gamma(1.0, 1.0), int):
        with pytest.raises(InputError, match="class of laws"):
            LawColumn(law)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Column 'x0'.*numbers above 0"):
        NaiveBayes(numeric=LawColumn(Gamma)).fit([[1.0], [-1.0]], [0, 1])
    with pytest.raises(InputError, match="no law 'save'"):
        LawColumn._from_saved("save")


@dataclass(frozen=True)
class Shifted(Beta):
    """A law from elsewhere."""

    discrete: ClassVar[bool] = False


def test_a_law_from_elsewhere_serves_but_is_not_saved(tmp_path: Path) -> None:
    X: Any = [[0.1], [0.2], [0.4], [0.6], [0.8], [0.9]]
    model = NaiveBayes(numeric=LawColumn(Shifted)).fit(X, [0, 0, 0, 1, 1, 1])
    assert model.predict([[0.15], [0.85]]).tolist() == [0, 1]
    with pytest.raises(ModelFileError, match="no law of"):
        save(model, tmp_path / "model.novum")
