"""Inference of generalized linear models: standard errors, tests, information criteria.

The covariance of the coefficients is `scale (Z'WZ)^-1` with `Z = [X, 1]` and the weights of the
last step of scoring. The scale is 1 for counts and shares; for the other laws it is Pearson's
statistic over the residual degrees of freedom, `sum_i w_i (y_i - m_i)^2 / V(m_i) / (W - rank)`. If
the variance is not what the law says, the sandwich

    H^-1 [sum_i w_i s_i^2 z_i z_i'] H^-1,        s_i = (y_i - m_i) m'_i / V(m_i)

with the observed Hessian `H` still holds ("HC0"; "HC1" multiplies it by `W / (W - rank)`). Nested
models are compared by the difference of their deviances over the scale of the larger one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from novum.core.errors import ModelFileError
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class GeneralizedSummary:
    """What inference needs of the rows of a fit.

    Attributes
    ----------
    covariance : array (q, q)
        Of intercept (first, where there is one) and coefficients, for a scale of 1.
    deviance, null_deviance, pearson, scale, log_likelihood, rows : float
        `rows` is the sum of the weights; the log-likelihood is NaN where it has no closed form.
    rank : int
    """

    covariance: Floats
    deviance: float
    null_deviance: float
    pearson: float
    scale: float
    log_likelihood: float
    rows: float
    rank: int

    @property
    def df_residual(self) -> float:
        return self.rows - self.rank

    def check(self, size: int) -> None:
        """Refuses a loaded summary that does not fit its model."""
        numbers = (self.deviance, self.null_deviance, self.pearson, self.rows)
        if self.covariance.shape != (size, size) or not np.isfinite(numbers).all():
            raise ModelFileError(
                f"The model has a covariance of shape {self.covariance.shape} for {size} "
                "coefficients."
            )


@dataclass(frozen=True, eq=False)
class GeneralizedInference:
    """Estimates with what is known of their errors.

    Attributes
    ----------
    names : tuple of str
        "(intercept)" first, where there is one.
    estimates, standard_errors, statistics, p_values : arrays (q,)
        Wald's z and its two-sided p-value.
    covariance : array (q, q)
    deviance, null_deviance, pearson, scale, log_likelihood, df_residual : float
    aic, bic : float
        `-2 log L + 2 q` and `-2 log L + q log(rows)`; NaN without a log-likelihood.
    """

    names: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    deviance: float
    null_deviance: float
    pearson: float
    scale: float
    log_likelihood: float
    df_residual: float
    rows: float
    rank: int

    @property
    def standard_errors(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)))

    @property
    def statistics(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.estimates / self.standard_errors)

    @property
    def p_values(self) -> Floats:
        return np.asarray(2 * stats.norm.sf(np.abs(self.statistics)))

    @property
    def aic(self) -> float:
        return -2 * self.log_likelihood + 2 * self.rank

    @property
    def bic(self) -> float:
        return float(-2 * self.log_likelihood + np.log(self.rows) * self.rank)

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Wald's intervals, (q, 2)."""
        reach = stats.norm.ppf(0.5 + confidence / 2) * self.standard_errors
        return np.column_stack([self.estimates - reach, self.estimates + reach])

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{'':<{width}}  estimate  std. error        z   p-value"]
        for row in zip(self.names, self.estimates, self.standard_errors, self.statistics,
                       self.p_values, strict=True):  # fmt: skip
            name, b, error, z, p = row
            lines.append(f"{name:<{width}}  {b:8.4g}  {error:10.4g}  {z:7.3g}  {p:8.3g}")
        lines.append(
            f"deviance {self.deviance:.6g} (null {self.null_deviance:.6g}), scale "
            f"{self.scale:.6g}, AIC {self.aic:.6g}, BIC {self.bic:.6g}"
        )
        return "\n".join(lines)
