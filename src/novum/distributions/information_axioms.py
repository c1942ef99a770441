"""Does a function measure impurity? The axioms, checked on points of the simplex.

An impurity `f(p)` of class shares `p` is asked to be

    zero at certainty       f(1, 0, ..., 0) = 0
    non-negative            f(p) >= 0
    symmetric               f does not depend on the names of the classes
    largest when uniform    f(p) <= f(1/k, ..., 1/k)
    concave                 f(a p + b q) >= a f(p) + b f(q),  a + b = 1
    strictly concave        and > where p and q differ

Concavity is what makes the gain of a split, `f(parent) - sum share_j f(child_j)`, never negative:
the parent is the mean of its children. Strict concavity makes every split gain that separates the
classes at all. Entropy and Gini impurity satisfy all six; the error rate `1 - max p` is concave but
linear where one class leads, so it sees no gain in splits that help later ones.

An axiom that fails has a witness, which proves it; one that holds on all points tried is supported,
not proved.

References
----------
Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984, 4.1 and 4.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.distributions.information import probabilities_of
from novum.numerics import Floats

Impurity = Callable[[Floats], float]

# Mixtures of points closer than this prove nothing about strictness.
_APART = 0.05


@dataclass(frozen=True)
class Axiom:
    """One axiom: its name, whether it held on all points tried, and the worst point if not.

    Parameters
    ----------
    name : str
    holds : bool
    violation : float
        By how much it fails at the witness; 0 if it holds.
    witness : tuple of points
        Class shares at which it fails most; empty if it holds.
    """

    name: str
    holds: bool
    violation: float = 0.0
    witness: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class ImpurityReport:
    """Which axioms of an impurity measure a function satisfies.

    Examples
    --------
    >>> print(check_impurity(error_impurity))
    zero at certainty: holds
    non-negative: holds
    symmetric: holds
    largest when uniform: holds
    concave: holds
    strictly concave: fails, there is no gain at (1, 0), (0.95, 0.05)
    """

    axioms: tuple[Axiom, ...]

    @property
    def holds(self) -> bool:
        """Whether all axioms hold on the points tried."""
        return all(axiom.holds for axiom in self.axioms)

    @property
    def failing(self) -> tuple[str, ...]:
        return tuple(axiom.name for axiom in self.axioms if not axiom.holds)

    def __getitem__(self, name: str) -> Axiom:
        for axiom in self.axioms:
            if axiom.name == name:
                return axiom
        known = ", ".join(axiom.name for axiom in self.axioms)
        raise InputError(f"There is no axiom {name!r}; there are {known}.")

    def __str__(self) -> str:
        return "\n".join(_line(axiom) for axiom in self.axioms)


def gini_impurity(p: ArrayLike) -> float:
    """`1 - sum p^2`: how often two random draws differ.

    >>> gini_impurity([0.5, 0.5])
    0.5
    """
    shares = probabilities_of(p)
    return float((shares * (1 - shares)).sum())


def error_impurity(p: ArrayLike) -> float:
    """`1 - max p`: how often the most common class is wrong.

    >>> error_impurity([0.25, 0.75])
    0.25
    """
    return float(1 - probabilities_of(p).max())


def check_impurity(
    function: Impurity,
    n_classes: int = 2,
    n_points: int = 50,
    tolerance: float = 1e-9,
    random_state: RandomSource = 0,
) -> ImpurityReport:
    """Check the axioms of an impurity measure on a grid and on random class shares.

    Parameters
    ----------
    function : callable of an array of class shares
    n_classes : int
    n_points : int
        Random points besides the grid; every pair of points is mixed at three weights.
    tolerance : float
        Of the largest value met; smaller violations are rounding.
    random_state : None, int, Generator or RandomState

    Examples
    --------
    >>> check_impurity(gini_impurity, n_classes=3).holds
    True
    """
    if n_classes < 2:
        raise InputError(f"An impurity is about at least 2 classes, got {n_classes}.")
    points = _points(n_classes, n_points, random_state)
    values = np.array([float(function(point)) for point in points])
    if not np.isfinite(values).all():
        bad = tuple(float(share) for share in points[int(np.argmin(np.isfinite(values)))])
        raise InputError(f"The function is not finite at the class shares {bad}.")
    slack = tolerance * max(1e-300, float(np.abs(values).max()))
    concave, strict = _concavity(function, points, values, slack)
    return ImpurityReport(
        (
            _certainty(function, n_classes, slack),
            _worst("non-negative", -values, points, slack),
            _symmetry(function, points, values, slack),
            _uniform(function, points, values, slack),
            concave,
            strict,
        )
    )


# --- Axioms ---------------------------------------------------------------------------------------


def _certainty(function: Impurity, n_classes: int, slack: float) -> Axiom:
    corners = np.eye(n_classes)
    values = np.array([abs(float(function(corner))) for corner in corners])
    return _worst("zero at certainty", values, corners, slack)


def _symmetry(function: Impurity, points: Floats, values: Floats, slack: float) -> Axiom:
    """Turning the classes around and swapping the first two generates all permutations."""
    turned = np.array([float(function(np.roll(point, 1))) for point in points])
    order = [1, 0, *range(2, points.shape[1])]
    swapped = np.array([float(function(point[order])) for point in points])
    gap = np.maximum(np.abs(turned - values), np.abs(swapped - values))
    return _worst("symmetric", gap, points, slack)


def _uniform(function: Impurity, points: Floats, values: Floats, slack: float) -> Axiom:
    k = points.shape[1]
    top = float(function(np.full(k, 1 / k)))
    return _worst("largest when uniform", values - top, points, slack)


def _concavity(
    function: Impurity, points: Floats, values: Floats, slack: float
) -> tuple[Axiom, Axiom]:
    worst: tuple[float, tuple[int, ...]] = (0.0, ())
    flattest: tuple[float, tuple[int, ...]] = (np.inf, ())
    for i, j, share in _mixtures(points):
        mixed = float(function(share * points[i] + (1 - share) * points[j]))
        gain = mixed - share * values[i] - (1 - share) * values[j]
        pair = (i, j)
        if gain < worst[0]:
            worst = (gain, pair)
        if gain < flattest[0] - slack and np.abs(points[i] - points[j]).max() >= _APART:
            flattest = (gain, pair)
    concave = _pair_axiom("concave", worst, points, slack, failed=worst[0] < -slack)
    return concave, _pair_axiom(
        "strictly concave", flattest, points, slack, failed=flattest[0] <= slack
    )


def _mixtures(points: Floats) -> Iterator[tuple[int, int, float]]:
    for i, j in itertools.combinations(range(len(points)), 2):
        for share in (0.5, 0.25, 0.75):
            yield i, j, share


def _pair_axiom(
    name: str, worst: tuple[float, tuple[int, ...]], points: Floats, slack: float, failed: bool
) -> Axiom:
    if not failed:
        return Axiom(name, True)
    witness = tuple(_shares(points[place]) for place in worst[1])
    # A gain of zero up to rounding is no loss: the axiom fails by being an equality.
    return Axiom(name, False, -float(worst[0]) if worst[0] < -slack else 0.0, witness)


def _worst(name: str, excess: Floats, points: Floats, slack: float) -> Axiom:
    place = int(np.argmax(excess))
    if excess[place] <= slack:
        return Axiom(name, True)
    return Axiom(name, False, float(excess[place]), (_shares(points[place]),))


# --- Points and text ------------------------------------------------------------------------------


def _points(n_classes: int, n_random: int, random_state: RandomSource) -> Floats:
    """The corners, mixtures of two classes in steps of 0.05, and random points."""
    rows = [np.eye(n_classes)]
    for step in range(1, 20):
        row = np.zeros(n_classes)
        row[0], row[1] = 1 - step / 20, step / 20
        rows.append(row[None])
    rows.append(np.full((1, n_classes), 1 / n_classes))
    rows.append(stream(random_state, "impurity").dirichlet(np.ones(n_classes), n_random))
    return np.vstack(rows)


def _shares(point: Floats) -> tuple[float, ...]:
    return tuple(round(float(share), 12) for share in point)


def _line(axiom: Axiom) -> str:
    if axiom.holds:
        return f"{axiom.name}: holds"
    where = ", ".join("(" + ", ".join(f"{s:.3g}" for s in point) + ")" for point in axiom.witness)
    by = f"fails by {axiom.violation:.3g}" if axiom.violation else "fails, there is no gain"
    return f"{axiom.name}: {by} at {where}"
