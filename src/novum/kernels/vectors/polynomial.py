"""The polynomial kernel: all monomials of the columns up to a degree, without writing them out.

    k(x, z) = (scale <x, z> + constant)^degree

With constant 0 it is homogeneous: phi(x) holds all monomials of exactly that degree; with a
constant above 0 also all lower ones. Multiplying out gives each monomial its weight, the square
root of a multinomial coefficient (`feature_map`). Positive semi-definite for every scale and
constant of at least 0, because sums, products and non-negative multiples of kernels are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novum.kernels.class_or_value import class_or_value
from novum.kernels.parameters import finite_number, positive_integer
from novum.kernels.protocol import Array, Kernel
from novum.kernels.vectors.polynomial_features import PolynomialFeatures
from novum.kernels.vectors.vector_rows import InnerProductKernel

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
