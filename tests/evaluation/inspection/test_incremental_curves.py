"""Incremental curves: scikit-learn's numbers, and fresh fits where sums make no difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import model_selection as theirs
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier

from novum.bayes import GaussianNB
from novum.core.errors import InputError
from novum.evaluation.inspection.learning_curves import learning_curve
from novum.linear import LinearRegression, LogisticRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
Y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
SIZES = [10, 30, 60]


def test_numbers_are_scikit_learns() -> None:
    model = SGDClassifier(random_state=0)
    more = {"train_sizes": SIZES, "cv": 3, "exploit_incremental_learning": True}
    ours = learning_curve(model, X, Y, **more)
    _, train, test = theirs.learning_curve(model, X, Y, **more)
    np.testing.assert_array_equal(ours.train_scores, train)
    np.testing.assert_array_equal(ours.test_scores, test)


@pytest.mark.parametrize("model", [GaussianNB(), LinearRegression()], ids=["classes", "numbers"])
def test_learners_from_sums_do_not_mind_the_way(model: object) -> None:
    more = {"train_sizes": SIZES, "cv": 3}
    step = learning_curve(model, X, Y, exploit_incremental_learning=True, **more)
    fresh = learning_curve(model, X, Y, **more)
    np.testing.assert_allclose(step.test_scores, fresh.test_scores, rtol=1e-8)
    two = learning_curve(model, X, Y, exploit_incremental_learning=True, n_jobs=2, **more)
    np.testing.assert_array_equal(two.test_scores, step.test_scores)


def test_refusals() -> None:
    more = {"cv": 3, "exploit_incremental_learning": True}
    with pytest.raises(InputError, match="no partial_fit"):
        learning_curve(LogisticRegression(), X, Y, **more)
    with pytest.raises(InputError, match="Negative values in sample_weight"):
        learning_curve(GaussianNB(), X, Y, params={"sample_weight": -np.ones(90)}, **more)


def test_weights_count_rows_in_steps_and_scores() -> None:
    weight = np.where(np.arange(90) % 3, 1.0, 2.0)
    weight[5:9] = 0.0
    more = {"train_sizes": [10, 30, 55], "cv": 3, "params": {"sample_weight": weight}}
    step = learning_curve(GaussianNB(), X, Y, exploit_incremental_learning=True, **more)
    fresh = learning_curve(GaussianNB(), X, Y, **more)
    np.testing.assert_allclose(step.test_scores, fresh.test_scores, rtol=1e-8)
    np.testing.assert_allclose(step.train_scores, fresh.train_scores, rtol=1e-8)


class Fragile(GaussianNB):
    """Cannot learn a second time."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if hasattr(self, "classes_"):
            raise RuntimeError("no more rows")
        return super().partial_fit(X, y, classes, sample_weight)


def test_a_step_that_fails_scores_what_was_asked_for() -> None:
    more = {"train_sizes": SIZES, "cv": 3, "exploit_incremental_learning": True}
    with pytest.warns(FitFailedWarning, match="6 fits failed out of a total of 9.*no more rows"):
        curve = learning_curve(Fragile(), X, Y, error_score=-1.0, **more)
    assert (curve.test_scores[1:] == -1.0).all()
    assert (curve.test_scores[0] > 0).all()
    with pytest.raises(RuntimeError, match="no more rows"):
        learning_curve(Fragile(), X, Y, error_score="raise", **more)
