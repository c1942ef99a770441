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
from typing import Any

import numpy as np
from scipy import stats

from novum.core.errors import ModelFileError
from novum.linear.generalized.fit import Rows
from novum.linear.generalized.laws import Link
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


def covariance_of(information: Floats, center: Floats, fit_intercept: bool) -> tuple[Floats, int]:
    """Of intercept and coefficients in the user's columns, and the rank."""
    size = np.sqrt(np.maximum(np.diagonal(information), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    values, vectors = np.linalg.eigh(information * scale * scale[:, np.newaxis])
    kept = values > 1e-12 * len(values) * max(values.max(initial=0.0), 1e-300)
    half = scale[:, np.newaxis] * vectors[:, kept] / np.sqrt(values[kept])
    if fit_intercept:
        # b0 = (intercept of the centered columns) - center'b, and it comes first.
        half = np.vstack([half[-1] - center @ half[:-1], half[:-1]])
    return np.asarray(half @ half.T), int(kept.sum())


def sandwich(
    rows: Rows, law: Any, link: Link, coef: Floats, intercept: float, fit_intercept: bool
) -> Floats:
    """The robust covariance of intercept and coefficients in the user's columns."""
    eta = (rows.X + rows.center) @ coef + intercept + rows.offset
    mean, slope, variance = link.mean(eta), link.slope(eta), law.variance(link.mean(eta))
    residual = (rows.y - mean) * slope / variance
    # Of the curvature a part vanishes for canonical links, and in the mean for all.
    bend = (link.bend(eta) * variance - slope**2 * law.variance_slope(mean)) / variance**2
    observed = rows.weight * (slope**2 / variance - (rows.y - mean) * bend)
    Z = np.column_stack([rows.X, np.ones(len(rows.y))]) if fit_intercept else rows.X
    bread = np.linalg.pinv((Z * observed[:, np.newaxis]).T @ Z, hermitian=True)
    inner = (Z * (rows.weight * residual**2)[:, np.newaxis]).T @ Z
    robust = bread @ inner @ bread
    if not fit_intercept:
        return np.asarray(robust)
    # b0 = (intercept of the centered columns) - center'b, and it comes first.
    p = rows.center.size
    turned = np.vstack([np.append(-rows.center, 1.0), np.eye(p, p + 1)])
    return np.asarray(turned @ robust @ turned.T)
