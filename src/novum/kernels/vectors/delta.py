"""The delta kernel: cells that are equal, counted.

    k(x, z) = share of the columns in which x and z are equal

Every column is nominal here, numbers too: 1.0 and 1.1 are as different as 1.0 and 9.0. One column
gives the indicator of equality, `phi` a 0/1 column for each level; several columns give the mean of
their indicators, so that `k(x, x) = 1`. With a `mismatch` above 0, unequal cells count that much
instead of 0, which products over columns need, where one difference would make all 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.tables import Sample, Schema
from novum.kernels.parameters import finite_number
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.table_rows import read_rows
from novum.numerics import Array, Codes, Floats, cached_property

# Rows of a block compared at a time, so that the block stays in the cache.
BLOCK_ROWS = 64


@dataclass(frozen=True)
class Delta(Kernel):
    """Share of equal columns, unequal ones counted as `mismatch`.

    Parameters
    ----------
    mismatch : float, default=0.0
        From 0 to below 1.

    Notes
    -----
    Takes frames, arrays or lists of rows, and a list of labels as one column. Positive
    semi-definite, as a sum of a constant and of indicators of equality. A level not met in training
    equals no other cell, not even of the same level. Missing cells are refused.

    Examples
    --------
    >>> Delta().gram(["red", "blue", "red"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    >>> Delta().cross([["red", 1], ["blue", 2]], [["red", 2]])
    array([[0.5],
           [0.5]])
    """

    takes: ClassVar[Takes] = "table"
    mismatch: float = 0.0

    def __post_init__(self) -> None:
        mismatch = finite_number(self.mismatch, "Delta's mismatch")
        if not 0 <= mismatch < 1:
            raise InputError(
                f"Delta's mismatch is {mismatch}: unequal cells must count from 0 to below 1, "
                "equal ones count 1."
            )
        object.__setattr__(self, "mismatch", mismatch)

    @property
    def is_psd_by_construction(self) -> bool:
        return True

    @property
    def feature_map(self) -> DeltaFeatures:
        """A 0/1 column for each level of each column, and a constant where `mismatch` is not 0."""
        return DeltaFeatures(self)

    def prepare(self, X: Any, like: DeltaRows | None = None) -> DeltaRows:
        sample = read_rows(X, "Delta", None if like is None else like.schema)
        return DeltaRows.of(self, sample)


@dataclass(frozen=True, eq=False)
class DeltaRows(Prepared):
    """Cells to be compared for equality.

    Attributes
    ----------
    kernel : Delta
    schema : Schema
    numbers : float64 array of shape (n, n_numeric)
    codes : int32 array of shape (n, n_categorical)
        A negative code equals no other.
    """

    kernel: Delta
    schema: Schema
    numbers: Floats
    codes: Codes

    @classmethod
    def of(cls, kernel: Delta, sample: Sample) -> DeltaRows:
        return cls(kernel, sample.schema, np.asarray(sample.numeric), sample.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Any) -> DeltaRows:
        taken = DeltaRows(self.kernel, self.schema, self.numbers[rows], self.codes[rows])
        vars(taken)["cells"] = self.cells[rows]
        return taken

    def diagonal(self) -> Floats:
        return np.ones(len(self))

    def cross(self, other: DeltaRows, dtype: DTypeLike = np.float64) -> Array:
        K = np.zeros((len(self), len(other)), dtype)
        mine, theirs = self.cells, other.cells
        if mine.shape[1] != theirs.shape[1]:
            raise InputError(
                f"Delta was given rows of {mine.shape[1]} cells to compare with rows of "
                f"{theirs.shape[1]}. Prepare both from the same columns."
            )
        for start in range(0, len(K), BLOCK_ROWS):
            block = K[start : start + BLOCK_ROWS]
            for j in range(mine.shape[1]):
                block += mine[start : start + BLOCK_ROWS, j, np.newaxis] == theirs[:, j]
        K *= K.dtype.type((1.0 - self.kernel.mismatch) / mine.shape[1])
        K += K.dtype.type(self.kernel.mismatch)
        return K

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        K = self.cross(self, dtype)
        np.fill_diagonal(K, 1.0)
        return K

    @cached_property
    def cells(self) -> Floats:
        """All columns as numbers; NaN, which equals nothing, for a level not met in training."""
        codes = np.where(self.codes < 0, np.nan, self.codes.astype(np.float64))
        return np.hstack([self.numbers, codes])


@dataclass(frozen=True)
class DeltaFeatures:
    """`phi` of a delta kernel: indicators of the levels that the given rows have."""

    kernel: Delta

    def __call__(self, X: Any) -> Floats:
        cells = self.kernel.prepare(X).cells
        weight = np.sqrt((1.0 - self.kernel.mismatch) / cells.shape[1])
        blocks = [
            weight * (cells[:, j, np.newaxis] == np.unique(cells[:, j]))
            for j in range(cells.shape[1])
        ]
        constant = np.full((len(cells), 1), np.sqrt(self.kernel.mismatch))
        return np.hstack(blocks if self.kernel.mismatch == 0 else [constant, *blocks])
