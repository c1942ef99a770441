"""GaussianMixture: EM by definition, scikit-learn's fixed points, missing cells, odd input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import mixture as theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.distributions import MultivariateNormal
from novum.mixture import GaussianMixture, NormalMixture, gaussian_em
from novum.mixture.covariance_families import Family
from novum.mixture.gaussian_em import (
    GaussianParameters,
    PatternRows,
    expected_sums,
    log_joint,
    maximized,
)
from tests.oracles.mixture_definitions import (
    em_step,
    gaussian_likelihood,
    in_family,
    marginal_by_integration,
    responsibilities,
)

FAMILIES = ["full", "tied", "diag", "spherical", "EII", "EEI", "EVI", "EEV", "EVV"]


def groups(n: int = 240, d: int = 3, k: int = 3, seed: int = 0, missing: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5.0 * (np.arange(n) % k)[:, None]
    X[rng.random(X.shape) < missing] = np.nan
    return X


def law_of(d: int, k: int, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, d, d + 2))
    return rng.dirichlet(np.ones(k) * 3), rng.normal(size=(k, d)) * 2, A @ A.transpose(0, 2, 1) / d


def start_of(X: Any, k: int, kind: str) -> dict[str, Any]:
    """The same start for both libraries."""
    C = np.atleast_2d(np.cov(X.T))
    P = np.linalg.inv(C)
    precisions = {
        "full": np.array([P] * k),
        "tied": P,
        "diag": np.array([1 / np.diag(C)] * k),
        "spherical": np.full(k, 1 / np.diag(C).mean()),
    }[kind]
    weights = np.arange(1.0, k + 1) / np.arange(1, k + 1).sum()
    return {"weights_init": weights, "means_init": X[:k], "precisions_init": precisions}


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([GaussianMixture(), GaussianMixture(2, covariance_type="diag")])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_contract(check: Any, missing: float) -> None:
    check(Case(GaussianMixture(3, random_state=0), groups(90, missing=missing)))


# --- Definitions ----------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 4), st.sampled_from([0.0, 0.3]))
def test_densities_and_a_step_are_those_of_the_definition(
    seed: int, d: int, k: int, missing: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(17, d)) * 3
    X[rng.random(X.shape) < missing] = np.nan
    X[~np.isfinite(X).any(axis=1)] = 0.5
    weight = rng.integers(1, 4, 17).astype(float)
    weights, means, covariances = law_of(d, k, seed)
    params = GaussianParameters(weights, means, covariances)
    R, logs = responsibilities(X, weights, means, covariances)
    # A component that has died keeps what it was.
    assume(R.sum(axis=0).min() > 1e-9)
    joint = log_joint(params, X)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=1), logs, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(
        np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None]), R, atol=1e-12
    )
    sums = expected_sums(params, PatternRows.of(X, weight))
    after = maximized(Family("full"), params, sums)
    expected = em_step(X, weight, weights, means, covariances)
    np.testing.assert_allclose(after.weights, expected[0], atol=1e-12)
    np.testing.assert_allclose(after.means, expected[1], atol=1e-11)
    np.testing.assert_allclose(after.covariances, expected[2], atol=1e-10)
    assert sums.log_likelihood == pytest.approx(expected[3], rel=1e-12)


@pytest.mark.parametrize("apart", [0.0, 30.0])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("d", [4, 7])
def test_a_step_over_many_blocks_of_rows_is_that_of_the_definition(
    d: int, missing: float, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Calls end within groups of one pattern, groups end within blocks, and far from a component
    # rows leave no trace.
    monkeypatch.setattr(gaussian_em, "_CALL_PRODUCTS", 1.0)
    rng = np.random.default_rng(d)
    weights, means, covariances = law_of(d, 3, d)
    means = means + apart * np.arange(3)[:, None]
    X = rng.normal(size=(1500, d)) + means[rng.integers(3, size=1500)]
    X[600:][rng.random((900, d)) < missing] = np.nan
    X[200:600, 1] = np.nan if missing else 0.0
    X[~np.isfinite(X).any(axis=1)] = 0.5
    weight = rng.integers(1, 4, 1500).astype(float)
    params = GaussianParameters(weights, means, covariances)
    rows = PatternRows.of(X, weight)
    sums = expected_sums(params, rows)
    after = maximized(Family("full"), params, sums)
    expected = em_step(X, weight, weights, means, covariances)
    np.testing.assert_allclose(after.weights, expected[0], atol=1e-12)
    np.testing.assert_allclose(after.means, expected[1], atol=1e-11)
    np.testing.assert_allclose(after.covariances, expected[2], atol=1e-10)
    assert sums.log_likelihood == pytest.approx(expected[3], rel=1e-12)
    _, logs = responsibilities(X, weights, means, covariances)
    joint = log_joint(params, X)
    np.testing.assert_allclose(np.logaddexp.reduce(joint, axis=1), logs, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_takes_its_likeliest_member(name: str, missing: float) -> None:
    X = groups(60, missing=missing)
    X = X[np.isfinite(X).any(axis=1)]
    weights, means, full = law_of(3, 3, 1)
    N = np.array([10.0, 20.0, 30.0])
    member = in_family(name, N, N[:, None, None] * full)
    family = Family(name)
    given = {
        "tied": member[:1],
        **dict.fromkeys(["diag", "spherical", "EII", "EEI", "EVI"], np.diagonal(member, 0, 1, 2)),
    }.get(name, member)
    params = GaussianParameters(weights, means, np.array(given))
    sums = expected_sums(params, PatternRows.of(X, np.ones(len(X))))
    after = maximized(family, params, sums)
    w, m, C, _ = em_step(X, np.ones(len(X)), weights, means, member)
    N = w * len(X)
    expected = in_family(name, N, N[:, None, None] * C)
    np.testing.assert_allclose(after.means, m, atol=1e-11)
    shown = after.covariances
    if shown.ndim == 2:
        shown = shown[:, :, None] * np.eye(3)
    np.testing.assert_allclose(np.broadcast_to(shown, expected.shape), expected, atol=1e-10)
    # No neighbor in the family is likelier.
    best = gaussian_likelihood(N, N[:, None, None] * C, expected)
    for factor in (0.98, 1.02):
        assert gaussian_likelihood(N, N[:, None, None] * C, expected * factor) < best


@given(st.integers(0, 10_000), st.sampled_from([1e-3, 0.3, 2.0]))
def test_one_volume_above_a_floor_is_the_likeliest(seed: int, floor: float) -> None:
    rng = np.random.default_rng(seed)
    N = np.array([30.0, 50.0])
    scatter = N[:, None] * rng.gamma(0.5, size=(2, 3))
    values = Family("EVI", floor).likeliest(N, scatter, np.ones((2, 3)))
    assert (values >= floor * (1 - 1e-12)).all()
    np.testing.assert_allclose(*np.log(values).sum(axis=1), atol=1e-9)
    best = (N[:, None] * np.log(values) + scatter / values).sum()
    # No neighbor of one volume, none below the floor, is likelier.
    for _ in range(20):
        change = rng.normal(size=(2, 3)) * 0.05
        change[1, 0] += (change[0] - change[1]).sum()
        other = values * np.exp(change)
        if (other >= floor).all():
            assert (N[:, None] * np.log(other) + scatter / other).sum() >= best - 1e-9 * abs(best)


def test_missing_cells_are_integrated_out() -> None:
    weights, means, covariances = law_of(2, 2, 3)
    params = GaussianParameters(weights, means, covariances)
    for row in ([np.nan, 0.7], [-1.2, np.nan]):
        value = np.exp(np.logaddexp.reduce(log_joint(params, np.array([row]))[0]))
        expected = marginal_by_integration(np.array(row), weights, means, covariances)
        assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_fixed_points_are_scikit_learns(kind: str) -> None:
    X = groups(300, 4, seed=2)
    options = {"covariance_type": kind, "reg_covar": 0.0, "max_iter": 100_000}
    start = start_of(X, 3, kind)
    other = theirs.GaussianMixture(
        3, tol=1e-15, init_params="random_from_data", **options, **start
    ).fit(X)
    # One plain step more from there changes nothing that matters.
    ours = GaussianMixture(3, tol=1e-16, **options, **start).fit(X)
    np.testing.assert_allclose(ours.weights_, other.weights_, atol=1e-7)
    np.testing.assert_allclose(ours.means_, other.means_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.covariances_, other.covariances_, rtol=1e-5, atol=1e-6)
    assert ours.lower_bound_ == pytest.approx(other.lower_bound_, rel=1e-12)
    again = {"weights_init": other.weights_, "means_init": other.means_}
    again["precisions_init"] = other.precisions_
    held = GaussianMixture(3, tol=1e-9, **options, **again).fit(X)
    np.testing.assert_allclose(held.score_samples(X), other.score_samples(X), atol=1e-7)
    np.testing.assert_allclose(held.predict_proba(X), other.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(held.precisions_, other.precisions_, rtol=1e-5, atol=1e-6)
    roots = held.precisions_cholesky_, other.precisions_cholesky_
    np.testing.assert_allclose(*roots, rtol=1e-5, atol=1e-6)
    assert held.bic(X) == pytest.approx(other.bic(X))
    assert held.aic(X) == pytest.approx(other.aic(X))


def test_one_component_is_the_law_itself() -> None:
    X = groups(50)
    model = GaussianMixture(1).fit(X)
    law = MultivariateNormal.fit(X)
    np.testing.assert_allclose(model.means_[0], law.mean, rtol=1e-12)
    np.testing.assert_allclose(model.covariances_[0], law.covariance, rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), law.log_density(X), rtol=1e-10)


# --- Properties -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@given(st.integers(0, 10_000), st.sampled_from(FAMILIES), st.sampled_from([0.0, 0.25]))
def test_the_likelihood_never_falls(seed: int, name: str, missing: float) -> None:
    X = groups(40, 3, 2, seed, missing)
    model = GaussianMixture(3, covariance_type=name, random_state=seed, max_iter=60).fit(X)
    trace = np.array(model.certificate_.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    present = np.isfinite(X).any(axis=1)
    logs = model.score_samples(X)
    assert model.log_likelihood_ == pytest.approx(logs[present].sum(), rel=1e-9)
    assert model.weights_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", ["full", "tied", "diag"])
def test_sums_of_parts_add_up(name: str, missing: float) -> None:
    X = groups(80, missing=missing)
    params = GaussianMixture(2, covariance_type=name, random_state=0).fit(X)._parameters_of_fit()
    w = np.arange(1.0, 81)
    whole = expected_sums(params, PatternRows.of(X, w))
    halves = [expected_sums(params, PatternRows.of(X[s], w[s])) for s in (slice(30), slice(30, 80))]
    both = halves[0] + halves[1]
    for a, b in zip(vars(whole).values(), vars(both).values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-7)


def test_streams_files_and_frames_give_the_same(tmp_path: Path) -> None:
    X = groups(200, missing=0.05)
    table = pd.DataFrame(X, columns=list("abc"))
    model = GaussianMixture(3, random_state=0).fit(table)
    chunks = [(table[:70],), (table[70:130],), (table[130:],)]
    streamed = GaussianMixture(3, random_state=0).fit_stream(chunks)
    np.testing.assert_allclose(streamed.means_, model.means_, rtol=1e-4)
    table.to_csv(tmp_path / "table.csv", index=False)
    read = GaussianMixture(3, random_state=0).fit_file(tmp_path / "table.csv", chunk_rows=64)
    np.testing.assert_allclose(read.means_, model.means_, rtol=1e-4)
    assert read.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(InputError, match="EM makes several passes"):
        GaussianMixture().fit_stream(iter(chunks))


def test_moves_leave_a_poor_optimum() -> None:
    rng = np.random.default_rng(0)
    centers = np.array([[0, 0], [0.5, 9], [20, 0], [20.5, 9], [40, 4]])
    X = (centers[:, None] + rng.normal(size=(5, 60, 2))).reshape(-1, 2)
    values = {}
    for moves in (0, 4):
        options = {"init_params": "random_from_data", "moves": moves}
        fits = [GaussianMixture(5, random_state=s, **options).fit(X) for s in range(8)]
        values[moves] = np.array([model.log_likelihood_ for model in fits])
    assert (values[4] >= values[0] - 1e-6).all()
    assert (values[4] > values[4].max() - 1.0).mean() > (values[0] > values[4].max() - 1.0).mean()


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "hierarchical"])
def test_starts_find_clear_groups(init: str) -> None:
    X = groups(150, 2, 3, seed=1)
    X[np.arange(150) % 3 == 1, 0] += 60
    X[np.arange(150) % 3 == 2, 1] += 60
    model = GaussianMixture(3, init_params=init, random_state=0, n_init=3).fit(X)
    np.testing.assert_allclose(model.weights_, 1 / 3, atol=1e-6)
    assert model.membership_entropy(X) < 1e-6
    assert model.icl(X) == pytest.approx(model.bic(X), abs=1e-5)


def test_warm_starts_and_fixed_covariances() -> None:
    X = groups(120)
    model = GaussianMixture(2, random_state=0, warm_start=True).fit(X)
    before = model.log_likelihood_
    assert model.fit(X).log_likelihood_ >= before - 1e-9
    assert model.n_iter_ <= 3
    C = np.array([np.eye(3), 2 * np.eye(3)])
    held = GaussianMixture(2, covariance_type="fixed", precisions_init=np.linalg.inv(C)).fit(X)
    np.testing.assert_allclose(held.covariances_, C)
    with pytest.raises(InputError, match="pass precisions_init of shape"):
        GaussianMixture(2, covariance_type="fixed").fit(X)


# --- Answers --------------------------------------------------------------------------------------


def test_conditionals_are_ratios_of_densities() -> None:
    model = GaussianMixture(2, random_state=0).fit(pd.DataFrame(groups(200), columns=list("abc")))
    law = model.conditional({"b": 1.5})
    point = np.array([0.3, -0.7])
    whole = model.law_.log_density(np.array([0.3, 1.5, -0.7]))
    part = model.law_.marginal([1]).log_density(np.array([1.5]))
    assert law.log_density(point) == pytest.approx(whole - part, rel=1e-10)
    with pytest.raises(InputError, match="There is no column 'z'"):
        model.conditional({"z": 1.0})
    with pytest.raises(InputError, match="Give a finite value"):
        model.conditional({"a": np.nan})


def test_completed_cells_are_expected_ones() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    X = np.column_stack([x, 2 * x + 0.1 * rng.normal(size=400)])
    X[::5, 1] = np.nan
    model = GaussianMixture(1).fit(X)
    done = model.complete(X)
    assert not np.isnan(done).any()
    assert np.abs(done[::5, 1] - 2 * x[::5]).max() < 0.1
    np.testing.assert_array_equal(done[1], X[1])


def test_samples_follow_the_law() -> None:
    model = GaussianMixture(3, random_state=0).fit(groups(300))
    rows, codes = model.sample(20_000, random_state=1)
    assert rows.shape == (20_000, 3)
    np.testing.assert_allclose(np.bincount(codes) / 20_000, model.weights_, atol=0.02)
    error = rows.std(axis=0) / np.sqrt(20_000)
    assert (np.abs(rows.mean(axis=0) - model.law_.mean) < 5 * error).all()
    entropy = model.law_.entropy(4000)
    assert abs(entropy.value + model.score(rows)) < 6 * entropy.standard_error


# --- Odd input ------------------------------------------------------------------------------------


def test_columns_of_any_size() -> None:
    X = groups(150, seed=4)
    plain = GaussianMixture(3, random_state=0).fit(X)
    scale, shift = np.array([1e150, 1e-150, 1.0]), np.array([0.0, 0.0, 1e8])
    far = GaussianMixture(3, random_state=0).fit(X * scale + shift)
    np.testing.assert_array_equal(far.predict(X * scale + shift), plain.predict(X))
    np.testing.assert_allclose(far.weights_, plain.weights_, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.parametrize("name", FAMILIES)
def test_degenerate_tables_give_a_model(name: str) -> None:
    X = groups(40)
    tables = {
        "duplicates": np.repeat(X[:2], 10, axis=0),
        "constant column": np.column_stack([X[:, 0], np.full(40, 7.0)]),
        "collinear": np.column_stack([X, X[:, 0] + X[:, 1]]),
        "one value": np.ones((6, 2)),
        "an empty row": np.vstack([X, np.full((1, 3), np.nan)]),
    }
    for table in tables.values():
        model = GaussianMixture(2, covariance_type=name, random_state=0).fit(table)
        assert np.isfinite(model.score_samples(table)).all()
        np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)


def test_an_empty_row_and_weight_zero_change_nothing() -> None:
    X = groups(60)
    more = np.vstack([X, np.full((2, 3), np.nan), X[:5] + 99])
    weight = np.r_[np.ones(62), np.zeros(5)]
    plain = GaussianMixture(2, random_state=0).fit(X)
    other = GaussianMixture(2, random_state=0).fit(more, sample_weight=weight)
    np.testing.assert_allclose(other.means_, plain.means_, rtol=1e-8)
    np.testing.assert_allclose(other.predict_proba([[np.nan] * 3])[0], other.weights_)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (GaussianMixture(5), np.eye(3), "n_samples=3 should be >= n_components=5"),
        (GaussianMixture(), [[1.0, np.nan], [2.0, np.nan]], "'x1' has no present cell"),
        (GaussianMixture(), pd.DataFrame({"a": [1.0, 2], "b": ["u", "v"]}), "Use MixedMixture"),
        (GaussianMixture(2, means_init=[[1.0]]), np.eye(3), r"\(2, 3\) is wanted"),
        (GaussianMixture(2, weights_init=[1.0, 1.0]), np.eye(3), "weights_init sums to 2"),
        (GaussianMixture(1, precisions_init=[-np.eye(3)]), np.eye(3), "positive definite"),
        (GaussianMixture(1, reg_covar=0.0), np.ones((4, 2)), "Raise reg_covar"),
        (
            GaussianMixture(2, covariance_type="spherical", reg_covar=0.0, means_init=[[0], [9]]),
            [[0.0], [0.1], [0.2], [9.0]],
            "Raise reg_covar",
        ),
        (
            GaussianMixture(2, covariance_type="diag", reg_covar=0.0, random_state=0),
            np.repeat([[0.0, 1.0], [4.0, 1.5], [4.0, 7.0]], 5, axis=0),
            "Raise reg_covar",
        ),
    ],
)
def test_refusals(model: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X)


def test_a_component_that_dies_is_told() -> None:
    X = groups(30, 1, 1)
    start = {"means_init": [[0.0], [1e6]], "weights_init": [0.5, 0.5]}
    with pytest.warns(ConvergenceWarning, match="1 of 2 components have lost all rows"):
        model = GaussianMixture(2, precisions_init=[[[1.0]]] * 2, **start).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


def test_dask_arrays() -> None:
    array = pytest.importorskip("dask.array")
    X = groups(120, missing=0.05)
    parts = array.from_array(X, chunks=(50, 3))
    model = GaussianMixture(3, random_state=0).fit_stream((parts,))
    expected = GaussianMixture(3, random_state=0).fit(X).log_likelihood_
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-6)


def test_no_step_is_the_start_and_no_draw_is_refused() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 4])
    start = {"weights_init": [0.25, 0.75], "means_init": [[0.5, 0.0], [3.0, 3.0]]}
    precisions = np.array([np.eye(2), 2 * np.eye(2)])
    model = GaussianMixture(2, max_iter=0, precisions_init=precisions, **start).fit(X)
    np.testing.assert_allclose(model.means_, start["means_init"])
    np.testing.assert_allclose(model.precisions_, precisions)
    densities = [
        w * stats.multivariate_normal(m, np.linalg.inv(P)).pdf(X)
        for w, m, P in zip(*start.values(), precisions, strict=True)
    ]
    assert model.lower_bound_ == pytest.approx(np.log(sum(densities)).mean())
    assert (model.n_iter_, model.converged_) == (0, False)
    first, second = (
        GaussianMixture(2, max_iter=steps, random_state=1, moves=0, tol=0) for steps in (0, 3)
    )
    with pytest.warns(ConvergenceWarning):
        second.fit(X)
    assert first.fit(X).lower_bound_ < second.lower_bound_
    assert (first.predict(X[:40]) != first.predict(X[40:])).mean() > 0.9
    with pytest.raises(InputError, match="Invalid value for 'n_samples': 0"):
        model.sample(0)


def test_points_beyond_all_densities_have_no_memberships() -> None:
    law = NormalMixture([0.25, 0.75], [[0.0, 1.0], [5.0, 1.0]], [np.eye(2)] * 2)
    shares = law.responsibilities([[300.0, 1.0], [2.5, -7.0]])
    np.testing.assert_allclose(shares, [[0.0, 1.0], [0.25, 0.75]], atol=1e-12)
    with pytest.raises(InputError, match="squared distance overflows"):
        law.responsibilities([[1e200, 0.0]])
    with pytest.raises(InputError, match="squared distance overflows"):
        law.condition([0], [-1e200])
