"""Networks in a real browser: clicks that move probabilities, trails, changes undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.apps.studio.checks import overflowing, serious_findings

pytestmark = pytest.mark.browser
READY = ".bar-of-state:not([width='0'])"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["asia", "alarm"])
def test_a_network_fits(
    browser_page: Callable[..., Any], name: str, scheme: str, width: int
) -> None:
    page = browser_page(f"#/networks/{name}", width, scheme)
    page.wait_for_selector(READY)
    assert overflowing(page) == []
    assert serious_findings(page) == []
    assert page.said == []


def test_a_click_moves_every_probability(browser_page: Callable[..., Any]) -> None:
    page = browser_page("#/networks/asia")
    page.wait_for_selector(READY)
    page.get_by_role("button", name="dysp is yes").click()
    page.wait_for_selector("[aria-label='lung is yes, 10.3 %']")
    again = browser_page(page.evaluate("location.hash"))
    again.wait_for_selector("[aria-label='lung is yes, 10.3 %']")
    page.get_by_role("button", name="Take back dysp").click()
    page.wait_for_selector("text=Click a state to observe it")


def test_trails_light_up_and_changes_are_undone(browser_page: Callable[..., Any]) -> None:
    page = browser_page("#/networks/asia?a=asia&b=smoke")
    page.wait_for_selector(READY)
    page.get_by_role("button", name="Look at the trails").click()
    page.wait_for_selector("text=asia and smoke are independent")
    assert page.locator(".edge.on").count() >= 3
    page.get_by_role("button", name="smoke: show its table").click()
    page.get_by_label("yes", exact=True).fill("0.9")
    page.get_by_label("no", exact=True).fill("0.1")
    page.get_by_role("button", name="Use this table").click()
    page.wait_for_selector("[aria-label='smoke is yes, 90.0 %']")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("[aria-label='smoke is yes, 50.0 %']")
