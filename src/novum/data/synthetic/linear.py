"""A linear response with known coefficients and noise.

    y = intercept + <coefficients, x> + noise,   x_j ~ N(0, scale_j^2),   noise ~ N(0, variance)

The best prediction is the conditional mean, and its mean squared error the noise variance. A cell
missing completely at random is replaced by its mean, 0, and adds `coefficient_j^2 scale_j^2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.data.synthetic.sample import Seed, SyntheticSample, check_size, erased
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """Independent normal inputs and a linear response.

    Parameters
    ----------
    coefficients : array of shape (d,)
    intercept : float, default=0.0
    variance : float, default=1.0
        Of the noise.
    scales : float or array of shape (d,), default=1.0
        Standard deviations of the inputs.

    Examples
    --------
    >>> LinearResponse([2.0, -1.0], variance=0.25).sample(50, random_state=0).bayes_error
    0.25
    """

    coefficients: Any
    intercept: float = 0.0
    variance: float = 1.0
    scales: Any = 1.0

    def __post_init__(self) -> None:
        coefficients = np.asarray(self.coefficients, float)
        if coefficients.ndim != 1 or coefficients.size == 0:
            raise InputError(
                f"`coefficients` needs one number per column, got shape {coefficients.shape}."
            )
        scales = np.broadcast_to(np.asarray(self.scales, float), coefficients.shape).copy()
        if not (self.variance >= 0 and (scales > 0).all()):
            raise InputError(
                "LinearResponse needs a variance of at least 0 and positive scales, got "
                f"variance={self.variance!r}, scales={self.scales!r}."
            )
        object.__setattr__(self, "coefficients", coefficients)
        object.__setattr__(self, "scales", scales)

    def sample(self, n: int, random_state: Seed = None, missing: float = 0.0) -> SyntheticSample:
        """`n` rows; `missing` is the rate of cells that are erased."""
        check_size(n, missing)
        rng = np.random.default_rng(random_state)
        X = rng.standard_normal((n, self.coefficients.size)) * self.scales
        y = self.bayes_predict(X) + np.sqrt(self.variance) * rng.standard_normal(n)
        return SyntheticSample(erased(X, missing, rng), y, self.error(missing), 0.0, self)

    def error(self, missing: float = 0.0) -> float:
        """Mean squared error of the best prediction, with cells missing at the given rate."""
        hidden = float(np.sum((self.coefficients * self.scales) ** 2))
        return self.variance + missing * hidden

    def bayes_predict(self, X: ArrayLike) -> Floats:
        rows = np.asarray(X, float)
        return self.intercept + np.where(np.isnan(rows), 0.0, rows) @ self.coefficients
