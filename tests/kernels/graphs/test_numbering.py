"""Numbering of rows: the definition, both ways of computing it, and continued numberings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.kernels.graphs import numbering, numbering_kernels
from novum.kernels.graphs.numbering import EMPTY, Rows, numbered, rows_of

ragged = st.lists(st.lists(st.integers(-3, 3), max_size=4), max_size=40)


def as_rows(lists: list[list[int]]) -> Rows:
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Rows(starts, np.array([x for row in lists for x in row], np.int32))


def definition(lists: list[list[int]], known: list[list[int]]) -> tuple[list[int], list[list[int]]]:
    seen = list(known)
    codes = []
    for row in lists:
        if row not in seen:
            seen.append(row)
        codes.append(seen.index(row))
    return codes, seen


@pytest.mark.parametrize("compiled_from", [0, 2**62], ids=["compiled", "plain"])
@given(first=ragged, second=ragged)
def test_codes_are_those_of_first_occurrence(
    compiled_from: int, first: list[list[int]], second: list[list[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbering, "COMPILED_FROM", compiled_from)
        codes, table = numbered(as_rows(first))
        expected, seen = definition(first, [])
        assert codes.tolist() == expected
        assert codes.dtype == np.int32
        more, longer = numbered(as_rows(second), table)
        expected, both = definition(second, seen)
        assert more.tolist() == expected
        assert len(table) == len(seen)
        for got, rows in ((table.rows, seen), (longer.rows, both)):
            assert np.array_equal(got.starts, as_rows(rows).starts)
            assert np.array_equal(got.values, as_rows(rows).values)


def test_one_way_continues_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = as_rows([[1], [2, 2], [1]]), as_rows([[2, 2], [3]])
    for a, b in ((0, 2**62), (2**62, 0)):
        monkeypatch.setattr(numbering, "COMPILED_FROM", a)
        _, table = numbered(first)
        monkeypatch.setattr(numbering, "COMPILED_FROM", b)
        assert numbered(second, table)[0].tolist() == [1, 2]


def test_rows_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows in one chain of slots, found by comparison alone."""
    rows = rows_of(np.arange(40, dtype=np.int32).reshape(20, 2))
    starts, values = np.zeros(41, np.int64), np.empty(80, np.int32)
    slots, hashes, codes = np.zeros(64, np.int32), np.empty(40, np.int32), np.empty(20, np.int32)
    monkeypatch.setattr(numbering_kernels, "hash_of", lambda *_: 7)
    plain = getattr(numbering_kernels.number, "py_func", numbering_kernels.number)
    for _ in range(2):
        n = plain(rows.starts, rows.values, 0, slots, hashes, starts, values, codes)
        assert n == 20
        assert codes.tolist() == list(range(20))
        slots[:] = 0


def test_a_table_grows_into_a_larger_hash_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "COMPILED_FROM", 0)
    _, table = numbered(rows_of(np.arange(10, dtype=np.int32)[:, None]))
    codes, longer = numbered(rows_of(np.arange(1000, dtype=np.int32)[:, None]), table)
    assert codes.tolist() == list(range(1000))
    assert numbered(rows_of(np.array([[999], [5]], np.int32)), longer)[0].tolist() == [999, 5]


def test_no_rows() -> None:
    codes, table = numbered(as_rows([]))
    assert codes.size == 0
    assert len(table) == len(EMPTY) == 0
