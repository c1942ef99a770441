"""The target: classes with shares, numbers as a histogram, nothing of nothing."""

from __future__ import annotations

import dataclasses

from scipy import stats

from novum.apps.report.figures.target import target_figure
from tests.apps.report.figures.drawn import alt, words
from tests.apps.report.sample_parts import nominal_column, numeric_column


def test_classes_have_counts_and_shares() -> None:
    figure = target_figure(nominal_column("y", {"no": 75, "yes": 25}))
    assert figure is not None
    assert alt(figure) == "Rows of each class: no 75; yes 25."
    assert any("75 %" in text.replace("\u00a0", " ") for text in words(figure))


def test_classes_that_are_not_drawn_are_counted() -> None:
    many = nominal_column("y", {f"c{k}": 100 - k for k in range(40)})
    figure = target_figure(dataclasses.replace(many, n_other_levels=60))
    assert figure is not None
    assert "70 classes with fewer rows are not drawn" in figure.caption


def test_numbers_are_a_histogram_and_nothing_is_nothing() -> None:
    column = numeric_column("$y$", stats.uniform(0, 10), n=100)
    figure = target_figure(column)
    assert figure is not None
    assert "$y$" in words(figure)
    empty = dataclasses.replace(column, histogram_counts=(), histogram_edges=())
    assert target_figure(empty) is None
