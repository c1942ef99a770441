"""L1 and elastic net in logistic regression: checks, gaps, another implementation, separation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as OtherLogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.core.tables import check_sample
from novum.linear import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups, LogisticRegression
from novum.linear.sparse.columns import plain_columns
from novum.linear.sparse.composite import minimize
from novum.linear.sparse.losses import LogRows
from novum.linear.sparse.objective import Penalty
from novum.numerics import Floats

# A small C leaves columns out, and a strong default keeps the checks of accuracy.
MODELS = [LogisticRegression(penalty="l1"), LogisticRegression(l1_ratio=0.5, C=2.0)]


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def table(K: int, n: int = 150, p: int = 12, seed: int = 0) -> tuple[Floats, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    W = np.zeros((p, K))
    W[:3] = 2 * rng.normal(size=(3, K))
    return X, np.argmax(X @ W + rng.gumbel(size=(n, K)), axis=1)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("K", [2, 3])
def test_contract(K: int, check: Check) -> None:
    check(Case(LogisticRegression(l1_ratio=0.8), *table(K)))


def objective(X: Any, y: Any, model: Any, penalty: Penalty) -> float:
    F = np.asarray(X @ model.coef_.T) + model.intercept_
    value = LogRows(y, np.ones(len(y)), len(model.classes_)).value(F)
    return value + sum(penalty.value(b) for b in model.coef_)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_gap_and_another_implementation(K: int, ratio: float, C: float) -> None:
    X, y = table(K)
    penalty = Penalty.of(1 / C, ratio, X.shape[1])
    theirs = OtherLogisticRegression(C=C, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=3000)
    best = objective(X, y, theirs.fit(X, y), penalty)
    for rows in (X, sparse.csr_matrix(X)):
        model = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-9).fit(rows, y)
        proof = model.certificate_
        assert proof.converged
        assert proof.relative_gap <= 1e-9
        assert proof.primal == pytest.approx(objective(X, y, model, penalty), rel=1e-12)
        assert proof.primal <= best * (1 + 2e-9)
        # Karush, Kuhn and Tucker.
        F = X @ model.coef_.T + model.intercept_
        R = LogRows(y, np.ones(len(y)), K).residuals(F)
        pull = R.T @ X - penalty.l2 * model.coef_
        level, active = ratio / C, model.coef_ != 0
        atol = 2e-3 * max(level, 1.0)
        np.testing.assert_allclose(pull[active], level * np.sign(model.coef_)[active], atol=atol)
        assert (np.abs(pull) <= level + atol).all()
        np.testing.assert_allclose(R.sum(axis=0), 0.0, atol=1e-8)


def test_the_strings_are_the_values() -> None:
    X, y = table(2)
    for words, value in (
        ({"penalty": "l1", "C": 0.5}, L1(2.0)),
        ({"penalty": "elasticnet", "C": 0.5, "l1_ratio": 0.3}, ElasticNetPenalty(2.0, 0.3)),
        ({"l1_ratio": 0.3, "C": 0.5}, ElasticNetPenalty(2.0, 0.3)),
        ({"C": 0.5}, L2(2.0)),
    ):
        named = LogisticRegression(**words).fit(X, y)
        given = LogisticRegression(value).fit(X, y)
        assert (named.coef_ == given.coef_).all()


def test_screening_and_working_sets() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 400))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=60) > 0).astype(int)
    sample = check_sample(LogisticRegression(), X, y, target="classes")
    columns = plain_columns(sample, sample.weights, centered=True)
    loss = LogRows(sample.target, sample.weights, 2)
    penalty = Penalty.of(3.0, 1.0, 400)
    found = minimize(columns, loss, penalty, fit_intercept=True, tol=1e-10, max_iter=200)
    assert found.screened > 300
    # Descent over all columns alone, without any screening, ends at the same coefficients.
    kept = np.flatnonzero(found.coef[0])
    again = LogisticRegression(penalty="l1", C=1 / 3.0, tol=1e-10).fit(X[:, kept], y)
    np.testing.assert_allclose(again.coef_[0], found.coef[0, kept], atol=1e-5)
    r = loss.residuals(X @ found.coef.T + found.intercept - columns.mean @ found.coef[0])[:, 0]
    assert (np.abs(X.T @ r) <= 3.0 + 1e-4).all()


def words(seed: int = 0, n: int = 250, p: int = 400) -> tuple[Any, Any]:
    """Counts of words: one in every text, two alike, the others rare."""
    rng = np.random.default_rng(seed)
    dense = rng.gamma(1.0, size=(n, p)) * (rng.uniform(size=(n, p)) < 0.03)
    dense[:, 0], dense[:, 1] = 1.0 + dense[:, 0], dense[:, 2]
    score = dense[:, 3:40] @ rng.normal(size=37) + 1.0
    return dense, (score + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("penalty", "options"),
    [
        (L1(0.5), {}),
        (L1(0.02), {"fit_intercept": False}),
        (ElasticNetPenalty(0.3, 0.6), {}),
    ],
)
def test_stored_cells_and_cross_products_have_one_optimum(
    penalty: Any, options: dict[str, Any]
) -> None:
    X, y = words()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    models = [
        LogisticRegression(penalty, tol=1e-10, max_iter=500, **options).fit(rows, y, weight)
        for rows in (X, sparse.csr_matrix(X))
    ]
    for model in models:
        assert model.certificate_.relative_gap <= 1e-10
    cross, stored = models
    assert stored.certificate_.primal == pytest.approx(cross.certificate_.primal, rel=1e-10)
    np.testing.assert_allclose(stored.decision_function(X), cross.decision_function(X), atol=2e-3)


def test_several_scores_on_stored_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = words()
    y = y + (X[:, 50] > 0)
    joint = LogisticRegression(penalty="l1", C=0.7, tol=1e-8).fit(sparse.csr_matrix(X), y)
    monkeypatch.setattr("novum.linear.sparse.composite.WIDEST_GRAM", 5)
    single = LogisticRegression(penalty="l1", C=0.7, tol=1e-8, max_iter=2000)
    single.fit(sparse.csr_matrix(X), y)
    assert single.certificate_.relative_gap <= 1e-8
    assert single.certificate_.primal == pytest.approx(joint.certificate_.primal, rel=2e-8)


def test_working_sets_too_wide_for_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(3)
    joint = LogisticRegression(l1_ratio=0.5, tol=1e-7).fit(X, y)
    monkeypatch.setattr("novum.linear.sparse.composite.WIDEST_GRAM", 5)
    single = LogisticRegression(l1_ratio=0.5, tol=1e-7, max_iter=1000).fit(X, y)
    assert single.certificate_.relative_gap <= 1e-7
    np.testing.assert_allclose(single.coef_, joint.coef_, atol=5e-3)


def test_weights_are_repetitions_and_starts_are_kept() -> None:
    X, y = table(2)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = LogisticRegression(penalty="l1").fit(X, y, weight.astype(float))
    repeated = LogisticRegression(penalty="l1").fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    again = LogisticRegression(penalty="l1", warm_start=True).fit(X, y).fit(X, y)
    assert again.n_iter_[0] <= 1
    shifted = LogisticRegression(penalty="l1", tol=1e-10).fit(X + 1e6, y)
    plain = LogisticRegression(penalty="l1", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-6)


def test_separated_classes_have_an_optimum() -> None:
    X = np.array([[-2.0, 1.0], [-1.0, 0.0], [1.0, 0.5], [2.0, 1.0]])
    model = LogisticRegression(penalty="l1", C=100.0).fit(X, [0, 0, 1, 1])
    assert model.certificate_.converged
    assert model.separation_ is None
    assert model.coef_[0, 0] > 0
    # Constant and duplicate columns do no harm.
    odd = np.column_stack([X, X[:, 0], np.ones(4), np.zeros(4)])
    same = LogisticRegression(penalty="l1", C=100.0).fit(odd, [0, 0, 1, 1])
    np.testing.assert_allclose(same.decision_function(odd), model.decision_function(X), atol=1e-2)
    strong = LogisticRegression(penalty="l1", C=1e-6).fit(X, [0, 0, 0, 1])
    assert not strong.coef_.any()
    assert strong.intercept_[0] == pytest.approx(np.log(1 / 3), rel=1e-9)


def test_the_adaptive_lasso_spares_large_coefficients() -> None:
    X, y = table(2, n=400)
    plain = LogisticRegression(L1(8.0)).fit(X, y)
    adaptive = LogisticRegression(AdaptiveL1(8.0)).fit(X, y)
    largest = np.abs(plain.coef_[0]).argmax()
    assert np.count_nonzero(adaptive.coef_) <= np.count_nonzero(plain.coef_)
    assert abs(adaptive.coef_[0, largest]) >= 0.9 * abs(plain.coef_[0, largest])
    assert adaptive.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": L1(1.0), "C": 2.0}, "Leave C and l1_ratio out"),
        ({"penalty": "l2", "l1_ratio": 0.5}, "Use l1_ratio=0"),
        ({"penalty": Groups(1.0)}, "OneVsRestClassifier"),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    X, y = table(3)
    with pytest.raises(InputError, match=message):
        LogisticRegression(**options).fit(X, y)


def test_what_a_penalty_with_corners_does_not_offer() -> None:
    X, y = table(2)
    model = LogisticRegression(penalty="l1").fit(X, y)
    with pytest.raises(InputError, match="Standard errors do not hold"):
        model.inference()
    with pytest.raises(InputError, match="L2 penalty only"):
        LogisticRegression(penalty="l1").fit_stream([(X, y)])
    with pytest.raises(InputError, match="above 0"):
        L1(0.0)
    with pytest.warns(UserWarning, match="stopped early"):
        LogisticRegression(penalty="l1", max_iter=0).fit(X, y)


def test_files(tmp_path: Any) -> None:
    X, y = table(2)
    for penalty in (L1(2.0), Groups(1.0, (("x0", "x1"),)), AdaptiveL1(1.0)):
        model = LogisticRegression(penalty).fit(X, y)
        save(model, tmp_path / "model.novum")
        again = load(tmp_path / "model.novum")
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert again.penalty == penalty
