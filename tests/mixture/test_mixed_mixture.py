"""MixedMixture: EM by definition and in rationals, missing cells, levels, odd input."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.core.sums import sum_blocks
from novum.mixture import GaussianMixture, MixedMixture, choose_components
from novum.mixture.mixed_mixture import MixedEM, MixedParameters, MixedTable
from tests.oracles.mixture_definitions import rational_latent_class_step


def table(n: int = 120, seed: int = 0, missing: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "height": rng.normal(170, 5, n) + 15 * group,
            "color": np.where(rng.random(n) < 0.85, group, 1 - group),
            "size": pd.Categorical.from_codes(
                rng.binomial(2, 0.15 + 0.7 * group), ["S", "M", "L"], ordered=True
            ),
        }
    )
    frame["color"] = frame["color"].map({0: "red", 1: "blue"}).astype(object)
    hidden = rng.random(frame.shape) < missing
    return frame.mask(hidden)


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([MixedMixture(2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    check(Case(MixedMixture(2, random_state=0), table()))


# --- Definitions ----------------------------------------------------------------------------------


def test_densities_are_products_over_present_cells() -> None:
    frame = table(40)
    model = MixedMixture(2, random_state=0).fit(frame)
    logs = model.score_samples(frame)
    columns = {c.name: c for c in model.schema_.columns}
    for i, row in enumerate(frame.itertuples(index=False)):
        density = 0.0
        for k in range(2):
            term = model.weights_[k]
            if not pd.isna(row.height):
                spread = np.sqrt(model.variances_[k, 0])
                term *= stats.norm(model.means_[k, 0], spread).pdf(row.height)
            for name in ("color", "size"):
                cell = getattr(row, name)
                if not pd.isna(cell):
                    place = columns[name].levels.index(cell)
                    term *= model.level_probabilities_[name][k, place]
            density += term
        assert logs[i] == pytest.approx(np.log(density), abs=1e-11)


@given(st.integers(0, 10_000))
def test_a_step_of_latent_classes_equals_rationals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 2, (9, 3))
    codes[(codes < 0).all(axis=1), 0] = 0
    codes[:2] = [[0, 0, 0], [1, 1, 1]]
    cells = np.where(codes < 0, None, np.array(["a", "b"], object)[np.maximum(codes, 0)])
    model = MixedMixture(2, categorical_features="all")
    sample = model._read(pd.DataFrame(cells), None, None, None)
    problem = MixedEM.of(sum_blocks(MixedTable.of, sample), 1e-6, 0.0, 2)
    weights = [Fraction(1, 3), Fraction(2, 3)]
    chances = [[Fraction(int(v), 10) for v in rng.integers(1, 10, 3)] for _ in range(2)]
    pairs = np.array([[[1 - float(c), float(c)] for c in row] for row in chances])
    params = MixedParameters(
        np.array([1 / 3, 2 / 3]), np.empty((2, 0)), np.empty((2, 0)), np.log(pairs.reshape(2, 6))
    )
    sums = problem.step(params, problem.prepared(sample))
    after = problem.update(params, sums)
    expected = rational_latent_class_step(codes.tolist(), weights, chances)
    np.testing.assert_allclose(after.weights, [float(w) for w in expected[0]], atol=1e-13)
    shares = np.exp(after.levels).reshape(2, 3, 2)[:, :, 1]
    np.testing.assert_allclose(shares, np.array(expected[1], float), atol=1e-13)
    assert sums.log_likelihood == pytest.approx(float(np.log(float(expected[2]))), rel=1e-12)


def test_numbers_alone_are_a_diagonal_gaussian_mixture() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 6.0 * (np.arange(200) % 2)[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    ours = MixedMixture(2, random_state=0, tol=1e-12).fit(X)
    other = GaussianMixture(2, covariance_type="diag", random_state=0, tol=1e-12).fit(X)
    assert ours.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(np.sort(ours.means_[:, 0]), np.sort(other.means_[:, 0]), rtol=1e-5)


def test_one_component_is_the_table_itself() -> None:
    frame = table(60, missing=0.2)
    model = MixedMixture(1, prior_count=0.0).fit(frame)
    assert model.means_[0, 0] == pytest.approx(frame["height"].mean())
    assert model.variances_[0, 0] == pytest.approx(frame["height"].var(ddof=0))
    shares = frame["color"].value_counts(normalize=True)
    expected = [shares[level] for level in model.schema_.columns[1].levels]
    np.testing.assert_allclose(model.level_probabilities_["color"][0], expected)
    codes = frame["size"].cat.codes
    q = codes[codes >= 0].mean() / 2
    np.testing.assert_allclose(
        model.level_probabilities_["size"][0], stats.binom(2, q).pmf([0, 1, 2])
    )


# --- Properties -----------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.sampled_from([0.0, 1.0]))
def test_the_objective_never_falls(seed: int, missing: float, prior: float) -> None:
    frame = table(50, seed, missing).dropna(how="all")
    model = MixedMixture(2, prior_count=prior, random_state=seed, n_init=1).fit(frame)
    trace = np.array(model.certificate_.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    assert model.log_likelihood_ == pytest.approx(model.score_samples(frame).sum(), rel=1e-9)


def test_known_groups_are_recovered() -> None:
    model = MixedMixture(2, random_state=0).fit(table(400, missing=0.1))
    groups = model.predict(table(400, missing=0.0))
    agreement = np.mean(groups == np.arange(400) % 2)
    assert max(agreement, 1 - agreement) > 0.93
    choice = choose_components(MixedMixture(random_state=0), table(400), range(1, 5))
    assert choice.n_components == 2


def test_streams_files_and_samples(tmp_path: Path) -> None:
    frame = table(200).drop(columns="size")
    model = MixedMixture(2, random_state=0).fit(frame)
    # The second chunk has a level that the first one lacks.
    frame = frame.sort_values("color", na_position="last")
    streamed = MixedMixture(2, random_state=0).fit_stream([(frame[:60],), (frame[60:],)])
    assert streamed.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-6)
    frame.to_csv(tmp_path / "t.csv", index=False)
    read = MixedMixture(2, random_state=0).fit_file(tmp_path / "t.csv", chunk_rows=64)
    assert read.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-6)
    rows, codes = model.sample(5000, random_state=0)
    assert set(rows[:, 1]) == {"red", "blue"}
    for k in range(2):
        share = np.mean(rows[codes == k, 1] == "blue")
        assert share == pytest.approx(model.level_probabilities_["color"][k, 0], abs=0.05)


def test_unseen_levels_say_nothing() -> None:
    frame = table(100, missing=0.0)
    model = MixedMixture(2, random_state=0).fit(frame)
    row = frame[:1].assign(color="green")
    with pytest.warns(UserWarning, match="level not met in training"):
        chances = model.predict_proba(row)
    np.testing.assert_allclose(chances, model.predict_proba(row.assign(color=None)), rtol=1e-12)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_levels_and_orders_without_rows(prior: float) -> None:
    frame = table(40, missing=0.0)
    frame["color"] = pd.Categorical(frame["color"], ["blue", "green", "red"])
    frame["size"] = pd.Categorical(["S"] * 40, ["S", "M", "L"], ordered=True)
    frame["height"] = 1.0
    model = MixedMixture(2, prior_count=prior, random_state=0).fit(frame)
    assert np.isfinite(model.score_samples(frame)).all()
    green = model.level_probabilities_["color"][:, 1]
    assert (green > 0).all() if prior else (green == 0).all()


def test_refusals() -> None:
    with pytest.raises(InputError, match="fewer rows than components"):
        MixedMixture(9).fit(table(5, missing=0.0))
    with pytest.raises(InputError, match="'height' has no present cell"):
        MixedMixture(1).fit(table(9).assign(height=np.nan))


def test_variances_of_a_file_fit_the_means(tmp_path: Path) -> None:
    model = MixedMixture(2, random_state=0).fit(table(40))
    model.variances_ = model.variances_.ravel()
    save(model, tmp_path / "m.novum")
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(tmp_path / "m.novum")
