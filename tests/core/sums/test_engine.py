"""Engines: one fixed tree, the same bits for any number of jobs, and errors that name the chunk."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.sums import engine, sum_blocks, sum_chunks, total
from novum.core.tables import Sample, Schema
from novum.linear import LinearRegression


class Term:
    """A sum that remembers how it was put together."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __add__(self, other: "Term") -> "Term":
        return Term(f"({self.text}+{other.text})")


def tree(first: int, last: int) -> str:
    """The definition: the left part is the largest power of two below the size."""
    if first == last:
        return str(first)
    size = last - first + 1
    left = 1 << (size - 1).bit_length() - 1
    return f"({tree(first, first + left - 1)}+{tree(first + left, last)})"


def sample(n_rows: int, seed: int = 0) -> Sample:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, 3)), rng.normal(size=n_rows)
    return Sample(Schema.of_array(3), X, np.empty((n_rows, 0), np.int32), y)


def summed(part: Sample) -> Any:
    return np.array([part.numeric.sum(), (part.numeric.T @ part.target).sum()])


# --- The tree -------------------------------------------------------------------------------------


@given(st.integers(1, 70))
def test_the_tree_is_its_definition(n: int) -> None:
    assert total(Term(str(i)) for i in range(n)).text == tree(0, n - 1)


def test_the_tree_of_the_docstring() -> None:
    assert total(Term(str(i)) for i in range(7)).text == "(((0+1)+(2+3))+((4+5)+6))"


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200))
def test_the_sum_is_right_to_log_n_roundings(values: list[float]) -> None:
    exact = float(sum(map(Fraction, values)))
    size = sum(map(abs, values))
    depth = len(values).bit_length() + 1
    assert abs(total(values) - exact) <= depth * 2**-53 * size


def test_only_log_n_partial_sums_are_held() -> None:
    alive = 0

    class Counted:
        def __init__(self) -> None:
            nonlocal alive
            alive += 1
            assert alive <= 14  # twice log2(64), and the two that are being added

        def __add__(self, other: object) -> "Counted":
            return Counted()

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    total(Counted() for _ in range(64))


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=20))
def test_parts_without_rows_add_nothing_and_keep_their_place(parts: list[int | None]) -> None:
    if all(part is None for part in parts):
        with pytest.raises(InputError, match="There are no chunks to learn from"):
            total(parts)
    else:
        assert total(parts) == sum(part for part in parts if part is not None)
    terms = [Term(str(i)) if part is not None else None for i, part in enumerate(parts)]
    if len(parts) > 4 and None not in parts[:4]:
        assert "((0+1)+(2+3))" in total(terms).text


def test_parts_that_cannot_be_added_name_their_chunks() -> None:
    with pytest.raises(TypeError) as caught:
        total([1, 2, 3, 4, "five", 6])
    assert caught.value.__notes__ == ["This happened when adding chunks 4 to 5 (counted from 0)."]
    with pytest.raises(TypeError) as caught:
        total([1, 2, "three"])
    assert caught.value.__notes__ == ["This happened when adding chunks 0 to 2 (counted from 0)."]


# --- Blocks in memory -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1])
def test_bits_do_not_depend_on_the_number_of_jobs(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int | None
) -> None:
    monkeypatch.setattr(engine, "BLOCK_ROWS", 100)
    whole = sample(1234)
    parts = [whole.rows(slice(i, i + 100)) for i in range(0, 1234, 100)]
    with threadpoolctl.threadpool_limits(1, "blas"):
        expected = total([summed(part) for part in parts])
    assert sum_blocks(summed, whole, n_jobs).tobytes() == expected.tobytes()


def test_blocks_are_cut_by_rows_alone_and_cover_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BLOCK_ROWS", 4)
    sizes: list[int] = []

    def step(part: Sample) -> int:
        sizes.append(part.n_rows)
        return part.n_rows

    assert sum_blocks(step, sample(10)) == 10
    assert sizes == [4, 4, 2]
    sizes.clear()
    assert sum_blocks(step, sample(4)) == 4
    assert sizes == [4]


def test_blas_has_one_thread_in_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BLOCK_ROWS", 4)

    def step(_: Any) -> int:
        libraries = threadpoolctl.threadpool_info()
        return max(lib["num_threads"] for lib in libraries if lib["user_api"] == "blas")

    assert sum_blocks(step, sample(4)) == 1
    assert sum_blocks(step, sample(8), 2) == 2
    assert sum_chunks(step, [1, 2]) == 2


def test_an_error_in_a_block_is_raised() -> None:
    def step(_: Any) -> int:
        raise ArithmeticError("no sum")

    with pytest.raises(ArithmeticError, match="no sum"):
        sum_blocks(step, sample(3))


# --- Streams --------------------------------------------------------------------------------------


def generator(n: int) -> Iterator[int]:
    yield from range(n)


@pytest.mark.parametrize(
    "chunks",
    [
        [0, 1, 2, 3],
        (0, 1, 2, 3),
        generator(4),
        lambda: generator(4),
        lambda: [0, 1, 2, 3],
        range(4),
    ],
)
def test_streams_of_every_make(chunks: Any) -> None:
    assert sum_chunks(lambda chunk: chunk * 10, chunks) == 60


def test_a_callable_gives_a_fresh_stream_each_time() -> None:
    def stream() -> Iterator[int]:
        return generator(4)

    assert sum_chunks(int, stream) == sum_chunks(int, stream) == 6


def test_chunks_are_taken_one_at_a_time() -> None:
    seen: list[str] = []

    def stream() -> Iterator[int]:
        for i in range(3):
            seen.append(f"read {i}")
            yield i

    def step(chunk: int) -> int:
        seen.append(f"sum {chunk}")
        return chunk

    sum_chunks(step, stream())
    assert seen == ["read 0", "sum 0", "read 1", "sum 1", "read 2", "sum 2"]


@pytest.mark.parametrize("empty", [[], (), iter([]), list, lambda: generator(0), [None, None]])
def test_an_empty_stream_says_what_to_pass(empty: Any) -> None:
    with pytest.raises(InputError, match=r"no chunks to learn from\. Pass at least one chunk"):
        sum_chunks(lambda chunk: chunk, empty)


@pytest.mark.parametrize("chunks", [3, None, lambda: None])
def test_what_is_no_stream_is_named(chunks: Any) -> None:
    with pytest.raises(InputError, match=r"Chunks are an iterable.* got (int|NoneType)\. Pass"):
        sum_chunks(int, chunks)


def broken_step(chunk: int) -> int:
    if chunk == 2:
        raise ValueError("bad rows")
    return chunk


def broken_stream() -> Iterator[int]:
    yield from (0, 1)
    raise OSError("disk gone")


@pytest.mark.parametrize(
    ("step", "chunks", "error", "note"),
    [
        (
            broken_step,
            range(5),
            ValueError,
            "This happened in chunk 2 (counted from 0) of the",
        ),
        (int, broken_stream, OSError, "This happened when chunk 2 (counted from 0) was read."),
        (lambda c: "x" if c else 0, range(2), TypeError, "This happened when adding chunks 0 to 1"),
    ],
)
def test_errors_name_the_chunk(
    step: Callable[[Any], Any], chunks: Any, error: type[Exception], note: str
) -> None:
    with pytest.raises(error) as caught:
        sum_chunks(step, chunks)
    assert [text[: len(note)] for text in caught.value.__notes__] == [note]


def test_blocks_and_chunks_of_one_partition_have_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "BLOCK_ROWS", 50)
    whole = sample(320)
    model = LinearRegression()
    in_memory = model.statistics(whole.numeric, whole.target)
    chunks = [(whole.numeric[i : i + 50], whole.target[i : i + 50]) for i in range(0, 320, 50)]
    streamed = model.fit_stream(iter(chunks)).statistics_
    assert streamed.factor.factor.tobytes() == in_memory.factor.factor.tobytes()
    threaded = LinearRegression(n_jobs=3).statistics(whole.numeric, whole.target)
    assert threaded.factor.factor.tobytes() == in_memory.factor.factor.tobytes()


@given(st.lists(st.integers(1, 319), max_size=5, unique=True))
def test_other_partitions_agree_to_ten_digits(cuts: list[int]) -> None:
    whole = sample(320)
    parts = np.split(np.arange(320), sorted(cuts))
    model = LinearRegression().fit_stream((whole.numeric[p], whole.target[p]) for p in parts)
    expected = np.linalg.lstsq(np.column_stack([np.ones(320), whole.numeric]), whole.target)[0]
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-10, atol=1e-12)
