"""What every view of the studio must pass in a real browser."""

from __future__ import annotations

from typing import Any

# Boxes that scroll sideways are announced as regions, and what is inside them may be wider.
_OVERFLOWING = """() => {
    const faults = [];
    const page = document.documentElement.clientWidth;
    const named = part => String(part.getAttribute('class'));
    const shown = part => (part.textContent || part.tagName).trim().slice(0, 60);
    if (document.documentElement.scrollWidth > page + 1) faults.push(['the page scrolls sideways']);
    for (const part of document.querySelectorAll('body *')) {
        if (part.closest('.across, .skip, .unseen, dialog, nav, [hidden], .canvas')) continue;
        const box = part.getBoundingClientRect();
        if (!box.width || !box.height) continue;
        if (box.right > page + 1 || box.left < -1)
            faults.push(['beyond the page', part.tagName, named(part), shown(part)]);
    }
    const boxes = '.scroll, .card, button, .button, .badge, .facts div';
    for (const part of document.querySelectorAll(boxes))
        if (part.clientWidth && part.scrollWidth > part.clientWidth + 2 && !part.closest('.across'))
            faults.push(['cut off', named(part), shown(part)]);
    for (const drawing of document.querySelectorAll('svg.chart')) {
        const sheet = drawing.getBoundingClientRect();
        if (!sheet.width) continue;
        for (const text of drawing.querySelectorAll('text')) {
            const box = text.getBoundingClientRect();
            if (box.left < sheet.left - 3 || box.right > sheet.right + 3)
                faults.push(['beyond the drawing', shown(text)]);
        }
    }
    return faults.slice(0, 10);
}"""


def overflowing(page: Any) -> list[Any]:
    """Boxes that are wider than the page or than what holds them."""
    found: list[Any] = page.evaluate(_OVERFLOWING)
    return found


def serious_findings(page: Any) -> list[str]:
    """What axe finds serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page).response
    return [
        f"{one['id']}: {one['nodes'][0]['target']} {one['nodes'][0]['failureSummary']}"
        for one in results["violations"]
        if one["impact"] in ("serious", "critical")
    ]
