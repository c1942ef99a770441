"""A report as one HTML file: tables, picture, and a policy that forbids every request."""

from __future__ import annotations

import base64
import io
import os
from typing import Any

from novum.core.atomic_write import replacing
from novum.evaluation.reports.tables import escaped

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def save_page(path: str | os.PathLike[str], title: str, body: str, figure: Any) -> None:
    """Write a page with the HTML element `body` and a picture, whole or not at all."""
    with replacing(path) as file:
        file.write(html_page(title, body + picture(figure, title)).encode())


def html_page(title: str, body: str) -> str:
    """A page around an HTML element.

    Examples
    --------
    >>> html_page("<", "<p>text</p>")[-57:]
    '<title>&lt;</title></head><body><p>text</p></body></html>'
    """
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escaped(title)}</title></head><body>{body}</body></html>"
    )


def picture(figure: Any, title: str) -> str:
    """A figure as an image inside the page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    data = base64.b64encode(buffer.getvalue()).decode()
    alternative = escaped(f"Pictures of: {title}. The tables above hold the numbers.")
    return f'<img alt="{alternative}" style="max-width:100%" src="data:image/png;base64,{data}">'
