"""Figures of estimates, ranks and columns, and the small ones of cells."""

from __future__ import annotations

import dataclasses
import re

from scipy import stats

from novum.apps.job.record import Estimate
from novum.apps.report.figures import (
    MOST_TERMS,
    ranks_figure,
    share_bar,
    spark_bars,
    standings_figure,
    target_figure,
    terms_figure,
)
from tests.apps.report.drawn import alt, strokes, words
from tests.apps.report.sample_parts import (
    MODELS,
    comparison,
    nominal_column,
    numeric_column,
    standings,
)

# --- Intervals ------------------------------------------------------------------------------------


def test_standings_are_named_and_said() -> None:
    figure = standings_figure(standings(), "accuracy", greater=True)
    assert {title for _, title, _ in MODELS} <= set(words(figure))
    assert "Random forest 0.861 [0.844, 0.878]" in alt(figure)
    assert "accuracy (greater is better)" in words(figure)
    assert strokes(figure, "series-1") > 0


def test_model_without_a_score_is_not_drawn_and_limits_may_be_missing() -> None:
    first, second, *_ = standings()
    none = type(first)(**{**first.__dict__, "score": Estimate(None, None, None), "title": "gone"})
    half = type(first)(**{**second.__dict__, "score": Estimate(0.5, None, None), "title": "half"})
    shown = words(standings_figure([none, half], "log_loss", greater=False))
    assert "gone" not in shown
    assert {"half", "log loss (smaller is better)"} <= set(shown)


def test_largest_terms_are_drawn_under_safe_names() -> None:
    terms = [(f"$x_{k}$ <b>", Estimate(1.0 / (k + 1), None, None)) for k in range(40)]
    shown = words(terms_figure(terms, key="k", title="T", caption="C"))
    assert sum(text.startswith("$x_") for text in shown) == MOST_TERMS
    assert "$x_0$ <b>" in shown


# --- Ranks ----------------------------------------------------------------------------------------


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


# --- Target ---------------------------------------------------------------------------------------


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


# --- Spark ----------------------------------------------------------------------------------------


def test_heights_are_in_proportion() -> None:
    markup = spark_bars([1, 2, 4, 0], "w")
    assert markup is not None
    tops = [float(v) for v in re.findall(r"V([\d.]+)H", markup)]
    assert [24 - top for top in tops] == [6.0, 12.0, 24.0]


def test_many_bars_are_added_up() -> None:
    markup = spark_bars([1] * 1000, "w")
    assert markup is not None
    assert markup.count("M") <= 32


def test_nothing_is_drawn_of_nothing() -> None:
    assert spark_bars([], "w") is None
    assert spark_bars([0, 0], "w") is None
    assert spark_bars([float("nan")], "w") is None


def test_words_are_escaped_and_shares_kept_in_the_frame() -> None:
    assert 'aria-label="&quot;&gt;"' in str(spark_bars([1], '">'))
    assert 'rect width="32"' in share_bar(0.5, "w")
    assert 'rect width="64"' in share_bar(7.0, "w")
    assert 'rect width="0"' in share_bar(-1.0, "w")
