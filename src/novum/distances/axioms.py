"""Whether a distance keeps the four axioms of a metric on some rows, with the pair that does not.

d(x, z) >= 0        d(x, z) = 0 exactly where x = z        d(x, z) = d(z, x)
d(x, z) <= d(x, y) + d(y, z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.distances.protocol import Distance
from novum.numerics import EPSILON, Floats

# Rows whose triples are all looked at.
_MOST_ROWS = 400


@dataclass(frozen=True)
class Violation:
    """An axiom that some rows break.

    Attributes
    ----------
    axiom : {"positivity", "identity", "symmetry", "triangle"}
    rows : tuple of int
        The pair, or the triple (x, y, z) whose way over y is shorter.
    text : str
    """

    axiom: str
    rows: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def check_metric(distance: Distance, X: Any) -> tuple[Violation, ...]:
    """The axioms that a distance breaks on these rows, each with the worst pair or triple.

    Parameters
    ----------
    distance : Distance, or callable from two rows to a number
    X : table, at most 400 rows
        Different rows, of which the axiom of identity speaks.

    Returns
    -------
    tuple of Violation
        Empty where all four hold, up to rounding.

    Examples
    --------
    >>> from novum.distances import Cosine, Euclidean
    >>> rows = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    >>> check_metric(Euclidean(), rows)
    ()
    >>> print(check_metric(Cosine(), rows)[0])
    The triangle inequality fails: rows 0 and 2 are 1 apart, but over row 1 only 0.585786.
    """
    D = _matrix(distance, X)
    n = len(D)
    if n > _MOST_ROWS:
        raise InputError(
            f"check_metric looks at all triples of at most {_MOST_ROWS} rows, got {n}."
        )
    room = 16 * EPSILON * np.abs(D).max(initial=0.0)
    violations = []
    least = np.unravel_index(np.argmin(D), D.shape)
    if D[least] < -room:
        violations.append(_said("positivity", least, f"are {D[least]:g} apart, less than 0"))
    own = int(np.argmax(np.abs(np.diagonal(D))))
    if abs(D[own, own]) > room:
        violations.append(
            Violation("identity", (own,), f"Row {own} is {D[own, own]:g} apart from itself.")
        )
    together = np.where(np.eye(n, dtype=bool), np.inf, D)
    if n > 1 and together.min() == 0:
        pair = np.unravel_index(np.argmin(together), D.shape)
        violations.append(_said("identity", pair, "are 0 apart, though they are two rows"))
    skew = np.abs(D - D.T)
    worst = np.unravel_index(np.argmax(skew), D.shape)
    if skew[worst] > room:
        i, j = worst
        words = f"are {D[i, j]:g} apart one way and {D[j, i]:g} the other"
        violations.append(_said("symmetry", worst, words))
    violations += _triangles(D, room)
    return tuple(violations)


def _triangles(D: Floats, room: float) -> list[Violation]:
    worst, triple = room, (0, 0, 0)
    for y in range(len(D)):
        longer = D - (D[:, [y]] + D[[y], :])
        x, z = np.unravel_index(np.argmax(longer), D.shape)
        if longer[x, z] > worst:
            worst, triple = float(longer[x, z]), (int(x), y, int(z))
    if worst <= room:
        return []
    a, b, c = triple
    text = (
        f"The triangle inequality fails: rows {a} and {c} are {D[a, c]:g} apart, but over row {b} "
        f"only {D[a, b] + D[b, c]:g}."
    )
    return [Violation("triangle", triple, text)]


def _said(axiom: str, pair: Any, words: str) -> Violation:
    i, j = (int(row) for row in pair)
    return Violation(axiom, (i, j), f"Rows {i} and {j} {words}.")


def _matrix(distance: Any, X: Any) -> Floats:
    if isinstance(distance, Distance):
        return distance.pairwise(X)
    rows = list(X)
    return np.array([[float(distance(x, z)) for z in rows] for x in rows])
