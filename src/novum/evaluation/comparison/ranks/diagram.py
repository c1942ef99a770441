"""Critical-difference diagram (Demsar 2006): mean ranks on a line, and who cannot be told apart.

Models stand at their mean ranks, the best at the left. A thick bar joins models whose ranks lie
within the critical difference of Nemenyi's test; bars are maximal, and none lies within another.
The drawing is plain lines and labels, shown as SVG or by matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import Drawing, Label, Path
from novum.evaluation.comparison.ranks.friedman import critical_difference, score_ranks

WIDTH = 700.0
MARGIN = 200.0
AXIS = 70.0
ROW = 22.0
BAR = 9.0
TICK = 6.0
LONGEST_LABEL = 19


@dataclass(frozen=True)
class CriticalDifferenceDiagram:
    """Mean ranks of models over data sets with their critical difference.

    Attributes
    ----------
    names : tuple of str
        Best first; equal ranks in the order given.
    mean_ranks : tuple of float
        Ascending.
    difference : float or None
        Nemenyi's critical difference; None where `apart` says who is told apart.
    n_datasets : int
    level : float
    apart : tuple of pairs of int
        Places in `names` that another test told apart.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.5], [0.8, 0.9, 0.4], [0.7, 0.6, 0.5], [0.9, 0.8, 0.6]]
    >>> found = critical_difference_diagram(scores, ["forest", "tree", "stump"])
    >>> found.mean_ranks, found.groups
    ((1.25, 1.75, 3.0), (('forest', 'tree'), ('tree', 'stump')))
    """

    names: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    difference: float | None
    n_datasets: int
    level: float = 0.95
    apart: tuple[tuple[int, int], ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal groups of two or more neighbors on the line of which no two are told apart."""
        return tuple(self.names[first : last + 1] for first, last in self._spans())

    def _spans(self) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for first, last in enumerate(self._lasts()):
            if last > first and (not spans or last > spans[-1][1]):
                spans.append((first, last))
        return spans

    def _lasts(self) -> list[int]:
        """For each place the last one to the right that it can be joined with."""
        if self.difference is None:
            # Up to the first that is told apart from this one, or from one in between.
            n = len(self.names)
            nearest = [n] * (n + 1)
            for first in range(n - 1, -1, -1):
                told = [max(pair) for pair in self.apart if min(pair) == first]
                nearest[first] = min([nearest[first + 1], *told])
            return [stop - 1 for stop in nearest[:n]]
        ranks = np.asarray(self.mean_ranks)
        # A distance of exactly the critical difference is significant, up to rounding of sums.
        reach = ranks + self.difference * (1 - 1e-12)
        lasts: list[int] = (np.searchsorted(ranks, reach, side="left") - 1).tolist()
        return lasts

    @property
    def description(self) -> str:
        """The diagram in words."""
        ranks = ", ".join(
            f"{printable(name)} {rank:.2f}"
            for name, rank in zip(self.names, self.mean_ranks, strict=True)
        )
        joined = "; ".join(", ".join(map(printable, group)) for group in self.groups)
        return (
            f"Mean ranks over {self.n_datasets} data sets, 1 is best: {ranks}. {self._test()}"
            + (f"Not told apart: {joined}." if joined else "All models are told apart.")
        )

    def _test(self) -> str:
        if self.difference is None:
            return f"Pairs tested at level {self.level:g}. "
        return f"Critical difference {self.difference:.2f} at level {self.level:g}. "

    def svg(self) -> str:
        """The diagram as SVG source, with its description; the same bytes every time."""
        return self.drawing().as_svg()

    def plot(self, ax: Any = None) -> Any:
        """Draws the diagram into matplotlib axes and returns them."""
        return self.drawing().plot(ax)

    def drawing(self, description: str | None = None) -> Drawing:
        """Lines and labels at their places; `description` stands for the diagram in words."""
        return _drawing(self, self.description if description is None else description)

    def _repr_svg_(self) -> str:
        return self.svg()


def critical_difference_diagram(
    scores: ArrayLike, names: Sequence[str], *, level: float = 0.95
) -> CriticalDifferenceDiagram:
    """The diagram of models scored on data sets.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_models)
        Greater is better.
    names : sequence of str
        One for each model.
    level : float

    Returns
    -------
    CriticalDifferenceDiagram
    """
    ranks = score_ranks(scores)
    n, k = ranks.shape
    if len(names) != k or len(set(names)) < k:
        raise InputError(
            f"The diagram needs {k} different names, one for each column of scores, got "
            f"{list(names)!r}."
        )
    means = ranks.mean(axis=0)
    order = np.argsort(means, kind="stable")
    return CriticalDifferenceDiagram(
        tuple(str(names[j]) for j in order),
        tuple(means[order].tolist()),
        critical_difference(k, n, level=level),
        n,
        level,
    )


# --- Layout ---------------------------------------------------------------------------------------


def _drawing(diagram: CriticalDifferenceDiagram, description: str) -> Drawing:
    k = len(diagram.names)
    bars = len(diagram.groups)
    top = AXIS + BAR * (bars + 1) + ROW / 2
    lines, labels = _axis(diagram)
    for level, (first, last) in enumerate(diagram._spans()):
        y = AXIS + BAR * (level + 1)
        ends = _place(diagram.mean_ranks[first], k) - 4, _place(diagram.mean_ranks[last], k) + 4
        lines.append(_line(ends[0], y, ends[1], y, 4.0))
    half = (k + 1) // 2
    for j, (name, rank) in enumerate(zip(diagram.names, diagram.mean_ranks, strict=True)):
        left = j < half
        # The outermost model has the highest label on either side, so that no lines cross.
        y = top + ROW * (j if left else k - 1 - j)
        end = MARGIN - 20 if left else WIDTH - MARGIN + 20
        x = _place(rank, k)
        lines += [_line(x, AXIS, x, y, 1.0), _line(x, y, end, y, 1.0)]
        text = f"{printable(name, LONGEST_LABEL)} ({rank:.2f})"
        labels.append(Label(end + (-5 if left else 5), y + 4, text, "end" if left else "start"))
    title = "Critical-difference diagram"
    return Drawing(WIDTH, top + ROW * half, [*lines, *labels], title, description)


def _axis(diagram: CriticalDifferenceDiagram) -> tuple[list[Path], list[Label]]:
    k = len(diagram.names)
    lines = [_line(MARGIN, AXIS, WIDTH - MARGIN, AXIS, 1.5)]
    labels = []
    step = max(1, -(-k // 20))
    for rank in range(1, k + 1, step):
        x = _place(rank, k)
        lines.append(_line(x, AXIS - TICK, x, AXIS, 1.0))
        labels.append(Label(x, AXIS - TICK - 4, str(rank), "middle"))
    if diagram.difference is None:
        return lines, labels
    # A critical difference longer than the axis is drawn as long as the axis; the text has it all.
    end = min(_place(1 + diagram.difference, k), WIDTH - MARGIN)
    y = AXIS - 40
    lines += [_line(MARGIN, y, end, y, 1.5)]
    lines += [_line(x, y - 3, x, y + 3, 1.5) for x in (MARGIN, end)]
    labels.append(Label(MARGIN, y - 8, f"CD = {diagram.difference:.2f}", "start"))
    return lines, labels


def _place(rank: float, k: int) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * (rank - 1) / (k - 1)


def _line(x1: float, y1: float, x2: float, y2: float, width: float) -> Path:
    return Path([(x1, y1), (x2, y2)], width=width)
