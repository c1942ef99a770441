"""Permutation importances as values: numbers, intervals, text and picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.text import printable
from novum.evaluation.inspection.curve_values import axes_of, text_table
from novum.evaluation.measures.interval import Interval

Floats = NDArray[np.float64]

_KEYS = ("importances", "importances_mean", "importances_std")


@dataclass(frozen=True, eq=False)
class PermutationImportance(Mapping[str, Any]):
    """How much worse the score becomes without each column; like scikit-learn's `Bunch`.

    Attributes
    ----------
    names : tuple of str
        Of the columns, or of the groups of columns that were permuted together.
    importances : array of shape (n_names, n_permutations)
        Score of the table as it is minus score with the column permuted; over all folds, if there
        are any.
    intervals : tuple of Interval
        Of the mean importance of each name; `reach` says what they are about.
    score : float
        Of the table as it is; the mean over the folds.
    measure : str
        Name of what is measured.
    reach : str
        "this model, rows like these", or "models trained on such tables" if folds were used.
    sign : float
        -1 where less is better: the score is turned round, texts and pictures are not.
    """

    names: tuple[str, ...]
    importances: Floats
    intervals: tuple[Interval, ...]
    score: float
    measure: str
    reach: str
    sign: float = 1.0

    @property
    def importances_mean(self) -> Floats:
        """Mean over the permutations, of shape (n_names,)."""
        return self.importances.mean(axis=1)

    @property
    def importances_std(self) -> Floats:
        """Deviation over the permutations, of shape (n_names,); it is no error of the mean."""
        return self.importances.std(axis=1)

    # A mapping, as scikit-learn's Bunch is

    def __getitem__(self, key: str) -> Any:
        if key not in _KEYS:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    # Reading

    def ranking(self) -> list[str]:
        """Names by falling mean importance."""
        return [self.names[j] for j in np.argsort(-self.importances_mean, kind="stable")]

    def plot(self, ax: Any = None, *, most: int = 20) -> Any:
        """Draws the largest importances with their intervals into axes, which are returned."""
        ax = axes_of(ax)
        order = np.argsort(-self.importances_mean, kind="stable")[:most]
        place = np.arange(len(order))[::-1]
        ax.axvline(0, color="0.5", lw=0.8, zorder=0)
        for y, j in zip(place, order, strict=True):
            low, high = self.intervals[j]
            if np.isfinite(low) and np.isfinite(high):
                ax.plot([low, high], [y, y], color="tab:blue", lw=2)
            ax.plot(self.importances_mean[j], y, "o", color="tab:blue")
        ax.set_yticks(place, [printable(self.names[j], 30) for j in order])
        ax.set_xlabel(f"{self._change} of {self.measure} without the column")
        return ax

    def __repr__(self) -> str:
        order = np.argsort(-self.importances_mean, kind="stable")
        rows = [[printable(self.names[j], 40), repr(self.intervals[j])] for j in order]
        table = text_table(["column", f"{self._change} of {self.measure}"], rows)
        shown = self.sign * self.score
        return f"{table}\n{self.measure} {shown:.4g} with all columns; for {self.reach}"

    @property
    def _change(self) -> str:
        return "loss" if self.sign > 0 else "rise"
