"""Verdict, plan and settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from novum.apps.job.record import Estimate, PlanRecord
from novum.apps.report.overview import (
    folds_in_words,
    plan_section,
    settings_section,
    verdict_section,
)
from novum.display import Bullets, Facts, Paragraph
from tests.apps.report import sample_records
from tests.apps.report.shown import FULL, row, table, texts

# --- Verdict --------------------------------------------------------------------------------------


def facts(record: sample_records.RunRecord) -> dict[str, tuple[str, str]]:
    block = verdict_section(record, FULL).blocks[-1]
    assert isinstance(block, Facts)
    return {fact.name: (fact.value, fact.note) for fact in block.items}


def test_sentences_come_first_and_the_first_is_large() -> None:
    record = sample_records.binary_record()
    blocks = verdict_section(record, FULL).blocks
    assert [b.text for b in blocks if isinstance(b, Paragraph)] == list(record.verdict)
    assert blocks[0] == Paragraph(record.verdict[0], "lead")


def test_numbers_are_those_of_the_record() -> None:
    found = facts(sample_records.binary_record())
    assert found["accuracy, cross-validated"] == ("0.861", "[0.844, 0.878]")
    assert found["accuracy, on rows set aside"] == ("0.855", "[0.813, 0.897]")
    assert found["rows"] == ("1,400", "5 columns used")


def test_first_measure_stands_in_for_one_that_is_not_there() -> None:
    record = sample_records.binary_record()
    task = dataclasses.replace(record.task, metric="gini")
    assert "accuracy, on rows set aside" in facts(dataclasses.replace(record, task=task))


def test_the_headline_is_of_the_measure_that_models_were_chosen_by() -> None:
    """Judgments name measures in words, tasks by their names."""
    record = sample_records.regression_record()
    assert record.holdout is not None
    measures = (
        ("R2", Estimate(0.8, 0.7, 0.9)),
        ("root mean squared error", Estimate(5.0, 4.0, 6.0)),
    )
    holdout = dataclasses.replace(record.holdout, measures=measures)
    task = dataclasses.replace(record.task, metric="rmse")
    found = facts(dataclasses.replace(record, task=task, holdout=holdout))
    assert found["root mean squared error, on rows set aside"] == ("5.0", "[4.0, 6.0]")


def test_run_without_verdict_says_so() -> None:
    section = verdict_section(sample_records.minimal_record(), FULL)
    assert "came to no verdict" in texts(section)


# --- Plan -----------------------------------------------------------------------------------------


def test_every_family_has_its_status() -> None:
    shown = table(plan_section(sample_records.binary_record(), FULL), "Trials")
    assert len(shown.rows) == 8
    assert row(shown.rows[-1]) == [
        *("Support vectors", "9", "1,106", "270", "1 min 35 s", "over the budget")
    ]


def test_times_add_up_to_the_whole() -> None:
    rows = [row(c) for c in table(plan_section(sample_records.binary_record(), FULL), "Where").rows]
    assert rows[2] == ["compare", "1 min 12 s", "97.7 %"]
    assert len(rows) == 4


def test_what_was_not_done_is_said_either_way() -> None:
    record = sample_records.binary_record()
    assert Bullets(record.not_done) in plan_section(record, FULL).blocks
    assert "Everything that was asked for was done" in texts(
        plan_section(sample_records.minimal_record(), FULL)
    )


def test_single_repeat_is_not_spelled_out() -> None:
    assert folds_in_words(PlanRecord("quick", 1.0, 1.0, 1, 10, 3, 0, ())) == "10 folds"


# --- Settings -------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    record = dataclasses.replace(sample_records.binary_record(), settings={"name": value})
    return row(table(settings_section(record, FULL), "Settings").rows[0])[1]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not given"),
        (True, "yes"),
        (False, "no"),
        ((), "none"),
        ("text", "text"),
        (120.0, "120"),
        (0.25, "0.25"),
        (("a", 1), '["a", 1]'),
        ({"a": {"b": None}}, '{"a": {"b": null}}'),
    ],
)
def test_values_in_words(value: Any, words: str) -> None:
    assert shown(value) == words


def test_long_values_are_cut() -> None:
    assert len(shown(tuple(range(10_000)))) == 300


def test_data_and_versions_are_identified() -> None:
    section = settings_section(sample_records.binary_record(), FULL)
    identity = dict(map(tuple, (row(c) for c in table(section, "Identity").rows)))  # type: ignore[arg-type]
    assert identity["SHA-256"] == "9f2c" * 16
    assert identity["rows and columns"] == "1,400 × 7"
    assert row(table(section, "Versions").rows[0]) == ["novum", "0.1.0"]
