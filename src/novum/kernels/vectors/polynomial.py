"""The polynomial kernel: all monomials of the columns up to a degree, without writing them out.

    k(x, z) = (scale <x, z> + constant)^degree

With constant 0 it is homogeneous: phi(x) holds all monomials of exactly that degree; with a
constant above 0 also all lower ones. Multiplying out gives each monomial its weight, the square
root of a multinomial coefficient (`feature_map`). Positive semi-definite for every scale and
constant of at least 0, because sums, products and non-negative multiples of kernels are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import check_memory, format_bytes
from novum.kernels.parameters import class_or_value, finite_number, positive_integer
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.vector_rows import InnerProductKernel, in_form_of, read_vectors
from novum.numerics import Array, Floats, Integers

if TYPE_CHECKING:
    from novum.kernels.composition import Composed


@dataclass(frozen=True)
class Polynomial(InnerProductKernel):
    """`k(x, z) = (scale <x, z> + constant)^degree`.

    Parameters
    ----------
    degree : int, default=2
        At least 1.
    constant : float, default=0.0
        0 is the homogeneous kernel. scikit-learn's `coef0`.
    scale : float, default=1.0
        scikit-learn's `gamma`.

    Notes
    -----
    A negative constant or scale is allowed, but then the kernel is not positive semi-definite by
    construction and has no feature map. `feature_map(X)` has one column for each monomial,
    `binomial(p + degree, degree)` of p columns (`binomial(p + degree - 1, degree)` with constant
    0), and is refused where these are too many.

    Examples
    --------
    >>> kernel = Polynomial(2, constant=1.0)
    >>> kernel.gram([[1.0, 2.0], [3.0, -1.0]])
    array([[ 36.,   4.],
           [  4., 121.]])
    >>> kernel.feature_map([[1.0, 2.0]]).round(2)
    array([[1.  , 1.41, 2.83, 1.  , 2.83, 4.  ]])
    """

    degree: int = 2
    constant: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        degree = positive_integer(self.degree, "Polynomial's degree")
        object.__setattr__(self, "degree", degree)
        for name in ("constant", "scale"):
            number = finite_number(getattr(self, name), f"Polynomial's {name}")
            object.__setattr__(self, name, number)

    @property
    def is_psd_by_construction(self) -> bool:
        return self.constant >= 0 and self.scale >= 0

    @property
    def feature_map(self) -> PolynomialFeatures | None:
        """All monomials with the roots of their multinomial weights."""
        if not self.is_psd_by_construction:
            return None
        return PolynomialFeatures(self.degree, self.constant, self.scale)

    @class_or_value
    def of(
        given: Any,  # noqa: N805
        inner: Kernel,
        degree: int | None = None,
        constant: float | None = None,
        scale: float | None = None,
    ) -> Composed:
        """`(scale a(x, z) + constant)^degree` for a kernel `a` on any objects.

        What is not given is that of the value it is called on, or the default for the class.
        """
        from novum.kernels.composition import Composed

        outer = Polynomial(
            given.degree if degree is None else degree,
            given.constant if constant is None else constant,
            given.scale if scale is None else scale,
        )
        return Composed(outer, inner)

    def from_products(self, block: Array) -> Array:
        if self.scale != 1.0:
            block *= block.dtype.type(self.scale)
        if self.constant != 0.0:
            block += block.dtype.type(self.constant)
        return raised_in_place(block, self.degree)

    def largest(self, product: float) -> float:
        try:
            return (abs(self.scale) * product + abs(self.constant)) ** self.degree
        except OverflowError:
            return float("inf")


def raised_in_place(block: Array, degree: int) -> Array:
    """`block ** degree` by repeated squaring, which is much quicker than powers of floats.

    Examples
    --------
    >>> import numpy as np
    >>> raised_in_place(np.array([2.0, -1.0]), 5)
    array([32., -1.])
    """
    if degree == 1:
        return block
    factor = None
    while degree > 1:
        if degree % 2:
            factor = block.copy() if factor is None else factor * block
        block *= block
        degree //= 2
    if factor is not None:
        block *= factor
    return block


# --- Features -------------------------------------------------------------------------------------
#
#     (scale <x, z> + constant)^D  =  sum over monomials x^a of degree |a| <= D  of  w_a^2 x^a z^a
#
#     w_a^2 = D! / (a_1! ... a_p! (D - |a|)!)  scale^|a|  constant^(D - |a|)
#
# Monomials of degree d are made from those of degree d - 1: each is multiplied by every column up
# to its own first one, so that none comes twice. The multinomial coefficient is carried along: it
# grows by the factor `d / r`, where `r` counts how often the first column now stands in the
# monomial.


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
    runs: Integers,
    starts: Integers,
    degree: int,
) -> tuple[Floats, Floats, Integers, Integers]:
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
