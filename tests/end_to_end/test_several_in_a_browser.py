"""The pages of several targets and of many labels in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from novum.apps.report.page import write_report
from tests.apps.report import several_records
from tests.end_to_end.test_report_in_a_browser import (
    FAULTS,
    OPEN,
    WIDTHS,
    opened,
    pytestmark,
)

__all__ = ["pytestmark"]
RECORDS = {"several": several_records.several_record, "labels": several_records.labels_record}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", RECORDS)
def test_nothing_is_cut_off(chromium: Any, tmp_path: Path, name: str, width: int) -> None:
    path = tmp_path / "report.html"
    write_report(RECORDS[name](), path)
    page, said, asked = opened(chromium, path.as_uri(), "light", width)
    assert said == []
    assert asked == [path.as_uri()]
    assert page.evaluate(FAULTS) == []
    page.evaluate(OPEN)
    assert page.evaluate(FAULTS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
