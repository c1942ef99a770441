"""Multivariate Bernoulli law: d independent yes-or-no answers, such as which words a text has.

    P(x) = prod_j p_j^x_j (1 - p_j)^(1 - x_j),        x in {0, 1}^d

A sample enters the likelihood only through its weight and the number of ones in each column. As the
coordinates are independent, every marginal is a law of the same kind and fixing some coordinates
tells nothing about the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Sums
from novum.distributions.multivariate.coordinates import (
    checked_points,
    checked_table,
    chosen_and_others,
    fixed_and_free,
    log_density_by_pattern,
    refuse_cells,
)
from novum.distributions.multivariate.parameters import (
    ArrayParameters,
    checked_total,
    checked_vector,
)
from novum.distributions.univariate.log_gamma import deviance
from novum.numerics import Floats

if TYPE_CHECKING:
    from novum.distributions.univariate.bernoulli import Bernoulli


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultivariateBernoulliStatistics(Sums, ArrayParameters):
    """What the likelihood needs to know of a weighted sample.

    Parameters
    ----------
    weight : float
        Number of rows.
    successes : array (d,)
        Ones in each column.
    """

    weight: float
    successes: Floats

    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "successes")


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MultivariateBernoulli(ArrayParameters):
    """Law of d independent zeros and ones.

    Parameters
    ----------
    probabilities : array (d,)
        Of a one in each coordinate.

    Examples
    --------
    >>> law = MultivariateBernoulli.fit([[1, 0], [1, 1], [0, 0], [1, 0]])
    >>> law.probabilities.tolist()
    [0.75, 0.25]
    >>> float(law.density([1, 0]))
    0.5625
    """

    probabilities: Floats

    def __post_init__(self) -> None:
        probabilities = checked_vector(self.probabilities, "The probabilities")
        bad = np.flatnonzero((probabilities < 0) | (probabilities > 1))
        if bad.size:
            raise InputError(
                "MultivariateBernoulli needs probabilities from 0 to 1; entry "
                f"{bad[0]} is {probabilities[bad[0]]:g}."
            )
        self._store(probabilities=probabilities)

    @property
    def n_coordinates(self) -> int:
        return self.probabilities.size

    # Density

    def log_density(self, x: ArrayLike) -> Floats:
        """`sum_j x_j log p_j + (1 - x_j) log(1 - p_j)`, and `-inf` off the support."""
        points = checked_points(x, self.n_coordinates, "MultivariateBernoulli")
        p = self.probabilities
        with np.errstate(divide="ignore"):
            one, none = np.log(p), np.log1p(-p)
        each = np.where(points == 1, one, np.where(points == 0, none, -np.inf))
        return np.where(np.isnan(points), np.nan, each).sum(axis=-1)

    def density(self, x: ArrayLike) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: ArrayLike) -> Floats:
        """Log-probability of the coordinates that are present; NaN is missing and drops out."""
        points = checked_points(x, self.n_coordinates, "MultivariateBernoulli")
        return log_density_by_pattern(points, lambda present: self._block(present).log_density)

    def _block(self, chosen: Any) -> MultivariateBernoulli:
        return MultivariateBernoulli(self.probabilities[chosen])

    # Moments

    @property
    def mean(self) -> Floats:
        return self.probabilities

    @property
    def variance(self) -> Floats:
        """`p_j (1 - p_j)` of each coordinate."""
        return self.probabilities * (1 - self.probabilities)

    @property
    def covariance(self) -> Floats:
        """Diagonal: the coordinates are independent."""
        return np.diag(self.variance)

    @property
    def mode(self) -> Floats:
        """A likeliest point; a coordinate with probability one half is 0."""
        return (self.probabilities > 0.5).astype(np.float64)

    @property
    def entropy(self) -> float:
        """Sum of the entropies of the coordinates, in nats."""
        p = self.probabilities
        return float((special.entr(p) - special.xlog1py(1 - p, -p)).sum())

    # Sampling

    def sample(self, size: int | tuple[int, ...], random_state: RandomSource = None) -> Floats:
        """Points of shape `(*size, d)`."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        uniform = stream(random_state).random((*shape, self.n_coordinates))
        return (uniform < self.probabilities).astype(np.float64)

    # Estimation

    @staticmethod
    def statistics(
        x: ArrayLike, weight: ArrayLike | None = None
    ) -> MultivariateBernoulliStatistics:
        """Weight and ones per column of the rows of `x`, of shape (n, d)."""
        rows, weights = checked_table(x, weight, "MultivariateBernoulli")
        refuse_cells(
            "MultivariateBernoulli",
            "zeros and ones",
            rows,
            (rows == 0) | (rows == 1),
            "Code presence as 1 and absence as 0, or choose Multinomial for counts.",
        )
        return MultivariateBernoulliStatistics(float(weights.sum()), weights @ rows)

    @staticmethod
    def completed_statistics(
        x: ArrayLike, weight: ArrayLike | None = None, *, law: MultivariateBernoulli | None = None
    ) -> MultivariateBernoulliStatistics:
        """The same of rows with missing cells, which are ones as often as the law says.

        Without a law, as often as among the present cells of their column.
        """
        rows, weights = checked_table(x, weight, "MultivariateBernoulli")
        missing = np.isnan(rows)
        cells = np.where(missing, 0.0, rows)
        successes = MultivariateBernoulli.statistics(cells, weights).successes
        seen = weights @ ~missing
        shares = successes / np.where(seen > 0, seen, 1.0) if law is None else law.probabilities
        total = float(weights.sum())
        return MultivariateBernoulliStatistics(total, successes + (total - seen) * shares)

    @classmethod
    def from_statistics(cls, statistics: MultivariateBernoulliStatistics) -> MultivariateBernoulli:
        """The probabilities of largest likelihood: the shares of ones."""
        checked_total(statistics.weight, "MultivariateBernoulli")
        # Sums of fractional weights in two orders may differ in their last digit.
        return cls(np.minimum(statistics.successes / statistics.weight, 1.0))

    @classmethod
    def fit(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultivariateBernoulli:
        """Maximum likelihood."""
        return cls.from_statistics(cls.statistics(x, weight))

    @classmethod
    def fit_moments(cls, x: ArrayLike, weight: ArrayLike | None = None) -> MultivariateBernoulli:
        """The law with the sample's mean, which is also that of largest likelihood."""
        return cls.fit(x, weight)

    # Relations

    def kl(self, other: MultivariateBernoulli) -> float:
        """Sum of the divergences of the coordinates; `inf` if `other` excludes a value."""
        if self.n_coordinates != other.n_coordinates:
            raise InputError(
                f"Laws of {self.n_coordinates} and of {other.n_coordinates} coordinates do not go "
                "together."
            )
        p, q = self.probabilities, other.probabilities
        return float((deviance(p, q) + deviance(1 - p, 1 - q)).sum())

    def marginal(self, indices: ArrayLike) -> MultivariateBernoulli | Bernoulli:
        """The law of some of the coordinates, in the order given.

        One coordinate, given as a number, has a `Bernoulli` law; in a list it keeps this class.
        """
        chosen, _ = chosen_and_others(indices, self.n_coordinates)
        if np.ndim(indices) == 0:
            from novum.distributions.univariate.bernoulli import Bernoulli

            return Bernoulli(float(self.probabilities[chosen[0]]))
        return MultivariateBernoulli(self.probabilities[chosen])

    def condition(self, indices: ArrayLike, values: ArrayLike) -> MultivariateBernoulli:
        """The law of the other coordinates: fixing independent ones does not change it."""
        fixed, free, given = fixed_and_free(indices, values, self.n_coordinates)
        seen = MultivariateBernoulli(self.probabilities[fixed])
        if not np.isfinite(seen.log_density(given)):
            raise InputError(
                f"The values {given.tolist()} of coordinates {fixed.tolist()} have probability 0, "
                "so nothing can be conditioned on them."
            )
        return MultivariateBernoulli(self.probabilities[free])
