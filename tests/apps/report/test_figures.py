"""Figures of estimates, ranks and columns, and the small ones of cells."""

from __future__ import annotations

import dataclasses
import re

from scipy import stats

from novum.apps.job.record_model import Estimate, SpreadRecord
from novum.apps.report.figures import (
    MOST_TERMS,
    contribution_figures,
    dependence_figures,
    ranks_figure,
    rows_figure,
    share_bar,
    spark_bars,
    spread_figure,
    standings_figure,
    target_figure,
    terms_figure,
)
from novum.display import Figure, about
from tests.apps.report import sample_records
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
    shown = words(terms_figure(terms, key="k", title="T", axis="A", caption="C"))
    assert sum(text.startswith("$x_") for text in shown) == MOST_TERMS
    assert "$x_0$ <b>" in shown


# --- Ranks ----------------------------------------------------------------------------------------


def test_ranks_are_in_order_and_the_pairs_say_who_is_told_apart() -> None:
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
    figure = ranks_figure(record, "a")
    assert figure is not None
    assert "a 1.00, b 1.50, c 3.00" in alt(figure)
    assert "Told apart from the chosen model: c." in alt(figure)
    assert [word for word in words(figure) if word in "abc"] == ["a", "b", "c"]
    assert strokes(figure, "series-1") == 2
    # The chosen model need not have the best rank; tests are of it.
    other = ranks_figure(dataclasses.replace(record, pairs=record.pairs[:1]), "b")
    assert other is not None
    assert "Told apart from the chosen model: none." in alt(other)


def test_no_diagram_without_two_ranks() -> None:
    record = comparison()
    one = dataclasses.replace(record, names=("a",), average_ranks=(1.0,))
    assert ranks_figure(one, "a") is None
    assert ranks_figure(dataclasses.replace(record, average_ranks=(1.0,)), "a") is None


# --- The decision ---------------------------------------------------------------------------------


def circles(figure: Figure, series: int) -> int:
    """Dots of a color, the one of the legend among them."""
    groups = re.findall(r'<g class="(?:fill|stroke)-series-(\d)".*?</g>', str(figure.drawing))
    parts = re.findall(r"<g .*?</g>", str(figure.drawing))
    return sum(
        part.count("<circle") for part, of in zip(parts, groups, strict=True) if int(of) == series
    )


def rows_of(counts: list[list[float]], classes: tuple[str, ...], **of_task: object) -> Figure:
    record = sample_records.binary_record()
    assert record.holdout is not None
    task = dataclasses.replace(record.task, classes=classes, cost=(), actions=(), **of_task)  # type: ignore[arg-type]
    columns = of_task.get("actions", classes)
    holdout = dataclasses.replace(
        record.holdout,
        confusion=tuple(map(tuple, counts)),
        confusion_columns=columns,  # type: ignore[arg-type]
    )
    figure = rows_figure(holdout, task)
    assert figure is not None
    return figure


def test_every_row_set_aside_is_a_dot() -> None:
    figure = rows_of([[3, 1], [2, 4]], ("a", "b"))
    assert alt(figure) == "a: 3 of 4 right; b: 4 of 6 right."
    assert (circles(figure, 1), circles(figure, 6)) == (3 + 4 + 1, 1 + 2 + 1)
    assert "Each dot is a row" in figure.caption


def test_of_many_rows_a_dot_is_several_and_a_single_error_is_still_seen() -> None:
    figure = rows_of([[14_999, 1], [0, 15_000]], ("a", "b"))
    assert circles(figure, 6) == 2
    assert circles(figure, 1) == 75 + 75 + 1
    assert "about 200 rows" in figure.caption


def test_many_classes_are_one_block_and_costs_say_what_is_right() -> None:
    many = tuple("abcdefg")
    figure = rows_of([[2.0 * (i == j) for j in range(7)] for i in range(7)], many)
    assert alt(figure) == "All rows: 14 of 14 right."
    record = sample_records.binary_record()
    assert record.holdout is not None
    # Asking costs the sick nothing, so it is as right as treating them.
    task = dataclasses.replace(
        record.task, cost=((0.0, 1.0, 2.0), (5.0, 0.0, 0.0)), actions=("wait", "treat", "ask")
    )
    holdout = dataclasses.replace(
        record.holdout, confusion=((5.0, 1.0, 1.0), (1.0, 2.0, 3.0)), confusion_columns=task.actions
    )
    found = rows_figure(holdout, task)
    assert found is not None
    assert alt(found) == "no: 5 of 7 right; yes: 5 of 6 right."


# --- Columns and rows -----------------------------------------------------------------------------


def test_dependences_share_a_scale_and_say_what_is_predicted() -> None:
    record = sample_records.binary_record()
    first, second = dependence_figures(record.chosen.dependences, record.task)
    assert (first.title, second.title) == ("age of the car", "region")
    assert "probability of yes" in words(first)
    assert {"north", "south", "east", "west"} <= set(words(second))
    means = record.chosen.dependences[0].means[0]
    assert f"from {about(min(means))} to {about(max(means))}" in alt(first)
    several = sample_records.multiclass_record()
    first, _ = dependence_figures(several.chosen.dependences, several.task)
    assert {"A", "B", "C", "D", "E"} <= set(words(first))
    assert dependence_figures((), record.task) == []


def test_contributions_add_up_and_the_rest_is_shown() -> None:
    record = sample_records.binary_record()
    figure, *others = contribution_figures(record.chosen.contributions, record.task, "claim")
    assert len(others) == 2
    assert figure.title == "Row 17: the worst error"
    assert {"age of the car = 9.25", "all other columns"} <= set(words(figure))
    # 0.49 - 0.24 = 0.31 - 0.12 + 0.01 + rest
    assert "all other columns 0.05" in alt(figure)
    assert figure.caption.replace("\u00a0", " ").endswith("starts at 24 % and ends at 49 %.")
    number = sample_records.regression_record()
    figure, *_ = contribution_figures(number.chosen.contributions, number.task, "progression")
    assert "added to the progression" in words(figure)


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


def test_a_spread_has_a_dot_for_each_row_and_column() -> None:
    found = SpreadRecord(
        ("age", "city"), ((0.1, -0.2, 0.0), (0.05, 0.05, -0.05)), ((0.0, 1.0, None), (None,) * 3),
        "yes", is_score=False,
    )  # fmt: skip
    shown = spread_figure(found, "claim").as_html()
    assert str(shown).count("<circle") >= 6
    assert "added to the probability of yes" in str(shown)
    assert "Mean sizes of what columns add: age 0.1; city 0.05." in str(shown)
