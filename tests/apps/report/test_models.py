"""Leaderboard, chosen model, certificate, learning curve."""

from __future__ import annotations

import dataclasses

from novum.apps.job.record import Curve
from novum.apps.report.models import (
    certificate_section,
    leaderboard_section,
    learning_section,
    model_section,
)
from novum.display import Cell, Listing
from tests.apps.report import sample_records
from tests.apps.report.shown import FULL, LEAST, figures, flat, row, table, texts

# --- Leaderboard ----------------------------------------------------------------------------------


def test_chosen_model_is_marked_by_more_than_color() -> None:
    board = table(leaderboard_section(sample_records.binary_record(), FULL), "Leaderboard")
    assert board.marked == {0}
    first = board.rows[0][0]
    assert isinstance(first, Cell)
    assert (first.badge, first.note) == ("chosen", "trees 300, depth 12")


def test_row_shows_score_interval_difference_and_tests() -> None:
    board = table(leaderboard_section(sample_records.binary_record(), FULL), "Leaderboard")
    assert row(board.rows[0])[1:6] == ["0.861", "[0.844, 0.878]", "best", "–", "–"]
    assert row(board.rows[6])[1:6] == ["0.702", "[0.685, 0.719]", "−0.159", "< 0.001", "< 0.001"]


def test_figures_and_pairs() -> None:
    section = leaderboard_section(sample_records.binary_record(), FULL)
    assert figures(section) == [
        "Scores with their intervals",
        "Mean ranks of the models",
    ]
    assert len(table(section, "Paired tests").rows) == 21
    assert figures(leaderboard_section(sample_records.binary_record(), LEAST)) == []


def test_folds_and_direction_are_said() -> None:
    words = texts(leaderboard_section(sample_records.regression_record(), FULL))
    assert "5 folds, repeated 2 times" in words
    assert "smaller is better" in words


def test_no_models_and_long_settings() -> None:
    assert "No model was compared" in texts(
        leaderboard_section(sample_records.minimal_record(), FULL)
    )
    record = sample_records.tiny_record()
    many = tuple((f"s{k}", "1") for k in range(9))
    one = dataclasses.replace(record.leaderboard[0], settings=many)
    board = table(
        leaderboard_section(dataclasses.replace(record, leaderboard=(one,)), FULL), "Leaderboard"
    )
    first = board.rows[0][0]
    assert isinstance(first, Cell)
    assert first.note.endswith("s5 1 and 3 more")


# --- Model ----------------------------------------------------------------------------------------


def with_drawing(svg: str) -> sample_records.RunRecord:
    record = sample_records.binary_record()
    explanation = dataclasses.replace(record.chosen.explanation, svg=svg)
    return dataclasses.replace(
        record, chosen=dataclasses.replace(record.chosen, explanation=explanation)
    )


def test_tree_is_drawn_with_its_rules() -> None:
    section = model_section(sample_records.binary_record(), FULL)
    assert figures(section) == ["The model drawn", "Importance of the columns"]
    lines = [block for block in flat(section.blocks) if isinstance(block, Listing)]
    assert lines[0].items[0] == "no if age of the car <= 41.5"
    assert "fitted again to all rows" in texts(section)


def test_coefficients_are_drawn_and_listed() -> None:
    section = model_section(sample_records.regression_record(), FULL)
    assert figures(section)[0] == "Coefficient"
    assert row(table(section, "Coefficient").rows[0]) == ["bmi", "520", "[287, 754]"]


def test_drawing_that_is_none_is_refused_in_words() -> None:
    section = model_section(with_drawing("<svg><broken></svg>"), FULL)
    assert "The drawing of the model is not shown. The drawing is not well-formed" in texts(section)
    assert "The model drawn" not in figures(section)


def test_drawing_that_is_too_large_is_left_out_in_words() -> None:
    large = "<svg>" + "<path d='M0 0'/>" * 60_000 + "</svg>"
    assert "too large for this page" in texts(model_section(with_drawing(large), FULL))


def test_model_without_words_says_so_and_tables_replace_pictures() -> None:
    section = model_section(sample_records.minimal_record(), FULL)
    assert "no rules or coefficients" in texts(section)
    least = model_section(sample_records.regression_record(), LEAST)
    assert figures(least) == []
    assert len(table(least, "Coefficient").rows) == 10


def test_judged_model_that_is_kept_is_said_to_be() -> None:
    record = sample_records.binary_record()
    kept = dataclasses.replace(record.chosen, refitted_on_all=False)
    section = model_section(dataclasses.replace(record, chosen=kept), FULL)
    assert "it never saw the rows set aside" in texts(section)
    assert "compared on" in texts(model_section(sample_records.tiny_record(), FULL))


# --- Certificate ----------------------------------------------------------------------------------


def test_lines_are_shown_as_they_are() -> None:
    record = sample_records.binary_record()
    block = certificate_section(record, FULL).blocks[1]
    assert isinstance(block, Listing)
    assert tuple(block.items) == record.chosen.certificate


def test_many_lines_are_counted_and_none_is_said() -> None:
    record = sample_records.binary_record()
    long = dataclasses.replace(record.chosen, certificate=("line",) * 500)
    section = certificate_section(dataclasses.replace(record, chosen=long), FULL)
    assert "The first 100 of 500 lines" in texts(section)
    assert "carries no certificate" in texts(
        certificate_section(sample_records.minimal_record(), FULL)
    )


# --- Learning -------------------------------------------------------------------------------------


def test_figure_and_table_show_the_curve() -> None:
    section = learning_section(sample_records.binary_record(), FULL)
    assert section is not None
    assert figures(section) == ["Learning curve"]
    assert row(table(section, "Score").rows[0]) == ["110", "0.792", "[0.762, 0.822]"]


def test_table_alone_and_without_limits() -> None:
    record = dataclasses.replace(
        sample_records.binary_record(), learning_curve=Curve((1.0, 2.0), (0.5, 0.6), (), ())
    )
    section = learning_section(record, LEAST)
    assert section is not None
    assert figures(section) == []
    assert row(table(section, "Score").rows[1]) == ["2", "0.6", ""]


def test_no_curve_no_section() -> None:
    assert learning_section(sample_records.tiny_record(), FULL) is None
    one = dataclasses.replace(
        sample_records.binary_record(), learning_curve=Curve((1.0,), (0.5,), (), ())
    )
    assert learning_section(one, FULL) is None
