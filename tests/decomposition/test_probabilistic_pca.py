"""ProbabilisticPCA: the closed form, EM, missing cells, scikit-learn's checks and the contract."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from sklearn import decomposition as other
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, MissingValuesError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case, Check, ConvergenceWarning, Verdict
from novum.core.learners.contracts import INVARIANCES, check_name, estimator_checks
from novum.core.sums.contracts import (
    check_exact_folds,
    check_exact_leave_one_out,
    statistics_checks,
)
from novum.decomposition.component_choice import ByEvidence, ByLikelihood, ByVariance
from novum.decomposition.low_rank_normal import LowRankNormal
from novum.decomposition.pca import PCA
from novum.decomposition.probabilistic_pca import (
    IncompleteRowsError,
    NoiseFloorWarning,
    ProbabilisticPCA,
)
from novum.numerics import Floats
from tests.decomposition.component_tables import low_rank_table, registered, with_holes

MODELS = [
    ProbabilisticPCA(),
    ProbabilisticPCA(1),
    ProbabilisticPCA(1, method="em", random_state=0, max_iter=5000),
    ProbabilisticPCA(ByEvidence()),
]


# --- scikit-learn's checks and the contract -------------------------------------------------------


# Checks that repeat the rows of a small table put all of them into a subspace.
@pytest.mark.filterwarnings("ignore::novum.decomposition.probabilistic_pca.NoiseFloorWarning")
@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_contract(check: Check, model: Any) -> None:
    X = low_rank_table(60, 4, 3)
    with registered():
        check(Case(model, X, np.arange(len(X), dtype=float)))


# A likelihood is flat at its top, so EM knows parameters to half the digits of the likelihood: what
# a fit does not depend on is tested with that tolerance below.
EXACT = [check for check in estimator_checks() if check not in INVARIANCES.values()]


@pytest.mark.parametrize("check", EXACT, ids=check_name)
def test_contract_with_missing_cells(check: Check) -> None:
    X = with_holes(low_rank_table(60, 4, 2), 0.1)
    with registered():
        check(Case(ProbabilisticPCA(1, random_state=0), X, X[:, 0]))


@pytest.mark.parametrize("check", statistics_checks(), ids=check_name)
@pytest.mark.parametrize("model", MODELS[:2], ids=repr)
def test_sums(check: Check, model: Any) -> None:
    if check not in (check_exact_folds, check_exact_leave_one_out):
        X = low_rank_table(60, 4, 3)
        check(Case(model, X, np.arange(len(X), dtype=float)))


# --- The closed form ------------------------------------------------------------------------------


def test_axes_are_those_of_pca_and_noise_is_what_they_leave() -> None:
    X = low_rank_table(80, 6, 2)
    model, axes = ProbabilisticPCA(2).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(model.components_, axes.components_, atol=1e-12)
    values = np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1]
    assert model.noise_variance_ == pytest.approx(values[2:].mean(), rel=1e-12)
    np.testing.assert_allclose(model.explained_variance_, values[:2], rtol=1e-12)
    np.testing.assert_allclose(
        model.loadings_.T @ model.loadings_, np.diag(values[:2] - values[2:].mean()), atol=1e-10
    )
    # The density is that of scikit-learn's PCA with the most likely variances.
    theirs = other.PCA(2, svd_solver="full").fit(X)
    ratio = 79 / 80
    np.testing.assert_allclose(model.get_covariance(), theirs.get_covariance() * ratio, atol=1e-10)


def test_no_other_parameters_are_likelier() -> None:
    X = low_rank_table(50, 4, 2)
    model = ProbabilisticPCA(2).fit(X)
    best = model.law_.log_density(X).sum()
    assert model.log_likelihood_ == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(5):
            law = LowRankNormal(
                model.mean_ + size * rng.normal(size=4),
                model.loadings_ + size * rng.normal(size=(4, 2)),
                model.noise_variance_ * np.exp(size * rng.normal()),
            )
            assert law.log_density(X).sum() < best


def test_a_general_optimizer_finds_the_same_maximum() -> None:
    X = low_rank_table(40, 3, 1)
    model = ProbabilisticPCA(1).fit(X)

    def loss(vector: Floats) -> float:
        C = np.outer(vector[3:6], vector[3:6]) + np.exp(vector[6]) * np.eye(3)
        return -float(stats.multivariate_normal(vector[:3], C).logpdf(X).sum())

    found = optimize.minimize(loss, np.append(X.mean(axis=0), [1.0, 0.5, -0.5, 0.0]), tol=1e-10)
    assert -found.fun == pytest.approx(model.log_likelihood_, rel=1e-8)


@pytest.mark.slow
def test_wide_tables_need_no_covariance() -> None:
    X = low_rank_table(25, 1500, 3)
    model = ProbabilisticPCA(3).fit(X)
    assert not hasattr(model, "statistics_")
    values = np.linalg.svd(X - X.mean(axis=0))[1] ** 2 / 25
    assert model.noise_variance_ == pytest.approx(values[3:].sum() / (1500 - 3), rel=1e-10)
    assert model.log_likelihood_ == pytest.approx(model.score_samples(X).sum(), rel=1e-10)
    climbed = ProbabilisticPCA(2, method="em", random_state=0, tol=1e-6).fit(X)
    closed = ProbabilisticPCA(2).fit(X)
    assert climbed.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-6)


# --- EM -------------------------------------------------------------------------------------------


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_em_climbs_to_the_closed_form(seed: int) -> None:
    X = low_rank_table(40, 5, 2, seed=seed)
    closed = ProbabilisticPCA(2).fit(X)
    model = ProbabilisticPCA(2, method="em", tol=1e-13, max_iter=20_000, random_state=seed).fit(X)
    certificate = model.certificate_
    assert model.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(model.get_covariance(), closed.get_covariance(), atol=1e-3)
    trace = np.array(certificate.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
    assert certificate.gap is not None
    assert certificate.gap >= 0
    assert closed.log_likelihood_ - model.log_likelihood_ <= certificate.gap + 1e-8


def test_em_that_may_not_finish_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = ProbabilisticPCA(2, method="em", max_iter=2, random_state=0).fit(
            low_rank_table(40, 5, 2)
        )
    assert model.certificate_.verdict is Verdict.STOPPED_EARLY


# --- Missing cells --------------------------------------------------------------------------------


def brute_force(law: LowRankNormal, X: Floats) -> Floats:
    """Log-density of the present cells of each row, by the marginal of the full covariance."""
    found = []
    for row in X:
        seen = ~np.isnan(row)
        if not seen.any():
            found.append(0.0)
            continue
        C = law.covariance[np.ix_(seen, seen)]
        found.append(stats.multivariate_normal(law.mean[seen], C).logpdf(row[seen]))
    return np.array(found)


def test_the_likelihood_of_present_cells_is_that_of_the_marginals() -> None:
    X = with_holes(low_rank_table(60, 5, 2), 0.3)
    X[3] = np.nan
    model = ProbabilisticPCA(2, random_state=0).fit(X)
    expected = brute_force(model.law_, X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.log_density(X), expected, rtol=1e-9, atol=1e-12)
    assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-9)
    assert model.certificate_.verdict is Verdict.LOCAL


def test_no_parameters_nearby_are_likelier_with_missing_cells() -> None:
    X = with_holes(low_rank_table(80, 4, 1), 0.25)
    model = ProbabilisticPCA(1, random_state=0, tol=1e-13, max_iter=9999).fit(X)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2):
        for _ in range(8):
            law = LowRankNormal(
                model.mean_ + size * rng.normal(size=4),
                model.loadings_ + size * rng.normal(size=(4, 1)),
                model.noise_variance_ * np.exp(size * rng.normal()),
            )
            assert law.log_density_observed(X).sum() < model.log_likelihood_


def test_nothing_missing_is_the_closed_form_in_the_limit() -> None:
    X = low_rank_table(60, 4, 2)
    closed = ProbabilisticPCA(2).fit(X)
    # One row more, without any cell, brings the general E-step and says nothing.
    empty = np.vstack([X, np.full(4, np.nan)])
    model = ProbabilisticPCA(2, tol=1e-14, max_iter=20_000, random_state=0).fit(empty)
    assert model.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(model.get_covariance(), closed.get_covariance(), atol=1e-4)


def test_parameters_are_recovered_when_cells_are_missing_at_random() -> None:
    law = LowRankNormal(
        [1.0, -2.0, 0.0, 3.0], [[2.0, 0.0], [1.0, 1.0], [0.0, -1.0], [1.0, 0.5]], 0.25
    )
    X = with_holes(law.sample(6000, random_state=0), 0.2)
    # Whether the last cell is seen depends on the first, which is always seen: missing at random.
    X[:, 0] = np.where(np.isnan(X[:, 0]), 1.0, X[:, 0])
    X = X[X[:, 0] != 1.0]
    X[X[:, 0] > 1.5, 3] = np.nan
    model = ProbabilisticPCA(2, random_state=0).fit(X)
    # Standard errors of means and covariances are below 0.06 with 3000 cells in the worst column.
    np.testing.assert_allclose(model.mean_, law.mean, atol=0.24)
    np.testing.assert_allclose(model.get_covariance(), law.covariance, atol=0.4)
    assert abs(np.nanmean(X[:, 3]) - law.mean[3]) > 0.4


def test_missing_cells_are_filled_with_their_expectations() -> None:
    X = with_holes(low_rank_table(50, 4, 2), 0.2)
    model = ProbabilisticPCA(2, random_state=0).fit(X)
    filled = model.fill_missing(X)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(filled[seen], X[seen])
    C, row = model.get_covariance(), int(np.flatnonzero((~seen).sum(axis=1) == 1)[0])
    o, u = seen[row], ~seen[row]
    expected = model.mean_[u] + C[np.ix_(u, o)] @ np.linalg.solve(
        C[np.ix_(o, o)], X[row, o] - model.mean_[o]
    )
    np.testing.assert_allclose(filled[row, u], expected, rtol=1e-9)


def test_streams_and_files_with_missing_cells(tmp_path: Path) -> None:
    X = with_holes(low_rank_table(90, 4, 2), 0.15)
    more: dict[str, Any] = {"random_state": 0, "tol": 1e-12, "max_iter": 9999}
    expected = ProbabilisticPCA(2, **more).fit(X)
    parts = [(X[:40],), (X[40:],)]
    path = tmp_path / "table.parquet"
    columns = {name: X[:, j] for j, name in enumerate("abcd")}
    pq.write_table(pa.table({**columns, "y": X[:, 0]}, metadata=None), path)
    fits = [
        ProbabilisticPCA(2, **more).fit_stream(parts),
        ProbabilisticPCA(2, **more).fit_stream(lambda: iter(parts)),
        ProbabilisticPCA(2, **more).fit_file(path, target="y", chunk_rows=30),
    ]
    for model in fits:
        np.testing.assert_allclose(model.get_covariance(), expected.get_covariance(), atol=1e-4)
        assert model.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-8)
    with pytest.raises(InputError, match=r"Cells are missing: .* may be used up"):
        ProbabilisticPCA(2).fit_stream(iter(parts))
    with pytest.raises(IncompleteRowsError, match="'x1' has a missing cell at row"):
        ProbabilisticPCA(2).statistics(np.array([[1.0, np.nan], [2.0, 3.0]]))


def test_restarts_are_reported() -> None:
    X = with_holes(low_rank_table(40, 4, 2), 0.2)
    model = ProbabilisticPCA(1, n_init=3, random_state=0).fit(X)
    finals = model.certificate_.details["finals"]
    assert isinstance(finals, tuple)
    assert len(finals) == 3
    assert model.log_likelihood_ == max(finals)


# --- Choices and degenerate tables ----------------------------------------------------------------


@pytest.mark.parametrize("rule", [ByEvidence(), ByLikelihood(5), "mle"], ids=str)
def test_rules_find_the_dimension_of_the_signal(rule: Any) -> None:
    model = ProbabilisticPCA(rule).fit(low_rank_table(400, 8, 3, noise=0.5))
    assert model.n_components_ == 3
    assert int(np.argmax(model.component_scores_)) == 3


def test_evidence_and_bic_prefer_the_true_dimension() -> None:
    X = low_rank_table(300, 7, 3, noise=0.5)
    models = [ProbabilisticPCA(q).fit(X) for q in range(7)]
    assert int(np.argmax([model.log_evidence_ for model in models])) == 3
    assert int(np.argmin([model.bic(X) for model in models])) == 3
    holes = with_holes(X, 0.1)
    several = [ProbabilisticPCA(q, random_state=0).fit(holes) for q in range(1, 6)]
    assert int(np.argmin([model.bic(holes) for model in several])) == 2
    assert not hasattr(several[0], "log_evidence_")
    chosen = ProbabilisticPCA(ByEvidence(), random_state=0).fit(holes)
    assert chosen.n_components_ == 3
    # Without the whole spectrum the evidence is that of the information criterion.
    np.testing.assert_allclose(
        chosen.component_scores_[1:4], [-0.5 * model.bic(holes) for model in several[:3]], rtol=1e-9
    )


def test_bic_counts_free_parameters() -> None:
    X = low_rank_table(50, 4, 2)
    model = ProbabilisticPCA(2).fit(X)
    # 4 means, 1 noise, 8 loadings less 1 rotation angle.
    expected = 12 * np.log(50) - 2 * model.score_samples(X).sum()
    assert model.bic(X) == pytest.approx(expected)


def test_tables_without_noise_warn_and_get_a_floor() -> None:
    X = low_rank_table(30, 4, 2, noise=0.0)
    with pytest.warns(NoiseFloorWarning, match="2 components explain all of the variance"):
        model = ProbabilisticPCA(2).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)
    assert ProbabilisticPCA().fit(X).n_components_ == 1


def test_offsets_and_units() -> None:
    X = np.floor(low_rank_table(50, 4, 2) * 2**20) / 2**20
    model = ProbabilisticPCA(2).fit(X)
    for other_X in (X + 2.0**27, X * 2.0**27, X * 2.0**-27):
        found = ProbabilisticPCA(2).fit(other_X).transform(other_X)
        np.testing.assert_allclose(found, model.transform(X), atol=1e-7)
    holes = with_holes(X, 0.2)
    more: dict[str, Any] = {"random_state": 0, "tol": 1e-14, "max_iter": 9999}
    plain = ProbabilisticPCA(2, **more).fit(holes)
    moved = ProbabilisticPCA(2, **more).fit(holes + 2.0**27)
    np.testing.assert_allclose(moved.loadings_, plain.loadings_, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (ProbabilisticPCA(3), np.eye(3), "below n_features=3"),
        (ProbabilisticPCA(), np.ones((4, 2)), "needs rows that differ"),
        (ProbabilisticPCA(), [[1.0, 2.0]], "1 sample has no variance"),
        (ProbabilisticPCA(1), [[1.0, np.nan], [2.0, np.nan]], "'x1' has no present cell"),
        (ProbabilisticPCA(1), [[1.0, np.nan], [1.0, 2.0]], "there is no variance"),
        (ProbabilisticPCA(2), [[1.0, np.nan], [1.0, 2.0]], "below n_features=2"),
        (ProbabilisticPCA(0.5), [[1.0, np.nan], [3.0, 2.0]], "needs every cell"),
        (ProbabilisticPCA(ByLikelihood(2)), [[1.0, np.nan], [3.0, 2.0]], "needs every cell"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_impossible_fits_say_why(model: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X)


def test_the_closed_form_refuses_missing_cells() -> None:
    with pytest.raises(MissingValuesError, match="ProbabilisticPCA needs every cell"):
        ProbabilisticPCA(1, method="closed_form").fit([[1.0, np.nan], [2.0, 3.0]])


def test_by_variance_leaves_a_direction_for_the_noise() -> None:
    assert ProbabilisticPCA(ByVariance(1.0)).fit(low_rank_table(30, 3, 2)).n_components_ == 2


# --- In company -----------------------------------------------------------------------------------


def test_weights_and_order_of_rows_with_missing_cells() -> None:
    X = with_holes(low_rank_table(30, 4, 2), 0.15)
    weight = np.random.default_rng(0).integers(0, 3, 30)
    more: dict[str, Any] = {"random_state": 0, "tol": 1e-13, "max_iter": 9999}
    weighted = ProbabilisticPCA(1, **more).fit(X, sample_weight=weight)
    repeated = ProbabilisticPCA(1, **more).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.get_covariance(), repeated.get_covariance(), atol=1e-5)
    turned = ProbabilisticPCA(1, **more).fit(X[::-1], sample_weight=weight[::-1])
    np.testing.assert_allclose(turned.get_covariance(), weighted.get_covariance(), atol=1e-5)


def test_samples_have_the_moments_of_the_law() -> None:
    model = ProbabilisticPCA(1).fit(low_rank_table(40, 3, 1))
    drawn = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.4)
    np.testing.assert_array_equal(model.sample(5, random_state=3), model.sample(5, random_state=3))


def test_files_are_checked_when_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.novum"
    for name, value, message in (
        ("loadings_", np.ones((3, 1)), "loadings of shape"),
        ("components_", np.ones((3, 3)), "do not fit"),
        ("noise_variance_", -1.0, "law of the model is damaged"),
    ):
        model = ProbabilisticPCA(2).fit(low_rank_table(20, 3, 2))
        setattr(model, name, value)
        with registered():
            save(model, path)
            with pytest.raises(ModelFileError, match=message):
                load(path)


def test_names_come_from_frames() -> None:
    frame = pd.DataFrame(low_rank_table(20, 3, 2), columns=["a", "b", "c"])
    model = ProbabilisticPCA(1).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["probabilisticpca0"]


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_squares_of_present_cells_out_of_range_are_refused(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(30, 4)) * scale
    X[3, 1] = np.nan
    with pytest.raises(InputError, match=r"squares of column \d (overflow|underflow)"):
        ProbabilisticPCA(2).fit(X)
