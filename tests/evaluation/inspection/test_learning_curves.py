"""Learning curves: scikit-learn's numbers, corrected intervals, words, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import model_selection as theirs
from sklearn.linear_model import LogisticRegression, Ridge

from novum.bayes import GaussianNB, NaiveBayes
from novum.core.errors import InputError
from novum.evaluation.inspection.complexity_curves import complexity_curve
from novum.evaluation.inspection.learning_curves import checked_sizes, learning_curve
from novum.linear import LinearRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"train_sizes": [10, 40, 96]},
        {"shuffle": True, "random_state": 3},
        {"scoring": "neg_log_loss", "cv": 4},
        {"cv": theirs.KFold(3, shuffle=True, random_state=1)},
    ],
    ids=str,
)
def test_numbers_are_scikit_learns(more: dict[str, Any]) -> None:
    ours = learning_curve(LogisticRegression(), X, Y, **more)
    sizes, train, test = theirs.learning_curve(LogisticRegression(), X, Y, **more)
    assert ours.train_sizes.tolist() == sizes.tolist()
    np.testing.assert_allclose(ours.train_scores, train, rtol=1e-12)
    np.testing.assert_allclose(ours.test_scores, test, rtol=1e-12)


def test_weights_are_cut_along() -> None:
    weight = rng.uniform(0.5, 2, 120)
    options: dict[str, Any] = {"params": {"sample_weight": weight}, "cv": 3}
    y = X[:, 0] + rng.normal(size=120)
    ours = learning_curve(Ridge(), X, y, **options)
    # Theirs weights the fit only; the training of the models is the same.
    fitted = Ridge().fit(X[40:], y[40:], weight[40:])
    by_hand = fitted.score(X[:40], y[:40], weight[:40])
    assert ours.test_scores[-1, 0] == pytest.approx(by_hand, rel=1e-10)


def test_intervals_know_the_size_of_their_training_parts() -> None:
    curve = learning_curve(GaussianNB(), X, Y, train_sizes=[12, 96], cv=5)
    assert curve.test_train_ratios.tolist() == [24 / 12, 24 / 96]
    for scores, ratio, interval in zip(
        curve.test_scores, curve.test_train_ratios, curve.intervals(0.9), strict=True
    ):
        reach = stats.t.ppf(0.95, 4) * scores.std(ddof=1) * np.sqrt(1 / 5 + ratio)
        low, high = scores.mean() - reach, min(1.0, scores.mean() + reach)
        assert tuple(interval) == pytest.approx((low, high))


def test_unpacking_and_words() -> None:
    curve = learning_curve(GaussianNB(), X, Y, cv=3, return_times=True)
    assert len(list(curve)) == 5
    assert "rows" in repr(curve)
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=120)
    steep = learning_curve(LinearRegression(), X, y, train_sizes=[4, 90], cv="2x5")
    assert steep.verdict().startswith(("More rows help", "No clear gain"))
    with pytest.raises(InputError, match="two sizes"):
        learning_curve(GaussianNB(), X, Y, train_sizes=[50]).last_gain()


def test_frames_with_categories() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(np.where(Y == 1, "p", "q"))})
    curve = learning_curve(NaiveBayes(), frame, Y, cv=3, train_sizes=[20, 80])
    assert (curve.test_scores[-1] > 0.9).all()


@pytest.mark.parametrize("cv", [3, theirs.GroupKFold(3)])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_smallest_part_holds_every_class(cv: Any, shuffle: bool) -> None:
    """Rows in the order of their classes, in groups of two."""
    y, groups = np.repeat(["a", "b", "c"], [12, 6, 6]), np.arange(24) // 2
    X = np.random.default_rng(0).normal(size=(24, 2))
    grouped = {} if cv == 3 else {"groups": groups}
    given: Any = {**grouped, "cv": cv, "shuffle": shuffle, "random_state": 0}
    curve = learning_curve(LogisticRegression(), X, y, **given)
    assert np.isfinite(curve.test_scores).all()
    assert curve.train_sizes[0] == 2
    given["scoring"] = "neg_log_loss" if shuffle else "accuracy"
    sizes = learning_curve(LogisticRegression(), X, y, train_sizes=[6, 16], **given)
    assert np.isfinite(sizes.test_scores).all()


def test_rows_of_weight_zero_are_absent_from_curves() -> None:
    weight = (np.arange(len(Y)) % 3 > 0).astype(float)
    kept = weight > 0
    for cv in (3, theirs.StratifiedKFold(3, shuffle=True, random_state=0)):
        given = learning_curve(LogisticRegression(), X, Y, cv=cv, params={"sample_weight": weight})
        fewer = learning_curve(LogisticRegression(), X[kept], Y[kept], cv=cv)
        assert given.train_sizes.tolist() == fewer.train_sizes.tolist()
        np.testing.assert_allclose(given.test_scores, fewer.test_scores, rtol=1e-9)
        np.testing.assert_allclose(given.train_scores, fewer.train_scores, rtol=1e-9)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([0.0, 0.5], r"lie in \(0, 1\]"),
        ([1.5], r"lie in \(0, 1\]"),
        ([0, 5], "between 1 and the 10 rows"),
        ([11], "between 1 and the 10 rows"),
        ([], "list of numbers of rows"),
        (["a"], "list of numbers of rows"),
    ],
)
def test_sizes_that_are_none(sizes: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked_sizes(sizes, 10)


def test_equal_sizes_count_once() -> None:
    with pytest.warns(RuntimeWarning, match="1 of 3 train_sizes"):
        assert checked_sizes([0.5, 0.51, 1.0], 10).tolist() == [5, 10]


def test_one_score_only() -> None:
    with pytest.raises(InputError, match="one score"):
        learning_curve(GaussianNB(), X, Y, scoring=["accuracy", "f1"])


def test_pictures() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    ax = learning_curve(GaussianNB(), X, Y, cv=3).plot()
    assert len(ax.lines) == 2
    assert ax.get_xlabel() == "rows to train on"
    plt.close(ax.figure)


def test_losses_are_shown_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=90)
    curve = learning_curve(
        LinearRegression(), X, y, train_sizes=[30, 60], cv=3, scoring="neg_root_mean_squared_error"
    )
    # The arrays are scikit-learn's, texts and pictures are for people.
    assert (curve.test_scores < 0).all()
    assert curve.name == "root_mean_squared_error"
    assert "-" not in repr(curve).splitlines()[1]
    low, high = curve.plot().get_ylim()
    assert high >= 0
    assert low > -1
    assert curve.last_gain().estimate > 0
    assert "changed the root_mean_squared_error by -" in curve.verdict()


def test_curves_are_sequences_as_scikit_learns_tuples() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2))
    curve = learning_curve(LinearRegression(), rows, rows[:, 0], train_sizes=[10, 20], cv=3)
    assert len(curve) == 3
    np.testing.assert_array_equal(curve[-1], curve.test_scores)
    values = complexity_curve(
        Ridge(), rows, rows[:, 0], param_name="alpha", param_range=[1.0, 2.0], cv=3
    )
    assert np.vstack(values).shape == (4, 3)
