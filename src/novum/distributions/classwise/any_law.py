"""Columns under any law of numbers that is estimated from sums, one law for each class.

    log p(x | k) = log of the density of the law that the cells of class k give

The law's own statistics, maximum of the likelihood, density and samples are all that is used
(`EstimableLaw`), so every law of this package, and every new one, is the law of a column. Where the
cells of a class have no maximum (none, or all equal), the law of all classes together stands in; a
column without any cell says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from novum.core.errors import InputError, ModelFileError
from novum.core.tables import Sample, Schema
from novum.distributions.classwise.protocol import ClassSums
from novum.distributions.protocol import EstimableLaw
from novum.numerics import Floats, Integers, Positions


@dataclass(frozen=True, eq=False)
class LawBlock:
    """Columns with laws of their own.

    Attributes
    ----------
    columns : array of shape (d,)
        Positions among the numeric columns.
    laws : tuple of d tuples of K laws
        None for a column that says nothing.
    """

    columns: Positions
    laws: tuple[tuple[Any, ...], ...]

    @classmethod
    def estimate(
        cls, columns: Positions, sums: ClassSums, laws: Sequence[type[EstimableLaw]]
    ) -> LawBlock:
        """Maximum likelihood in every class."""
        pairs = zip(columns.tolist(), laws, strict=True)
        return cls(columns, tuple(class_laws(law, sums.law_sums(j)) for j, law in pairs))

    def log_prior(self) -> float:
        """Zero: the laws are those of largest likelihood."""
        return 0.0

    def log_likelihood(self, sample: Sample) -> Floats:
        """Sum over the columns, of shape (n, K)."""
        return self.contributions(sample).sum(axis=2)

    def contributions(self, sample: Sample) -> Floats:
        """Of each column, of shape (n, K, d)."""
        out = np.zeros((sample.n_rows, len(self.laws[0]), self.columns.size))
        for place, (column, laws) in enumerate(zip(self.columns, self.laws, strict=True)):
            present = ~np.isnan(sample.numeric[:, column])
            cells = sample.numeric[present, column]
            for k, law in enumerate(laws):
                if law is not None:
                    out[present, k, place] = law.log_density(cells)
        return out

    def draw(self, labels: Positions, rng: np.random.Generator) -> Floats:
        """One row of cells for each class code; a column that says nothing is missing."""
        out = np.full((len(labels), self.columns.size), np.nan)
        for place, laws in enumerate(self.laws):
            for k in np.unique(labels):
                if laws[k] is not None:
                    rows = labels == k
                    out[rows, place] = laws[k].sample(int(rows.sum()), rng)
        return out

    def check(self, schema: Schema, n_classes: int) -> None:
        """Refuses a block of a file that does not fit the model."""
        inside = ((self.columns >= 0) & (self.columns < schema.numeric.size)).all()
        if not inside or len(self.laws) != self.columns.size:
            raise ModelFileError("The model has laws for columns that it does not have.")
        for laws in self.laws:
            whole = all(law is None or isinstance(law, EstimableLaw) for law in laws)
            if len(laws) != n_classes or not whole:
                raise ModelFileError(f"The model has no law for each of its {n_classes} classes.")


def class_statistics(
    law: type[EstimableLaw],
    name: str,
    cells: Floats,
    classes: Integers,
    n_classes: int,
    weight: Floats | None,
) -> tuple[Any, ...]:
    """The law's statistics of the present cells of a column in each class; None without any."""
    statistics: list[Any] = []
    for k in range(n_classes):
        rows = (classes == k) & ~np.isnan(cells)
        try:
            statistics.append(
                law.statistics(cells[rows], None if weight is None else weight[rows])
                if rows.any()
                else None
            )
        except InputError as error:
            raise InputError(f"Column {name!r}: {error}") from error
    return tuple(statistics)


def class_laws(law: type[EstimableLaw], sums: Sequence[Any]) -> tuple[Any, ...]:
    """The law of each class; that of all classes together where a class alone gives none."""
    known = [part for part in sums if part is not None and part.weight > 0]
    if not known:
        return (None,) * len(sums)

    def estimate(part: Any) -> Any:
        try:
            return None if part is None else law.from_statistics(part)
        except InputError:
            return None

    own = [estimate(part) for part in sums]
    if any(one is None for one in own):
        whole = law.from_statistics(reduce(add, known))
        own = [whole if one is None else one for one in own]
    return tuple(own)
