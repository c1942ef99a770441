"""Probabilities of every registered classifier sum to one, for inputs of any size."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest

from novum.bayes import GaussianNB, HypothesisSpace, MultinomialNB, NaiveBayes
from novum.core.errors import InputError
from novum.core.files.registry import ESTIMATORS, estimator
from novum.distributions import Normal
from novum.linear import LogisticRegression
from novum.mixture import GaussianMixture
from novum.numerics import Array, Floats

SIZES = [1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e20, 1e150, 1e300]
MEMBERS = [("a", GaussianNB()), ("b", LogisticRegression())]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "BaggingClassifier": (GaussianNB(), 3),
    "CalibratedClassifierCV": (GaussianNB(),),
    "CoTraining": (GaussianNB(), [[0], [1, 2]]),
    "ConformalClassifier": (GaussianNB(),),
    "DensityClassifier": (GaussianMixture(),),
    "FixedThresholdClassifier": (GaussianNB(),),
    "GridSearchCV": (GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}),
    "HalvingGridSearchCV": (GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}),
    "MultiOutputClassifier": (GaussianNB(),),
    "OneVsOneClassifier": (GaussianNB(),),
    "OneVsRestClassifier": (GaussianNB(),),
    "OpenSet": (GaussianNB(),),
    "Pipeline": ([("a", GaussianNB())],),
    "RandomizedSearchCV": (GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}),
    "SelfTraining": (GaussianNB(),),
    "StackingClassifier": (MEMBERS,),
    "TunedThresholdClassifierCV": (GaussianNB(),),
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "SVC": {"probability": True},
    "NuSVC": {"probability": True},
    "RadiusNeighborsClassifier": {"outlier_label": "most_frequent"},
    "RandomizedSearchCV": {"n_iter": 2},
    "VotingClassifier": {"estimators": MEMBERS, "voting": "soft"},
}
BINARY = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
# Of label sets with one probability each, of tables of codes, and of texts: below.
OTHERS = ("ClassifierChain", "CategoricalNB", "TextClassifier", "BayesianNetworkClassifier")


def classifiers() -> list[str]:
    named = [name for name in ESTIMATORS if hasattr(estimator(name), "predict_proba")]
    return sorted({*named, *PARAMETERS, "Pipeline"} - {*OTHERS})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", classifiers())
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("unit", "offset"), [(1.0, 0.0), (1.0, 1e6), (1e-150, 0.0)])
def test_rows_sum_to_one(name: str, n_classes: int, unit: float, offset: float) -> None:
    if name in BINARY and n_classes > 2:
        return
    rng = np.random.default_rng(0)
    y: Array = np.arange(30) % n_classes
    X = (rng.normal(size=(30, 3)) + y[:, None]) * unit + offset
    counts = name.endswith(("MultinomialNB", "ComplementNB", "BernoulliNB"))
    if name == "MultiOutputClassifier":
        y = np.column_stack([y, y[::-1]])
    model: Any = estimator(name)(*ARGUMENTS.get(name, ()), **PARAMETERS.get(name, {}))
    # Columns whose squares underflow are refused, with what to do.
    with contextlib.suppress(*[InputError] if unit < 1 else []):
        model.fit(np.abs(X) if counts else X, y)
    if not hasattr(model, "n_features_in_"):
        return
    for size in SIZES:
        for sign in (1.0, -1.0):
            rows = sign * size * np.concatenate([np.eye(3), np.ones((1, 3))])
            _assert_shares(model, np.abs(rows) if counts else rows)


def _assert_shares(model: Any, rows: Floats) -> None:
    # Gaussian classifiers and neighbors refuse rows whose squared distance overflows.
    try:
        found = model.predict_proba(rows)
    except InputError as refused:
        if "overflow" in str(refused) or "leave the range of double" in str(refused):
            return
        raise
    for shares in found if isinstance(found, list) else [found]:
        assert np.all(shares >= 0)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_differences_below_the_rounding_of_the_normalizer_are_kept() -> None:
    X, y = [[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1]
    for model in (GaussianNB(), NaiveBayes()):
        assert model.fit(X, y).predict_proba([[1e8]]).tolist() == [[0.5, 0.5]]
    # The prior counts, although the log-likelihoods are larger than 1e16.
    believer = GaussianNB(priors=[0.9, 0.1]).fit(X, y)
    np.testing.assert_allclose(believer.predict_proba([[1e10]]), [[0.9, 0.1]], rtol=1e-12)
    assert believer.predict([[1e10]]) == [0]
    counts = MultinomialNB().fit([[1, 2], [1, 2]], [0, 1])
    assert counts.predict_proba([[1e18, 1e17]]).tolist() == [[0.5, 0.5]]


def test_beliefs_sum_to_one_after_any_observation() -> None:
    laws = {"a": Normal(0.0, 1.0), "b": Normal(0.0, 1.0), "c": Normal(1.0, 1.0)}
    space = HypothesisSpace(laws, {"a": 0.6, "b": 0.3, "c": 0.1}).update([1e9])
    assert sum(space.posterior.values()) == pytest.approx(1, abs=1e-12)
    same = HypothesisSpace({"a": laws["a"], "b": laws["b"]}, {"a": 0.9, "b": 0.1}).update([1e9])
    assert same.posterior["a"] == pytest.approx(0.9, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(space.update([-1e150]).posterior.values()) == pytest.approx(1, abs=1e-12)
