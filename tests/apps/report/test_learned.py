"""Importances, dependence, single rows, the model in its own terms, the learning curve."""

from __future__ import annotations

import dataclasses

from novum.apps.job.record_model import Curve, Estimate
from novum.apps.report.learned import learned_section
from novum.display import Listing
from tests.apps.report import sample_records
from tests.apps.report.sample_parts import near
from tests.apps.report.shown import FULL, LEAST, figures, flat, row, table, texts


def with_chosen(**changes: object) -> sample_records.RunRecord:
    record = sample_records.binary_record()
    return dataclasses.replace(record, chosen=dataclasses.replace(record.chosen, **changes))  # type: ignore[arg-type]


def with_drawing(svg: str) -> sample_records.RunRecord:
    explanation = sample_records.binary_record().chosen.explanation
    return with_chosen(explanation=dataclasses.replace(explanation, svg=svg))


def test_everything_stands_in_its_order() -> None:
    assert figures(learned_section(sample_records.binary_record(), FULL)) == [
        "What matters most",
        "age of the car",
        "region",
        "Row 17: the worst error",
        "Row 33: the least sure answer",
        "Row 2: the surest",
        "The model drawn",
        "Learning curve",
    ]


# --- Importances ----------------------------------------------------------------------------------


def test_columns_that_are_needed_are_named_with_the_loss_of_the_measure() -> None:
    section = learned_section(sample_records.binary_record(), FULL)
    assert "3 columns of 5 are clearly needed, with this fall of accuracy without: age of" in (
        texts(section)
    )
    # A column may cost more on average and still be no clear case.
    noisy = with_chosen(importances=tuple(
        (name, near(value, error)) for name, value, error in
        (("loud", 9.0, 10.0), ("a", 4.0, 0.1), ("b", 3.0, 0.1), ("c", 2.0, 0.1), ("d", 1.0, 0.1))
    ))  # fmt: skip
    said = texts(learned_section(noisy, FULL))
    assert "4 columns of 5 are clearly needed; of these the fall of accuracy is largest" in said
    assert "without a (4), b (3) and c (2). Without loud it is 9, which may be chance." in said
    assert "may be chance" not in texts(section)
    shown = table(section, "Importance")
    assert shown.columns[1].title == "fall of accuracy"  # type: ignore[union-attr]
    assert row(shown.rows[0]) == ["age of the car", "0.310", "[0.228, 0.392]"]
    rise = learned_section(sample_records.regression_record(), FULL)
    assert "rise of root mean squared error" in texts(rise)


def test_nothing_that_is_needed_and_too_few_rows_to_tell_are_said() -> None:
    none = with_chosen(importances=(("a", near(0.01, 0.1)), ("b", near(-0.01, 0.1))))
    assert "No single column is clearly needed" in texts(learned_section(none, FULL))
    few = with_chosen(importances=(("a", Estimate(-0.1, None, None)),))
    section = learned_section(few, FULL)
    assert "Too few rows were set aside" in texts(section)
    assert "What matters most" not in figures(section)


def test_single_rows_are_tables_without_pictures_and_behind_a_fold_with_them() -> None:
    for detail in (FULL, LEAST):
        section = learned_section(sample_records.binary_record(), detail)
        first = table(section, "Row 17")
        assert row(first.rows[0]) == ["age of the car = 9.25", "0.310", "[0.260, 0.360]"]
        assert "sampled Shapley values" in texts(section)


# --- The model in its own terms -------------------------------------------------------------------


def test_tree_is_drawn_with_its_rules() -> None:
    section = learned_section(sample_records.binary_record(), FULL)
    lines = [block for block in flat(section.blocks) if isinstance(block, Listing)]
    assert lines[0].items[0] == "no if age of the car <= 41.5"
    assert "fitted again to all rows" in texts(section)


def test_coefficients_are_drawn_and_listed() -> None:
    section = learned_section(sample_records.regression_record(), FULL)
    assert "Coefficient" in figures(section)
    assert row(table(section, "Coefficient").rows[0]) == ["bmi", "520", "[287, 754]"]


def test_drawing_that_is_none_is_refused_in_words() -> None:
    section = learned_section(with_drawing("<svg><broken></svg>"), FULL)
    assert "The drawing of the model is not shown. The drawing is not well-formed" in texts(section)
    assert "The model drawn" not in figures(section)


def test_drawing_that_is_too_large_is_left_out_in_words() -> None:
    large = "<svg>" + "<path d='M0 0'/>" * 60_000 + "</svg>"
    assert "too large for this page" in texts(learned_section(with_drawing(large), FULL))


def test_model_without_words_says_so_and_tables_replace_pictures() -> None:
    section = learned_section(sample_records.minimal_record(), FULL)
    assert "no rules or coefficients" in texts(section)
    least = learned_section(sample_records.regression_record(), LEAST)
    assert figures(least) == []
    assert len(table(least, "Coefficient").rows) == 10


def test_judged_model_that_is_kept_is_said_to_be() -> None:
    section = learned_section(with_chosen(refitted_on_all=False), FULL)
    assert "it never saw the rows set aside" in texts(section)
    assert "compared on" in texts(learned_section(sample_records.tiny_record(), FULL))


# --- Learning -------------------------------------------------------------------------------------


def test_table_shows_the_curve() -> None:
    section = learned_section(sample_records.binary_record(), FULL)
    assert row(table(section, "Score").rows[0]) == ["110", "0.792", "[0.762, 0.822]"]
    plain = dataclasses.replace(
        sample_records.binary_record(), learning_curve=Curve((1.0, 2.0), (0.5, 0.6), (), ())
    )
    assert row(table(learned_section(plain, LEAST), "Score").rows[1]) == ["2", "0.6", ""]


def test_no_curve_no_fold() -> None:
    one = dataclasses.replace(
        sample_records.binary_record(), learning_curve=Curve((1.0,), (0.5,), (), ())
    )
    for record in (sample_records.tiny_record(), one):
        assert "Learning curve" not in figures(learned_section(record, FULL))
