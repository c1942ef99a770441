"""The leaderboard: order, marks, tests, diagram, pairs."""

from __future__ import annotations

import dataclasses

from novum.apps.report.blocks import Cell
from novum.apps.report.sections.leaderboard import leaderboard_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, LEAST, figures, row, table, texts


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
