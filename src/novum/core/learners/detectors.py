"""What detectors of novelty share: a score, a line, and how often ordinary rows are beyond it.

    decision(x) = score(x) - offset,        novel where it is below 0

The line may leave a share of the scores beyond it; and how often it hits an ordinary row is judged
by scores of rows that are as good as new to the detector: r of n beyond the line give the rate
r / n, and the interval of Clopper and Pearson holds the true rate with 95 % confidence, for rows
that come from where these came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from novum.numerics import Floats, Positions

# Confidence of intervals for rates of false alarms.
_CONFIDENCE = 0.95


class FewRowsWarning(UserWarning):
    """The line of a detector, or the rate of its false alarms, rests on very few rows."""


def share_line(scores: Floats, share: float, weights: Floats | None = None) -> float:
    """The largest line that leaves no more than a share of the scores below it.

    A weight is how often a score counts.

    Examples
    --------
    >>> share_line(np.arange(10.0), 0.25), share_line(np.arange(3.0), 0.5, np.array([1.0, 2, 1]))
    (2.0, 1.0)
    """
    if weights is None:
        return float(np.sort(scores)[int(share * len(scores))])
    order = np.argsort(scores, kind="stable")
    passed = np.cumsum(weights[order]) > share * weights.sum()
    return float(scores[order[int(passed.argmax())]])


def false_alarms(
    scores: Floats, offset: float, weights: Floats | None = None
) -> tuple[float, tuple[float, float]]:
    """The share of scores below an offset, and the interval of Clopper and Pearson for it.

    A weight is how often a score counts.

    Examples
    --------
    >>> rate, (low, high) = false_alarms(np.arange(100.0), 5.0)
    >>> rate, round(low, 4), round(high, 4)
    (0.05, 0.0164, 0.1128)
    """
    from scipy.stats import beta

    counts = np.ones(len(scores)) if weights is None else weights
    n, r = float(counts.sum()), float(counts[scores < offset].sum())
    tail = 0.5 * (1.0 - _CONFIDENCE)
    low = float(beta.ppf(tail, r, n - r + 1)) if r else 0.0
    high = float(beta.ppf(1.0 - tail, r + 1, n - r)) if r < n else 1.0
    return r / n, (low, high)


class NoveltyMixin(OutlierMixin):
    """Decisions of a detector, from `score_samples` and `offset_`.

    A detector that judges its line by rows (`_judge_line`) has two more attributes: the share of
    them beyond it, and an interval that holds the rate for new ordinary rows with 95 % confidence.
    """

    offset_: float
    false_alarm_rate_: float
    false_alarm_interval_: list[float]

    def score_samples(self, X: Any) -> Floats:
        """How typical rows are, (n_rows,); the larger, the more."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: negative for novel rows, (n_rows,)."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> Positions:
        """-1 for novel rows, 1 for those inside or on the border; (n_rows,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _judge_line(self, scores: Floats, weights: Floats | None = None) -> None:
        """Counts false alarms among rows that are as good as new."""
        self.false_alarm_rate_, interval = false_alarms(scores, self.offset_, weights)
        self.false_alarm_interval_ = list(interval)
