"""A report as one HTML file: tables, charts, and a policy that forbids every request."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from novum.core.files import replacing
from novum.core.tables import Frame, to_frame
from novum.display import Chart, Gallery, Markup, Summary, element
from novum.evaluation.measures.interval import Interval

_POLICY = Markup("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


def save_page(path: str | os.PathLike[str], summary: Summary, charts: Sequence[Chart]) -> None:
    """Write a page with a summary and charts, whole or not at all."""
    page = html_page(summary, charts)
    with replacing(path) as file:
        file.write(page.encode())


def html_page(summary: Summary, charts: Sequence[Chart] = ()) -> str:
    """A page around a summary and charts.

    Examples
    --------
    >>> html_page(Summary("a < b"))[-41:]
    '<h2>a &lt; b</h2></section></body></html>'
    """
    figures = [
        chart.figure(f"chart-{place}", "The tables hold the numbers.")
        for place, chart in enumerate(charts, 1)
    ]
    whole = replace(summary, blocks=[*summary.blocks, Gallery(figures)]) if figures else summary
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", summary.title),
    )
    return f"<!DOCTYPE html>{element('html', head, element('body', whole.as_html()), lang='en')}"


# --- As a data frame ------------------------------------------------------------------------------
# Numbers with intervals as a table: Arrow, pandas or polars.


def frame_of_rows(rows: Iterable[tuple[str, str, Interval]], frame: Frame = "arrow") -> Any:
    """One row for each number.

    Examples
    --------
    >>> table = frame_of_rows([("all", "accuracy", Interval(0.8, 0.7, 0.9, 0.95, "Wilson"))])
    >>> table.column_names
    ['group', 'measure', 'estimate', 'low', 'high', 'level', 'method']
    """
    listed = list(rows)
    table = pa.table(
        {
            "group": pa.array([group for group, _, _ in listed], pa.string()),
            "measure": pa.array([name for _, name, _ in listed], pa.string()),
            "estimate": pa.array([value.estimate for *_, value in listed], pa.float64()),
            "low": pa.array([value.low for *_, value in listed], pa.float64()),
            "high": pa.array([value.high for *_, value in listed], pa.float64()),
            "level": pa.array([value.level for *_, value in listed], pa.float64()),
            "method": pa.array([value.method for *_, value in listed], pa.string()),
        }
    )
    return to_frame(table, frame)
