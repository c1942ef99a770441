"""Randomness: NumPy's own spawning as reference, and independence of order and company."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, run_tasks, seed, seed_sequence, stream, streams

seeds = st.integers(0, 2**64)


def first(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))


@given(seeds, st.integers(1, 8))
def test_streams_of_a_seed_are_those_numpy_spawns(root: int, n_tasks: int) -> None:
    spawned = [np.random.default_rng(s) for s in np.random.SeedSequence(root).spawn(n_tasks)]
    assert [first(rng) for rng in streams(root, n_tasks)] == [first(rng) for rng in spawned]


@given(seeds, st.integers(0, 20), st.integers(0, 20))
def test_keys_nest_as_spawning_does(root: int, a: int, b: int) -> None:
    spawned = np.random.SeedSequence(root).spawn(a + 1)[a].spawn(b + 1)[b]
    assert first(stream(root, a, b)) == first(np.random.default_rng(spawned))


@given(seeds)
def test_a_longer_run_begins_with_the_shorter_one(root: int) -> None:
    assert [first(r) for r in streams(root, 3)] == [first(r) for r in streams(root, 9)][:3]


def test_results_do_not_depend_on_the_number_of_jobs() -> None:
    def draw(task: int) -> float:
        return float(stream(root, "tree", task).normal(size=50).sum())

    root = seed_sequence(np.random.default_rng(5))
    one = run_tasks(draw, range(12), n_jobs=1)
    assert run_tasks(draw, range(12), n_jobs=4) == one
    assert [draw(task) for task in reversed(range(12))] == one[::-1]


def test_different_keys_give_different_streams() -> None:
    keys: list[tuple[int | str, ...]] = [
        (),
        (0,),
        (0, 0),
        (0, 1),
        (2**32,),
        (1, 0),
        ("0",),
        ("0", "1"),
        ("01",),
        (-1,),
        ("-1",),
        (2**70,),
    ]
    assert len({first(stream(3, *key)) for key in keys}) == len(keys)


def test_a_seed_sequence_is_not_changed_by_use() -> None:
    root = np.random.SeedSequence(11)
    assert [first(r) for r in streams(root, 3)] == [first(r) for r in streams(root, 3)]
    assert root.n_children_spawned == 0


def test_children_of_a_spawned_sequence_are_its_own() -> None:
    left, right = np.random.SeedSequence(1).spawn(2)
    assert first(stream(left, 0)) == first(np.random.default_rng(left.spawn(1)[0]))
    assert first(stream(left, 0)) != first(stream(right, 0))


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"]
)
def test_a_generator_repeats_from_its_seed_and_moves_on(make: type) -> None:
    source: RandomSource = make(4)
    a, b = first(stream(source, 0)), first(stream(source, 0))
    assert a != b
    again: RandomSource = make(4)
    assert [first(stream(again, 0)), first(stream(again, 0))] == [a, b]


def test_none_follows_numpys_global_state_as_in_scikit_learn() -> None:
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(8)  # noqa: NPY002
        a, b = first(stream(None, 0)), first(stream(None, 0))
        np.random.seed(8)  # noqa: NPY002
        assert first(stream(None, 0)) == a != b
    finally:
        np.random.set_state(state)  # noqa: NPY002


def test_numpy_integers_are_integers() -> None:
    assert first(stream(np.int64(5), np.int32(2))) == first(stream(5, 2))


@given(seeds, st.integers(0, 100))
def test_seeds_for_others_fit_scikit_learn(root: int, task: int) -> None:
    value = seed(root, task)
    np.random.RandomState(value)
    assert value == seed(root, task)


def test_streams_are_uncorrelated() -> None:
    draws = np.array([rng.normal(size=20_000) for rng in streams(0, 6)])
    off_diagonal = np.corrcoef(draws)[np.triu_indices(6, 1)]
    # Correlations of independent samples have standard deviation 1/sqrt(20000) = 0.007.
    assert np.abs(off_diagonal).max() < 5 * 0.0071


def test_no_tasks_no_streams() -> None:
    assert streams(0, 0) == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (-1, "at least 0, got -1"),
        ("7", "'7' of type str"),
        (1.5, "1.5 of type float"),
    ],
)
def test_other_seeds_are_refused(bad: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        seed_sequence(bad)  # type: ignore[arg-type]


def test_other_keys_are_refused() -> None:
    with pytest.raises(InputError, match=r"integers and strings, got 0\.5 of type float"):
        stream(0, 0.5)  # type: ignore[arg-type]
