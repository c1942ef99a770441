"""What one fold says of one learner, and how a journal keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FoldRun:
    """The outcome of training on one fold's training rows and judging on its tested rows.

    Attributes
    ----------
    scores : mapping of str to float
        On the tested rows, greater is better.
    train_scores : mapping of str to float
        On the training rows; empty unless asked for.
    fit_seconds, score_seconds : float
        A learner fitted from shared sums has its part of the time they took.
    n_train, n_test : int
    output : array or None
        What the model said of the tested rows, if it was kept, in the order of the fold.
    facts : mapping
        What was asked of the fitted model besides; empty unless asked for.
    estimator : fitted estimator or None
    exact : bool
        Whether the model came from sums of the other folds' statistics.
    error : str or None
        What went wrong, where all scores were filled in.
    failed_scores : mapping of str to str
        What went wrong with single scores, which were filled in.
    """

    scores: Mapping[str, float]
    train_scores: Mapping[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    n_train: int = 0
    n_test: int = 0
    output: NDArray[Any] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    estimator: Any = None
    exact: bool = False
    error: str | None = None
    failed_scores: Mapping[str, str] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As a journal keeps it; the model itself is not kept."""
        return {
            "scores": dict(self.scores),
            "train_scores": dict(self.train_scores),
            "fit_seconds": self.fit_seconds,
            "score_seconds": self.score_seconds,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "output": None if self.output is None else np.asarray(self.output),
            "facts": dict(self.facts),
            "exact": self.exact,
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> FoldRun:
        """Of a record in a journal."""
        return cls(**record)
