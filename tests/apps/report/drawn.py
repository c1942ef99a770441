"""What a figure shows, read from its markup."""

from __future__ import annotations

from novum.display import Figure
from tests.apps.report.page_parts import parsed


def words(figure: Figure) -> list[str]:
    """All texts of a drawing."""
    return [part.text for part in parsed(str(figure.drawing)).all("text")]


def alt(figure: Figure) -> str:
    """What a reader hears who cannot see it."""
    return parsed(str(figure.drawing)).all("desc")[0].text


def strokes(figure: Figure, paint: str) -> int:
    """How many parts are painted in a color of the palette."""
    markup = str(figure.drawing)
    return markup.count(f"stroke-{paint}") + markup.count(f"fill-{paint}")
