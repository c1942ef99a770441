"""Perceptron: the notes' gates, the theorem on its mistakes, the contract, and odd input."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import (
    InputError,
    MissingValuesError,
    ModelFileError,
    UnseenLevelWarning,
)
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import (
    check_interrupted_fit_changes_nothing,
    check_name,
    estimator_checks,
)
from novum.linear.perceptron.classifier import Perceptron
from novum.numerics import Array, Floats

# Many tables here overlap, so that training ends without a proof, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*passes gain no more")


RULES = ("stochastic", "averaged", "batch")
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
GATES = {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1]}

# --- scikit-learn's checks and the contract -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron(rule="averaged", tol=None, max_iter=100),
        Perceptron(rule="batch", tol=None, max_iter=100),
    ],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks(
    [Perceptron(categorical_features="all", tol=None, max_iter=100)], legacy=True
)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def blobs(n: int = 60, classes: int = 2, seed: int = 0) -> tuple[Floats, Array]:
    """Two columns in which the classes lie apart by at least a unit, each from all others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    angle = 2 * np.pi * y / classes
    centers = 6 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centers + rng.uniform(-1, 1, (n, 2)), y


def mixed_frame() -> tuple[pd.DataFrame, Array]:
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], 40)
    size = rng.uniform(-1, 1, 40)
    return pd.DataFrame({"size": size, "color": color}), (color == "red").astype(int)


def cases() -> list[Any]:
    found = []
    for rule in RULES:
        for k in (2, 3):
            found.append(pytest.param(Case(Perceptron(rule=rule), *blobs(60, k)), id=f"{rule} {k}"))
        found.append(pytest.param(Case(Perceptron(rule=rule), *mixed_frame()), id=f"{rule} mixed"))
    return found


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)


def test_ctrl_c_gives_control_back() -> None:
    X, y = blobs(600)
    y = np.where(np.arange(600) % 7 == 0, 1 - y, y)
    model = Perceptron(max_iter=10, tol=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_interrupted_fit_changes_nothing(Case(model, X, y), rows=60_000)


# --- The notes' gates -----------------------------------------------------------------------------


@pytest.mark.parametrize("gate", sorted(GATES))
@pytest.mark.parametrize("rule", RULES)
def test_and_and_or_are_learned(gate: str, rule: str) -> None:
    y = GATES[gate]
    model = Perceptron(rule=rule).fit(CORNERS, y)
    assert model.predict(CORNERS).tolist() == y
    assert model.certificate_.verdict is Verdict.PROVED
    assert model.margins(CORNERS, y).smallest > 0


@pytest.mark.parametrize("rule", RULES)
def test_exclusive_or_is_learned_by_two_levels_and_not_by_one(rule: str) -> None:
    either = np.array([0, 1, 1, 0])
    single = Perceptron(rule=rule).fit(CORNERS, either)
    assert single.score(CORNERS, either) <= 0.75
    assert single.certificate_.details["separable"] == "not seen"

    both = Perceptron(rule=rule).fit(CORNERS, GATES["and"])
    any_ = Perceptron(rule=rule).fit(CORNERS, GATES["or"])

    def hidden(X: Floats) -> Floats:
        return np.column_stack([both.predict(X), any_.predict(X)]).astype(float)

    out = Perceptron(rule=rule).fit(hidden(CORNERS), either)
    assert out.predict(hidden(CORNERS)).tolist() == either.tolist()


# --- What the certificate says --------------------------------------------------------------------


@st.composite
def separable_tables(draw: st.DrawFn) -> tuple[Floats, Array]:
    """Whole numbers, with sides by a hyperplane that none of them lies on."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(float, (n, d), elements=st.integers(-5, 5).map(float)))
    w = draw(hnp.arrays(float, (d,), elements=st.integers(-3, 3).map(float)))
    b = draw(st.integers(-4, 4)) + 0.5
    return X, (X @ w + b > 0).astype(int)


@settings(max_examples=150)
@given(separable_tables(), st.sampled_from(RULES), st.integers(0, 5))
def test_mistakes_stay_within_the_bound_of_the_theorem(
    table: tuple[Floats, Array], rule: str, seed: int
) -> None:
    X, y = table
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(rule=rule, tol=None, max_iter=100_000, random_state=seed).fit(X, y)
    certificate = model.certificate_
    details = certificate.details
    assert certificate.verdict is Verdict.PROVED
    assert certificate.value == 0
    assert model.score(X, y) == 1
    assert details["mistakes"] <= details["mistake_bound"] * (1 + 1e-9)
    # The margin with the intercept's cell, by its definition.
    rows = np.column_stack([X, np.ones(len(X))])
    weights = np.append(model.coef_[0], model.intercept_[0])
    margin = (np.where(y == 1, 1, -1) * (rows @ weights)).min() / np.linalg.norm(weights)
    assert details["margin"] == pytest.approx(margin, rel=1e-9)
    assert details["radius"] == pytest.approx(np.linalg.norm(rows, axis=1).max(), rel=1e-12)
    assert margin <= details["margin_at_most"] * (1 + 1e-9)


def test_no_weights_separate_with_more_than_the_ceiling() -> None:
    """The largest margin by a search over all directions lies between the two bounds."""
    X, y = blobs(20)
    sign = np.where(y == 1, 1, -1)
    angles = np.linspace(0, 2 * np.pi, 100_000)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    best = (sign[:, np.newaxis] * (X @ directions.T)).min(axis=0).max()
    for rule in RULES:
        details = Perceptron(rule=rule, fit_intercept=False).fit(X, y).certificate_.details
        assert details["margin"] <= best * (1 + 1e-8)
        assert best <= details["margin_at_most"] * (1 + 1e-12)


def test_contradicting_rows_have_a_pocket_and_no_proof() -> None:
    X, y = blobs(40)
    X, y = np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])
    model = Perceptron().fit(X, y)
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    # Of each of the three pairs one row must be wrong, and the others can be right.
    assert model.certificate_.value == 3
    assert model.score(X, y) == pytest.approx(40 / 43)
    assert model.certificate_.details["stopped_by"] == "no_gain"


def test_passes_that_run_out_are_announced() -> None:
    X, y = blobs(40)
    y = 1 - y if y[0] else y
    y = np.where(np.arange(40) == 0, 1 - y, y)
    with pytest.warns(ConvergenceWarning, match=r"stopped early after 3 iterations.*max_iter"):
        model = Perceptron(max_iter=3, tol=None).fit(X, y)
    assert not model.certificate_.converged
    assert model.n_iter_ == 3


def test_the_average_is_that_of_all_weights_of_all_visits() -> None:
    X, y = blobs(30)
    y = np.where(np.arange(30) < 4, 1 - y, y)
    model = Perceptron(rule="averaged", shuffle=False, tol=None, max_iter=4)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    rows, sign = np.column_stack([X, np.ones(30)]), np.where(y == 1, 1.0, -1.0)
    w, met = np.zeros(3), []
    for _ in range(4):
        for x, t in zip(rows, sign, strict=True):
            w = w + t * x if t * (w @ x) <= 0 else w
            met.append(w)
    np.testing.assert_allclose(
        np.append(model.coef_, model.intercept_), np.mean(met, axis=0), rtol=1e-12
    )
    np.testing.assert_allclose(np.append(model.last_coef_, model.last_intercept_), w, rtol=1e-12)


# --- Many classes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["stochastic", "averaged"])
def test_iris_by_one_against_the_rest(rule: str) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = Perceptron(rule=rule).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert model.decision_function(X).shape == (150, 3)
    # All three are told apart, though no line separates two of them.
    assert model.score(X, names) > 2 / 3
    assert model.certificate_.details["separable"][0] == "yes"
    for k, name in enumerate(model.classes_):
        binary = clone(model).fit(X, names == name)
        np.testing.assert_array_equal(binary.coef_[0], model.coef_[k])


def test_jobs_do_not_change_a_bit() -> None:
    X, y = blobs(300, 3)
    fits = [Perceptron(n_jobs=jobs).fit(X, y) for jobs in (None, 2, 3)]
    assert len({fit.coef_.tobytes() for fit in fits}) == 1


# --- Margins --------------------------------------------------------------------------------------


def test_margins_are_distances_to_the_boundary() -> None:
    X, y = blobs(20)
    model = Perceptron().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    found = model.margins(X, 1 - y)
    sign = np.where(y == 1, -1, 1)
    np.testing.assert_allclose(found.functional, sign * (X @ w + b), rtol=1e-12)
    # The foot of the perpendicular lies on the boundary.
    foot = X - (found.geometric * sign)[:, np.newaxis] * w / np.linalg.norm(w)
    np.testing.assert_allclose(foot @ w + b, 0, atol=1e-10)
    with pytest.raises(InputError, match="X has 20 rows, but y has 3"):
        model.margins(X, y[:3])
    with pytest.raises(InputError, match="label 7"):
        model.margins(X, np.full(20, 7))


# --- Going on -------------------------------------------------------------------------------------


def test_one_more_pass_is_what_partial_fit_does() -> None:
    X, y = blobs(30)
    y = np.where(np.arange(30) < 4, 1 - y, y)
    for rule in RULES:
        model = Perceptron(rule=rule, shuffle=False, tol=None, max_iter=3)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
        other = Perceptron(rule=rule, shuffle=False)
        for _ in range(3):
            other.partial_fit(X, y, classes=[0, 1])
        np.testing.assert_allclose(other.last_coef_, model.last_coef_, rtol=1e-12)
        np.testing.assert_allclose(other.mean_coef_, model.mean_coef_, rtol=1e-12)
        answer = other.mean_coef_ if rule == "averaged" else other.last_coef_
        np.testing.assert_array_equal(other.coef_, answer)
        assert other.t_ == 90


def test_warm_start_goes_on_from_the_last_weights() -> None:
    X, y = blobs(30)
    y = np.where(np.arange(30) < 4, 1 - y, y)
    whole = Perceptron(shuffle=False, tol=None, max_iter=4)
    part = Perceptron(shuffle=False, tol=None, max_iter=2, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        whole.fit(X, y)
    with pytest.warns(ConvergenceWarning):
        part.fit(X, y).fit(X, y)
    np.testing.assert_allclose(part.last_coef_, whole.last_coef_, rtol=1e-12)
    with pytest.raises(InputError, match="warm_start=False"):
        part.fit(X, np.arange(30) % 3)


def test_weights_to_start_from() -> None:
    X, y = blobs(30)
    trained = Perceptron().fit(X, y)
    again = Perceptron().fit(X, y, coef_init=trained.coef_, intercept_init=trained.intercept_)
    assert again.certificate_.details["mistakes"] == 0
    np.testing.assert_array_equal(again.coef_, trained.coef_)
    with pytest.raises(InputError, match=r"coef_init has shape \(3,\), but \(1, 2\) is needed"):
        Perceptron().fit(X, y, coef_init=np.zeros(3))


def test_partial_fit_needs_all_classes_first() -> None:
    X, y = blobs(30, 3)
    with pytest.raises(InputError, match="classes must be passed on the first call"):
        Perceptron().partial_fit(X, y)
    with pytest.raises(InputError, match=r"label 2, which is none of the classes 0, 1"):
        Perceptron().partial_fit(X, y, classes=[0, 1])
    model = Perceptron().partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert model.coef_.shape == (3, 2)
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InputError, match="balanced"):
        Perceptron(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])


# --- Weights and order ----------------------------------------------------------------------------


@given(
    hnp.arrays(float, (12, 2), elements=st.integers(-4, 4).map(float)),
    hnp.arrays(int, (12,), elements=st.integers(0, 1)),
    hnp.arrays(int, (12,), elements=st.integers(0, 3)),
    st.sampled_from(RULES),
)
def test_weights_are_repetitions_in_any_order(
    X: Floats, y: Array, weight: Array, rule: str
) -> None:
    if len(np.unique(y[weight > 0])) < 2:
        return
    order = np.random.default_rng(0).permutation(12)
    model = Perceptron(rule=rule)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    weighted = clone(model).fit(X[order], y[order], sample_weight=weight[order])
    # Sums of whole numbers are exact, so not one bit may differ.
    assert weighted.coef_.tobytes() == repeated.coef_.tobytes()
    assert weighted.certificate_.value == repeated.certificate_.value


def test_class_weights_are_factors_of_weights() -> None:
    X, y = blobs(40)
    y = np.where(np.arange(40) < 6, 1 - y, y)
    model = Perceptron(class_weight={0: 2.0})
    expected = Perceptron().fit(X, y, sample_weight=np.where(y == 0, 2.0, 1.0))
    np.testing.assert_array_equal(model.fit(X, y).coef_, expected.coef_)
    balanced = Perceptron(class_weight="balanced").fit(X, y)
    counts = np.bincount(y)
    expected = Perceptron().fit(X, y, sample_weight=40 / (2 * counts[y]))
    np.testing.assert_array_equal(balanced.coef_, expected.coef_)
    with pytest.raises(InputError, match=r"names 'a', which is none of the classes 0, 1"):
        Perceptron(class_weight={"a": 1.0}).fit(X, y)


# --- Tables of all kinds --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [30, 3000], ids=["plain", "compiled"])
def test_sparse_rows_give_the_dense_weights(rule: str, n: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (n, 4)) * (rng.random((n, 4)) < 0.4)
    X, y = X.astype(float), (X @ [1, -1, 2, 1] + rng.normal(size=n) > 0).astype(int)
    model = Perceptron(rule=rule, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        dense = clone(model).fit(X, y)
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array):
            other = clone(model).fit(kind(X), y)
            # Whole numbers: sums in any order are the same.
            np.testing.assert_array_equal(other.coef_, dense.coef_)
            np.testing.assert_array_equal(other.predict(kind(X)), dense.predict(X))


def test_nominal_columns_are_coded_inside() -> None:
    frame, y = mixed_frame()
    model = Perceptron().fit(frame, y)
    assert model.coef_names_ == ("size", "color=green", "color=red")
    assert model.score(frame, y) == 1
    coded = np.column_stack([frame["size"], frame["color"] == "green", frame["color"] == "red"])
    np.testing.assert_array_equal(model.coef_, Perceptron().fit(coded.astype(float), y).coef_)
    with pytest.warns(UnseenLevelWarning, match="'blue'"):
        model.predict(frame[:1].assign(color="pink"))
    model.partial_fit(frame[:5], y[:5])
    assert model.coef_names_ == ("size", "color=green", "color=red")


@pytest.mark.parametrize("scale", [1e8, 1e-8, 1e200, 1e-200])
@pytest.mark.parametrize("rule", RULES)
def test_units_without_an_intercept_do_not_matter(rule: str, scale: float) -> None:
    X, y = blobs(30)
    plain = Perceptron(rule=rule, fit_intercept=False).fit(X, y)
    other = Perceptron(rule=rule, fit_intercept=False).fit(X * scale, y)
    assert np.isfinite(other.coef_).all()
    np.testing.assert_array_equal(other.predict(X * scale), plain.predict(X))
    assert other.certificate_.converged


@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_large_and_small_units_with_an_intercept(scale: float) -> None:
    X, y = blobs(30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = Perceptron(tol=None, max_iter=50).fit(X * scale, y)
    assert np.isfinite(model.coef_).all()
    # The classes lie on two sides of the origin, so units leave them separable.
    assert model.score(X * scale, y) == 1


def test_constant_collinear_and_wide_tables() -> None:
    X, y = blobs(30)
    table = np.column_stack([X, np.full(30, 7.0), X[:, 0] * 2, np.zeros(30)])
    model = Perceptron().fit(table, y)
    assert model.score(table, y) == 1
    assert model.coef_[0, 4] == 0
    rng = np.random.default_rng(0)
    wide, sides = rng.normal(size=(10, 40)), np.arange(10) % 2
    assert Perceptron().fit(wide, sides).certificate_.verdict is Verdict.PROVED
    empty = sparse.csr_matrix(np.column_stack([X, np.zeros((30, 3))]))
    assert not Perceptron().fit(empty, y).coef_[0, 2:].any()


# --- Refusals -------------------------------------------------------------------------------------


def test_what_a_perceptron_has_not_is_refused() -> None:
    X, y = blobs(10)
    with pytest.raises(InputError, match=r"no penalty, got penalty='l2'"):
        Perceptron(penalty="l2").fit(X, y)
    with pytest.raises(InputError, match=r"holds no rows out.*early_stopping=False"):
        Perceptron(early_stopping=True).fit(X, y)
    with pytest.raises(ValueError, match="rule"):
        Perceptron(rule="newton").fit(X, y)


def test_bad_tables_are_named() -> None:
    X, y = blobs(10)
    with pytest.raises(
        InputError, match=r"at least two classes.*one class only: all 10 rows are of class 3"
    ):
        Perceptron().fit(X, np.full(10, 3))
    with pytest.raises(InputError, match=r"all 5 rows are of class 0"):
        Perceptron().fit(X, y, sample_weight=1 - y)
    holed = X.copy()
    holed[2, 1] = np.nan
    with pytest.raises(MissingValuesError, match="x1"):
        Perceptron().fit(holed, y)
    with pytest.raises(InputError, match="All 10 weights are zero"):
        Perceptron().fit(X, y, sample_weight=np.zeros(10))
    with pytest.raises(NotFittedError):
        Perceptron().predict(X)
    with pytest.raises(ValueError, match=r"3 features.*expecting 2"):
        Perceptron().fit(X, y).partial_fit(np.zeros((2, 3)), [0, 1])


def test_a_file_whose_parts_do_not_fit_is_refused() -> None:
    for name, value in (("coef_", np.ones((1, 3))), ("last_coef_", np.full((1, 2), np.nan))):
        broken = Perceptron().fit(*blobs(10))
        setattr(broken, name, value)
        with pytest.raises(ModelFileError, match="coef"):
            broken._check_state()


def test_a_training_that_is_cut_short_warns_where_it_was_called() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    with pytest.warns(ConvergenceWarning, match="stopped early") as seen:
        Perceptron(max_iter=1, tol=None).fit(X, y)
    assert {warning.filename for warning in seen} == {__file__}
