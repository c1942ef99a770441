"""RankingSVM: a generic QP, the conditions of optimality, groups, weights, contract, odd input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import check_name, estimator_checks
from novum.data.svmlight import read_svmlight
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.numerics import Array, Floats
from novum.svm.ranking import RankingSVM
from novum.svm.solver.problem import UNGROUPED, QuadraticProblem
from tests.oracles.svm_definitions import interior_point


def queries(n: int = 40, seed: int = 0) -> tuple[Floats, Floats, Array]:
    """Documents of four queries; relevance is a noisy step function of a hidden direction."""
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, 3)), rng.integers(0, 4, n)
    hidden = X @ [2.0, -1.0, 0.5] + 0.3 * rng.normal(size=n) + 5.0 * groups
    return X, np.floor(hidden), groups


def program(y: Floats, groups: Array, C: float) -> tuple[Floats, QuadraticProblem]:
    """Differences as a matrix and the program over them, by two loops."""
    n = len(y)
    pairs = [(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and y[i] > y[j]]
    D = np.zeros((len(pairs), n))
    for p, (i, j) in enumerate(pairs):
        D[p, i], D[p, j] = 1.0, -1.0
    m = len(pairs)
    return D, QuadraticProblem(
        np.arange(m), -np.ones(m), np.zeros(m), np.full(m, C), np.full(m, UNGROUPED), np.zeros(0)
    )


# --- scikit-learn's checks and the contract -------------------------------------------------------


@parametrize_with_checks([RankingSVM(), RankingSVM(kernel="rbf")], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([RankingSVM(categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_contract(kernel: str, check: Check) -> None:
    X, y, _ = queries(25)
    check(Case(RankingSVM(kernel=kernel), X, y))


# --- The optimum ----------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.sampled_from([Linear(), Gaussian(1.0)]), st.floats(0.05, 20.0), st.integers(0, 10**6))
def test_the_dual_is_that_of_a_generic_solver(kernel: Any, C: float, seed: int) -> None:
    X, y, groups = queries(12, seed)
    D, dual = program(y, groups, C)
    if not len(D):
        return
    K = kernel.gram(X)
    best = interior_point(D @ K @ D.T, dual)
    model = RankingSVM(C=C, kernel=kernel, tol=1e-7).fit(X, y, groups=groups)
    certificate = model.certificate_
    assert certificate.dual == pytest.approx(-best.value, rel=1e-5, abs=1e-7)
    assert certificate.relative_gap <= 1e-7
    # The primal objective by its definition, at the scores of the model.
    scores = model.decision_function(X)
    a = np.zeros(12)
    a[model.support_] = model.dual_coef_[0]
    primal = a @ K @ a / 2 + C * np.maximum(0.0, 1 - D @ scores).sum()
    assert certificate.primal == pytest.approx(primal, rel=1e-6, abs=1e-9)


def test_margins_and_coefficients_obey_the_conditions_of_optimality() -> None:
    X, y, groups = queries(30)
    C = 0.5
    model = RankingSVM(C=C, tol=1e-7).fit(X, y, groups=groups)
    scores = model.decision_function(X)
    found = {
        tuple(pair): b
        for pair, b in zip(model.support_pairs_.tolist(), model.pair_coef_, strict=True)
    }
    n_pairs = 0
    for i in range(30):
        for j in range(30):
            if groups[i] != groups[j] or not y[i] > y[j]:
                continue
            n_pairs += 1
            margin, b = scores[i] - scores[j], found.get((i, j), 0.0)
            if b == 0:
                assert margin >= 1 - 1e-3
            elif b < C:
                assert margin == pytest.approx(1, abs=1e-3)
            else:
                assert margin <= 1 + 1e-3
    assert model.n_pairs_ == n_pairs == model.certificate_.details["pairs"]
    np.testing.assert_allclose(model.coef_ @ X.T, scores, atol=1e-9)


def test_groups_are_never_compared() -> None:
    X = np.array([[1.0], [2.0], [12.0], [11.0]])
    y, groups = np.array([1.0, 2.0, 0.5, 0.1]), np.array(["a", "a", "b", "b"])
    model = RankingSVM(C=100.0).fit(X, y, groups=groups)
    assert model.score(X, y, groups=groups) == 1
    # Without groups the query's own offset decides, and no weight orders all pairs.
    assert RankingSVM(C=100.0).fit(X, y).score(X, y) < 1
    moved = X + np.where(groups == "a", 50.0, -50.0)[:, np.newaxis]
    other = RankingSVM(C=100.0).fit(moved, y, groups=groups)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-3)


def test_equal_rows_of_two_groups_are_two_objects() -> None:
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    model = RankingSVM(C=10.0, tol=1e-7).fit(X, [0, 1, 0, 1], groups=[1, 1, 2, 2])
    assert model.n_pairs_ == 2
    assert model.coef_[0] == pytest.approx(1.0, rel=1e-5)


def test_weights_of_pairs_are_products() -> None:
    X, y, groups = queries(12)
    weight = np.random.default_rng(0).integers(0, 3, 12)
    rows = np.repeat(np.arange(12), weight)
    one = RankingSVM(kernel="rbf", gamma=0.5, tol=1e-7).fit(
        X, y, weight.astype(float), groups=groups
    )
    many = RankingSVM(kernel="rbf", gamma=0.5, tol=1e-7).fit(X[rows], y[rows], groups=groups[rows])
    np.testing.assert_allclose(one.predict(X), many.predict(X), atol=1e-6)
    assert one.certificate_.dual == pytest.approx(many.certificate_.dual, rel=1e-6)


def test_differences_by_kernel_and_by_rows_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, groups = queries(30)
    rows = RankingSVM(tol=1e-7).fit(X, y, groups=groups)
    thin = RankingSVM(tol=1e-7).fit(sparse.csr_matrix(X), y, groups=groups)
    monkeypatch.setattr("novum.svm.ranking._DIFFERENCE_BYTES", 0)
    blocks = RankingSVM(tol=1e-7).fit(X, y, groups=groups)
    for other in (thin, blocks):
        np.testing.assert_allclose(other.coef_, rows.coef_, rtol=1e-4, atol=1e-5)


def test_drawn_pairs_cost_as_much_as_all() -> None:
    X, y, groups = queries(60)
    whole = RankingSVM().fit(X, y, groups=groups)
    some = RankingSVM(max_pairs=100).fit(X, y, groups=groups)
    assert some.n_pairs_ == 100
    assert some.certificate_.details["pairs_of_all"] == whole.n_pairs_
    again = RankingSVM(max_pairs=100).fit(X, y, groups=groups)
    np.testing.assert_array_equal(again.coef_, some.coef_)
    direction = whole.coef_ @ some.coef_
    assert direction / np.linalg.norm(whole.coef_) / np.linalg.norm(some.coef_) > 0.95


def test_hard_margins_and_their_impossibility() -> None:
    model = RankingSVM(C=np.inf, tol=1e-6).fit([[0.0], [1.0], [3.0]], [0, 1, 2])
    assert model.coef_[0] == pytest.approx(1.0, rel=1e-4)
    with pytest.raises(InputError, match="infeasible: no function of this kernel orders all pairs"):
        RankingSVM(C=np.inf).fit([[0.0], [1.0], [0.5]], [0, 1, 2])


def test_strings_frames_and_files(tmp_path: Any) -> None:
    words = ["banana", "bandana", "cab", "stone"]
    model = RankingSVM(kernel=Spectrum(2), C=10.0).fit(words, [3, 3, 2, 1])
    assert model.score(words, [3, 3, 2, 1]) == 1
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "color": ["red", "blue", "red"]})
    assert np.isfinite(RankingSVM().fit(frame, [1, 2, 3]).predict(frame)).all()
    path = tmp_path / "ranks.svmlight"
    path.write_text("2 qid:1 1:2\n1 qid:1 1:1\n2 qid:2 1:9\n1 qid:2 1:7\n")
    read = read_svmlight(path)
    fitted = RankingSVM().fit(read.X, read.y, groups=read.groups)
    assert fitted.score(read.X, read.y, groups=read.groups) == 1


# --- Bad input ------------------------------------------------------------------------------------


def test_bad_input_is_named() -> None:
    X, y, groups = queries(10)
    with pytest.raises(InputError, match="no such pair: 10 rows with 1 different targets"):
        RankingSVM().fit(X, np.ones(10))
    with pytest.raises(InputError, match="no such pair: 10 rows with 10 different targets in 10"):
        RankingSVM().fit(X, np.arange(10.0), groups=np.arange(10))
    with pytest.raises(InputError, match="groups has 3 labels, but y has 10"):
        RankingSVM().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(
        InputError, match=r"one label for each row, got an array of shape \(10, 1\)"
    ):
        RankingSVM().fit(X, y, groups=groups[:, np.newaxis])
    with pytest.raises(MissingValuesError, match="groups"):
        RankingSVM().fit(X, y, groups=[None, *"abcdefghi"])
    with pytest.raises(MissingValuesError, match="RankingSVM"):
        RankingSVM().fit(np.where(X > 0, np.nan, X), y)
    with pytest.raises(InputError, match="predicts numbers"):
        RankingSVM().fit(X, list("abcdefghij"))
    with pytest.raises(ValueError, match="C"):
        RankingSVM(C=0.0).fit(X, y)
    with pytest.raises(InputError, match="X has 10 rows, but y has 2"):
        RankingSVM().fit(X, y).score(X, [1.0, 2.0])
    with pytest.raises(InputError, match="requires y"):
        RankingSVM().fit(X, y).score(X, None)


def test_labels_of_groups_may_be_of_several_types() -> None:
    X, y = np.array([[0.0], [1.0], [5.0], [4.0]]), [0, 1, 1, 0]
    found = RankingSVM(C=10.0).fit(X, y, groups=np.array([1, 1, "1", "1"], object))
    assert found.n_pairs_ == 2


def test_columns_of_targets_warn_and_budgets_too() -> None:
    X, y, groups = queries(30)
    with pytest.warns(DataConversionWarning):
        RankingSVM().fit(X, y[:, np.newaxis], groups=groups)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = RankingSVM(C=100.0, max_iter=1, tol=1e-9).fit(X, y, groups=groups)
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY
    assert model.certificate_.gap > 0
