"""Machines of many classes: who takes part, and LIBSVM's layout, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.svm.members import in_layout, members_of, pair_values

codes_of_all = st.lists(st.integers(0, 3), min_size=0, max_size=12).map(
    lambda more: np.array([0, 1, 2, 3, *more])
)


@given(codes_of_all)
def test_pairs_have_the_rows_of_both_classes(codes: np.ndarray) -> None:
    members = members_of(codes, 4, "pairs")
    assert [(m.negative, m.positive) for m in members] == [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 3),
    ]
    for member in members:
        assert set(codes[member.rows]) == {member.negative, member.positive}
        np.testing.assert_array_equal(member.sign > 0, codes[member.rows] == member.positive)


@given(codes_of_all)
def test_layout_keeps_every_value_at_its_place(codes: np.ndarray) -> None:
    members = members_of(codes, 4, "pairs")
    values = [100.0 * k + member.rows for k, member in enumerate(members)]
    table = in_layout(members, values, len(codes), 4)
    assert table.shape == (3, len(codes))
    for k, member in enumerate(members):
        for row in member.rows:
            other = member.positive if codes[row] == member.negative else member.negative
            place = other - 1 if other > codes[row] else other
            assert table[place, row] == 100.0 * k + row


@given(codes_of_all, st.integers(0, 2**32 - 1))
def test_sums_by_class_make_the_machines(codes: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.sort(codes)
    members = members_of(codes, 4, "pairs")
    coefficients = [rng.normal(size=len(member.rows)) for member in members]
    K = rng.normal(size=(5, len(codes)))
    table = in_layout(members, coefficients, len(codes), 4)
    sums = np.stack([K[:, codes == k] @ table[:, codes == k].T for k in range(4)], axis=1)
    expected = np.stack([K[:, m.rows] @ b for m, b in zip(members, coefficients, strict=True)], 1)
    np.testing.assert_allclose(pair_values(sums), expected, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["pairs", "rest"])
def test_two_classes_need_one_machine(multiclass: str) -> None:
    (member,) = members_of(np.array([1, 0, 1]), 2, multiclass)
    assert member.sign.tolist() == [1.0, -1.0, 1.0]
    assert in_layout([member], [np.arange(3.0)], 3, 2).shape == (1, 3)


def test_against_the_rest_every_machine_has_all_rows() -> None:
    members = members_of(np.array([0, 1, 2]), 3, "rest")
    assert [m.sign.tolist() for m in members] == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert in_layout(members, [np.arange(3.0)] * 3, 3, 3).shape == (3, 3)
