"""Why a row was given its class: the log-odds against another class, column by column.

    log P(a | x) / P(b | x) = log P(a) / P(b) + sum_j log p(x_j | a) / p(x_j | b)

Naive Bayes multiplies one factor for each column, so its log-odds are a sum, and every column's
part in a decision is a number that can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.text import printable

Floats = NDArray[np.float64]

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Explanation:
    """The log-odds of one class against another for one row.

    Attributes
    ----------
    label, against : labels
        The two classes.
    columns : tuple of str
    values : tuple
        The cells of the row; None where missing.
    contributions : array of shape (number of columns,)
        Each column's part of the log-odds.
    prior : float
        The part of the class priors.
    """

    label: Any
    against: Any
    columns: tuple[str, ...]
    values: tuple[Any, ...]
    contributions: Floats
    prior: float

    @property
    def log_odds(self) -> float:
        """Of `label` against `against`."""
        return float(self.prior + self.contributions.sum())

    def largest(self, count: int = _SHOWN) -> list[tuple[str, Any, float]]:
        """The columns that weigh most, with their cells and contributions."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:count]
        return [(self.columns[j], self.values[j], float(self.contributions[j])) for j in order]

    def __str__(self) -> str:
        label, against = printable(str(self.label), 40), printable(str(self.against), 40)
        head = f"{label} against {against}: log-odds {self.log_odds:+.3f}"
        rows = [("(prior)", "", self.prior)]
        shown = self.largest()
        rows += [(name, _cell(value), part) for name, value, part in shown]
        if len(shown) < len(self.columns):
            rest = self.contributions.sum() - sum(part for _, _, part in shown)
            rows.append((f"({len(self.columns) - len(shown)} others)", "", float(rest)))
        names = [printable(f"{name} = {value}" if value else name, 50) for name, value, _ in rows]
        width = max(len(name) for name in names)
        lines = [
            f"  {n:<{width}}  {part:+.3f}" for n, (_, _, part) in zip(names, rows, strict=True)
        ]
        return "\n".join([head, *lines])


def _cell(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
