"""Leaderboard, tests and certificate."""

from __future__ import annotations

import dataclasses

from novum.apps.report.models import models_section
from novum.display import Cell, Listing
from tests.apps.report import sample_records
from tests.apps.report.shown import FULL, LEAST, figures, flat, row, table, texts


def test_chosen_model_is_marked_by_more_than_color() -> None:
    board = table(models_section(sample_records.binary_record(), FULL), "Leaderboard")
    assert board.marked == {0}
    first = board.rows[0][0]
    assert isinstance(first, Cell)
    assert (first.badge, first.note) == ("chosen", "trees 300, depth 12")


def test_row_shows_score_interval_difference_and_test() -> None:
    section = models_section(sample_records.binary_record(), FULL)
    board = table(section, "Leaderboard")
    assert row(board.rows[0])[1:] == ["0.861", "–", "–"]
    assert row(board.rows[6])[1:] == ["0.702", "−0.159", "< 0.001"]
    score = board.rows[6][1]
    assert isinstance(score, Cell)
    assert score.note == "[0.685, 0.719]"
    assert row(table(section, "Times").rows[6])[1] == "< 0.001"


def test_figures_and_pairs() -> None:
    section = models_section(sample_records.binary_record(), FULL)
    assert figures(section) == [
        "Scores with their intervals",
        "Mean ranks of the models",
    ]
    assert len(table(section, "Paired tests").rows) == 21
    assert figures(models_section(sample_records.binary_record(), LEAST)) == []


def test_folds_and_direction_are_said() -> None:
    words = texts(models_section(sample_records.regression_record(), FULL))
    assert "5 folds, repeated 2 times" in words
    assert "smaller is better" in words


def test_no_models_and_long_settings() -> None:
    assert "No model was compared" in texts(models_section(sample_records.minimal_record(), FULL))
    record = sample_records.tiny_record()
    many = tuple((f"s{k}", "1") for k in range(9))
    one = dataclasses.replace(record.leaderboard[0], settings=many)
    section = models_section(dataclasses.replace(record, leaderboard=(one,)), FULL)
    first = table(section, "Leaderboard").rows[0][0]
    assert isinstance(first, Cell)
    assert first.note.endswith("s5 1 and 3 more")


# --- Certificate ----------------------------------------------------------------------------------


def test_lines_are_shown_as_they_are() -> None:
    record = sample_records.binary_record()
    section = models_section(record, FULL)
    (block,) = [block for block in flat(section.blocks) if isinstance(block, Listing)]
    assert tuple(block.items) == record.chosen.certificate


def test_many_lines_are_counted_and_none_is_said() -> None:
    record = sample_records.binary_record()
    long = dataclasses.replace(record.chosen, certificate=("line",) * 500)
    section = models_section(dataclasses.replace(record, chosen=long), FULL)
    assert "The first 100 of 500 lines" in texts(section)
    assert "carries no certificate" in texts(models_section(sample_records.minimal_record(), FULL))
