"""The verdict: the record's sentences, and the numbers behind them."""

from __future__ import annotations

import dataclasses

from novum.apps.job.record import Estimate
from novum.apps.report.blocks import Facts, Text
from novum.apps.report.sections.verdict import verdict_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, texts


def facts(record: sample_records.RunRecord) -> dict[str, tuple[str, str]]:
    block = verdict_section(record, FULL).blocks[-1]
    assert isinstance(block, Facts)
    return {fact.name: (fact.value, fact.note) for fact in block.items}


def test_sentences_come_first_and_the_first_is_large() -> None:
    record = sample_records.binary_record()
    blocks = verdict_section(record, FULL).blocks
    assert [b.text for b in blocks if isinstance(b, Text)] == list(record.verdict)
    assert blocks[0] == Text(record.verdict[0], "lead")


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
