"""The plan: trials, times, what was not done."""

from __future__ import annotations

from novum.apps.job.record import PlanRecord
from novum.apps.report.blocks import Points
from novum.apps.report.sections.plan import folds_in_words, plan_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, row, table, texts


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
    assert Points(record.not_done) in plan_section(record, FULL).blocks
    assert "Everything that was asked for was done" in texts(
        plan_section(sample_records.minimal_record(), FULL)
    )


def test_single_repeat_is_not_spelled_out() -> None:
    assert folds_in_words(PlanRecord("quick", 1.0, 1.0, 1, 10, 3, 0, ())) == "10 folds"
