"""Counts: brute force, both paths, reserved codes, limits and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.numerics import MISSING, UNSEEN, Codes, count_by_class, count_jointly, count_levels
from novum.numerics import counting as module
from tests.oracles.exact_numerics import joint_counts

SIZES = [3, 2, 4]


@st.composite
def coded_tables(draw: st.DrawFn) -> Codes:
    n = draw(st.integers(0, 15))
    columns = [
        draw(hnp.arrays(np.int32, n, elements=st.integers(UNSEEN, size - 1))) for size in SIZES
    ]
    return np.column_stack(columns)


@pytest.fixture(params=["numpy", "compiled"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    limit = 10**18 if request.param == "numpy" else 0
    monkeypatch.setattr(module, "COMPILED_FROM_CELLS", limit)
    return request.param


@given(coded_tables())
def test_joint_counts_are_the_definition(codes: Codes) -> None:
    table = count_jointly(codes, SIZES)
    assert table.counts.shape == tuple(SIZES)
    assert table.counts.dtype == np.int64
    assert table.counts.ravel().tolist() == joint_counts(codes.tolist(), SIZES)
    has_missing = (codes == MISSING).any(axis=1)
    assert table.missing == has_missing.sum()
    assert table.unseen == ((codes == UNSEEN).any(axis=1) & ~has_missing).sum()
    assert table.total == len(codes)


@given(coded_tables(), st.data())
def test_weighted_joint_counts_are_the_definition(codes: Codes, data: st.DataObject) -> None:
    weights = data.draw(hnp.arrays(np.float64, len(codes), elements=st.floats(0, 100)))
    table = count_jointly(codes, SIZES, weights)
    expected = [float(x) for x in joint_counts(codes.tolist(), SIZES, weights.tolist())]
    np.testing.assert_allclose(table.counts.ravel(), expected, rtol=1e-14)
    assert table.total == pytest.approx(weights.sum(), rel=1e-13)


def test_class_tables_are_the_joint_counts_of_column_and_class(path: str) -> None:
    @given(coded_tables(), st.booleans(), st.data())
    def check(codes: Codes, weighted: bool, data: st.DataObject) -> None:
        n = len(codes)
        classes = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
        numbers = hnp.arrays(np.float64, n, elements=st.floats(0, 100))
        weights = data.draw(numbers) if weighted else None
        counts = count_by_class(codes, SIZES, classes, 2, weights)
        for j, size in enumerate(SIZES):
            # Shifted by two, the reserved codes are levels like any other.
            shifted = np.column_stack([codes[:, j] + 2, classes]).tolist()
            expected = joint_counts(shifted, [size + 2, 2], weights)  # type: ignore[arg-type]
            whole = np.array(expected, float).reshape(size + 2, 2)
            np.testing.assert_allclose(counts.unseen[j], whole[0], rtol=1e-14)
            np.testing.assert_allclose(counts.missing[j], whole[1], rtol=1e-14)
            np.testing.assert_allclose(counts.tables[j], whole[2:], rtol=1e-14)
        assert counts.missing.dtype == (np.float64 if weighted else np.int64)

    assert path
    check()


@pytest.mark.parametrize("n_levels", [5, 50_000])
def test_many_blocks_agree_with_numpy(path: str, n_levels: int) -> None:
    # 150,000 rows are three blocks; 50,000 levels make the table larger than a block.
    rng = np.random.default_rng(0)
    n = 150_000
    codes = rng.integers(0, n_levels, (n, 2)).astype(np.int32)
    classes, weights = rng.integers(0, 3, n), rng.random(n)
    counts = count_by_class(codes, [n_levels] * 2, classes, 3, weights)
    assert path
    for j in range(2):
        expected = np.zeros((n_levels, 3))
        np.add.at(expected, (codes[:, j], classes), weights)
        # The long sum of the reference rounds to about 1e-12.
        np.testing.assert_allclose(counts.tables[j], expected, rtol=1e-11)
    exact = count_by_class(codes, [n_levels] * 2, classes, 3)
    assert int(exact.tables[0].sum()) == n


def test_single_columns_and_layouts() -> None:
    codes = np.array([2, 0, MISSING, 2, UNSEEN, 2])
    table = count_levels(codes, 4)
    assert (table.counts.tolist(), table.missing, table.unseen) == ([1, 0, 3, 0], 1, 1)
    for dtype in (np.int8, np.int16, np.int64):
        assert count_levels(codes.astype(dtype), 4).counts.tolist() == [1, 0, 3, 0]
    frozen = np.asfortranarray(np.array([[0, 1], [1, 1], [0, 0]], np.int32))
    frozen.flags.writeable = False
    assert count_jointly(frozen, [2, 2]).counts.tolist() == [[1, 1], [0, 1]]


def test_weight_two_is_the_row_twice_and_zero_the_row_absent() -> None:
    codes = [[0, 1], [1, 0], [1, 1]]
    doubled = count_jointly(codes, [2, 2], [2.0, 1.0, 0.0])
    repeated = count_jointly([codes[0], codes[0], codes[1]], [2, 2])
    assert doubled.counts.tolist() == repeated.counts.tolist()


def test_empty_input() -> None:
    assert count_jointly(np.empty((0, 2), np.int32), [2, 3]).counts.tolist() == [[0] * 3] * 2
    assert count_jointly(np.empty((0, 2), np.int32), [2, 0], []).counts.shape == (2, 0)
    assert count_by_class(np.empty((0, 1), np.int32), [2], [], 2).tables[0].tolist() == [[0, 0]] * 2
    nothing = count_jointly(np.empty((3, 0), np.int32), [])
    assert nothing.counts.tolist() == 3


# --- Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[0, 5], [1, 2]], r"In column 1 the code 5 at row 0 \(1 in all\).* 3 levels are 0 to 2"),
        ([[0, 0], [-3, 0], [-9, 0]], r"In column 0 the code -3 at row 1 \(2 in all\)"),
        ([[0, 2**40]], "the code 1099511627776 at row 0"),
        ([[0.5, 1.0]], r"must be integers, got float64\. Missing cells have the code -1"),
        ([[0]], r"each of the 2 sizes, got shape \(1, 1\)"),
    ],
)
def test_bad_codes_are_named(codes: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count_jointly(codes, [2, 3])
    with pytest.raises(ValueError, match=message):
        count_by_class(codes, [2, 3], [0] * len(codes), 1)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 2], "In the classes the code 2 at row 1"),
        ([0, -1], "In the classes the code -1 at row 1"),
        ([0], "one class for each of 2 rows"),
        ([0.0, 1.0], "Class codes must be integers"),
    ],
)
def test_bad_classes_are_named(classes: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        count_by_class([[0], [1]], [2], classes, 2)


def test_tables_beyond_the_limit_are_refused_before_allocation() -> None:
    # 64 binary columns: the product would wrap to zero in 64-bit integers.
    with pytest.raises(ValueError, match="has 18446744073709551616 cells"):
        count_jointly(np.zeros((1, 64), np.int32), [2] * 64)
    with pytest.raises(ValueError, match=r"has 9 cells .* the limit is 8"):
        count_jointly([[0, 0]], [3, 3], max_cells=8)
    with pytest.raises(ValueError, match="the limit is 268435456"):
        count_by_class([[0]], [2**30], [0], 2)
    with pytest.raises(ValueError, match=r"between 0 and 2\*\*31 - 1"):
        count_jointly([[0]], [2**31])
