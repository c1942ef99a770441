"""Fingerprints: equal for equal rows only, whatever the kinds, the zeros and the missing cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novum.apps.job.table.column_cells import Cells
from novum.apps.job.table.profile import fingerprints, mixed, n_repeated, salt
from novum.core.tables import Column
from tests.apps.job.table.tables import numbers, words

rows = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, None]), st.sampled_from(["a", "b", None])),
    min_size=1,
    max_size=20,
)


@given(rows)
def test_they_tell_rows_apart_as_comparing_does(
    table: list[tuple[float | None, str | None]],
) -> None:
    columns = [numbers(*[x for x, _ in table]), words(*[c for _, c in table])]
    found = fingerprints(columns, len(table))
    for i, first in enumerate(table):
        for j, second in enumerate(table):
            assert (found[i] == found[j]) == (first == second)
    assert n_repeated(found) == len(table) - len(set(table))


def test_the_place_of_a_cell_matters() -> None:
    a, b = numbers(1, 2), numbers(2, 1)
    first, second = fingerprints([a, b], 2)
    assert first != second


def test_zeros_and_missing_cells_of_all_makes_are_one() -> None:
    odd_nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    values = np.array([0.0, -0.0, np.nan, odd_nan])
    found = fingerprints([Cells(Column("x"), values)], 4)
    assert found[0] == found[1]
    assert found[2] == found[3]
    assert found[0] != found[2]


def test_mixing_is_a_permutation_that_spreads_bits() -> None:
    words_ = np.arange(1 << 16, dtype=np.uint64)
    found = mixed(words_)
    assert len(np.unique(found)) == len(words_)
    flips = np.bitwise_count(mixed(words_) ^ mixed(words_ ^ np.uint64(1)))
    # Half of 64 bits change on average; the standard error of the mean is 4 / 256.
    assert abs(flips.mean() - 32) < 0.1


def test_salts_differ() -> None:
    assert len({int(salt(i)) for i in range(10_000)}) == 10_000
