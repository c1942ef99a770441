"""The head of the page, what was not done, plan and settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from novum.apps.job.record import PlanRecord
from novum.apps.job.record_model import Estimate, SavingRecord
from novum.apps.report.overview import (
    day,
    decision,
    decision_figure,
    facts,
    folds_in_words,
    header,
    omissions_section,
)
from novum.display import Bullets
from tests.apps.report import sample_records
from tests.apps.report.page_parts import parsed
from tests.apps.report.sample_parts import saving
from tests.apps.report.shown import FULL, LEAST, flat, row, table, texts

# --- Above the fold -------------------------------------------------------------------------------


def having(found: SavingRecord | None) -> sample_records.RunRecord:
    record = sample_records.binary_record()
    assert record.holdout is not None
    holdout = dataclasses.replace(record.holdout, saving=found)
    return dataclasses.replace(record, holdout=holdout)


def shown_facts(record: sample_records.RunRecord) -> dict[str, tuple[str, str]]:
    return {
        fact.name: (fact.value.replace("\u00a0", " "), fact.note.replace("\u00a0", " "))
        for fact in facts(record)
    }


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            saving("bayes_risk", 0.29, 0.75, "yes", less=True),
            "The model decides on claim at a cost of 0.29 a row; always saying “yes” costs 0.75.",
        ),
        (
            saving("bayes_risk", 0.75, 0.75, "yes", less=True),
            "The model decides on claim no better than always saying “yes”.",
        ),
        (
            saving("accuracy", 0.861, 0.754, "no", less=False),
            "The model is right about claim for 86 of 100 new rows; always saying “no” is right "
            "for 75.",
        ),
        (
            saving("accuracy", 0.9991, 0.754, "no", less=False),
            "The model is right about claim for 99.9 of 100 new rows; always saying “no” is right "
            "for 75.",
        ),
        (
            saving("rmse", 67_412.3, 132_671.0, "151,200", less=True),
            "The model predicts claim and is off by 67,400; always saying 151,200 is off by "
            "133,000.",
        ),
        (
            saving("log_loss", 0.3, 0.6, "no", less=True),
            "The model predicts claim with a log loss of 0.3; always saying “no” has 0.6.",
        ),
        (None, "Predicting claim from insurance.csv"),
    ],
)
def test_the_decision_is_one_sentence(found: SavingRecord | None, sentence: str) -> None:
    assert decision(having(found)) == sentence


def test_a_constant_that_wins_is_said() -> None:
    record = sample_records.binary_record()
    chosen = dataclasses.replace(record.chosen, family="constant")
    assert decision(dataclasses.replace(record, chosen=chosen)) == (
        "No model predicts claim better than the same answer for every row."
    )


def test_head_has_table_day_sentences_dangers_and_picture() -> None:
    record = sample_records.binary_record()
    head = parsed(header(record, FULL))
    assert "insurance.csv · 8 November 2026 · 1,400 rows" in head.text
    for sentence in record.verdict:
        assert sentence in head.text
    assert "payout alone predicts claim without error." in head.text
    assert [part.text for part in head.all("figcaption")] == ["Rows set aside, by what they are"]
    assert not parsed(header(record, LEAST)).all("svg")
    assert parsed(header(sample_records.minimal_record(), FULL)).all("h1")


def test_each_kind_of_run_has_its_picture() -> None:
    titles = {
        "binary": "Rows set aside, by what they are",
        "regression": "Observed against predicted",
        "tiny": "Scores with their intervals",
    }
    for name, title in titles.items():
        figure = decision_figure(getattr(sample_records, f"{name}_record")(), 100)
        assert figure is not None
        assert figure.title == title
    assert decision_figure(sample_records.minimal_record(), 100) is None


def test_what_it_saves_is_in_the_unit_of_the_measure() -> None:
    found = shown_facts(sample_records.binary_record())
    assert found["right on 276 new rows"] == ("85.5 %", "between 81.3 % and 89.7 %, 95 % sure")
    assert found["saved, against always saying “yes”"] == (
        "460 for 1,000 rows",
        "between 307 and 613, 95 % sure",
    )
    assert found["learned from"] == ("1,106 rows", "and 5 columns, in 1 min 13 s")
    numbers = shown_facts(sample_records.regression_record())
    assert numbers["saved, against always saying 151,200"] == (
        "65,300 (49.2 %)",
        "between 43,500 and 87,000, 95 % sure",
    )
    shares = shown_facts(sample_records.multiclass_record())
    assert shares["saved, against always saying “A”"][0] == "82 errors of 100"
    nothing = shown_facts(having(saving("bayes_risk", 0.5, 0.5, "yes", less=True)))
    assert nothing["saved, against always saying “yes”"] == ("nothing", "")


def test_without_rows_set_aside_the_folds_are_what_there_is() -> None:
    found = shown_facts(sample_records.tiny_record())
    assert found["right over 5 folds, repeated 2 times"] == ("75 %", "")
    assert not any(name.startswith("saved") for name in found)


def test_first_measure_stands_in_for_one_that_is_not_there() -> None:
    record = sample_records.binary_record()
    task = dataclasses.replace(record.task, metric="gini")
    assert "right on 276 new rows" in shown_facts(dataclasses.replace(record, task=task))


def test_the_headline_is_of_the_measure_that_models_were_chosen_by() -> None:
    """Judgments name measures in words, tasks by their names."""
    record = sample_records.regression_record()
    assert record.holdout is not None
    measures = (
        ("R2", Estimate(0.8, 0.7, 0.9)),
        ("root mean squared error", Estimate(67_412.0, 60_000.0, 72_000.0)),
    )
    holdout = dataclasses.replace(record.holdout, measures=measures)
    task = dataclasses.replace(record.task, metric="rmse")
    found = shown_facts(dataclasses.replace(record, task=task, holdout=holdout))
    assert found["off by, on 89 new rows"] == (
        "67,400",
        "root mean square; between 60,000 and 72,000, 95 % sure",
    )


def test_what_is_no_day_stays_as_it_is() -> None:
    assert (day("soon"), day("2026-01-31")) == ("soon", "31 January 2026")


# --- Plan -----------------------------------------------------------------------------------------


def test_every_family_has_its_status() -> None:
    shown = table(omissions_section(sample_records.binary_record(), FULL), "Trials")
    assert len(shown.rows) == 8
    assert row(shown.rows[-1]) == [
        *("Support vectors", "9", "1,106", "270", "1 min 35 s", "over the budget")
    ]


def test_times_add_up_to_the_whole() -> None:
    rows = [
        row(c) for c in table(omissions_section(sample_records.binary_record(), FULL), "Where").rows
    ]
    assert rows[2] == ["compare", "1 min 12 s", "97.7 %"]
    assert len(rows) == 4


def test_what_was_not_done_is_said_either_way() -> None:
    record = sample_records.binary_record()
    assert Bullets(record.not_done) in flat(omissions_section(record, FULL).blocks)
    assert "Everything that was asked for was done" in texts(
        omissions_section(sample_records.minimal_record(), FULL)
    )


def test_single_repeat_is_not_spelled_out() -> None:
    assert folds_in_words(PlanRecord("quick", 1.0, 1.0, 1, 10, 3, 0, ())) == "10 folds"


# --- Settings -------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    record = dataclasses.replace(sample_records.binary_record(), settings={"name": value})
    return row(table(omissions_section(record, FULL), "Settings of the run").rows[0])[1]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not given"),
        (True, "yes"),
        (False, "no"),
        ((), "not given"),
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
    section = omissions_section(sample_records.binary_record(), FULL)
    identity = dict(map(tuple, (row(c) for c in table(section, "Identity").rows)))  # type: ignore[arg-type]
    assert identity["SHA-256"] == "9f2c" * 16
    assert identity["rows and columns"] == "1,400 × 7"
    assert row(table(section, "Versions").rows[0]) == ["novum", "0.1.0"]
