"""KernelPerceptron: gates and rings, the theorem, the linear perceptron, contract, odd input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.linear import Perceptron
from novum.numerics import Array, Floats
from novum.svm.online.kernel_perceptron import KernelPerceptron

# Many tables here overlap, so that training ends without a proof, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*passes gain no more")

RULES = ("stochastic", "averaged", "batch")
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def rings(n: int = 60, classes: int = 2, seed: int = 0) -> tuple[Floats, Array]:
    """Circles around the origin with gaps between them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    radius, angle = 1 + 2 * y + rng.uniform(-0.5, 0.5, n), rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


# --- scikit-learn's checks and the contract -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(kernel="linear", rule="averaged", tol=None, max_iter=100),
        KernelPerceptron(kernel="poly", degree=2, coef0=1.0, rule="batch", tol=None, max_iter=100),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [KernelPerceptron(categorical_features="all", tol=None, max_iter=100)], legacy=True
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("classes", [2, 3])
def test_contract(classes: int, rule: str, check: Check) -> None:
    check(Case(KernelPerceptron(rule=rule), *rings(60, classes)))


# --- What it learns -------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_exclusive_or_is_learned_by_squares(rule: str) -> None:
    model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0, rule=rule)
    y = [0, 1, 1, 0]
    assert model.fit(CORNERS, y).predict(CORNERS).tolist() == y
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.margins(CORNERS, y).smallest > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("classes", [2, 3])
def test_rings_are_separated_within_the_bound_of_the_theorem(rule: str, classes: int) -> None:
    X, y = rings(90, classes)
    model = KernelPerceptron(kernel=Gaussian(0.7), rule=rule, tol=None).fit(X, y)
    details = model.certificate_.details
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.score(X, y) == 1
    for mistakes, bound in zip(
        np.atleast_1d(details["mistakes"]), np.atleast_1d(details["mistake_bound"]), strict=True
    ):
        assert mistakes <= bound
    np.testing.assert_allclose(model.mistakes_.sum(axis=1), np.atleast_1d(details["mistakes"]))
    new, truth = rings(300, classes, seed=5)
    assert model.score(new, truth) > 0.95


@pytest.mark.parametrize("rule", RULES)
def test_without_shuffling_it_is_the_linear_perceptron(rule: str) -> None:
    X = np.random.default_rng(0).integers(-6, 7, (50, 3)).astype(float)
    y = np.where(X @ [1.0, -2.0, 1.0] + 0.5 > 0, "yes", "no")
    y[::11] = "no"
    options = {"shuffle": False, "max_iter": 30, "rule": rule}
    ours = KernelPerceptron(kernel="linear", **options).fit(X, y)
    theirs = Perceptron(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert ours.certificate_.value == theirs.certificate_.value
    assert ours.certificate_.details["mistakes"] == theirs.certificate_.details["mistakes"]
    assert ours.n_iter_ == theirs.n_iter_
    new = X + 0.5
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new))


def test_margins_are_distances_in_the_feature_space() -> None:
    X, y = rings(30, 3)
    linear = KernelPerceptron(kernel="linear").fit(X, y)
    found, expected = linear.margins(X, y), linear.coef_
    scores = linear.decision_function(X)
    for i in range(30):
        own = y[i]
        rival = max((k for k in range(3) if k != own), key=lambda k: scores[i, k])
        distance = np.linalg.norm(expected[own] - expected[rival])
        assert found.geometric[i] == pytest.approx((scores[i, own] - scores[i, rival]) / distance)


def test_precomputed_sparse_and_strings() -> None:
    X, y = rings(40)
    plain = KernelPerceptron(kernel=Gaussian(1.0)).fit(X, y)
    thin = KernelPerceptron(kernel=Gaussian(1.0)).fit(sparse.csr_matrix(X), y)
    assert thin.predict(sparse.csr_matrix(X)).tolist() == plain.predict(X).tolist()
    K = Gaussian(1.0).gram(X)
    given = KernelPerceptron(kernel="precomputed").fit(K, y)
    assert given.predict(K).tolist() == y.tolist()
    words = ["banana", "bandana", "cabana", "stone", "tone", "bone"]
    labels = ["a"] * 3 + ["o"] * 3
    model = KernelPerceptron(kernel=Spectrum(2)).fit(words, labels)
    assert model.predict([*words, "ana", "one"]).tolist() == [*labels, "a", "o"]


def test_class_weights_are_sample_weights() -> None:
    X, y = rings(40)
    y = np.where(np.arange(40) % 7 == 0, 1 - y, y)
    weight = np.where(y == 1, 3.0, 1.0)
    one = KernelPerceptron(kernel="linear", class_weight={1: 3.0}).fit(X, y)
    other = KernelPerceptron(kernel="linear").fit(X, y, weight)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


# --- Limits and bad input -------------------------------------------------------------------------


def test_contradictions_keep_the_best_and_say_that_there_is_no_proof() -> None:
    X, y = rings(40)
    X, y = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    model = KernelPerceptron(kernel=Gaussian(0.3), tol=1e-3).fit(X, y)
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    assert model.certificate_.value == 3
    assert model.certificate_.details["separable"] == "not seen"


@pytest.mark.parametrize("options", [{"max_iter": 2}, {"max_seconds": 1e-9}])
def test_budgets_end_the_training_with_a_warning(options: dict[str, Any]) -> None:
    X = np.array([[0.0], [0.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = KernelPerceptron(tol=None, **options).fit(X, [0, 1, 1])
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY


def test_bad_input_is_named() -> None:
    X, y = rings(10)
    with pytest.raises(InputError, match=r"one class only: all 10 rows are of class 7"):
        KernelPerceptron().fit(X, np.full(10, 7))
    with pytest.raises(MissingValuesError, match=r"KernelPerceptron.*RandomForestClassifier"):
        KernelPerceptron().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(InputError, match="semi-definite"):
        KernelPerceptron(kernel="precomputed").fit(-np.eye(10), y)
    with pytest.raises(InputError, match="X has 10 rows, but y has 3"):
        KernelPerceptron().fit(X, y).margins(X, [0, 1, 0])
    with pytest.raises(ValueError, match="gamma"):
        KernelPerceptron(gamma=-1.0).fit(X, y)


def test_all_rows_equal_is_no_crash() -> None:
    model = KernelPerceptron().fit(np.ones((6, 2)), [0, 1, 1, 0, 1, 1])
    assert model.certificate_.value == 2
    assert model.predict(np.ones((1, 2))).tolist() == [1]


def test_a_file_whose_parts_do_not_fit_is_refused() -> None:
    X, y = rings(20)
    model = KernelPerceptron().fit(X, y)
    model.intercept_ = np.zeros(2)
    with pytest.raises(ModelFileError, match="2 classes has 1 expansions, 2 intercepts"):
        model._check_state()
