"""Checks of tables that all formats share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.formats.draft import Draft, file_error, renamed_axis
from novum.graphical.models.conditional import NetworkWarning, Tabular

A = StateAxis("a", ("x", "y"))
B = StateAxis("b", ("u", "v", "w"))


def draft(cells: list[float]) -> Draft:
    return Draft("file", [A, B], [[], [0]], np.array(cells))


GOOD = [0.25, 0.75, 0.1, 0.2, 0.7, 1.0, 0.0, 0.0]


def test_tables_are_cut_out_in_order_and_cannot_be_written_to() -> None:
    a, b = draft(GOOD).conditionals()
    assert a.table.tolist() == [0.25, 0.75]
    assert b.table.tolist() == [[0.1, 0.2, 0.7], [1, 0, 0]]
    assert b.parents == (A,)
    with pytest.raises(ValueError, match="read-only"):
        b.table[0] = 1.0


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-13, 1e-9, 3e-7]))
def test_rows_become_what_the_table_itself_makes_of_them(seed: int, off: float) -> None:
    rng = np.random.default_rng(seed)
    cells = np.concatenate([rng.dirichlet([1, 1]), *rng.dirichlet([1, 1, 1], 2)])
    cells[3:5] *= 1 + off
    expected = Tabular(B, (A,), cells[2:].reshape(2, 3))
    found = Draft("file", [A, B], [[], [0]], cells.copy()).conditionals()[1]
    # Sums of three numbers in another order may differ by a rounding.
    np.testing.assert_allclose(found.table, expected.table, rtol=1e-15, atol=0)


def test_one_warning_for_the_file_names_the_worst_row() -> None:
    cells = [*GOOD]
    cells[0] += 2e-5
    cells[4] += 5e-4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = draft(cells).conditionals()
    assert [item.category for item in caught] == [NetworkWarning]
    text = str(caught[0].message)
    assert text.startswith("file: 2 rows did not sum to 1 and were divided by their sums; ")
    assert "the table of 'b', row a = x, summed to 1.0005" in text
    for item in found:
        np.testing.assert_allclose(item.table.sum(-1), 1, rtol=1e-15)


def test_rows_far_off_are_refused() -> None:
    cells = [*GOOD]
    cells[6] = 0.25
    with pytest.raises(FileFormatError, match=r"table of 'b', row a = y sum to 1.25, not to 1"):
        draft(cells).conditionals()


@pytest.mark.parametrize("wrong", [-0.5, 1.5, np.nan, np.inf])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    cells = [*GOOD]
    cells[3] = wrong
    text = f"the table of 'b', row a = x has {wrong:g} for state v; probabilities lie between"
    with pytest.raises(FileFormatError, match=text):
        draft(cells).conditionals()


def test_a_file_without_variables_is_refused() -> None:
    with pytest.raises(FileFormatError, match="file: there is no variable in it"):
        Draft("file", [], [], np.empty(0)).conditionals()


def test_renamed_axes_equal_new_ones() -> None:
    assert renamed_axis(B, "c") == StateAxis("c", B.states)
    assert renamed_axis(B, "c").position("w") == 2
    assert B.name == "b"


def test_errors_know_their_place() -> None:
    error = file_error("file", "reason.", 3, 7)
    assert (str(error), error.line, error.column) == ("file, line 3, column 7: reason.", 3, 7)
    assert str(file_error("file", "reason.")) == "file: reason."
