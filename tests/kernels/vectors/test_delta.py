"""The delta kernel: equal cells counted by hand, its features, unseen levels."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, UnseenLevelWarning
from novum.kernels.contracts import check_kernel_contract
from novum.kernels.vectors import delta
from novum.kernels.vectors.delta import Delta
from tests.oracles import kernel_definitions as definitions
from tests.strategies.vector_kernels import assert_prepared_rows_agree

cells = st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.booleans())
tables = st.lists(cells, min_size=1, max_size=8)


def frame(rows: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["letter", "number", "switch"])


@given(tables)
def test_similarities_are_the_share_of_equal_cells(rows: list[Any]) -> None:
    expected = definitions.cross(definitions.delta, rows, rows)
    np.testing.assert_allclose(Delta().gram(frame(rows)), expected, rtol=1e-15)


@given(tables, st.sampled_from([0.0, 0.25]))
def test_features_reproduce_the_kernel(rows: list[Any], mismatch: float) -> None:
    kernel = Delta(mismatch)
    features = kernel.feature_map(frame(rows))
    np.testing.assert_allclose(features @ features.T, kernel.gram(frame(rows)), atol=1e-14)
    assert kernel.is_psd_by_construction


@given(tables)
def test_prepared_rows_agree(rows: list[Any]) -> None:
    known = frame([*rows, *(("a", 0, True), ("b", 1, False), ("c", 2, True))])
    assert_prepared_rows_agree(Delta(0.1), known, frame(rows))


def test_a_mismatch_counts_instead_of_nothing() -> None:
    K = Delta(0.2).gram(["a", "b", "a"])
    np.testing.assert_allclose(K, [[1, 0.2, 1], [0.2, 1, 0.2], [1, 0.2, 1]])


def test_an_unseen_level_equals_no_other_but_the_object_itself() -> None:
    kernel = Delta()
    rows = kernel.prepare(["a", "b"])
    with pytest.warns(UnseenLevelWarning, match="2 cells with a level not met in training"):
        new = kernel.prepare(["z", "a", "z"], rows)
    np.testing.assert_array_equal(new.cross(rows), [[0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(new.gram(), np.eye(3))
    np.testing.assert_array_equal(new.diagonal(), [1, 1, 1])


def test_many_rows_go_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(0).integers(0, 4, size=(150, 2)).astype(str)
    expected = (labels[:, np.newaxis] == labels).mean(axis=2)
    np.testing.assert_allclose(Delta().gram(labels), expected)
    monkeypatch.setattr(delta, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(Delta().gram(labels), expected)


@pytest.mark.parametrize("mismatch", [1.0, -0.1, float("nan"), "no"])
def test_wrong_mismatches_are_refused(mismatch: Any) -> None:
    with pytest.raises(InputError, match="Delta's mismatch"):
        Delta(mismatch)


def test_rows_of_other_widths_are_refused() -> None:
    with pytest.raises(InputError, match="rows of 1 cells to compare with rows of 2"):
        Delta().prepare(["a"]).cross(Delta().prepare([["a", "b"]]))


def test_the_contract_is_kept() -> None:
    # Both halves have all levels, because unseen ones are not compared among each other.
    check_kernel_contract(Delta(0.1), frame([("a", 0, True), ("b", 1, False), ("a", 2, True)] * 4))
