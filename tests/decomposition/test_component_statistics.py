"""Sums of components: two forms, one arithmetic, offsets, sparse rows, removal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import (
    InputError,
    LostDigitsWarning,
    MemoryLimitError,
    NotAdditiveError,
)
from novum.core.tables import Sample, Schema
from novum.decomposition import component_statistics
from novum.decomposition.component_statistics import ComponentStatistics
from novum.decomposition.pca import PCA
from novum.numerics import Floats, Moments
from tests.decomposition.component_tables import low_rank_table
from tests.decomposition.definitions import scatter

FORMS = ["auto", "full"]


def sums_of(X: Any, form: str, weight: Any = None) -> ComponentStatistics:
    return PCA(svd_solver=form).statistics(X, sample_weight=weight)


def sample_of(X: Any, weight: Floats | None = None) -> Sample:
    n, d = X.shape
    return Sample(Schema.of_array(d), X, np.empty((n, 0), np.int32), weight=weight)


@pytest.mark.parametrize("form", FORMS)
@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_sums_are_the_definition(form: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(8, 3)) + 100, rng.integers(0, 3, 8) + 0.5
    found = sums_of(X, form, weight)
    np.testing.assert_allclose(found.moments.scatter, scatter(X, weight), atol=1e-11)
    np.testing.assert_allclose(found.mean, weight @ X / weight.sum(), rtol=1e-14)
    assert (found.weight, found.rows) == (weight.sum(), 8.0)
    both = sums_of(X[:3], form, weight[:3]) + sums_of(X[3:], form, weight[3:])
    assert both.isclose(found)
    assert (both - sums_of(X[3:], form, weight[3:])).isclose(sums_of(X[:3], form, weight[:3]))


@pytest.mark.parametrize("form", FORMS)
def test_all_rows_can_be_removed(form: str) -> None:
    found = sums_of(low_rank_table(9, 3, 2), form)
    nothing = found - found
    assert (nothing.rows, nothing.weight) == (0.0, 0.0)
    assert (nothing + found).isclose(found)
    with pytest.raises(InputError, match="hold no rows"):
        PCA(svd_solver=form).fit_statistics(nothing)


def test_the_two_forms_do_not_mix() -> None:
    X = low_rank_table(9, 3, 2)
    a, b = sums_of(X, "auto"), sums_of(X, "full")
    for combine in (lambda: a + b, lambda: b - a):
        with pytest.raises(InputError, match="two forms and do not add up"):
            combine()
    assert not a.isclose(b)
    with pytest.raises(TypeError):
        a + 1  # type: ignore[operator]


def test_rows_that_were_never_there_cannot_be_removed() -> None:
    X = low_rank_table(9, 3, 2)
    for form in FORMS:
        with pytest.raises(InputError, match=r"[Rr]emove"):
            sums_of(X, form) - sums_of(X[:5] + 1000.0, form)


def test_lost_digits_are_reported() -> None:
    X = low_rank_table(9, 3, 2)
    large = sums_of(np.vstack([X, [[1e9, -1e9, 1e9], [-1e9, 1e9, 1e9]]]), "full")
    with pytest.warns(LostDigitsWarning, match="digits are lost"):
        large - sums_of([[1e9, -1e9, 1e9], [-1e9, 1e9, 1e9]], "full")


def test_a_large_table_is_summed_about_one_center() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 15)) @ rng.normal(size=(15, 15))
    X[:, 4] = 3.25
    weight = rng.integers(1, 3, len(X)).astype(float)
    for offset in (0.0, 1e3):
        for w in (None, weight):
            quick = component_statistics._about_one_center(X + offset, w)
            assert quick is not None
            slow = component_statistics.moments_of(X + offset, w)
            assert quick.isclose(slow, rtol=1e-12)


def test_a_table_that_drifts_is_summed_in_runs() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 15)) + 1e6 * np.arange(40_000)[:, None]
    steps = np.where(np.arange(40_000)[:, None] < 300, 0.0, 1e8) + X * 1e-6
    assert component_statistics._about_one_center(steps, None) is None
    found = sums_of(steps, "auto").moments.scatter
    about = steps - steps.mean(axis=0)
    np.testing.assert_allclose(found, about.T @ about, rtol=1e-9)


def test_spreads_too_small_to_be_squared_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 15))
    X[:, 2] *= 1e-170
    with pytest.raises(ValueError, match="squares of column 2 underflow"):
        PCA().fit(X)


@pytest.mark.parametrize("as_factor", [False, True])
def test_sparse_rows_are_dense_rows(as_factor: bool) -> None:
    X = sparse.random(3000, 60, 0.1, "csr", rng=np.random.default_rng(0))
    weight = np.arange(1.0, 3001.0)
    found = ComponentStatistics.of(sample_of(X, weight), as_factor=as_factor)
    dense = ComponentStatistics.of(sample_of(X.toarray(), weight), as_factor=as_factor)
    assert found.isclose(dense)


def test_a_scatter_beyond_memory_is_refused_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "10MB")
    with pytest.raises(MemoryLimitError, match=r"The scatter of 1000 columns .* svd_solver='full'"):
        PCA().statistics(np.zeros((2, 1000)))
    assert PCA(svd_solver="full").statistics(np.eye(2, 1000)).rows == 2


def test_sums_and_schema_must_fit() -> None:
    with pytest.raises(InputError, match="Sums of 2 columns do not fit a schema of 3"):
        ComponentStatistics(Schema.of_array(3), Moments.zero(2), 0.0)


def test_rows_come_and_go_after_a_wide_fit() -> None:
    X = low_rank_table(40, 300, 5)
    model = PCA(3).fit(X)
    assert model.certificate_.details["route"] == "gram matrix"
    model.forget(X[:10]).partial_fit(X[:5])
    expected = PCA(3).fit(X[[*range(10, 40), *range(5)]])
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-9)


def test_a_wide_stream_needs_no_scatter() -> None:
    X = low_rank_table(30, 1500, 5)
    expected = PCA(4).fit(X)
    assert not hasattr(expected, "statistics_")
    model = PCA(4, svd_solver="full").fit_stream([(X[:9],), (X[9:],)])
    assert model.statistics_.table.factor.shape[0] <= 30
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-9)
    with pytest.raises(NotAdditiveError, match="without keeping sums"):
        expected.partial_fit(X)
