"""Coordinates: choices against sets, patterns of missing cells against a dictionary."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from novum.core.errors import InputError
from novum.distributions.multivariate.coordinates import (
    checked_points,
    checked_table,
    chosen_and_others,
    fixed_and_free,
    log_density_by_pattern,
    refuse_cells,
    rows_by_pattern,
)


@given(st.permutations(range(6)), st.integers(1, 6))
def test_chosen_keep_their_order_and_others_are_the_rest(order: list[int], k: int) -> None:
    chosen, others = chosen_and_others(order[:k], 6)
    assert chosen.tolist() == order[:k]
    assert others.tolist() == sorted(order[k:])


def test_a_mask_and_a_number_choose_too() -> None:
    assert chosen_and_others([False, True, True], 3)[0].tolist() == [1, 2]
    assert chosen_and_others(2, 3)[0].tolist() == [2]


@pytest.mark.parametrize("bad", [[], [3], [-1], [0, 0], [0.5], "a", [[0]], [True, False]])
def test_bad_choices_are_refused(bad: object) -> None:
    with pytest.raises(InputError, match="from 0 to 2"):
        chosen_and_others(bad, 3)  # type: ignore[arg-type]


def test_fixed_values_fit_their_coordinates() -> None:
    fixed, free, values = fixed_and_free([2, 0], [5.0, 6.0], 3)
    assert (fixed.tolist(), free.tolist(), values.tolist()) == ([2, 0], [1], [5.0, 6.0])
    with pytest.raises(InputError, match="need as many finite values"):
        fixed_and_free([0], [1.0, 2.0], 3)
    with pytest.raises(InputError, match="need as many finite values"):
        fixed_and_free([0], [np.nan], 3)
    with pytest.raises(InputError, match="All 2 coordinates are fixed"):
        fixed_and_free([0, 1], [1.0, 2.0], 2)


@given(arrays(bool, st.tuples(st.integers(0, 40), st.integers(1, 12))))
def test_patterns_part_the_rows(missing: np.ndarray) -> None:
    expected: dict[bytes, list[int]] = {}
    for number, row in enumerate(missing):
        expected.setdefault(row.tobytes(), []).append(number)
    found = {}
    for rows, present in rows_by_pattern(missing):
        mask = np.ones(missing.shape[1], bool)
        mask[present] = False
        found[mask.tobytes()] = rows.tolist()
    assert found == expected


def test_log_densities_by_pattern_ask_once_for_each_pattern() -> None:
    asked = []

    def total_of(present: Any) -> Any:
        asked.append(present.tolist())
        return lambda part: part @ (present + 1.0)

    points = np.array([[[1.0, np.nan], [2.0, 3.0]], [[4.0, np.nan], [np.nan, np.nan]]])
    found = log_density_by_pattern(points, total_of)
    assert found.tolist() == [[1.0, 8.0], [4.0, 0.0]]
    assert sorted(asked) == [[0], [0, 1]]


def test_tables_lose_rows_of_weight_zero_whatever_they_hold() -> None:
    rows, weights = checked_table([[1.0], [np.nan], [2.0]], [1.0, 0.0, 3.0], "Law")
    assert rows.tolist() == [[1.0], [2.0]]
    assert weights.tolist() == [1.0, 3.0]


def test_messages_name_the_place() -> None:
    with pytest.raises(InputError, match=r"Law has 3 coordinates.*got \(2,\)"):
        checked_points([1.0, 2.0], 3, "Law")
    with pytest.raises(InputError, match=r"shape \(n, d\), one row per value; got shape \(2,\)"):
        checked_table([1.0, 2.0], None, "Law")
    with pytest.raises(InputError, match=r"shape \(n, d, d\)"):
        checked_table([[1.0, 2.0]], None, "Law", cell_axes=2)
    with pytest.raises(InputError, match=r"first is -1\.0 at row 0"):
        checked_table([[1.0]], [-1.0], "Law")
    rows = np.array([[0.0, 1.0], [0.0, 7.0]])
    with pytest.raises(InputError, match="1 of 4 cells are not, the first is 7 at row 1, column 1"):
        refuse_cells("Law", "bits", rows, rows <= 1, "Code them.")
