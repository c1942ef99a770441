"""Critical-difference diagram: groups by brute force, layout, words, bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.display import Label, Path
from novum.evaluation.comparison.ranks.diagram import (
    WIDTH,
    CriticalDifferenceDiagram,
    critical_difference_diagram,
)
from novum.evaluation.comparison.ranks.friedman import critical_difference


def brute_groups(ranks: list[float], difference: float) -> set[tuple[int, ...]]:
    """All sets of models whose ranks lie within the difference and that no model can join."""
    within = [
        set(chosen)
        for size in range(2, len(ranks) + 1)
        for chosen in itertools.combinations(range(len(ranks)), size)
        if max(ranks[j] for j in chosen) - min(ranks[j] for j in chosen) < difference
    ]
    return {tuple(sorted(s)) for s in within if not any(s < other for other in within)}


@given(st.lists(st.integers(10, 60), min_size=2, max_size=6), st.floats(0.05, 6))
def test_groups_are_the_maximal_ones(tenths: list[int], difference: float) -> None:
    ranks = sorted(value / 10 for value in tenths)
    if any(abs(abs(a - b) - difference) < 1e-6 for a in ranks for b in ranks):
        return
    names = tuple(str(j) for j in range(len(ranks)))
    found = CriticalDifferenceDiagram(names, tuple(ranks), difference, 10)
    assert {tuple(map(int, group)) for group in found.groups} == brute_groups(ranks, difference)


PAIRS = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] < pair[1])


@given(st.sets(PAIRS))
def test_groups_without_a_pair_told_apart_are_maximal(apart: set[tuple[int, int]]) -> None:
    names = tuple("abcdef")
    diagram = CriticalDifferenceDiagram(
        names, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), None, 1, apart=tuple(apart)
    )
    runs = [
        (i, j)
        for i in range(6)
        for j in range(i + 1, 6)
        if not any(i <= a and b <= j for a, b in apart)
    ]
    maximal = [
        (i, j) for i, j in runs if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in runs)
    ]
    assert diagram.groups == tuple(names[i : j + 1] for i, j in maximal)
    assert "Pairs tested" in diagram.description
    assert "CD" not in diagram.svg()


def test_from_scores() -> None:
    scores = np.array([[0.1, 0.9, 0.5]] * 12)
    found = critical_difference_diagram(scores, ["low", "high", "middle"])
    assert found.names == ("high", "middle", "low")
    assert found.mean_ranks == (1.0, 2.0, 3.0)
    assert found.difference == critical_difference(3, 12)
    assert found.groups == ()
    assert "All models are told apart" in found.description


def test_names_stand_inside_the_picture_and_lines_do_not_cross() -> None:
    diagram = CriticalDifferenceDiagram(
        tuple(f"a model with a long name {j}" for j in range(7)),
        (1.0, 1.5, 1.5, 3.0, 5.0, 6.0, 7.0),
        2.0,
        10,
    )
    drawing = diagram.drawing()
    labels = [shape for shape in drawing.shapes if isinstance(shape, Label)]
    for line in (shape for shape in drawing.shapes if isinstance(shape, Path)):
        for x, y in line.points:
            assert 0 <= x <= WIDTH
            assert 0 <= y <= drawing.height
    names = [label for label in labels if "model" in label.text]
    assert len(names) == 7
    for label in names:
        # Seven points for each letter are more than any of the fonts needs at twelve.
        room = label.x if label.anchor == "end" else WIDTH - label.x
        assert room >= 7 * len(label.text) * 0.9
    assert len({(label.x, label.y) for label in labels}) == len(labels)


def test_description_says_everything() -> None:
    diagram = CriticalDifferenceDiagram(("a", "b", "c"), (1.0, 1.5, 3.0), 1.0, 8)
    words = diagram.description
    assert "8 data sets" in words
    assert "a 1.00, b 1.50, c 3.00" in words
    assert "Not told apart: a, b." in words


@pytest.mark.parametrize("names", [["a"], ["a", "a"]])
def test_bad_names_are_named(names: list[str]) -> None:
    with pytest.raises(ValueError, match="needs 2 different names"):
        critical_difference_diagram([[0.1, 0.2], [0.3, 0.4]], names)
