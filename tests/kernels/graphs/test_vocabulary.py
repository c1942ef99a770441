"""Vocabularies: who extends whom, and where features of one are in another."""

from __future__ import annotations

from novum.kernels.graphs.graph_sample import read_sample
from novum.kernels.graphs.refinement import refine
from novum.kernels.graphs.vocabulary import Vocabulary

REFINED = refine(read_sample([]), 0)


def vocabulary(
    sizes: tuple[int, ...], repeats: int, parent: Vocabulary | None = None
) -> Vocabulary:
    return Vocabulary(None, {}, {}, REFINED, (), sizes, repeats, parent)


def test_features_of_all_blocks_follow_each_other() -> None:
    v = vocabulary((2, 3), 1)
    assert v.width == 5
    assert v.offsets.tolist() == [0, 2, 5]


def test_extension_is_inherited() -> None:
    first = vocabulary((1,), 1)
    second = vocabulary((1,), 1, first)
    third = vocabulary((1,), 1, second)
    assert third.extends(first)
    assert third.extends(third)
    assert not first.extends(third)
    assert not vocabulary((1,), 1).extends(first)


def test_onto_itself_only_the_last_block_is_repeated() -> None:
    v = vocabulary((2, 1), 4)
    assert v.places_in(v).tolist() == [0, 1, 2]
    assert v.factors.tolist() == [1, 1, 4]


def test_the_last_block_of_the_parent_answers_for_later_ones() -> None:
    parent = vocabulary((2, 3), 4)
    child = vocabulary((3, 3, 5), 3, parent)
    assert child.places_in(parent).tolist() == [0, 1, -1, 2, 3, 4, 2, 3, 4, -1, -1]
    assert child.factors.tolist() == [1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3]
