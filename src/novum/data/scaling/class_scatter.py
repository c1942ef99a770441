"""Weight and mean of every class, and the scatter of rows about the mean of their class.

    W_k = sum_i w_i,    m_k = sum_i w_i x_i / W_k,    S = sum_k sum_i w_i (x_i - m_k)(x_i - m_k)'

with i over the rows of class k. The pooled scatter S is all that whitening and Fisher's projection
need: one matrix, however many classes there are. Two tables merge class by class (Chan's formula),

    S = S_a + S_b + sum_k (W_ak W_bk / W_k) delta_k delta_k',    delta_k = m_bk - m_ak,

and come apart by the same formula with the sign of the weights turned, all in pairs of doubles.
Where classes are to be weighted by priors, the scatter of each is kept on its own (`by_class`).

References
----------
Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, eq. 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_memory
from novum.core.tables import Sample, Schema
from novum.data.scaling.class_sums import pooled_scatter, scatter_of_classes
from novum.numerics import (
    Array,
    Floats,
    Mask,
    Parts,
    cached_property,
    check_definite,
    check_same_rows,
    check_scatter,
    merged,
)
from novum.numerics import double_double as dd

# A remaining weight below this share of the weight before is the rounding of a sum of weights.
_NOTHING = 1e-12


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """Weights and means of K classes, and the scatter within them, of a weighted table.

    Attributes
    ----------
    schema : Schema
    classes : array of K labels, sorted
    rows : float
        Number of rows of positive weight.
    weight : array (K,)
    mean : array (K, d)
        Of the numeric columns; zeros for a class without rows.
    scatter : array (1, d, d), or (K, d, d) if `by_class`
        Within classes: pooled, or of each class.
    by_class : bool
    weight_low, mean_low, scatter_low
        What the three would have beyond the 16th digit.
    """

    schema: Schema
    classes: Array
    rows: float
    weight: Floats
    mean: Floats
    scatter: Floats
    by_class: bool = False
    weight_low: Floats | None = None
    mean_low: Floats | None = None
    scatter_low: Floats | None = None

    def __post_init__(self) -> None:
        K, d = len(self.classes), self.schema.numeric.size
        shapes = (K,), (K, d), ((K if self.by_class else 1), d, d)
        for name, shape in zip(("weight", "mean", "scatter"), shapes, strict=True):
            high, low = getattr(self, name), getattr(self, f"{name}_low")
            if high.shape != shape or (low is not None and low.shape != shape):
                raise InputError(
                    f"The {name} of {K} classes and {d} columns has shape {shape}, got "
                    f"{high.shape}."
                )
            object.__setattr__(self, f"{name}_low", np.zeros(shape) if low is None else low)

    @classmethod
    def of(cls, sample: Sample, *, by_class: bool = False) -> ClassScatter:
        """Statistics of complete rows; without a target all rows are of one class, 0."""
        classes, codes = sample.classes, sample.target
        if classes is None:
            classes, codes = np.zeros(1, np.int64), np.zeros(sample.n_rows, np.int64)
        K, d = len(classes), sample.schema.numeric.size
        check_memory(
            # Measured: a pair of doubles, as much again while two are merged, and what is made of
            # them: eigenvectors and their products.
            8 * (4 * (K if by_class else 1) + 6) * d * d,
            f"The scatter of {d} columns" + (f" in each of {K} classes" if by_class else ""),
            "Select columns, or put PCA before it, which works in the space of fewer rows.",
        )
        summed = scatter_of_classes if by_class else pooled_scatter
        try:
            weight, mean, scatter = summed(sample.numeric, codes, sample.weight, K)
        except ValueError as error:
            raise InputError(str(error)) from error
        return cls(
            sample.schema,
            classes,
            float(sample.n_rows),
            weight[0],
            mean[0],
            scatter[0],
            by_class,
            weight[1],
            mean[1],
            scatter[1],
        )

    # Views

    @cached_property
    def within(self) -> Floats:
        """Scatter within the classes, all together (d, d)."""
        return np.asarray(self.scatter.sum(axis=0))

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    # Arithmetic

    def __add__(self, other: ClassScatter) -> ClassScatter:
        schema, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        joined = _joined(a, b, 1.0)
        return replace(joined, schema=schema, rows=self.rows + other.rows)

    def __sub__(self, other: ClassScatter) -> ClassScatter:
        """The statistics without the rows of `other`, which must be among them."""
        schema, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        left = a.weight - b.weight
        if (left < -_NOTHING * a.weight).any() or len(labels) > len(self.classes):
            worst = int(np.argmin(left))
            raise InputError(
                f"Cannot remove rows that were never added: class {labels[worst]!s} has weight "
                f"{a.weight[worst]:g}, and {b.weight[worst]:g} is to be removed."
            )
        joined = _joined(a, b, -1.0)
        # A class all of whose rows are gone was never there; one that was only declared stays.
        kept = (joined.weight > 0) | (a.weight == 0)
        rows = max(self.rows - other.rows, float((joined.weight > 0).any()))
        return replace(joined._only(kept), schema=schema, rows=rows)

    def __mul__(self, factor: float) -> ClassScatter:
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"Statistics are scaled by a finite factor of at least 0: {factor!r}.")
        times = dd.pair(factor)
        weight = dd.multiply((self.weight, _low(self.weight_low)), times)
        scatter = dd.multiply((self.scatter, _low(self.scatter_low)), times)
        return replace(
            self,
            rows=self.rows if factor > 0 else 0.0,
            weight=weight[0],
            weight_low=weight[1],
            scatter=scatter[0],
            scatter_low=scatter[1],
        )

    __rmul__ = __mul__

    def zero(self) -> ClassScatter:
        return 0.0 * self

    def isclose(self, other: ClassScatter, rtol: float = 1e-10) -> bool:
        """Equal within `rtol`, in each column's own units; empty classes do not count."""
        _, labels = self._united(other)
        a, b = self._on(labels), other._on(labels)
        squares = np.einsum("kii->ki", np.maximum(a.scatter, b.scatter))
        spread = np.sqrt(squares)
        total = max(a.total_weight, b.total_weight) or 1.0
        deviation = np.sqrt(squares.sum(axis=0) / total)
        met = (a.weight > 0) & (b.weight > 0)
        unit = np.maximum(np.abs(a.mean), np.abs(b.mean)) + deviation
        apart = np.abs(a.scatter - b.scatter)
        return bool(
            np.allclose(a.weight, b.weight, rtol=rtol, atol=0.0)
            and (np.abs(a.mean - b.mean) <= rtol * unit)[met].all()
            and (apart <= rtol * spread[:, :, None] * spread[:, None, :]).all()
        )

    def with_classes(self, classes: Any) -> ClassScatter:
        """The same rows with all labels that may occur; those without rows have weight zero."""
        labels = np.unique(np.asarray(classes))
        _check_same_kind(labels, self.classes)
        unknown = np.setdiff1d(self.classes, labels)
        if unknown.size:
            raise InputError(
                f"`classes` lists {labels.tolist()[:20]}, but the rows have {unknown[0]!s} too. "
                "List every label that occurs."
            )
        return self._on(labels)

    def _united(self, other: ClassScatter) -> tuple[Schema, Array]:
        if not isinstance(other, ClassScatter):
            raise InputError(f"Statistics do not combine with a {type(other).__name__}.")
        if self.by_class != other.by_class:
            raise InputError(
                "One of these statistics has the scatter of each class and the other has it "
                "pooled, because they come from models of different parameters. Sum with the same "
                "parameters."
            )
        _check_same_kind(self.classes, other.classes)
        return self.schema.unite(other.schema), np.union1d(self.classes, other.classes)

    def _on(self, labels: Array) -> ClassScatter:
        """The same statistics for more classes, which have no rows."""
        if np.array_equal(labels, self.classes):
            return replace(self, classes=labels)
        places = np.searchsorted(labels, self.classes)

        def spread_out(values: Any) -> Floats:
            out = np.zeros((len(labels), *values.shape[1:]))
            out[places] = values
            return out

        names = ["weight", "mean", "weight_low", "mean_low"]
        names += ["scatter", "scatter_low"] if self.by_class else []
        moved: dict[str, Any] = {name: spread_out(getattr(self, name)) for name in names}
        return replace(self, classes=labels, **moved)

    def _only(self, kept: Mask) -> ClassScatter:
        names = ["classes", "weight", "mean", "weight_low", "mean_low"]
        names += ["scatter", "scatter_low"] if self.by_class else []
        return replace(self, **{name: getattr(self, name)[kept] for name in names})


# --- Merging --------------------------------------------------------------------------------------


_NAMES = ("weight", "mean", "weight_low", "mean_low")


def _joined(a: ClassScatter, b: ClassScatter, sign: float) -> ClassScatter:
    """`a + sign b` of the same classes, class by class."""
    theirs = sign * b.scatter, sign * _low(b.scatter_low)
    high, low = map(np.array, dd.add((a.scatter, _low(a.scatter_low)), theirs))
    out: dict[str, Any] = {name: np.array(getattr(a, name)) for name in _NAMES}
    for k in np.flatnonzero(b.weight > 0).tolist():
        place = k if a.by_class else 0
        if a.weight[k] == 0:
            for name in _NAMES:
                out[name][k] = getattr(b, name)[k]
        elif sign < 0 and a.weight[k] - b.weight[k] <= _NOTHING * a.weight[k]:
            _check_all_of_class(a, b, k)
            for name in _NAMES:
                out[name][k] = 0.0
            if a.by_class:
                high[place], low[place] = 0.0, 0.0
        else:
            weight, mean, between = _joined_class(a, b, k, sign)
            out["weight"][k], out["weight_low"][k] = weight
            out["mean"][k], out["mean_low"][k] = mean
            high[place], low[place] = dd.add((high[place], low[place]), between)
    if sign < 0:
        high, low = _without_negative(high, low, a.scatter)
    return replace(a, scatter=high, scatter_low=low, **out)


def _check_all_of_class(a: ClassScatter, b: ClassScatter, k: int) -> None:
    """Refuses to remove all rows of a class by others than were added.

    Of scatter that the classes share only the mean of the class is known.
    """
    parts = [np.diagonal(each.scatter[k]) for each in ((a, b) if a.by_class else ())]
    scatters = (parts[0], parts[1]) if parts else (np.zeros_like(a.mean[k]),) * 2
    try:
        check_same_rows(b.weight[k], (a.mean[k], b.mean[k]), scatters)
    except ValueError as error:
        raise InputError(str(error)) from error


def _joined_class(a: ClassScatter, b: ClassScatter, k: int, sign: float) -> Parts:
    """Weight and mean of class k in both, and the scatter that its two means add."""
    d = a.mean.shape[1]
    none = np.zeros((d, d)), np.zeros((d, d))
    return merged(
        (dd.pair(a.weight[k], _low(a.weight_low)[k]), (a.mean[k], _low(a.mean_low)[k]), none),
        (
            dd.pair(sign * b.weight[k], sign * _low(b.weight_low)[k]),
            (b.mean[k], _low(b.mean_low)[k]),
            none,
        ),
        _outer,
    )


def _outer(delta: dd.Pair) -> dd.Pair:
    return dd.multiply(
        (delta[0][:, None], delta[1][:, None]), (delta[0][None, :], delta[1][None, :])
    )


def _without_negative(high: Floats, low: Floats, before: Floats) -> dd.Pair:
    """A column without any spread left has no products with the others either."""
    for k in range(len(high)):
        diagonal = np.diagonal(high[k])
        try:
            check_scatter(diagonal, np.diagonal(before[k]))
            check_definite(high[k], before[k])
        except ValueError as error:
            raise InputError(str(error)) from error
        gone = diagonal < 0
        high[k][gone], high[k][:, gone] = 0.0, 0.0
        low[k][gone], low[k][:, gone] = 0.0, 0.0
    return high, low


def _check_same_kind(a: Array, b: Array) -> None:
    """Refuses to unite labels of different types, which have no common order."""

    def kind(labels: Array) -> str:
        return "text" if labels.dtype.kind in "UOST" else "numbers"

    if a.size and b.size and kind(a) != kind(b):
        raise InputError(
            f"Labels {a.tolist()[:5]} and {b.tolist()[:5]} are of different types. Convert all "
            "labels to one type, such as text."
        )


def _low(part: Floats | None) -> Floats:
    assert part is not None
    return part
