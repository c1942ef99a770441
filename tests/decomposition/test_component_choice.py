"""Rules for the number of components: Minka's formula pair by pair, scikit-learn's, ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
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
from novum.decomposition.definitions import log_evidence
from novum.decomposition.spectrum import Spectrum
from tests.decomposition.component_tables import Floats


def spectrum_with(values: Floats, n: float) -> Spectrum:
    """The spectrum of n rows with these variances (over the weight)."""
    d = len(values)
    return Spectrum(np.zeros(d), n * values, np.eye(d), float(n * values.sum()), n, n, 0.0, "")


variances = st.lists(st.floats(0.01, 10), min_size=2, max_size=7, unique=True).map(
    lambda values: np.sort(np.array(values))[::-1]
)


@given(variances, st.integers(10, 1000))
@settings(max_examples=50)
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
