"""Complexity curves: scikit-learn's numbers, the best and the simplest value, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.inspection.complexity_curves import (
    ComplexityCurve,
    complexity_curve,
    validation_curve,
)
from novum.linear import Ridge

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
Y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)


@pytest.mark.parametrize("more", [{}, {"cv": 3, "scoring": "neg_log_loss"}, {"n_jobs": 2}], ids=str)
def test_numbers_are_scikit_learns(more: dict[str, Any]) -> None:
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    options = {"param_name": "decisiontreeclassifier__max_depth", "param_range": [1, 2, 5], **more}
    train, test = validation_curve(model, X, Y, **options)
    expected = theirs.validation_curve(model, X, Y, **options)
    np.testing.assert_allclose(train, expected[0], rtol=1e-12)
    np.testing.assert_allclose(test, expected[1], rtol=1e-12)


def test_sums_give_what_refits_give() -> None:
    y = X[:, 0] + rng.normal(size=90)
    options = {"param_name": "alpha", "param_range": [0.1, 10.0, 1000.0]}
    ours = complexity_curve(Ridge(), X, y, **options)
    for value, scores in zip(ours.param_range, ours.test_scores, strict=True):
        by_hand = theirs.cross_val_score(Ridge(value), X, y)
        np.testing.assert_allclose(scores, by_hand, rtol=1e-8)


def curve(rows: list[list[float]]) -> ComplexityCurve:
    scores = np.array(rows)
    return ComplexityCurve("depth", tuple(range(1, 1 + len(rows))), scores + 0.1, scores, 0.25)


def test_the_simplest_within_one_error() -> None:
    found = curve([[0.5, 0.6, 0.5, 0.6], [0.68, 0.72, 0.7, 0.74], [0.7, 0.74, 0.72, 0.76]])
    assert found.best == 3
    # The error of the best mean is 0.0258 sqrt(1/4 + 1/4) = 0.018; the gap to 2 is 0.02, to 3 is 0.
    assert found.one_standard_error() == 3
    wide = curve([[0.5, 0.6, 0.5, 0.6], [0.60, 0.80, 0.70, 0.74], [0.62, 0.82, 0.72, 0.76]])
    assert wide.one_standard_error("first") == 2
    assert wide.one_standard_error("last") == 3
    with pytest.raises(InputError, match="'first' or 'last'"):
        wide.one_standard_error("middle")  # type: ignore[arg-type]


def test_text_and_failed_folds() -> None:
    found = curve([[0.5, 0.6], [0.7, 0.8]])
    assert "Best mean: depth = 2." in repr(found)
    failed = curve([[0.5, np.nan], [0.7, 0.8]])
    assert "no value is called the best" in repr(failed)
    with pytest.raises(InputError, match="depth = 1 has no score"):
        _ = failed.best


def test_refusals() -> None:
    options = {"param_name": "var_smoothing", "param_range": [1e-9]}
    with pytest.raises(InputError, match="one score"):
        complexity_curve(GaussianNB(), X, Y, scoring=["accuracy", "f1"], **options)
    with pytest.raises(InputError, match="param_range is empty"):
        complexity_curve(GaussianNB(), X, Y, param_name="var_smoothing", param_range=[])
    with pytest.raises(ValueError, match="Invalid parameter 'smooth'"):
        complexity_curve(GaussianNB(), X, Y, param_name="smooth", param_range=[1])


@pytest.mark.parametrize("values", [(1, 2), (1e-4, 1.0), ("gini", "entropy")], ids=str)
def test_pictures(values: tuple[Any, ...]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    scores = np.array([[0.5, 0.6], [0.7, 0.8]])
    ax = ComplexityCurve("parameter", values, scores, scores, 0.25).plot()
    assert len(ax.lines) == 2
    assert ax.get_xscale() == ("log" if values == (1e-4, 1.0) else "linear")
    plt.close(ax.figure)


def test_losses_are_shown_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    curve = complexity_curve(
        Ridge(), X, y, param_name="alpha", param_range=[0.1, 1e4], scoring="rmse"
    )
    assert (curve.test_scores < 0).all()
    assert (curve.name, curve.sign, curve.best) == ("rmse", -1.0, 0.1)
    assert "-" not in repr(curve)
    assert curve.plot().get_ylim()[0] > 0
