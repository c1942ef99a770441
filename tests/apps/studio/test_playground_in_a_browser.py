"""The playground in a real browser: painting, walking through steps, links that keep the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.apps.studio.checks import overflowing, serious_findings

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lesson", ["k_means", "machine", "grid"])
def test_a_lesson_fits(
    browser_page: Callable[..., Any], lesson: str, scheme: str, width: int
) -> None:
    page = browser_page(f"#/playground/{lesson}", width, scheme)
    page.wait_for_selector(".steps .quiet:not(:empty)")
    assert overflowing(page) == []
    assert serious_findings(page) == []
    assert page.said == []


def test_points_are_painted_and_steps_walked_and_a_link_keeps_both(
    browser_page: Callable[..., Any],
) -> None:
    page = browser_page("#/playground/k_means")
    page.wait_for_selector(".steps .quiet:not(:empty)")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_selector("text=There is no point yet")
    box = page.locator(".board").bounding_box()
    for x, y in ((0.2, 0.2), (0.25, 0.2), (0.8, 0.8), (0.75, 0.8), (0.2, 0.8), (0.2, 0.75)):
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    page.wait_for_selector("text=Start: centers drawn")
    assert page.locator(".points circle").count() == 6
    page.get_by_role("button", name="Last step").click()
    assert "No point changes its group" in page.inner_text("section[aria-label=Steps] h2")
    page.get_by_role("button", name="One step back").click()
    shown = page.inner_text("section[aria-label=Steps] h2")
    address = page.evaluate("location.hash")
    again = browser_page(address)
    again.wait_for_selector(".steps .quiet:not(:empty)")
    assert again.inner_text("section[aria-label=Steps] h2") == shown
    assert again.locator(".points circle").count() == 6
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.querySelectorAll('.points circle').length === 5")


def test_points_are_painted_by_keys(browser_page: Callable[..., Any]) -> None:
    page = browser_page("#/playground/perceptron")
    page.wait_for_selector(".steps .quiet:not(:empty)")
    before = page.locator(".points circle").count()
    page.locator(".board").focus()
    for key in ("ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    assert page.locator(".points circle").count() == before + 1
    page.keyboard.press("Delete")
    assert page.locator(".points circle").count() == before


def test_a_world_is_changed_and_planned_again(browser_page: Callable[..., Any]) -> None:
    page = browser_page("#/playground/grid")
    page.wait_for_selector(".steps .quiet:not(:empty)")
    page.get_by_role("button", name="Last step").click()
    first = page.inner_text(".world")
    page.get_by_role("button", name="Column 2, row 3: Field").click()
    page.wait_for_function("document.querySelectorAll('.place.wall').length === 2")
    page.wait_for_selector(".steps .quiet:not(:empty)")
    page.get_by_role("button", name="Last step").click()
    assert page.inner_text(".world") != first
    page.get_by_label("Method").select_option("Q-learning")
    page.wait_for_selector("text=After 10 steps")
