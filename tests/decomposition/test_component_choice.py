"""Rules for the number of components: Minka's formula pair by pair, scikit-learn's, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.decomposition
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition._pca import _assess_dimension, _infer_dimension

from novum.core.errors import InputError
from novum.decomposition.component_choice import (
    ByEvidence,
    ByLikelihood,
    ByVariance,
    component_count,
    log_evidences,
    rule_of,
)
from novum.decomposition.pca import PCA
from novum.decomposition.probabilistic_pca import NoiseFloorWarning, ProbabilisticPCA
from novum.decomposition.spectrum import Spectrum
from novum.numerics import Floats
from tests.decomposition.definitions import log_evidence


def spectrum_with(values: Floats, n: float) -> Spectrum:
    """The spectrum of n rows with these variances (over the weight)."""
    d = len(values)
    return Spectrum(np.zeros(d), n * values, np.eye(d), float(n * values.sum()), n, n, 0.0, "")


variances = st.lists(st.floats(0.01, 10), min_size=2, max_size=7, unique=True).map(
    lambda values: np.sort(np.array(values))[::-1]
)


@given(variances, st.integers(10, 1000))
def test_evidence_is_minkas_formula(values: Floats, n: int) -> None:
    found = log_evidences(spectrum_with(values, float(n)))
    assert len(found) == len(values)
    if (values[:-1] - values[1:] > 1e-9 * values[:-1]).all():
        expected = [log_evidence(values, n, k) for k in range(len(values))]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        theirs = [_assess_dimension(values, k, n) for k in range(1, len(values))]
        np.testing.assert_allclose(found[1:], theirs, rtol=1e-9, atol=1e-9)
        assert ByEvidence().choose(spectrum_with(values, float(n))) == _infer_dimension(values, n)


def test_evidence_does_not_depend_on_units_in_what_it_prefers() -> None:
    values = np.array([9.0, 4.0, 1.1, 1.0, 0.9])
    for unit in (1e-12, 1.0, 1e12):
        assert ByEvidence().choose(spectrum_with(values * unit, 200.0)) == 2


def test_equal_variances_have_an_evidence() -> None:
    found = log_evidences(spectrum_with(np.array([4.0, 4.0, 1.0, 1.0, 1.0]), 500.0))
    assert np.isfinite(found).all()
    assert int(np.argmax(found)) == 2


def test_fewer_rows_than_columns_have_an_evidence() -> None:
    values = np.array([50.0, 40.0, 1.2, 1.1, 1.0, 0.9, 0.0, 0.0, 0.0, 0.0])
    spectrum = spectrum_with(values, 7.0)
    assert len(log_evidences(spectrum)) == 6
    assert ByEvidence().choose(spectrum) == 2


def test_nothing_to_choose_from() -> None:
    constant = spectrum_with(np.zeros(3), 5.0)
    assert log_evidences(constant).size == 0
    assert ByEvidence().choose(constant) == 1
    assert ByVariance(0.9).choose(constant) == 1
    single = spectrum_with(np.array([2.0]), 5.0)
    assert ByEvidence().choose(single) == 1


@pytest.mark.parametrize(
    ("share", "count"), [(0.1, 1), (0.49, 1), (0.5, 2), (0.74, 2), (0.89, 3), (0.9, 4), (1.0, 4)]
)
def test_variance_is_the_smallest_number_that_explains_more(share: float, count: int) -> None:
    values = np.array([0.5, 0.25, 0.15, 0.1, 0.0])
    assert ByVariance(share).choose(spectrum_with(values, 100.0)) == count


def test_values_of_the_parameter() -> None:
    assert rule_of(None) is None
    assert rule_of(np.int64(3)) == 3
    assert rule_of(0.7) == ByVariance(0.7)
    assert rule_of("mle") == ByEvidence()
    assert rule_of(ByLikelihood(3)) == ByLikelihood(3)
    assert len({ByLikelihood(3), ByLikelihood(3), ByLikelihood(4)}) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ByVariance(0.0), "above 0 and at most 1, got 0.0"),
        (lambda: ByVariance(1.5), "above 0 and at most 1"),
        (lambda: ByLikelihood(1), "at least 2 folds, got 1"),
        (lambda: ByLikelihood(2.5), "at least 2 folds"),  # type: ignore[arg-type]
        (lambda: ByLikelihood(3, -1), "integer of at least 0"),
    ],
)
def test_impossible_rules_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_count_is_checked_against_the_table() -> None:
    spectrum = spectrum_with(np.array([2.0, 1.0]), 9.0)
    assert component_count(None, spectrum, 2, "PCA") == (2, None)
    assert component_count(1, spectrum, 2, "PCA") == (1, None)
    with pytest.raises(InputError, match=r"min\(n_samples, n_features\)=2"):
        component_count(3, spectrum, 2, "PCA")
    with pytest.raises(InputError, match="from rows, which sums have lost"):
        component_count(ByLikelihood(), spectrum, 2, "PCA")


# --- Tables in a subspace -------------------------------------------------------------------------


def dummies(n: int, seed: int = 0) -> Floats:
    """Two nominal columns of three levels and a number: six dummies of rank four, rank five."""
    rng = np.random.default_rng(seed)
    coded = [np.eye(3)[rng.integers(0, 3, n)] for _ in range(2)]
    return np.column_stack([*coded, rng.normal(size=n)])


def low_rank(n: int, rank: int, d: int, offset: float = 0.0) -> Floats:
    rng = np.random.default_rng(1)
    return np.asarray(rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + offset)


@pytest.mark.parametrize(
    ("X", "rank"),
    [
        (dummies(60), 5),
        (low_rank(50, 3, 6), 3),
        (low_rank(50, 3, 6, 1e4), 3),
        (low_rank(30, 1, 5), 1),
    ],
)
def test_exact_subspaces_are_found(X: Floats, rank: int) -> None:
    for rule in ("mle", ByEvidence(), ByLikelihood(3)):
        model = PCA(rule).fit(X)
        assert model.n_components_ == rank
        assert model.component_scores_[rank] == np.inf
    assert sklearn.decomposition.PCA("mle").fit(X).n_components_ == rank


def test_dummies_alone_are_a_subspace() -> None:
    X = np.eye(4)[np.arange(80) % 4]
    assert PCA("mle").fit(X).n_components_ == 3
    with pytest.warns(NoiseFloorWarning, match="3 components explain all"):
        assert ProbabilisticPCA("mle").fit(X).n_components_ == 3


def test_a_row_outside_makes_a_subspace_impossible() -> None:
    X = low_rank(40, 2, 5)
    X[7, 4] += 3.0
    scores = PCA(ByLikelihood(4)).fit(X).component_scores_
    # The fold of the row leaves others of rank 2, under which it cannot be.
    assert scores[2] == -np.inf
    assert np.isfinite(scores[:2]).all()


def test_few_rows_are_no_subspace() -> None:
    X = np.random.default_rng(2).normal(size=(6, 10))
    scores = PCA("mle").fit(X).component_scores_
    assert np.isfinite(scores).all()
