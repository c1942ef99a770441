"""What the classifiers share: votes, layouts, reports, decisions, contracts, LIBSVM's terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.vectors.gaussian import Gaussian
from novum.svm import classification
from novum.svm.classifier import SVC, NuSVC
from novum.svm.objects import SparseVectors
from tests.svm.machine_tables import CLASSIFIERS, as_files, blobs

X, Y = load_iris(return_X_y=True)
FINE = {"tol": 1e-9}
# Half of the conditions of optimality is judged by LIBSVM's own tolerance.
CLOSE = 2e-4


def reference(cls: type, **parameters: Any) -> Any:
    return getattr(svm, cls.__name__)(tol=1e-9, **parameters)


# --- scikit-learn's checks and the contract -------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.svm.solver.vanishing.VanishingMarginWarning")
@pytest.mark.filterwarnings("ignore::novum.svm.classifier.ReducedShareWarning")
@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks(
    [SVC(), SVC(probability=True), SVC(multiclass="rest", kernel="linear"), NuSVC(nu=0.2)],
    legacy=True,
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([SVC(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    color = rng.choice(["blue", "green", "red"], 60)
    return pd.DataFrame({"size": rng.uniform(-1, 1, 60), "color": color}), (color == "red") * 1


CASES = [
    pytest.param(Case(SVC(), *blobs(60, 2)), id="two classes"),
    pytest.param(Case(SVC(probability=True), *blobs(60, 3)), id="probabilities"),
    pytest.param(Case(SVC(multiclass="rest"), *blobs(60, 3)), id="rest"),
    pytest.param(Case(SVC(), *mixed_frame()), id="mixed"),
    pytest.param(Case(NuSVC(nu=0.3), *blobs(60, 3)), id="nu"),
]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", CASES)
def test_contract(case: Case, check: Check) -> None:
    with as_files():
        check(case)


# --- LIBSVM's terms -------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_attributes_are_those_of_libsvm(cls: Any, classes: int) -> None:
    # Rows without repetitions: LIBSVM shares the coefficient of equal rows in no particular way.
    rows = np.unique(np.column_stack([X, Y]), axis=0)
    rows = rows[rows[:, -1] < classes]
    data, y = rows[:, :-1], rows[:, -1].astype(int)
    # A share of no whole number of rows: one of them is unbound, and the bias is unique.
    parameters = {"C": 10.0} if cls is SVC else {"nu": 0.13}
    ours, theirs = cls(**FINE, **parameters).fit(data, y), reference(cls, **parameters).fit(data, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
    size = np.abs(theirs.dual_coef_).max()
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=5e-3 * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=5e-3)
    assert ours.shape_fit_ == theirs.shape_fit_
    assert ours.fit_status_ == theirs.fit_status_ == 0
    for shape in ("ovr", "ovo"):
        values = [
            m.set_params(decision_function_shape=shape).decision_function(X) for m in (ours, theirs)
        ]
        np.testing.assert_allclose(*values, atol=5e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_of_columns_of_linear_kernels(classes: int) -> None:
    chosen = classes > Y
    ours = SVC(kernel="linear", **FINE).fit(X[chosen], Y[chosen])
    theirs = svm.SVC(kernel="linear", tol=1e-9).fit(X[chosen], Y[chosen])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=CLOSE)
    assert not hasattr(SVC().fit(X, Y), "coef_")
    rest = SVC(kernel="linear", multiclass="rest").fit(X, Y)
    np.testing.assert_allclose(X @ rest.coef_.T + rest.intercept_, rest.decision_function(X))


def test_class_weights_are_prices() -> None:
    data, y = blobs(60)
    for weight in ({0: 3.0}, "balanced"):
        ours = SVC(class_weight=weight, **FINE).fit(data[:50], y[:50])
        theirs = svm.SVC(class_weight=weight, tol=1e-9).fit(data[:50], y[:50])
        np.testing.assert_allclose(
            ours.decision_function(data), theirs.decision_function(data), atol=CLOSE
        )
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


def test_sample_weights_are_prices() -> None:
    data, y = blobs(60)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 60)
    ours = SVC(gamma=0.5, **FINE).fit(data, y, sample_weight=weight)
    theirs = svm.SVC(gamma=0.5, tol=1e-9).fit(data, y, sample_weight=weight)
    np.testing.assert_allclose(
        ours.decision_function(data), theirs.decision_function(data), atol=CLOSE
    )


# --- Reports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_slack_margin_and_bound_vectors(cls: Any) -> None:
    data, y = blobs(60)
    model = cls(**FINE).fit(data, y)
    f = (2 * y - 1) * model.decision_function(data)
    np.testing.assert_allclose(model.xi_, np.maximum(1 - f, 0), atol=1e-8)
    assert sorted([*model.bound_, *model.unbound_]) == sorted(model.support_)
    assert (np.abs(f[model.unbound_] - 1) < CLOSE).all()
    assert (f[model.bound_] < 1 + CLOSE).all()
    K = model.kernel_.gram(model.support_vectors_)
    norm = np.sqrt(model.dual_coef_[0] @ K @ model.dual_coef_[0])
    assert model.margin_ == pytest.approx(1 / norm)
    terms = model.margin_error_bound_
    assert terms.margin_errors == pytest.approx((f < 1 - CLOSE).mean(), abs=0.02)
    assert (terms.radius, terms.n_rows) == (1.0, 60.0)
    assert terms.norm == pytest.approx(norm)


def test_slack_of_pairs_is_against_each_other_class() -> None:
    data, y = blobs(60, 3)
    model = SVC(decision_function_shape="ovo", **FINE).fit(data, y)
    assert model.xi_.shape == (60, 2)
    pairs = model.decision_function(data)
    row = int(np.flatnonzero(y == 2)[0])
    # Pairs (0, 2) and (1, 2) are positive for their first classes.
    expected = np.maximum(1 + pairs[row, [1, 2]], 0)
    np.testing.assert_allclose(model.xi_[row], expected, atol=1e-8)
    assert model.margin_.shape == (3,)
    assert len(model.margin_error_bound_) == 3
    assert len(model.certificate_.details["gaps"]) == 3


def test_rows_of_weight_zero_have_no_slack_and_positions_count_them() -> None:
    data, y = blobs(40)
    weight = np.where(np.arange(40) % 5 == 0, 0.0, 1.0)
    model = SVC(**FINE).fit(data, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    absent = SVC(**FINE).fit(data[kept], y[kept])
    assert np.isnan(model.xi_[weight == 0]).all()
    np.testing.assert_array_equal(model.support_, kept[absent.support_])
    np.testing.assert_array_equal(model.support_vectors_, data[model.support_])


def test_certificate_bounds_the_objective() -> None:
    data, y = blobs(60)
    rough, fine = SVC(tol=0.2).fit(data, y), SVC(**FINE).fit(data, y)
    assert rough.certificate_.dual <= fine.certificate_.primal + 1e-9
    assert fine.certificate_.dual <= rough.certificate_.primal + 1e-9
    assert rough.certificate_.relative_gap <= 0.2
    w = fine.dual_coef_[0] @ fine.kernel_.gram(fine.support_vectors_) @ fine.dual_coef_[0]
    assert fine.certificate_.primal == pytest.approx(w / 2 + fine.xi_.sum(), rel=1e-6)


# --- Decisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("multiclass", ["pairs", "rest"])
@pytest.mark.parametrize("probability", [True, "sigmoid", "isotonic"])
def test_probabilities_are_calibrated_and_near_the_decisions(
    multiclass: str, probability: Any
) -> None:
    data, y = blobs(300, 3)
    model = SVC(probability=probability, multiclass=multiclass).fit(data, y)
    p = model.predict_proba(data)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p.argmax(axis=1) == model.predict(data)).mean() > 0.9
    # Mean probabilities are near the shares of the classes.
    np.testing.assert_allclose(p.mean(axis=0), model.class_prior_, atol=0.05)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(data), np.log(p))


def test_libsvm_names_of_platts_method() -> None:
    data, y = blobs(100)
    model = SVC(probability=True).fit(data, y)
    f = model.decision_function(data)
    # LIBSVM's decision value is positive for the first class.
    first = 1 / (1 + np.exp(model.probA_[0] * -f + model.probB_[0]))
    np.testing.assert_allclose(model.predict_proba(data)[:, 0], first)
    assert not hasattr(SVC(probability="isotonic").fit(data, y), "probA_")


def test_decisions_at_a_working_point() -> None:
    data, y = blobs(100)
    model = SVC(probability=True).fit(data, y)
    costly = model.at(WorkingPoint.binary(prior=0.5, cost_fn=50, cost_fp=1))
    assert costly.predict(data).sum() > model.predict(data).sum()
    with pytest.raises(InputError, match="no predict_proba"):
        SVC().fit(data, y).at(WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1))


def test_probabilities_must_be_asked_for() -> None:
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(SVC(), name)
        assert hasattr(SVC(probability=True), name)
        with pytest.raises(AttributeError, match=f"no attribute '{name}'.* Set probability=True"):
            getattr(SVC(), name)
    assert "of shape" in SVC.predict_proba.__doc__


@pytest.mark.parametrize("cls", [SVC, NuSVC])
def test_many_small_classes_have_the_machines_of_pairs(cls: Any) -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(7), [2, 3, 4, 3, 5, 2, 3])
    data = rng.normal(size=(7, 3))[codes] + 0.3 * rng.normal(size=(len(codes), 3))
    model = cls(gamma=0.5, **FINE).fit(data, codes)
    expected = reference(cls, gamma=0.5, decision_function_shape="ovo").fit(data, codes)
    ours = model.set_params(decision_function_shape="ovo").decision_function(data)
    np.testing.assert_allclose(ours, expected.decision_function(data), atol=CLOSE)
    assert model.certificate_.converged
    assert model.certificate_.details["worst_relative_gap"] <= 1e-9


def test_predictions_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SVC(probability=True).fit(X, Y)
    names = ("predict", "decision_function", "predict_proba")
    expected = [getattr(model, name)(X) for name in names]
    monkeypatch.setattr(classification, "BLOCK_MARGINS", 42)
    for name, values in zip(names, expected, strict=True):
        np.testing.assert_allclose(getattr(model, name)(X), values, rtol=1e-12, atol=1e-12)


def test_small_classes_whose_matrix_does_not_fit_the_cache() -> None:
    codes = np.repeat(np.arange(6), 3)
    data = np.random.default_rng(1).normal(size=(18, 2)) + codes[:, np.newaxis]
    whole, parts = (
        SVC(cache_size=size, **FINE).fit(data, codes).dual_coef_ for size in (200, 1e-6)
    )
    np.testing.assert_allclose(whole, parts, atol=1e-6)


def test_ties_of_votes() -> None:
    data, y = blobs(150, 4, spread=3.0)
    plain, broken = SVC(**FINE).fit(data, y), SVC(break_ties=True).fit(data, y)
    grid = np.random.default_rng(0).uniform(-8, 8, (400, 2))
    theirs = svm.SVC(tol=1e-9).fit(data, y)
    np.testing.assert_array_equal(plain.predict(grid), theirs.predict(grid))
    np.testing.assert_array_equal(
        broken.predict(grid), broken.decision_function(grid).argmax(axis=1)
    )


def test_machines_against_the_rest_are_binary_ones() -> None:
    data, y = blobs(60, 3)
    model = SVC(multiclass="rest", kernel=Gaussian(1.0), **FINE).fit(data, y)
    for k in range(3):
        binary = SVC(kernel=Gaussian(1.0), **FINE).fit(data, y == k)
        np.testing.assert_allclose(
            model.decision_function(data)[:, k], binary.decision_function(data), atol=CLOSE
        )
    np.testing.assert_array_equal(model.predict(data), model.decision_function(data).argmax(axis=1))


@pytest.mark.parametrize(
    "parameters",
    [{"multiclass": "rest"}, {"break_ties": True}],
    ids=["rest", "ties"],
)
def test_combinations_without_meaning(parameters: Any) -> None:
    with pytest.raises(InputError, match="decision_function_shape='ovr'"):
        SVC(decision_function_shape="ovo", **parameters).fit(*blobs(20))


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_one_class_is_refused_in_plain_words(cls: Any) -> None:
    with pytest.raises(InputError, match="one class only: all 3 rows are of class 'no'"):
        cls().fit([[1.0], [2.0], [3.0]], np.array(["no"] * 3))


def test_sparse_support_survives_a_clone_of_its_kernel() -> None:
    from scipy import sparse

    model = SVC().fit(sparse.csr_matrix(X), Y)
    assert isinstance(model.support_objects_, SparseVectors)
    assert clone(model).fit(X, Y).support_.tolist() == model.support_.tolist()
