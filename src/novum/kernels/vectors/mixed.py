"""A kernel for tables whose columns are of different kinds.

    mean:     k(x, z) = 1/p  sum over columns of  k_j(x_j, z_j)
    product:  k(x, z) =      product over columns of  k_j(x_j, z_j)

    numeric column   the numeric kernel on x_j / scale_j
    ordinal column   the numeric kernel on the rank of the level, first 0, last 1
    nominal column   the delta kernel

Mean and product keep positive semi-definiteness. A mean lets every column speak for itself, as
Gower's similarity does: rows are alike that agree in many columns. A product wants agreement in all
of them: one nominal difference makes it `mismatch` of `Delta`. Other combinations are written with
`on(columns, kernel)` and the operators.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import DTypeLike

from novum.core.errors import InputError
from novum.core.tables import Kind, Sample, Schema
from novum.core.text import label_text
from novum.kernels.parameters import positive_number
from novum.kernels.protocol import Kernel, Prepared, Takes
from novum.kernels.vectors.delta import Delta, DeltaRows
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.table_rows import read_rows
from novum.numerics import Array, Codes, Floats


@dataclass(frozen=True)
class Mixed(Kernel):
    """Similarity of the rows of a table with numeric, ordinal and nominal columns.

    Parameters
    ----------
    numeric : Kernel of vectors, default=Gaussian(1.0)
        For one numeric or ordinal column.
    nominal : Delta, default=Delta()
    combine : {"mean", "product"}, default="mean"
    scales : tuple of float, optional
        The unit of every numeric column, in their order. By default columns are taken as they are;
        `adapted(X)` fills in their standard deviations.

    Notes
    -----
    Kinds come from the table, as everywhere: `categorical_features` of a learner, types of columns
    otherwise. A kernel depends on nothing but the two rows, therefore the scales are part of it and
    are not learned behind the user's back.

    Examples
    --------
    >>> table = [[1.0, "a"], [3.0, "a"], [3.0, "b"]]
    >>> Mixed(Gaussian(2.0)).gram(table).round(3)
    array([[1.   , 0.803, 0.303],
           [0.803, 1.   , 0.5  ],
           [0.303, 0.5  , 1.   ]])
    >>> Mixed().adapted(table).scales
    (0.9428090415820634,)
    """

    takes: ClassVar[Takes] = "table"
    numeric: Kernel = field(default_factory=Gaussian)
    nominal: Delta = field(default_factory=Delta)
    combine: Literal["mean", "product"] = "mean"
    scales: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.numeric, Kernel) and self.numeric.takes == "vectors"):
            raise InputError(
                "Mixed's numeric kernel must be a kernel of vectors, such as Gaussian(1.0), got "
                f"{label_text(self.numeric)}."
            )
        if not isinstance(self.nominal, Delta):
            raise InputError(
                f"Mixed's nominal kernel must be Delta(...), got {label_text(self.nominal)}."
            )
        if self.combine not in ("mean", "product"):
            raise InputError(f"combine={label_text(self.combine)} is not 'mean' or 'product'.")
        if self.scales is not None:
            scales = tuple(positive_number(s, "A scale of Mixed") for s in self.scales)
            object.__setattr__(self, "scales", scales)

    @property
    def is_psd_by_construction(self) -> bool:
        return self.numeric.is_psd_by_construction

    def adapted(self, X: Any) -> Mixed:
        """The same kernel with the standard deviations of the numeric columns as scales.

        A column without spread keeps its unit.
        """
        numbers = np.asarray(read_rows(X, "Mixed").numeric)
        center = numbers.mean(axis=0)
        spread = np.sqrt(np.mean((numbers - center) ** 2, axis=0))
        # Rounding leaves some spread to a column of equal large numbers.
        flat = np.ptp(numbers, axis=0) == 0
        return replace(self, scales=tuple(np.where(flat, 1.0, spread).tolist()))

    def prepare(self, X: Any, like: MixedRows | None = None) -> MixedRows:
        sample = read_rows(X, "Mixed", None if like is None else like.schema)
        likes = (None,) * len(sample.schema.columns) if like is None else like.numbers
        columns = self._number_columns(sample)
        if self.combine == "product" and isinstance(self.numeric, Gaussian) and columns:
            # A product of Gaussians of columns is the Gaussian of all of them.
            columns = [np.hstack(columns)]
        pairs = zip(columns, likes[: len(columns)], strict=True)
        numbers = tuple(self.numeric.prepare(column, known) for column, known in pairs)
        return MixedRows(self, sample.schema, numbers, _nominal_rows(self.nominal, sample))

    def _number_columns(self, sample: Sample) -> list[Floats]:
        """Scaled numeric columns, then ranks of ordinal ones, each of shape (n, 1)."""
        numbers = np.asarray(sample.numeric)
        if self.scales is not None:
            if len(self.scales) != numbers.shape[1]:
                raise InputError(
                    f"Mixed has {len(self.scales)} scales, but the table has {numbers.shape[1]} "
                    "numeric columns. Give one scale for each of them."
                )
            numbers = numbers / np.array(self.scales)
        columns = [numbers[:, [j]] for j in range(numbers.shape[1])]
        for j, column in enumerate(sample.schema.categorical_columns):
            if column.kind is Kind.ORDINAL:
                _refuse_unranked(sample.codes[:, j], column.name)
                last = max(1, column.n_levels - 1)
                columns.append(sample.codes[:, [j]] / last)
        return columns


@dataclass(frozen=True, eq=False)
class MixedRows(Prepared):
    """The columns of a table, prepared one by one.

    Attributes
    ----------
    kernel : Mixed
    schema : Schema
    numbers : tuple of prepared rows
        One for each numeric and ordinal column; a single one for a product of Gaussians.
    nominal : tuple of prepared rows
        One for each nominal column.
    """

    kernel: Mixed
    schema: Schema
    numbers: tuple[Any, ...]
    nominal: tuple[DeltaRows, ...]

    @property
    def parts(self) -> tuple[Any, ...]:
        return (*self.numbers, *self.nominal)

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: Any) -> MixedRows:
        numbers = tuple(part.take(rows) for part in self.numbers)
        nominal = tuple(part.take(rows) for part in self.nominal)
        return MixedRows(self.kernel, self.schema, numbers, nominal)

    def diagonal(self) -> Floats:
        return np.asarray(self._combined(part.diagonal().copy() for part in self.parts))

    def cross(self, other: MixedRows, dtype: DTypeLike = np.float64) -> Array:
        pairs = zip(self.parts, other.parts, strict=True)
        return self._combined(mine.cross(theirs, dtype) for mine, theirs in pairs)

    def gram(self, dtype: DTypeLike = np.float64) -> Array:
        return self._combined(part.gram(dtype) for part in self.parts)

    def _combined(self, blocks: Any) -> Array:
        total = next(blocks)
        if self.kernel.combine == "product":
            for block in blocks:
                total *= block
            return np.asarray(total)
        for block in blocks:
            total += block
        total /= total.dtype.type(len(self.parts))
        return np.asarray(total)


def _nominal_rows(kernel: Delta, sample: Sample) -> tuple[DeltaRows, ...]:
    none, schema = np.empty((sample.n_rows, 0)), sample.schema
    return tuple(
        DeltaRows(kernel, Schema((column,)), none, sample.codes[:, [j]])
        for j, column in enumerate(schema.categorical_columns)
        if column.kind is Kind.NOMINAL
    )


def _refuse_unranked(codes: Codes, name: str) -> None:
    unseen = np.flatnonzero(codes < 0)
    if unseen.size:
        raise InputError(
            f"Ordinal column {name!r} has a level at row {unseen[0]} that the training does not "
            "have, so it has no rank. Declare all levels in order before fitting."
        )
