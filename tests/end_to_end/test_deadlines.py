"""Fits with a deadline: they end in time with what they have, or leave no trace."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from novum.clustering import KMeans
from novum.core.runtime import OutOfTime, deadline
from novum.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from novum.evaluation import GridSearchCV, cross_val_score
from novum.linear import ElasticNet, Lasso, LogisticRegression
from novum.mixture import GaussianMixture
from novum.svm import SVC, SVR
from novum.trees import RandomForestClassifier, RandomForestRegressor

RNG = np.random.default_rng(0)


def table(n: int, p: int) -> tuple[Any, Any, Any]:
    X = RNG.normal(size=(n, p))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + RNG.normal(size=n)
    return X, y, (y > 0).astype(int)


def correlated(n: int, p: int) -> tuple[Any, Any, Any]:
    X, y, labels = table(n, p)
    return X @ RNG.normal(size=(p, p)), y, labels


SMALL, WIDE = table(4000, 10), correlated(2000, 1500)
ENDLESS = {"tol": 0.0, "max_iter": 10**8}
# Fits that no machine ends in time: the learner, its rows, its target, and what it answers.
FITS: dict[str, tuple[Any, Any, str, str]] = {
    "boosting": (GradientBoostingClassifier(n_estimators=10**6), SMALL, "labels", "predict_proba"),
    "of numbers": (GradientBoostingRegressor(n_estimators=10**6), SMALL, "numbers", "predict"),
    "forest": (RandomForestClassifier(10**5, random_state=0), SMALL, "labels", "predict_proba"),
    "of trees": (RandomForestRegressor(10**4, random_state=0), SMALL, "numbers", "predict"),
    "k-means": (KMeans(50, n_init=10**4, random_state=0, **ENDLESS), SMALL, "", "predict"),
    "mixture": (GaussianMixture(9, n_init=10**3, random_state=0, **ENDLESS), SMALL, "", "predict"),
    "support vectors": (SVC(C=1e4, tol=1e-15), table(8000, 10), "labels", "decision_function"),
    "regression": (SVR(C=1e4, tol=1e-15), table(8000, 10), "numbers", "predict"),
    "lasso": (Lasso(1e-9, tol=1e-15, max_iter=10**7), WIDE, "numbers", "predict"),
    "net": (ElasticNet(1e-9, tol=1e-15, max_iter=10**7), WIDE, "numbers", "predict"),
}


def fitted(name: str, seconds: float) -> Any:
    model, (X, y, labels), target, _ = FITS[name]
    targets = {"labels": (labels,), "numbers": (y,), "": ()}[target]
    with warnings.catch_warnings(), deadline(seconds):
        warnings.simplefilter("ignore")
        return clone(model).fit(X, *targets)


@pytest.mark.parametrize("name", FITS)
def test_what_is_there_at_the_deadline_answers_and_says_so(name: str) -> None:
    model = fitted(name, 0.5)
    certificate = model.certificate_
    assert certificate.verdict.value == "stopped early"
    assert certificate.details["stopped_by"] == "deadline"
    assert "stopped early, by the deadline" in repr(certificate)
    answers = getattr(model, FITS[name][3])(FITS[name][1][0])
    assert np.isfinite(answers).all()


@pytest.mark.parametrize("in_thread", [False, True])
def test_what_has_no_use_before_its_end_leaves_no_trace(in_thread: bool) -> None:
    model = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]})

    def work() -> None:
        with pytest.raises(OutOfTime), deadline(0.0):
            model.fit(SMALL[0], SMALL[2])
        assert not [name for name in vars(model) if name.endswith("_")]
        ended.append(True)

    ended: list[bool] = []
    thread = threading.Thread(target=work)
    (thread.start if in_thread else work)()
    if in_thread:
        thread.join()
    assert ended


def test_folds_of_models_that_were_cut_are_no_scores() -> None:
    with pytest.raises(OutOfTime), deadline(0.2):
        cross_val_score(FITS["boosting"][0], SMALL[0], SMALL[2])
