"""The feature space of the polynomial kernel, written out.

    (scale <x, z> + constant)^D  =  sum over monomials x^a of degree |a| <= D  of  w_a^2 x^a z^a

    w_a^2 = D! / (a_1! ... a_p! (D - |a|)!)  scale^|a|  constant^(D - |a|)

Monomials of degree d are made from those of degree d - 1: each is multiplied by every column up to
its own first one, so that none comes twice. The multinomial coefficient is carried along: it grows
by the factor `d / r`, where `r` counts how often the first column now stands in the monomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.memory import check_memory, format_bytes
from novum.kernels.vectors.vector_rows import in_form_of, read_vectors

Floats = NDArray[np.float64]
# Beyond this the kernel itself is the better way, whatever the memory.
MAX_FEATURES = 200_000


@dataclass(frozen=True)
class PolynomialFeatures:
    """`phi` of the kernel `(scale <x, z> + constant)^degree`, for scale and constant >= 0.

    Columns stand by rising degree (only the highest where the constant is 0), and within a degree
    in the order of the columns: `x0 x0, x0 x1, ..., x1 x1, ...`.

    Examples
    --------
    >>> PolynomialFeatures(2, 0.0, 1.0)([[3.0, 1.0]]).round(3)
    array([[9.   , 4.243, 1.   ]])
    >>> PolynomialFeatures(3, 1.0, 1.0).n_features(10)
    286
    """

    degree: int
    constant: float
    scale: float

    def n_features(self, n_columns: int) -> int:
        """How many monomials there are."""
        if self.constant == 0:
            return comb(n_columns + self.degree - 1, self.degree)
        return comb(n_columns + self.degree, self.degree)

    def __call__(self, X: Any) -> Floats:
        rows = read_vectors(X, "Polynomial")
        self._check_size(rows.shape)
        rows = in_form_of(rows, np.empty((0, rows.shape[1])))
        kept, monomials = [], np.ones((len(rows), 1))
        coefficients, runs = np.ones(1), np.zeros(1, np.int64)
        starts = np.zeros(rows.shape[1], np.int64)
        for d in range(self.degree + 1):
            if d > 0:
                monomials, coefficients, runs, starts = _next_degree(
                    rows, monomials, coefficients, runs, starts, d
                )
            rest = self.degree - d
            weight = comb(self.degree, d) * self.scale**d * self.constant**rest
            if rest == 0 or self.constant != 0:
                kept.append(monomials * np.sqrt(weight * coefficients))
        return np.hstack(kept)

    def _check_size(self, shape: tuple[int, int]) -> None:
        n_rows, n_columns = shape
        count = self.n_features(n_columns)
        if count > MAX_FEATURES:
            raise InputError(
                f"The feature map of degree {self.degree} on {n_columns} columns has {count} "
                f"monomials, {format_bytes(8 * n_rows * count)} for {n_rows} rows; at most "
                f"{MAX_FEATURES} are written out. Use the kernel itself, or novum.kernels.Nystroem."
            )
        check_memory(
            # The kept columns, the pieces of the last degree and their union exist at once.
            3 * 8 * n_rows * count,
            f"The feature map with its {count} monomials",
            "Map fewer rows at a time, or use the kernel itself.",
        )


def _next_degree(
    rows: Floats,
    monomials: Floats,
    coefficients: Floats,
    runs: NDArray[np.int64],
    starts: NDArray[np.int64],
    degree: int,
) -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Monomials of one degree more; `starts[j]` is where those begin whose first column is >= j."""
    values, factors, counts, begins, at = [], [], [], [], 0
    for j, start in enumerate(starts):
        stop = starts[j + 1] if j + 1 < len(starts) and degree > 1 else None
        own = monomials.shape[1] if stop is None else int(stop)
        run = np.ones(monomials.shape[1] - start, np.int64)
        # Only those whose first column is j already have it.
        run[: own - start] = runs[start:own] + 1
        values.append(rows[:, j, np.newaxis] * monomials[:, start:])
        factors.append(coefficients[start:] * degree / run)
        counts.append(run)
        begins.append(at)
        at += len(run)
    return (
        np.hstack(values),
        np.concatenate(factors),
        np.concatenate(counts),
        np.array(begins, np.int64),
    )
