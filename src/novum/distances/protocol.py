"""What every distance offers: how far two rows are apart.

A distance is an immutable value. It computes in two steps, as a kernel does: `prepare` reads rows
and learns what the distance needs to know of them (ranges of columns, frequencies of levels), and
the prepared rows give any block of the matrix of distances. New rows are prepared `like` those of
the training.

A distance can be infinite: of rows that share no known cell under `missing="partial"`, where a
function or a matrix says so, or where a sparse matrix of distances does not hold the pair. Such
rows are never near, have no vote beside others, and are never joined. Numbers so large or so small
that powers of their differences leave the range of doubles are refused.

Search needs no roots: prepared rows give sums of powers, `cross_powers`, which rise with the
distance, and `finish` makes distances of them. Both are computed column after column in one order,
so that every way of searching finds the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np

from novum.numerics import Floats

# What a distance is between: rows of numbers, rows of a table with kinds, or any objects.
Takes = Literal["vectors", "table", "objects"]
Missing = Literal["expected", "partial"]


class DistanceRows(ABC):
    """Rows in the form in which one distance computes; made by `Distance.prepare` only.

    Attributes
    ----------
    is_dear : bool
        Whether a single distance costs so much that bounds pay which save some of them.
    rounding : float or None
        What rounding may add to a distance; None where the triangle inequality may fail, or where
        nobody needs to know.
    """

    is_dear: bool = False
    rounding: float | None = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: Any) -> Self:
        """Those rows, by a slice, positions or a mask."""

    @abstractmethod
    def cross_powers(self, other: Self) -> Floats:
        """Numbers that rise with the distance, of every row here and every row of `other`."""

    @abstractmethod
    def finish(self, powers: Floats) -> Floats:
        """Distances from what `cross_powers` gives."""

    def cross(self, other: Self) -> Floats:
        """Distances of every row here (axis 0) and every row of `other` (axis 1)."""
        return self.finish(self.cross_powers(other))


class Distance(ABC):
    """How far two rows are apart.

    Attributes
    ----------
    takes : {"vectors", "table", "objects"}
    is_metric : bool
        Whether the triangle inequality is a theorem, for rows without missing cells.
    needs_target : bool
        Whether it is learned from classes, which `prepare` is given then.
    takes_sparse : bool
        Whether rows may be a sparse matrix.
    """

    takes: ClassVar[Takes] = "vectors"
    is_metric: ClassVar[bool] = True
    needs_target: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False

    @abstractmethod
    def prepare(self, X: Any, like: Any = None, target: Any = None) -> Any:
        """The rows as `DistanceRows`; `like` those of the training, where there were such.

        Parameters
        ----------
        X : Sample or table
        like : DistanceRows, optional
        target : int array (n,), optional
            Codes of classes, for distances that are learned from them.
        """

    def pairwise(self, X: Any, Z: Any = None) -> Floats:
        """Distances of all pairs of `X`, or of every `X` and every `Z`.

        Examples
        --------
        >>> from novum.distances import Manhattan
        >>> Manhattan().pairwise([[0, 0], [3, 4]])
        array([[0., 7.],
               [7., 0.]])
        """
        rows = self.prepare(X)
        return np.asarray(rows.cross(rows if Z is None else self.prepare(Z, rows)))
