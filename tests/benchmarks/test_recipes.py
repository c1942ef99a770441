"""Recipes: sizes by scale, one data set at a time, files that go with their data."""

import gc
import os

import pytest

from benchmarks.recipes import Data, Recipe, Scale, rows, scratch_folder


def test_sizes_follow_the_scale() -> None:
    size = rows(100_000, full=1_000_000)
    assert [size.at(scale) for scale in (Scale.QUICK, Scale.NORMAL, Scale.FULL)] == [
        2_000,
        100_000,
        1_000_000,
    ]
    assert rows(300).at(Scale.QUICK) == 300
    assert rows(100_000, quick=7).at(Scale.QUICK) == 7


def test_equal_recipes_share_their_data_until_another_is_made() -> None:
    made = []

    def generator(n: int, seed: int = 0) -> Data:
        made.append((n, seed))
        return Data(n=n)

    first = Recipe(generator, rows(1_000))(Scale.NORMAL)
    assert Recipe(generator, rows(1_000))(Scale.NORMAL) is first
    Recipe(generator, rows(1_000), seed=1)(Scale.NORMAL)
    assert Recipe(generator, rows(1_000))(Scale.NORMAL) is not first
    Recipe(generator, rows(1_000))(Scale.QUICK)
    assert made == [(1_000, 0), (1_000, 1), (1_000, 0), (500, 0)]


@pytest.mark.slow
def test_a_scratch_folder_goes_with_its_data() -> None:
    data = Data()
    folder = scratch_folder(data, "bench-test-")
    (folder / "file").write_text("content")
    assert folder.exists()
    del data
    gc.collect()
    assert not folder.exists()


@pytest.mark.slow
def test_a_fork_leaves_the_folder_alone() -> None:
    data = Data()
    folder = scratch_folder(data, "bench-test-")
    child = os.fork()
    if child == 0:
        del data
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.exists()
