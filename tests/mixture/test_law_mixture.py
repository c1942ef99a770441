"""Mixture of any law: other mixtures as oracles, recovery, missing cells, files, odd input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.decomposition import LowRankNormal
from novum.distributions import (
    Bernoulli,
    Binomial,
    Categorical,
    Component,
    Dirichlet,
    Gamma,
    MixtureLaw,
    Multinomial,
    MultinomialShares,
    MultivariateBernoulli,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    Poisson,
    StudentT,
)
from novum.mixture import GaussianMixture, MixedMixture, Mixture, choose_components


def counts(n: int = 200, seed: int = 0, missing: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.poisson(np.where((np.arange(n) % 2)[:, None], [2.0, 9.0, 1.0], [8.0, 1.0, 5.0]))
    X = X.astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def two_groups(n: int = 200, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 6.0 * (np.arange(n) % 2)[:, None]


def answers(n: int = 150, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "city": np.where(rng.random(n) < 0.9, group, 1 - group),
            "visits": rng.poisson(2 + 6 * group).astype(float),
            "pay": rng.gamma(4.0, 1 + 2 * group),
        }
    )
    frame["city"] = frame["city"].map({0: "Bern", 1: "Oslo"}).astype(object)
    return frame.mask(rng.random(frame.shape) < 0.1)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([Mixture(n_components=2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    laws = {"visits": Poisson, "pay": Gamma}
    check(Case(Mixture(laws, 2, random_state=0, n_init=1), answers(90).dropna(how="all")))


# --- Other mixtures as oracles --------------------------------------------------------------------


def test_vector_normals_are_a_gaussian_mixture() -> None:
    X = two_groups()
    ours = Mixture(MultivariateNormal, 2, prior_count=0.0, tol=1e-12, random_state=0).fit(X)
    other = GaussianMixture(2, tol=1e-12, random_state=0).fit(X)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), other.score_samples(X), atol=1e-6)
    assert ours.bic(X) == pytest.approx(other.bic(X), rel=1e-8)
    X[0, 1] = np.nan
    np.testing.assert_allclose(ours.score_samples(X[:3]), other.score_samples(X[:3]), atol=1e-6)


def test_columns_by_kind_are_a_mixed_mixture() -> None:
    frame = answers()[["city", "pay"]].dropna(how="all")
    options = {"prior_count": 0.0, "tol": 1e-12, "random_state": 0}
    ours = Mixture(None, 2, **options).fit(frame)
    other = MixedMixture(2, **options).fit(frame)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(ours.predict_proba(frame), other.predict_proba(frame), atol=1e-5)
    assert ours.bic(frame) == pytest.approx(other.bic(frame))


def test_bernoulli_columns_are_latent_classes() -> None:
    rng = np.random.default_rng(0)
    chance = np.where((np.arange(300) % 2)[:, None], 0.85, 0.2)
    X = (rng.random((300, 5)) < chance).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    options = {"prior_count": 0.0, "tol": 1e-12, "random_state": 0}
    ours = Mixture(Bernoulli, 2, **options).fit(X)
    labels = pd.DataFrame(X).map(lambda cell: None if np.isnan(cell) else "ny"[int(cell)])
    other = MixedMixture(2, **options).fit(labels)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
    same = Mixture(Categorical, 2, **options).fit(labels)
    assert same.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
    assert isinstance(same.components_[0].laws[0], Categorical)
    assert same.components_[0].laws[0].levels == ("n", "y")


def test_one_component_is_the_law_itself() -> None:
    X = counts()
    model = Mixture(Poisson).fit(X)
    rates = [law.rate for law in model.components_[0].laws]
    np.testing.assert_allclose(rates, X.mean(axis=0), rtol=1e-12)
    low = Mixture(Component(LowRankNormal, {"n_components": 1})).fit(two_groups())
    own = LowRankNormal.fit(two_groups(), 1)
    np.testing.assert_allclose(low.score_samples(X), own.log_density(X), rtol=1e-9)


# --- Recovery -------------------------------------------------------------------------------------


def test_groups_of_counts_with_missing_cells() -> None:
    X = counts(600, missing=0.1)
    X = X[~np.isnan(X).all(axis=1)]
    model = Mixture(Poisson, 2, random_state=0).fit(X)
    rates = sorted([law.rate for law in part.laws] for part in model.components_)
    np.testing.assert_allclose(rates, [[2, 9, 1], [8, 1, 5]], atol=0.45)
    assert choose_components(Mixture(Poisson, random_state=0), X, range(1, 4)).n_components == 2
    row = X[:1].copy()
    row[0, 1] = np.nan
    by_hand = [
        w * np.prod([float(part.laws[j].density(row[0, j])) for j in (0, 2)])
        for w, part in zip(model.weights_, model.components_, strict=True)
    ]
    assert model.score_samples(row)[0] == pytest.approx(np.log(sum(by_hand)), rel=1e-12)


@pytest.mark.slow
def test_outliers_do_not_move_groups_of_student_t() -> None:
    far = np.random.default_rng(1).normal(size=(12, 3)) * 60.0
    X = np.vstack([two_groups(300), far])
    robust = Mixture(MultivariateStudentT, 2, random_state=0).fit(X)
    centers = sorted(part.location.mean() for part in robust.components_)
    np.testing.assert_allclose(centers, [0.0, 6.0], atol=0.4)
    trace = np.array(robust.certificate_.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    known = Component(StudentT, {"degrees_of_freedom": 3.0})
    columns = Mixture(known, 2, random_state=0).fit(X)
    assert {law.degrees_of_freedom for law in columns.components_[0].laws} == {3.0}
    assert columns._n_free == 2 * 3 * 2 + 1
    assert robust._n_free == 2 * (1 + 3 + 6) + 1


def test_groups_with_directions_of_their_own() -> None:
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(2, 8))
    group = np.arange(400) % 2
    X = rng.normal(size=(400, 1)) * 3 * axes[group] + 0.3 * rng.normal(size=(400, 8))
    model = Mixture(Component(LowRankNormal, {"n_components": 1}), 2, random_state=0, n_init=10)
    model.fit(X)
    agreement = np.mean(model.predict(X) == group)
    assert max(agreement, 1 - agreement) > 0.9
    for part in model.components_:
        cosines = np.abs(part.loadings[:, 0] @ axes.T) / np.linalg.norm(part.loadings)
        assert (cosines / np.linalg.norm(axes, axis=1)).max() > 0.99


def test_multinomial_and_binomial_rows() -> None:
    rng = np.random.default_rng(0)
    shares = np.where((np.arange(200) % 2)[:, None], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7])
    X = rng.multinomial(20, shares).astype(float)
    model = Mixture(Multinomial, 2, random_state=0).fit(X)
    found = np.sort([part.probabilities[0] for part in model.components_])
    np.testing.assert_allclose(found, [0.1, 0.7], atol=0.05)
    assert model._n_free == 2 * 2 + 1
    trials = Component(Binomial, {"trials": 20})
    by_column = Mixture(trials, 2, random_state=0).fit(X)
    np.testing.assert_array_equal(by_column.predict(X), model.predict(X))


def test_vector_laws_take_missing_cells() -> None:
    X = two_groups()
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)
    options = {"tol": 1e-11, "max_iter": 3000, "random_state": 0}
    ours = Mixture(MultivariateNormal, 2, prior_count=0.0, n_init=1, **options).fit(holes)
    other = GaussianMixture(2, **options).fit(holes)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
    for law in (MultivariateStudentT, Component(LowRankNormal, {"n_components": 1})):
        model = Mixture(law, 2, n_init=1, random_state=0).fit(holes)
        trace = np.array(model.certificate_.trace)
        assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()
        groups = model.predict(X)
        assert np.mean(groups == groups[0]) == pytest.approx(0.5, abs=0.02)


def test_rows_of_counts_with_gaps_and_of_different_totals() -> None:
    rng = np.random.default_rng(0)
    shares = np.where((np.arange(200) % 2)[:, None], [0.7, 0.2, 0.1, 0], [0.1, 0.2, 0.7, 0])
    one, many = (rng.multinomial(n, shares).astype(float) for n in (20, rng.integers(5, 40, 200)))
    for rows, law in ((one, Multinomial), (many, MultinomialShares)):
        rows[rng.random(rows.shape) < 0.1] = np.nan
        rows[0, 1] = np.nan
        model = Mixture(Multinomial, 2, random_state=0).fit(rows)
        assert {type(part) for part in model.components_} == {law}
        first = np.sort([part.probabilities[0] for part in model.components_])
        np.testing.assert_allclose(first, [0.1, 0.7], atol=0.05)
        assert model._n_free == 2 * 3 + 1
        # The last outcome never happens: one row more, spread over four outcomes, is in the prior.
        assert model.unmet_.tolist() == [[3.0, 1.0, pytest.approx(0.1 / 201 / 4, rel=0.02)]]
        assert all(0 < part.probabilities[3] < 1e-5 for part in model.components_)
    streamed = clone(model).fit_stream([(many[:90],), (many[90:],)])
    assert streamed.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-6)
    with pytest.raises(InputError, match="law of counts given their total"):
        model.sample(3)


def test_levels_that_no_row_has_are_rare_and_not_impossible() -> None:
    kinds = pd.CategoricalDtype(["a", "b", "c"])
    frame = pd.DataFrame({"k": pd.Series(list("abab") * 10, dtype=kinds), "x": np.arange(40.0)})
    model = Mixture(None, 2, random_state=0).fit(frame)
    other = pd.DataFrame({"k": pd.Series(["c"], dtype=kinds), "x": [3.0]})
    assert np.isfinite(model.score_samples(other)).all()
    assert np.isfinite(MixedMixture(2, random_state=0).fit(frame).score_samples(other)).all()
    assert Mixture(None, 2, prior_count=0.0, random_state=0).fit(frame).score_samples(other) == (
        -np.inf
    )
    zeros = np.column_stack([np.arange(40) % 2, np.zeros(40)]).astype(float)
    for law in (Bernoulli, MultivariateBernoulli):
        coins = Mixture(law, 2, random_state=0).fit(zeros)
        assert np.isfinite(coins.score_samples([[0.0, 1.0]])).all()
        assert coins.unmet_.tolist() == [[1.0, 1.0, pytest.approx(0.1 / 41 / 2)]]
    parts = model.statistics(frame[:20]) + model.statistics(frame[20:])
    again = clone_of(model).fit_statistics(parts)
    assert np.isfinite(again.score_samples(other)).all()


def test_streams_files_samples_and_model_files(tmp_path: Path) -> None:
    frame = answers().dropna(how="all")
    model = Mixture({"visits": Poisson, "pay": Gamma}, 2, random_state=0).fit(frame)
    streamed = clone(model).fit_stream([(frame[:60],), (frame[60:],)])
    assert streamed.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    read = clone(model).fit_file(tmp_path / "t.csv", chunk_rows=64)
    assert read.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-6)
    rows, codes = model.sample(3000, random_state=0)
    assert rows.shape == (3000, 3)
    for k, part in enumerate(model.components_):
        assert np.mean(rows[codes == k, 1]) == pytest.approx(part.laws[1].rate, rel=0.1)
        share = np.mean(rows[codes == k, 0] == "Bern")
        assert share == pytest.approx(part.laws[0].density("Bern"), abs=0.05)
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert again.component == {"visits": Poisson, "pay": Gamma}
    assert again.law_ == model.law_
    assert isinstance(model.law_, MixtureLaw)


# --- Odd input ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.parametrize("law", [None, Poisson, MultivariateStudentT])
def test_degenerate_tables_give_a_model(law: Any) -> None:
    X = counts(40)
    tables = {
        "duplicates": np.repeat(X[:5], 10, axis=0),
        "few rows": X[:4],
        "an empty row": np.vstack([X, np.full((1, 3), np.nan)]),
    }
    if law is not MultivariateStudentT:
        tables["constant column"] = np.column_stack([X[:, 0], np.full(40, 7.0)])
        tables["zeros"] = np.column_stack([X[:, 0], np.zeros(40)])
    for name, table in tables.items():
        if law is None and name in ("constant column", "zeros"):
            with pytest.raises(InputError, match="cells of column 'x1' give no Normal law"):
                Mixture(law, 2, random_state=0).fit(table)
            continue
        model = Mixture(law, 2, n_init=1, random_state=0).fit(table)
        assert np.isfinite(model.score_samples(table)).all()
        np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)


def test_columns_of_any_size() -> None:
    X = two_groups(120)
    plain = Mixture(Normal, 2, random_state=0).fit(X)
    scale, shift = np.array([1e150, 1e-150, 1.0]), np.array([0.0, 0.0, 1e8])
    far = Mixture(Normal, 2, random_state=0).fit(X * scale + shift)
    np.testing.assert_array_equal(far.predict(X * scale + shift), plain.predict(X))


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (Mixture(Poisson, 9), counts(5), "fewer rows than components"),
        (Mixture(Poisson), [[1.0, 0.5]], r"first is 0\.5"),
        (Mixture(Normal), pd.DataFrame({"a": ["u", "v"]}), "'a' holds categories, which Normal"),
        (Mixture(Categorical), [[1.0], [2.0]], "'x0' holds numbers, which Categorical"),
        (Mixture(Dirichlet), [[0.2, np.nan], [0.3, 0.7]], "missing, and Dirichlet has no closed"),
        (Mixture(Binomial), [[1.0], [2.0]], r"without its trials.*Component\(Binomial"),
        (Mixture(MultivariateNormal), pd.DataFrame({"a": ["u"], "b": [1.0]}), "hold categories"),
        (Mixture({"z": Poisson}), [[1.0], [2.0]], "There is no column 'z'"),
        (Mixture({0: MultivariateNormal}), [[1.0], [2.0]], "law of vectors"),
        (Mixture("Poisson"), [[1.0], [2.0]], "A component is a class of laws"),
        (Mixture(Multinomial), [[1.0, 2], [3.5, 4]], r"MultinomialShares law.*3\.5 at row 1"),
    ],
)
def test_refusals(model: Any, X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X)


# --- Sums of parts, and Ctrl-C --------------------------------------------------------------------

MODELS = {
    "gaussian": (GaussianMixture(2, random_state=0), two_groups()),
    "tied with holes": (
        GaussianMixture(2, covariance_type="tied", random_state=0),
        np.where(np.random.default_rng(5).random((200, 3)) < 0.1, np.nan, two_groups()),
    ),
    "diagonal": (GaussianMixture(2, covariance_type="diag", random_state=0), two_groups()),
    "mixed": (MixedMixture(2, random_state=0), answers().dropna(how="all")),
    "any law": (Mixture({"visits": Poisson}, 2, random_state=0), answers().dropna(how="all")),
    "counts of trials": (
        Mixture(Multinomial, 2, random_state=0),
        np.random.default_rng(0).multinomial(9, [0.2, 0.5, 0.3], 60).astype(float),
    ),
}


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_statistics_of_parts_merge_to_the_fit_of_the_whole(name: str) -> None:
    start, X = MODELS[name]
    goal = clone(start).set_params(tol=1e-13, max_iter=5000).fit(X)
    # A short fit leaves something to do.
    model = clone(start).set_params(max_iter=2, n_init=1).fit(X)
    weight = np.arange(1.0, len(X) + 1)
    parts = [slice(0, 40), slice(40, len(X))]
    together = [model.statistics(X[s], sample_weight=weight[s]) for s in parts]
    whole = model.statistics(X, sample_weight=weight)
    merged = clone_of(model).fit_statistics(together[0] + together[1])
    direct = clone_of(model).fit_statistics(whole)
    np.testing.assert_allclose(merged.score_samples(X), direct.score_samples(X), rtol=1e-9)
    assert model.statistics(X).rows == len(X)
    value = -np.inf
    for _ in range(150):
        sums = model.statistics(X[parts[0]]) + model.statistics(X[parts[1]])
        model.fit_statistics(sums)
        assert model.certificate_.value >= value - 1e-8 * abs(value)
        value = model.certificate_.value
    assert model.log_likelihood_ == pytest.approx(goal.log_likelihood_, rel=1e-5)
    with pytest.raises(InputError, match="taken under others"):
        model.fit_statistics(whole)
    with pytest.raises(InputError, match="do not add up"):
        whole + model.statistics(X)


def clone_of(model: Any) -> Any:
    import copy

    return copy.deepcopy(model)


@pytest.mark.parametrize("name", ["gaussian", "mixed", "any law"])
def test_an_interrupted_fit_keeps_the_best_when_asked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, X = MODELS[name]
    problem = type(clone(start).fit(X)._fitted_problem()[0])
    plain, calls = problem.step, []

    def step(self: Any, params: Any, chunk: Any, /) -> Any:
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return plain(self, params, chunk)

    monkeypatch.setattr(problem, "step", step)
    with pytest.raises(KeyboardInterrupt):
        clone(start).set_params(tol=0.0).fit(X)
    calls.clear()
    kept = clone(start).set_params(tol=0.0, on_interrupt="keep")
    with pytest.warns(ConvergenceWarning, match="interrupt"):
        kept.fit(X)
    assert len(calls) == 4
    assert np.isfinite(kept.score_samples(X)).all()
    assert kept.certificate_.details["stopped_by"] == "interrupt"
