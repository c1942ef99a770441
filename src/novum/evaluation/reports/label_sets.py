"""A report on sets of labels: measures of the sets, and each label by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from novum.display import Summary, Table
from novum.evaluation.measures.label_sets import label_set_measures
from novum.evaluation.reports.pages import save_page


class LabelSetReport:
    """What predicted sets of labels are worth.

    Parameters
    ----------
    true, predicted : arrays of shape (n_rows, n_labels)
        Zeros and ones.
    labels : sequence of str
    sample_weight : array of shape (n_rows,), optional

    Attributes
    ----------
    overall : dict of Interval
        Hamming loss, micro and macro F1, exact match.
    per_label : dict from labels to dicts
        Rows that have the label, precision, recall and F1; None where they are 0/0.

    Examples
    --------
    >>> report = LabelSetReport([[1, 0], [1, 1], [0, 1]], [[1, 0], [1, 0], [0, 1]], ["a", "b"])
    >>> report.per_label["b"]["recall"]
    0.5
    """

    def __init__(
        self, true: Any, predicted: Any, labels: Sequence[str], *, sample_weight: Any = None
    ) -> None:
        y, p = np.asarray(true, bool), np.asarray(predicted, bool)
        self.overall = label_set_measures(y, p, sample_weight=sample_weight)
        self.labels, self.n_rows = tuple(labels), len(y)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        hits, has, said = (weight @ part for part in (y & p, y, p))
        self.per_label: dict[str, dict[str, float | None]] = {
            label: {
                "rows": float(has[k]),
                "precision": _share(hits[k], said[k]),
                "recall": _share(hits[k], has[k]),
                "f1": _share(2 * hits[k], has[k] + said[k]),
            }
            for k, label in enumerate(self.labels)
        }

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values."""
        overall = {name: asdict(value) for name, value in self.overall.items()}
        return {"n_rows": self.n_rows, "overall": overall, "per_label": self.per_label}

    def __repr__(self) -> str:
        return self._page.as_text()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return self._page.as_html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as one HTML page."""
        save_page(path, self._page, [])

    @property
    def _page(self) -> Summary:
        rows = tuple(
            (name.replace("_", " "), str(value), value.method)
            for name, value in self.overall.items()
        )
        each = tuple(
            (label, *("-" if value is None else f"{value:.4g}" for value in values.values()))
            for label, values in self.per_label.items()
        )
        tables = [
            Table.of_numbers("All labels", ("measure", "estimate", "interval by"), rows),
            Table.of_numbers("Each label", ("label", "rows", "precision", "recall", "f1"), each),
        ]
        title = f"Sets of labels of {self.n_rows} rows, {len(self.labels)} labels"
        return Summary(title, "Brackets are 95 % confidence intervals.", tables, ())


def _share(above: float, below: float) -> float | None:
    return float(above / below) if below > 0 else None
