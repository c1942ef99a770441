"""Scorers: scikit-learn's numbers by scikit-learn's names, its tools, routing, working points."""

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from novum.bayes import GaussianNB
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation.decisions.detection_cost import detection_cost
from novum.evaluation.decisions.ratios import log_likelihood_ratios
from novum.evaluation.measures.catalog import measure, measure_names
from novum.evaluation.measures.scorers import resolve_scoring, scorer

CLUSTERINGS = ("_info", "rand", "completeness", "homogeneity", "v_measure", "fowlkes")
POSITIVE_ONLY = ("log_error", "gamma", "poisson")


@pytest.fixture(scope="module")
def two() -> Any:
    X, y = make_classification(120, random_state=0, flip_y=0.2)
    return LogisticRegression().fit(X[:80], y[:80]), X[80:], y[80:]


@pytest.fixture(scope="module")
def three() -> Any:
    X, y = make_classification(150, n_classes=3, n_informative=4, random_state=0)
    return LogisticRegression(max_iter=500).fit(X[:100], y[:100]), X[100:], y[100:]


@pytest.fixture(scope="module")
def numbers() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=80) + 20
    return Ridge().fit(X[:50], y[:50]), X[50:], y[50:]


def _theirs(name: Any, fitted: Any, weight: Any) -> Any:
    model, X, y = fitted
    weights = {} if weight is None else {"sample_weight": weight}
    try:
        return metrics.get_scorer(name)(model, X, y, **weights)
    except (ValueError, TypeError, UserWarning):
        return None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", metrics.get_scorer_names())
def test_scikit_learns_names_mean_scikit_learns_numbers(
    name: Any, weighted: Any, two: Any, three: Any, numbers: Any
) -> None:
    compared = 0
    for fitted in (two, three, numbers):
        if any(part in name for part in CLUSTERINGS):
            continue
        model, X, y = fitted
        weight = np.random.default_rng(1).random(len(y)) if weighted else None
        is_number = isinstance(model, Ridge)
        if is_number != (name in metrics.get_scorer_names() and _is_for_numbers(name)):
            continue
        expected = _theirs(name, fitted, weight)
        if expected is None:
            continue
        (mine,) = resolve_scoring(model, name).values()
        assert mine.name == name
        assert mine(model, X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-9)
        compared += 1
    unusual = ("samples", "likelihood", *CLUSTERINGS)
    if not any(part in name for part in unusual) and not (
        weighted and ("ovo" in name or name == "neg_max_error")
    ):
        assert compared


def _is_for_numbers(name: Any) -> Any:
    return name in ("r2", "explained_variance", "d2_absolute_error_score") or any(
        part in name for part in ("_error", "deviance")
    )


@pytest.mark.parametrize("target", ["classes", "relevances", "numbers"])
def test_every_measure_is_a_scorer_for_cross_validation(
    target: Any, two: Any, numbers: Any
) -> None:
    _, X, y = numbers if target == "numbers" else two
    model = Ridge() if target == "numbers" else GaussianNB()
    point = WorkingPoint.binary(prior=0.4, cost_fn=2, cost_fp=1)
    scoring = {
        name: scorer(name, point=point if "cost" in name or "risk" in name else None)
        for name in measure_names()
        if measure(name).target == target
    }
    if target == "relevances":
        model = Ridge()
    found = cross_validate(model, X, y, cv=3, scoring=scoring)
    for name in scoring:
        values = found[f"test_{name}"]
        assert np.isfinite(values).all(), name
        assert measure(name).greater_is_better or (values <= 0).all()


def test_scorers_survive_pickles_and_serve_a_search(two: Any) -> None:
    model, X, y = two
    made = scorer("f_beta", beta=2.0)
    again = pickle.loads(pickle.dumps(made))
    assert again(model, X, y) == made(model, X, y)
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, scoring=scorer("log_loss"), cv=3
    ).fit(X, y)
    theirs = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="neg_log_loss", cv=3)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], theirs.fit(X, y).cv_results_["mean_test_score"]
    )


def test_weights_are_routed_as_scikit_learns_scorers_ask(two: Any) -> None:
    _, X, y = two
    weight = np.random.default_rng(2).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=True)
        found, expected = (
            cross_validate(
                learner,
                X,
                y,
                params={"sample_weight": weight},
                cv=3,
                scoring={"loss": made.set_score_request(sample_weight=True)},
            )["test_loss"]
            for made in (
                scorer("log_loss"),
                metrics.make_scorer(
                    metrics.log_loss, response_method="predict_proba", greater_is_better=False
                ),
            )
        )
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert scorer("accuracy").get_metadata_routing().score.requests == {"sample_weight": None}
    with pytest.raises(InputError, match="takes sample_weight and no groups"):
        scorer("accuracy").set_score_request(groups=True)


def test_the_positive_class_may_be_the_first(two: Any) -> None:
    model, X, y = two
    found = scorer("roc_auc", positive=0)(model, X, y)
    assert found == pytest.approx(metrics.roc_auc_score(1 - y, -model.decision_function(X)))
    neighbors = KNeighborsClassifier().fit(X, y)
    found = scorer("average_precision", positive=0)(neighbors, X, y)
    expected = metrics.average_precision_score(1 - y, neighbors.predict_proba(X)[:, 0])
    assert found == pytest.approx(expected)
    with pytest.raises(InputError, match="positive='x' is none of the model's classes 0, 1"):
        scorer("roc_auc", positive="x")(model, X, y)


def test_labels_of_a_working_point_are_judged(two: Any) -> None:
    _, X, y = two
    model = GaussianNB().fit(X, y)
    point = WorkingPoint.binary(prior=0.01, cost_fn=1, cost_fp=1)
    expected = metrics.recall_score(y, model.at(point).predict(X))
    assert scorer("recall", point=point)(model, X, y) == expected
    assert expected < metrics.recall_score(y, model.predict(X))
    ratios = log_likelihood_ratios(model, X)
    assert scorer("detection_cost", point=point)(model, X, y) == -detection_cost(y, ratios, point)


def test_labels_the_model_never_saw_are_errors_of_the_model(two: Any) -> None:
    model, X, y = two
    strange = y.copy()
    strange[0] = 7
    assert scorer("accuracy")(model, X, strange) == metrics.accuracy_score(
        strange, model.predict(X)
    )
    with pytest.raises(InputError, match="y holds 7 at row 0, which is none of the classes 0, 1"):
        scorer("log_loss")(model, X, strange)


def test_sets_of_labels_go_to_scikit_learns_scorer() -> None:
    X, Y = make_multilabel_classification(60, random_state=0)
    model = KNeighborsClassifier().fit(X, Y)
    found = scorer("f1_macro")(model, X, Y)
    assert found == metrics.f1_score(Y, model.predict(X), average="macro")
    with pytest.raises(InputError, match="kappa judges one label for each row, y holds several"):
        scorer("kappa")(model, X, Y)


def test_scoring_comes_in_many_forms(two: Any, numbers: Any) -> None:
    model, X, y = two
    assert resolve_scoring(model)["score"](model, X, y) == model.score(X, y)
    assert resolve_scoring(numbers[0])["score"](*numbers) == numbers[0].score(*numbers[1:])

    def own(estimator: Any, X: Any, y: Any) -> Any:
        return 0.25 * len(X) / len(y) * (estimator is model)

    assert resolve_scoring(model, own)["own"](model, X, y) == 0.25
    named = resolve_scoring(
        model, {"a": "accuracy", "b": own, "c": scorer("f1"), "d": "top_k_accuracy"}
    )
    assert list(named) == ["a", "b", "c", "d"]
    assert named["a"](model, X, y) == model.score(X, y)
    assert list(resolve_scoring(model, ["f1", measure("kappa")])) == ["f1", "kappa"]


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("acuracy", "There is no scorer 'acuracy'"),
        (3, "scoring is None, a name, a callable"),
        (["f1", "f1"], "a list of different names"),
        ([], "a list of different names"),
        ({"a": 3}, "A scorer is a name, a measure or a callable, got 3"),
    ],
)
def test_bad_scoring_is_named(scoring: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        resolve_scoring(Ridge(), scoring)


def test_a_model_without_probabilities_is_named(two: Any) -> None:
    _, X, y = two
    model = LinearSVC().fit(X, y)
    with pytest.raises(InputError, match="log_loss needs predict_proba, and LinearSVC has none"):
        scorer("log_loss")(model, X, y)
    with pytest.raises(InputError, match="rmse takes no point"):
        scorer("rmse", point=WorkingPoint.uniform([0, 1]))


def test_scorers_are_values() -> None:
    assert scorer("f_beta", beta=2) == scorer("f_beta", beta=2)
    assert scorer("f_beta", beta=2) != scorer("f_beta", beta=3)
    assert hash(scorer("f1")) == hash(scorer("f1"))
    assert repr(scorer("f_beta", beta=2)) == "scorer('f_beta', beta=2)"


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_a_models_own_score_is_the_number_of_scikit_learn(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 5, 2))
    numbers = X[:, 0] + rng.normal(size=n + 5)
    labels = np.where(numbers > 0, "yes", "no")
    labels[:2] = "yes", "no"
    cases = [
        (Ridge(), numbers),
        (Ridge(), numbers.astype(np.float32)),
        (Ridge(), np.zeros(n + 5)),
        (DummyClassifier(strategy="stratified", random_state=seed), labels),
        (DummyClassifier(strategy="stratified", random_state=seed), labels.astype(object)),
        (DummyClassifier(strategy="stratified", random_state=seed), (labels == "no").astype(int)),
    ]
    for model, y in cases:
        model.fit(X[:10], y[:10])
        score = resolve_scoring(model)["score"]
        assert score(model, X[5:], y[5:]) == model.score(X[5:], y[5:])
        weight = rng.integers(1, 4, n)
        assert score(model, X[5:], y[5:], sample_weight=weight) == model.score(X[5:], y[5:], weight)
