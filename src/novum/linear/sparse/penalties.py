"""Penalties as values: what a model adds to its loss for the size of its coefficients.

    L2(s)                      s |b|^2 / 2
    L1(s)                      s |b|_1
    ElasticNetPenalty(s, r)    s (r |b|_1 + (1 - r) |b|^2 / 2)
    AdaptiveL1(s, power)       s sum_j |b_j| / |b*_j|^power,        b* from a ridge fit
    Groups(s)                  s sum_g sqrt(size of g) |b_g|

A group is a nominal column with all of its levels, so that the column enters or leaves as a whole;
numeric columns are groups of their own (Yuan and Lin 2006). The adaptive lasso spares the
coefficients that are large without it, and finds the right columns where the lasso may not (Zou
2006). Intercepts are never penalized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Coding, Schema
from novum.core.text import label_text
from novum.linear.sparse.objective import Penalty
from novum.numerics import Floats, Integers


def _check_strength(value: object, name: str) -> None:
    strength = getattr(value, name)
    if not (isinstance(strength, (int, float)) and math.isfinite(strength) and strength > 0):
        raise InputError(
            f"The {name} of {type(value).__name__} must be a finite number above 0, got "
            f"{strength!r}. For no penalty fit LinearRegression, or LogisticRegression(C=inf)."
        )


@dataclass(frozen=True)
class L2:
    """`strength |b|^2 / 2`.

    >>> L2(2.0)
    L2(strength=2.0)
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        _check_strength(self, "strength")

    def of(self, schema: Schema) -> Penalty:
        """The strengths for the coefficients of a table."""
        return Penalty.of(self.strength, 0.0, len(Coding(schema).treatment))


@dataclass(frozen=True)
class L1:
    """`strength |b|_1`: coefficients of columns that say little are zero."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        _check_strength(self, "strength")

    def of(self, schema: Schema) -> Penalty:
        """The strengths for the coefficients of a table."""
        return Penalty.of(self.strength, 1.0, len(Coding(schema).treatment))


@dataclass(frozen=True)
class ElasticNetPenalty:
    """`strength (l1_ratio |b|_1 + (1 - l1_ratio) |b|^2 / 2)`."""

    strength: float = 1.0
    l1_ratio: float = 0.5

    def __post_init__(self) -> None:
        _check_strength(self, "strength")
        if not 0 <= self.l1_ratio <= 1:
            raise InputError(f"l1_ratio must lie between 0 and 1, got {self.l1_ratio!r}.")

    def of(self, schema: Schema) -> Penalty:
        """The strengths for the coefficients of a table."""
        return Penalty.of(self.strength, self.l1_ratio, len(Coding(schema).treatment))


@dataclass(frozen=True)
class AdaptiveL1:
    """`strength sum_j |b_j| / |b*_j|^power`, with `b*` of a fit with `ridge |b|^2 / 2` alone.

    The weights `1 / |b*_j|^power` are divided by their least, so that the largest coefficient has
    the penalty of `L1(strength)`.
    """

    strength: float = 1.0
    power: float = 1.0
    ridge: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("strength", "power", "ridge"):
            _check_strength(self, name)

    def first(self, schema: Schema) -> Penalty:
        """The penalty of the fit that gives `b*`."""
        return Penalty.of(self.ridge, 0.0, len(Coding(schema).treatment))

    def after(self, coef: Floats) -> Penalty:
        """The penalty, from the coefficients (p,) of the first fit."""
        sizes = np.abs(coef)
        largest = float(sizes.max(initial=0.0))
        shares = np.maximum(sizes / largest, 1e-10) if largest > 0 else np.ones_like(sizes)
        return Penalty(self.strength * shares**-self.power, np.zeros_like(sizes))


@dataclass(frozen=True)
class Groups:
    """`strength sum_g sqrt(size of g) |b_g|`: groups of coefficients are zero together.

    Parameters
    ----------
    strength : float
    columns : sequence of sequences of column names, optional
        Columns that form a group; by default every column is one, with all of its levels.

    Examples
    --------
    >>> from novum.core.tables import Column, Kind
    >>> schema = Schema((Column("age"), Column("color", Kind.NOMINAL, ("blue", "green", "red"))))
    >>> penalty = Groups(2.0).of(schema)
    >>> penalty.groups.tolist(), (penalty.l1**2).round(9).tolist()
    ([0, 1, 1], [4.0, 8.0, 8.0])
    """

    strength: float = 1.0
    columns: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        _check_strength(self, "strength")

    def of(self, schema: Schema) -> Penalty:
        """The strengths and groups for the coefficients of a table."""
        labels = self._labels(schema)
        strengths = self.strength * np.sqrt(np.bincount(labels))[labels]
        return Penalty(strengths, np.zeros(len(labels)), groups=labels)

    def _labels(self, schema: Schema) -> Integers:
        """The group of every coefficient."""
        group = np.arange(schema.n_columns)
        seen: set[str] = set()
        for number, names in enumerate(self.columns or ()):
            for name in names:
                if name not in schema.names or name in seen:
                    why = "is in two groups" if name in seen else "is no column of the table"
                    raise InputError(
                        f"Groups: {label_text(name)} {why}. Name columns of the table, each once."
                    )
                seen.add(name)
                group[schema.names.index(name)] = schema.n_columns + number
        coding = Coding(schema)
        of_full = np.repeat(group, np.diff(coding.starts))
        return np.asarray(np.unique(of_full[coding.treatment], return_inverse=True)[1], np.int64)


SparsePenalty = L1 | ElasticNetPenalty | AdaptiveL1 | Groups
PenaltyValue = SparsePenalty | L2


def logistic_penalty(
    penalty: Any, C: float, l1_ratio: float | None
) -> tuple[SparsePenalty | None, float]:
    """What scikit-learn's parameters ask for: None for a plain L2 penalty, and the strength.

    Examples
    --------
    >>> logistic_penalty("elasticnet", 2.0, 0.5)
    (ElasticNetPenalty(strength=0.5, l1_ratio=0.5), 0.5)
    >>> logistic_penalty("deprecated", 2.0, 0.0)
    (None, 0.5)
    """
    ratio = 0.0 if l1_ratio is None else float(l1_ratio)
    if isinstance(penalty, (L1, L2, ElasticNetPenalty, AdaptiveL1, Groups)):
        if C != 1.0 or ratio:
            raise InputError(
                f"The strength of the penalty is in {penalty!r}, but C={C:g} and "
                f"l1_ratio={ratio:g} were given too. Leave C and l1_ratio out."
            )
        return (None if isinstance(penalty, L2) else penalty), float(penalty.strength)
    if penalty is None or np.isinf(C):
        return None, 0.0
    if penalty == "l2" and ratio:
        raise InputError(
            f"penalty='l2' has no L1 part, but l1_ratio={ratio:g} was given. Use l1_ratio=0, or "
            "penalty='elasticnet'."
        )
    if penalty == "l1":
        ratio = 1.0
    strength = 1.0 / C
    if ratio == 0:
        return None, strength
    return (L1(strength) if ratio == 1 else ElasticNetPenalty(strength, ratio)), strength
