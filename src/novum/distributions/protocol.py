"""What every probability law offers, and what its methods promise.

A law is an immutable value: its parameters are checked once, when it is made, and every method is a
function of them. Whoever knows one law knows all:

    density, log_density        at any number of points
    cdf, quantile, probability  where the values are ordered
    mean, variance, mode, entropy, support      properties: they need no argument (entropy in nats)
    sample                      `size` independent values
    statistics, from_statistics, fit, fit_moments
    kl, marginal, condition, affine             relations to other laws (kl in nats)

A method that makes no sense for a law, or has no closed form, is absent; it never returns a
placeholder. The promises that hold for all laws are written at the methods below; the checks in
`distributions.contracts` test them, and new laws run the same checks.

Shapes: a law of numbers takes arrays of any shape. A law of vectors takes `(..., d)`, one of
matrices `(..., d, d)`; leading axes are points. A law of a pair (normal-gamma, normal-Wishart)
takes the two parts as two arguments and samples a tuple of them.

NaN stays NaN (a missing value has no known density); no other argument gives NaN, whatever its
size, and nothing warns. Wrong parameters and wrong data raise `InputError`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike

from novum.core.runtime import RandomSource
from novum.numerics import Floats

Size = int | tuple[int, ...]


@runtime_checkable
class LawStatistics(Protocol):
    """All that a likelihood needs to know of a weighted sample, as an immutable sum.

    `S(A) + S(B)` is that of both samples, `S - S(B)` takes rows away again, `a * S` counts every
    row `a` times, `0 * S` is the sum over no rows, which changes nothing when added. `weight` is
    the total weight: the number of rows where they have none.
    """

    @property
    def weight(self) -> float: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rmul__(self, factor: float, /) -> Any: ...
    def isclose(self, other: Any, rtol: float = 1e-10) -> bool: ...


@runtime_checkable
class Law(Protocol):
    """A probability law of numbers, vectors, matrices or labels."""

    def log_density(self, x: Any, /) -> Floats:
        """Logarithm of the density, or of the probability where values are discrete.

        One number per point; `-inf` where the density is zero, in particular off the support, and
        `+inf` where it is infinite.
        """
        ...

    def density(self, x: Any, /) -> Floats:
        """`exp(log_density(x))`."""
        ...

    def sample(self, size: Size, random_state: RandomSource = None) -> Any:
        """Independent values: an array of shape `size` (plus that of one value).

        The same integer `random_state` gives the same values.
        """
        ...


@runtime_checkable
class RealLaw(Law, Protocol):
    """A law of numbers, discrete or continuous.

    A moment that does not exist raises `InputError`; one that is infinite is `inf`.

    `probability(a, b)` is `P(a <= X <= b)`, both ends included, with all digits also far out in the
    tails. Bernoulli and binomial laws, whose parameter has that name, call it
    `interval_probability`.
    """

    discrete: ClassVar[bool]
    """Whether `density` is a probability of single whole numbers."""

    @property
    def support(self) -> tuple[float, float]:
        """The smallest interval that holds all values; its ends may be infinite."""
        ...

    def cdf(self, x: ArrayLike, /) -> Floats:
        """`P(X <= x)`, never falling; 0 at `-inf` and 1 at `inf`."""
        ...

    def quantile(self, level: ArrayLike, /) -> Floats:
        """The smallest value of the support at which the cdf reaches `level`, from 0 to 1."""
        ...

    @property
    def mean(self) -> float: ...
    @property
    def variance(self) -> float: ...


@runtime_checkable
class EstimableLaw(Law, Protocol):
    """A law whose likelihood depends on a sample through sums only.

    `fit(x, weight) = from_statistics(statistics(x, weight))` is the maximum of the likelihood. A
    weight means repetition: 2 is the row twice, 0 the row absent. Samples for which there is no
    maximum raise `InputError`. Quantities that a law cannot estimate, such as the number of trials
    of a binomial, are keywords of `statistics` and `fit`.
    """

    @staticmethod
    def statistics(x: Any, /, weight: ArrayLike | None = None) -> Any: ...
    @classmethod
    def from_statistics(cls, statistics: Any, /) -> Self: ...
    @classmethod
    def fit(cls, x: Any, /, weight: ArrayLike | None = None) -> Self: ...
