"""What an ordinal regression says about its coefficients.

Near the optimum the likelihood is that of a normal law, whose covariance is the inverse of the
observed information, the Hessian of the negative log-likelihood. Under the logit link `exp(b_j)` is
the factor by which the odds of a higher class grow with one unit of column j, at every threshold:

    odds(class > k | x_j + 1) = exp(b_j) odds(class > k | x_j).

Without columns the likelihood has a closed form, the shares of the classes, so the likelihood-ratio
test of all coefficients comes for free.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from novum.core.errors import InputError
from novum.core.text import printable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrdinalInference:
    """Standard errors, tests and intervals of an ordinal regression.

    Arrays have the coefficients first and the thresholds after them.

    Attributes
    ----------
    names : tuple of str
        Of coefficients, then of thresholds as `lower|upper`.
    n_coefs : int
    values, standard_errors : arrays of shape (n_coefs + n_thresholds,)
        NaN errors where the rows leave a coefficient open.
    log_likelihood, null_log_likelihood : float
        With all columns, and with thresholds only.
    rank : int
        Coefficients that the rows determine.
    weight : float
        Number of rows, by their weights.
    link : str
    """

    names: tuple[str, ...]
    n_coefs: int
    values: Floats
    standard_errors: Floats
    log_likelihood: float
    null_log_likelihood: float
    rank: int
    weight: float
    link: str

    @property
    def coef(self) -> Floats:
        return self.values[: self.n_coefs]

    @property
    def thresholds(self) -> Floats:
        return self.values[self.n_coefs :]

    @property
    def z_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.values / self.standard_errors)

    @property
    def p_values(self) -> Floats:
        """Two-sided p values of Wald's test that a value is zero."""
        return np.asarray(2 * special.ndtr(-np.abs(self.z_values)))

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals, lower and upper ends along the last axis."""
        if not 0 < confidence < 1:
            raise ValueError(f"confidence is a probability between 0 and 1, got {confidence!r}.")
        half = special.ndtri((1 + confidence) / 2) * self.standard_errors
        return np.stack([self.values - half, self.values + half], axis=-1)

    @property
    def odds_ratios(self) -> Floats:
        """Factor of the odds of a higher class for one unit of each column."""
        self._require_odds()
        return np.exp(self.coef)

    def odds_ratio_intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals of the odds ratios."""
        self._require_odds()
        return np.exp(self.intervals(confidence)[: self.n_coefs])

    @property
    def likelihood_ratio(self) -> float:
        """Twice the gain of log-likelihood by all columns."""
        return max(0.0, 2 * (self.log_likelihood - self.null_log_likelihood))

    @property
    def likelihood_ratio_p_value(self) -> float:
        """Of the test that all coefficients are zero; NaN without columns that vary."""
        if self.rank == 0:
            return float("nan")
        return float(special.chdtrc(self.rank, self.likelihood_ratio))

    @property
    def pseudo_r_squared(self) -> float:
        """McFadden's: the share of the null log-likelihood that the columns remove."""
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self._free - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return float(np.log(self.weight)) * self._free - 2 * self.log_likelihood

    @property
    def _free(self) -> int:
        return self.rank + len(self.thresholds)

    def _require_odds(self) -> None:
        if self.link != "logit":
            raise InputError(
                f"Odds ratios belong to the logit link, and this model has {self.link!r}. Fit with "
                "link='logit', or read `coef` as shifts in standard deviations."
            )

    def __repr__(self) -> str:
        names = [printable(name) for name in self.names]
        width, ends = max(map(len, names)), self.intervals()
        lines = [
            f"{'':{width}}  {'value':>12} {'std err':>11} {'z':>9} {'P>|z|':>9}   95 % interval"
        ]
        for j, name in enumerate(names):
            lines.append(
                f"{name:{width}}  {self.values[j]:12.6g} {self.standard_errors[j]:11.4g} "
                f"{self.z_values[j]:9.4g} {self.p_values[j]:9.2g}   "
                f"[{ends[j, 0]:.6g}, {ends[j, 1]:.6g}]"
            )
        lines.append(
            f"log-likelihood {self.log_likelihood:.6g} (thresholds only "
            f"{self.null_log_likelihood:.6g}), likelihood ratio {self.likelihood_ratio:.6g} on "
            f"{self.rank} degrees of freedom, p = {self.likelihood_ratio_p_value:.2g}"
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
