"""Concentration of distances: whether near and far still differ in this many columns.

For a row with nearest other row at `D_min` and farthest at `D_max`

    relative contrast  (D_max - D_min) / D_min           relative spread  std(D) / mean(D)

In d independent columns of equal weight the spread falls like `1 / sqrt(d)`, the contrast with it,
and neighbors, clusters and kernels of the distance lose their meaning. What counts is not the
number of columns but the dimension of what the rows fill, estimated from the distances
`T_1 < ... < T_k` to the nearest rows by maximum likelihood:

    m_i = [1/(k-2) sum_{j<k} log(T_k / T_j)]^-1,      dimension = 1 / mean_i (1 / m_i)

Numeric columns are brought to unit variance, levels of nominal ones are 1 apart if they differ, and
a missing cell leaves the column out of the pair, whose other columns then count for more.

References
----------
Beyer et al. (1999); Aggarwal, Hinneburg & Keim (2001); Levina & Bickel (2004) with MacKay &
Ghahramani's average.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from novum.core.errors import InputError
from novum.core.runtime import stream
from novum.core.tables import Sample, check_sample
from novum.evaluation.selection.column_scores import ColumnReader
from novum.numerics import Floats, Mask

# Below this contrast the farthest row is less than twice as far as the nearest one.
_LOST = 1.0
_FADING = 3.0


@dataclass(frozen=True)
class DistanceConcentration:
    """How far distances between the rows of a table still tell them apart.

    Attributes
    ----------
    n_columns : int
    n_rows : int
        Rows that were looked at; drawn at random from `n_rows_in` if there are more.
    n_rows_in : int
    relative_contrast : float
        Median over the rows of (farthest - nearest) / nearest.
    relative_spread : float
        Deviation of all distances over their mean.
    intrinsic_dimension : float
        Of what the rows fill; NaN where there are too few different rows.
    n_duplicates : int
        Rows with an equal one, for which the nearest different row was taken.
    """

    n_columns: int
    n_rows: int
    n_rows_in: int
    relative_contrast: float
    relative_spread: float
    intrinsic_dimension: float
    n_duplicates: int

    @property
    def concentrated(self) -> bool:
        """Whether the typical farthest row is less than twice as far as the nearest."""
        return self.relative_contrast < _LOST

    @property
    def verdict(self) -> str:
        """In words: whether methods of distances can be trusted here."""
        ratio = 1 + self.relative_contrast
        seen = (
            f"the farthest row is {ratio:.3g} times as far as the nearest one; {self.n_columns} "
            f"columns fill about {self.intrinsic_dimension:.2g} dimensions"
        )
        if self.concentrated:
            return (
                f"Distances are concentrated: {seen}. Neighbors mean little here; select or "
                "project columns first, or take a method without distances."
            )
        if self.relative_contrast < _FADING:
            return f"Distances begin to concentrate: {seen}. Try fewer columns beside all."
        return f"Distances tell rows apart: {seen}."

    def __repr__(self) -> str:
        rows = f"{self.n_rows} rows" + (
            "" if self.n_rows == self.n_rows_in else f" drawn from {self.n_rows_in}"
        )
        return (
            f"{self.verdict}\n"
            f"  relative contrast    {self.relative_contrast:.4g}\n"
            f"  relative spread      {self.relative_spread:.4g}\n"
            f"  intrinsic dimension  {self.intrinsic_dimension:.3g}\n"
            f"  rows                 {rows}, {self.n_duplicates} with a duplicate"
        )


def distance_concentration(
    X: Any,
    *,
    max_rows: int = 1000,
    n_neighbors: int = 10,
    categorical_features: Any = "auto",
    random_state: Any = 0,
) -> DistanceConcentration:
    """Whether distances between rows still mean something in this many columns.

    Parameters
    ----------
    X : array-like or data frame
        Nominal columns and missing cells are allowed.
    max_rows : int
        Of more rows so many are drawn.
    n_neighbors : int
        For the intrinsic dimension.
    categorical_features : "auto", "all", None, mask, names or positions
    random_state : None, int, Generator, RandomState or SeedSequence
        Of the drawing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> distance_concentration(rng.normal(size=(300, 2))).concentrated
    False
    >>> distance_concentration(rng.normal(size=(300, 500))).concentrated
    True
    """
    reader = ColumnReader(categorical_features)
    sample = check_sample(reader, X, target="none", allow_missing=True)
    if n_neighbors < 3 or max_rows <= n_neighbors:
        raise InputError(
            f"n_neighbors is at least 3 and below max_rows, got {n_neighbors} and {max_rows}."
        )
    if sample.n_rows < 3:
        raise InputError(f"Distances of {sample.n_rows} rows cannot be compared; pass at least 3.")
    drawn = sample
    if sample.n_rows > max_rows:
        rows = stream(random_state, "rows").permutation(sample.n_rows)[:max_rows]
        drawn = sample.rows(np.sort(rows))
    distances = _distances(drawn)
    ordered = np.sort(distances, axis=1)
    # The first is the row itself, and further zeros are its duplicates.
    equal = (ordered == 0).sum(axis=1)
    if (equal == ordered.shape[1]).all():
        raise InputError("All rows are equal, so there are no distances. Pass other columns.")
    nearest = np.array([row[min(k, row.size - 1)] for row, k in zip(ordered, equal, strict=True)])
    alive = nearest > 0
    contrast = (ordered[alive, -1] - nearest[alive]) / nearest[alive]
    pairs = distances[np.triu_indices(drawn.n_rows, 1)]
    return DistanceConcentration(
        sample.schema.n_columns,
        drawn.n_rows,
        sample.n_rows,
        float(np.median(contrast)),
        float(pairs.std() / pairs.mean()),
        intrinsic_dimension(ordered, n_neighbors),
        int((equal > 1).sum()),
    )


def intrinsic_dimension(ordered: Floats, n_neighbors: int) -> float:
    """Levina and Bickel's dimension, averaged as MacKay and Ghahramani do.

    Parameters
    ----------
    ordered : array of shape (n_rows, n_rows)
        Distances of each row to all, ascending; zeros, as to the row itself, are left out.
    n_neighbors : int
    """
    inverse = []
    for row in ordered:
        near = row[row > 0][:n_neighbors]
        if near.size > 2:
            inverse.append(float(np.log(near[-1] / near[:-1]).sum()) / (near.size - 2))
    mean = float(np.mean(inverse)) if inverse else 0.0
    return 1 / mean if mean > 0 else math.nan


def _distances(sample: Sample) -> Floats:
    """Euclidean distances of all pairs of rows, of shape (n_rows, n_rows)."""
    complete = ~np.isnan(sample.numeric).any(axis=0)
    scaled = [_unit(column) for column in sample.numeric[:, complete].T]
    total = np.zeros((sample.n_rows, sample.n_rows))
    if scaled:
        total += cdist(np.column_stack(scaled), np.column_stack(scaled), "sqeuclidean")
    weight = np.full_like(total, len(scaled))
    for values, known, numeric in _other_columns(sample, ~complete):
        both = known[:, None] & known
        apart = (values[:, None] - values) ** 2 if numeric else values[:, None] != values
        total += np.where(both, apart, 0.0)
        weight += both
    n_columns = sample.schema.n_columns
    if not (weight > 0).all():
        first, second = np.argwhere(weight == 0)[0]
        raise InputError(
            f"Rows {first} and {second} have no column that is known in both, so they have no "
            "distance. Leave out rows or columns that are mostly missing."
        )
    distances = np.sqrt(total * (n_columns / weight))
    np.fill_diagonal(distances, 0.0)
    return distances


def _unit(x: Floats) -> Floats:
    """A column of unit variance, missing cells 0; a constant one is 0."""
    known = ~np.isnan(x)
    if not known.any() or np.ptp(x[known]) == 0:
        return np.zeros_like(x)
    return np.where(known, (x - x[known].mean()) / x[known].std(), 0.0)


def _other_columns(sample: Sample, gaps: Mask) -> Iterator[tuple[Any, Any, bool]]:
    """Columns with missing cells, and nominal ones: values, where they are known, if numbers."""
    for x in sample.numeric[:, gaps].T:
        yield _unit(x), ~np.isnan(x), True
    for j in range(sample.codes.shape[1]):
        yield sample.codes[:, j], sample.codes[:, j] >= 0, False
