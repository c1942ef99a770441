"""EM over missing labels in naive Bayes and normal laws: one step by definition, odd tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    KernelColumn,
    NaiveBayes,
)
from novum.bayes.gaussian_covariance import SingularCovarianceWarning
from novum.bayes.partial_labels import NaiveLaws, NormalLaws
from novum.core import UnlabelledRows
from novum.core.errors import InputError
from novum.core.files import load, save
from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.core.sums import PartlyLabelled, PartlyLabelledRows
from novum.core.tables import check_sample
from novum.numerics import Array, Floats

GIVEN = UnlabelledRows(weight=0.7, folds=0, tol=1e-11, max_iter=5000)


def groups(n: int = 90, d: int = 3, labelled: int = 6) -> tuple[Floats, Floats, Floats]:
    """Rows of three normal classes, their classes, and labels of which most are missing."""
    rng = np.random.default_rng(n + d)
    truth = np.arange(n) % 3
    X = rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(3, d))[truth]
    y = truth.astype(float)
    y[3 * labelled :] = np.nan
    return X, truth.astype(float), y


# --- One step by definition -----------------------------------------------------------------------


def test_a_step_of_naive_bayes_is_the_definition() -> None:
    X, _, y = groups(60, 2)
    X[::7, 0] = np.nan
    levels = np.random.default_rng(0).integers(0, 3, 60)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.array(list("pqr"))[levels]})
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 60)
    model = NaiveBayes(unlabelled="em")
    sample = model._read(table, y, weight, None)
    laws = NaiveLaws(model, PartlyLabelledRows.of(sample))
    problem = PartlyLabelled(laws, 0.3)
    params = problem.start(np.random.default_rng(0))
    sums = problem.step(params, sample)
    # E: shares of the classes by the densities written out.
    block, table_block = params._blocks
    logs = np.log(params.class_prior_) + np.zeros((60, 3))
    for j in range(2):
        terms = norm.logpdf(X[:, [j]], block.mean[:, j], np.sqrt(block.variance[:, j]))
        logs += np.where(np.isnan(X[:, [j]]), 0.0, terms)
    logs += table_block.table[2 + levels]
    shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    known = ~np.isnan(y)
    shares[known] = np.eye(3)[y[known].astype(int)]
    w = weight * np.where(known, 1.0, 0.3)
    evidence = np.where(
        known, logs[np.arange(60), np.nan_to_num(y).astype(int)], logsumexp(logs, 1)
    )
    r = shares * w[:, None]
    np.testing.assert_allclose(sums.class_weight, r.sum(axis=0), rtol=1e-12)
    smoothing = table_block.table[2:].sum()
    assert problem.objective(params, sums) == pytest.approx(w @ evidence + smoothing, rel=1e-12)
    # M: means, variances, smoothed shares of levels and priors with these weights.
    after = problem.update(params, sums)
    for j in range(2):
        present = ~np.isnan(X[:, j])
        cells, shared = X[present, j], r[present]
        mean = shared.T @ cells / shared.sum(axis=0)
        variance = np.array([shared[:, k] @ (cells - mean[k]) ** 2 for k in range(3)])
        np.testing.assert_allclose(after._blocks[0].mean[:, j], mean, rtol=1e-12)
        np.testing.assert_allclose(
            after._blocks[0].variance[:, j], variance / shared.sum(axis=0), rtol=1e-12
        )
    counts = np.array([r[levels == level].sum(axis=0) for level in range(3)]) + 1.0
    np.testing.assert_allclose(
        np.exp(after._blocks[1].table[2:]), counts / counts.sum(axis=0), rtol=1e-12
    )
    np.testing.assert_allclose(after.class_prior_, r.sum(axis=0) / r.sum(), rtol=1e-12)


@pytest.mark.parametrize("structure", ["full", "tied", "diagonal", "spherical"])
def test_a_step_of_normal_laws_is_the_definition_with_missing_cells(structure: str) -> None:
    X, _, y = groups(48, 3)
    X[::5, 1] = np.nan
    X[3::11, 0] = np.nan
    X[30] = np.nan
    sample = check_sample(GaussianClassifier(), X, y, target="partial classes", allow_missing=True)
    laws = NormalLaws(PartlyLabelledRows.of(sample), 0.4, structure, 1e-9, None)
    problem = PartlyLabelled(laws, 0.4)
    params = problem.start(np.random.default_rng(0))
    # A second step, so that covariances have correlations where they may.
    params = problem.update(params, problem.step(params, sample))
    sums = problem.step(params, sample)
    after = problem.update(params, sums)
    means, matrices = params.estimate.means, _matrices(params.estimate.covariances, 3, 3)
    logs = np.log(params.prior) + np.zeros((48, 3))
    seen = ~np.isnan(X)
    for i in range(48):
        o = np.flatnonzero(seen[i])
        for k in range(3):
            if o.size:
                C = matrices[k][np.ix_(o, o)]
                logs[i, k] += multivariate_normal.logpdf(X[i, o], means[k, o], C)
    shares = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    known = ~np.isnan(y)
    shares[known] = np.eye(3)[y[known].astype(int)]
    w = np.where(known, 1.0, 0.4)
    r = shares * w[:, None]
    value = w @ np.where(
        known, logs[np.arange(48), np.nan_to_num(y).astype(int)], logsumexp(logs, 1)
    )
    assert problem.objective(params, sums) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(after.prior, r.sum(axis=0) / r.sum(), rtol=1e-12)
    new_means, new = _m_step(X, r, means, matrices, structure)
    np.testing.assert_allclose(after.estimate.means, new_means, rtol=1e-12)
    found = _matrices(after.estimate.covariances, 3, 3)
    np.testing.assert_allclose(found, new, rtol=1e-11, atol=1e-12)


def _matrices(covariances: Array, K: int, d: int) -> Floats:
    if covariances.ndim == 2 and covariances.shape == (d, d) and d != K:
        return np.broadcast_to(covariances, (K, d, d))
    if covariances.ndim == 3:
        return covariances
    if covariances.ndim == 1:
        return covariances[:, None, None] * np.eye(d)
    symmetric = (
        np.allclose(covariances, covariances.T) and (np.linalg.eigvalsh(covariances) > 0).all()
    )
    if symmetric:
        return np.broadcast_to(covariances, (K, d, d))
    return np.array([np.diag(v) for v in covariances])


def _m_step(
    X: Floats, r: Floats, means: Floats, matrices: Floats, structure: str
) -> tuple[Floats, Floats]:
    """Moments of rows completed by their expectations, class by class and cell by cell."""
    d = X.shape[1]
    K = r.shape[1]
    seen = ~np.isnan(X)
    if structure in ("diagonal", "spherical"):
        weight = r.T @ seen
        filled = np.where(seen, X, 0.0)
        new_means = (r.T @ filled) / weight
        scatter = np.array(
            [(r[:, [k]] * np.where(seen, X - new_means[k], 0.0) ** 2).sum(axis=0) for k in range(K)]
        )
        if structure == "diagonal":
            return new_means, np.array([np.diag(v) for v in scatter / weight])
        single = scatter.sum(axis=1) / weight.sum(axis=1)
        return new_means, single[:, None, None] * np.eye(d)
    new_means, scatters, weights = np.zeros((K, d)), np.zeros((K, d, d)), np.zeros(K)
    for k in range(K):
        rows, extra = [], np.zeros((d, d))
        use = seen.any(axis=1)
        for i in np.flatnonzero(use):
            o, u = np.flatnonzero(seen[i]), np.flatnonzero(~seen[i])
            x = X[i].copy()
            if u.size:
                B = matrices[k][np.ix_(u, o)] @ np.linalg.inv(matrices[k][np.ix_(o, o)])
                x[u] = means[k, u] + B @ (X[i, o] - means[k, o])
                inner = matrices[k][np.ix_(u, u)] - B @ matrices[k][np.ix_(o, u)]
                extra[np.ix_(u, u)] += r[i, k] * inner
            rows.append(x)
        Z, v = np.array(rows), r[use, k]
        new_means[k] = v @ Z / v.sum()
        away = Z - new_means[k]
        scatters[k], weights[k] = (away * v[:, None]).T @ away + extra, v.sum()
    if structure == "tied":
        return new_means, np.broadcast_to(scatters.sum(axis=0) / weights.sum(), (K, d, d))
    return new_means, scatters / weights[:, None, None]


# --- Fits -----------------------------------------------------------------------------------------

LEARNERS = [
    NaiveBayes(unlabelled=GIVEN),
    NaiveBayes(missing="level", unlabelled=GIVEN),
    GaussianNB(unlabelled=GIVEN),
    BernoulliNB(unlabelled=GIVEN),
    GaussianClassifier("full", unlabelled=GIVEN),
    GaussianClassifier("tied", unlabelled=GIVEN),
    GaussianClassifier("diagonal", unlabelled=GIVEN),
    GaussianClassifier("spherical", unlabelled=GIVEN),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_trace_never_falls_and_weights_count_rows(learner: Any) -> None:
    X, _, y = groups()
    X[::6, 2] = np.nan
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    model = clone(learner).fit(X, y, weight)
    trace = np.array(model.certificate_.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    assert model.certificate_.details["unlabelled_weight"] == 0.7
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    other = clone(learner).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)
    turn = np.random.default_rng(1).permutation(len(X))
    turned = clone(learner).fit(X[turn], y[turn], weight[turn])
    np.testing.assert_allclose(model.predict_proba(X), turned.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_without_unlabelled_rows_the_fit_is_the_plain_one(learner: Any) -> None:
    X, truth, _ = groups()
    plain = clone(learner).set_params(unlabelled=None).fit(X, truth)
    found = clone(learner).fit(X, truth)
    assert (found.predict_proba(X) == plain.predict_proba(X)).all()
    assert not hasattr(found, "unlabelled_weight_")


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_weight_zero_is_the_fit_to_labelled_rows(learner: Any) -> None:
    X, _, y = groups()
    known = ~np.isnan(y)
    model = clone(learner).set_params(unlabelled=UnlabelledRows(weight=0.0)).fit(X, y)
    plain = clone(learner).set_params(unlabelled=None).fit(X[known], y[known])
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_rows_without_any_cell_or_label_say_nothing_of_the_laws(learner: Any) -> None:
    X, _, y = groups()
    empty = np.vstack([X, np.full((4, 3), np.nan)])
    model = clone(learner).fit(X, y)
    more = clone(learner).fit(empty, np.append(y, [np.nan] * 4))
    if getattr(learner, "missing", "") == "level":
        # Gaps are a part of these laws.
        assert not np.allclose(more.class_prior_, model.class_prior_, atol=1e-6)
        return
    # They follow the priors, which their likelihood leaves as they are.
    np.testing.assert_allclose(more.class_prior_, model.class_prior_, atol=1e-5)
    np.testing.assert_allclose(more.predict_proba(X), model.predict_proba(X), atol=1e-4)


def test_unlabelled_rows_help_where_the_laws_are_right() -> None:
    X, truth, y = groups(600, 4, labelled=3)
    X += np.random.default_rng(0).normal(size=X.shape) * 2.0
    known = ~np.isnan(y)
    both = GaussianClassifier("tied", unlabelled="em").fit(X, y)
    few = GaussianClassifier("tied").fit(X[known], y[known])
    assert both.unlabelled_weight_ > 0
    assert (both.predict(X) == truth).mean() > (few.predict(X) == truth).mean()
    judged = dict(both.certificate_.details["held_out_log_probability"])
    assert judged[both.unlabelled_weight_] == max(judged.values())


def test_text_labels_of_frames_and_levels_that_only_unlabelled_rows_have() -> None:
    table = pd.DataFrame({"c": ["p", "p", "q", "q", "r", "p"], "x": [0.0, 1, 5, 6, 5.5, 0.5]})
    y = pd.Series(["in", "in", "out", "out", None, pd.NA], dtype="string")
    model = NaiveBayes(unlabelled=GIVEN).fit(table, y)
    assert model.classes_.tolist() == ["in", "out"]
    assert model.predict(pd.DataFrame({"c": ["r"], "x": [np.nan]})).tolist() == ["out"]
    codes = CategoricalNB(unlabelled=GIVEN).fit(table[["c"]], y)
    assert codes.predict(pd.DataFrame({"c": ["r"]})).shape == (1,)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (ComplementNB(), "complement"),
        (GaussianNB(var_smoothing=1e-3), "var_smoothing"),
        (NaiveBayes(numeric=KernelColumn()), "KernelColumn"),
        (GaussianClassifier("evidence"), "maximum_likelihood"),
        (GaussianClassifier(estimate="predictive"), "maximum_likelihood"),
    ],
)
def test_fits_that_climb_no_likelihood_refuse(learner: Any, words: str) -> None:
    X, _, y = groups(30)
    with pytest.raises(InputError, match=words):
        learner.set_params(unlabelled="em").fit(np.abs(X), y)


def test_dependent_columns_are_noise_at_the_floor_and_no_fall() -> None:
    truth = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 3)) + 5.0 * truth[:, None]
    X[:, 2] = X[:, 0] + X[:, 1]
    y = np.where(np.arange(60) < 20, truth, np.nan)
    with pytest.warns(SingularCovarianceWarning, match="1 of 3 directions"):
        model = GaussianClassifier(unlabelled="em").fit(X, y)
    assert (model.predict(X) == truth).all()


def test_given_priors_stay(tmp_path: Path) -> None:
    X, _, y = groups()
    for learner in (
        GaussianNB(priors=[0.2, 0.3, 0.5], unlabelled=GIVEN),
        GaussianClassifier(class_prior=[0.2, 0.3, 0.5], unlabelled=GIVEN),
    ):
        model = learner.fit(X, y)
        assert model.class_prior_.tolist() == [0.2, 0.3, 0.5]
        save(model, tmp_path / "model.novum")
        again = load(tmp_path / "model.novum")
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert again.unlabelled_weight_ == 0.7
        assert again.unlabelled == GIVEN


def test_an_interrupt_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    X, truth, y = groups()
    model = GaussianNB(unlabelled="em").fit(X, truth)
    before = model.predict_proba(X)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(NaiveLaws, "estimate", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.predict_proba(X) == before).all()


@pytest.mark.filterwarnings("ignore::novum.bayes.gaussian_covariance.SingularCovarianceWarning")
@parametrize_with_checks([GaussianNB(unlabelled="em"), GaussianClassifier(unlabelled="em")])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Check) -> None:
    X, _, y = groups()
    check(Case(GaussianClassifier("tied", unlabelled=GIVEN), X, y))
