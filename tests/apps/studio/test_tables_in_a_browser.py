"""The shell and the room of tables in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.apps.studio.checks import overflowing, serious_findings
from tests.apps.studio.conftest import Served

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_can_be_read(
    browser_page: Callable[..., Any], served: Served, scheme: str, width: int
) -> None:
    page = browser_page("#/tables/table/hepatitis", width, scheme)
    page.wait_for_selector("text=What its owner should know")
    assert overflowing(page) == []
    assert serious_findings(page) == []
    assert page.said == []
    assert {url.split("/")[2] for url in page.asked} == {served.host}
