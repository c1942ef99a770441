"""Would more rows help: figure and table, a table alone, nothing."""

from __future__ import annotations

import dataclasses

from novum.apps.job.record import Curve
from novum.apps.report.sections.learning import learning_section
from tests.apps.report import sample_records
from tests.apps.report.sections.shown import FULL, LEAST, figures, row, table


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
