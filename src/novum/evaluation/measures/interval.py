"""An estimate between two confidence limits: the value that every interval method returns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """An estimate between two confidence limits; unpacks as `low, high`.

    Parameters
    ----------
    estimate, low, high : float
        NaN limits: the data allow none, and `method` says why.
    level : float
        Share of samples whose interval covers the truth.
    method : str

    Examples
    --------
    >>> interval = Interval(0.83, 0.8, 0.86, 0.95, "Wilson")
    >>> interval
    0.83 [0.80, 0.86]
    >>> low, high = interval
    >>> interval.covers(0.85), high
    (True, 0.86)
    """

    estimate: float
    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def covers(self, value: float) -> bool:
        """Whether `value` lies between the limits."""
        return self.low <= value <= self.high

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def __repr__(self) -> str:
        if math.isnan(self.low) or math.isnan(self.high):
            return _rounded(self.estimate, 3)
        half = self.half_width
        digits = 3
        if half > 0 and math.isfinite(half):
            digits = min(10, max(0, -math.floor(math.log10(half))))
        shown = [_rounded(value, digits) for value in (self.estimate, self.low, self.high)]
        return f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _rounded(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    # Rounding must not leave a minus sign before nothing.
    return text.lstrip("-") if float(text) == 0 else text
