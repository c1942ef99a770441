"""Ranks: the library's own diagram, sorted, with its groups in words."""

from __future__ import annotations

import dataclasses

from novum.apps.report.figures.ranks import ranks_figure
from tests.apps.report.figures.drawn import alt, words
from tests.apps.report.sample_parts import comparison


def test_groups_within_the_difference_are_said_whatever_the_order() -> None:
    record = dataclasses.replace(
        comparison(), names=("c", "a", "b"), average_ranks=(3.0, 1.0, 1.5), critical_difference=1.0
    )
    figure = ranks_figure(record)
    assert figure is not None
    assert "a 1.00, b 1.50, c 3.00" in alt(figure)
    assert "Not told apart: a, b." in alt(figure)
    assert {"a (1.00)", "b (1.50)", "c (3.00)", "CD = 1.00"} <= set(words(figure))


def test_without_a_difference_the_pairs_say_who_is_told_apart() -> None:
    record = dataclasses.replace(
        comparison(),
        names=("c", "a", "b"),
        average_ranks=(3.0, 1.0, 1.5),
        critical_difference=None,
        pairs=(
            ("a", "b", 0.1, None, None, 0.2, "undecided"),
            ("c", "a", 0.3, 0, 1, 0.01, "better"),
        ),
    )
    figure = ranks_figure(record)
    assert figure is not None
    assert "Not told apart: a, b; b, c." in alt(figure)
    assert not any(word.startswith("CD") for word in words(figure))


def test_no_diagram_without_two_ranks() -> None:
    record = comparison()
    assert ranks_figure(dataclasses.replace(record, names=("a",), average_ranks=(1.0,))) is None
    assert ranks_figure(dataclasses.replace(record, average_ranks=(1.0,))) is None
