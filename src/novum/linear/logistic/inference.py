"""Inference for logistic regression: Wald and likelihood-ratio tests, intervals, odds ratios.

Wald tests divide a coefficient by its standard error (`logistic.information`); the likelihood-ratio
test compares `2 (log L - log L_0)` with a chi-squared law. Of more than two classes the
coefficients are those of a class against the reference. `exp(coef)` is an odds ratio: the factor by
which the odds grow when a column grows by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import element
from novum.numerics import Floats, unit_scale


@dataclass(frozen=True, eq=False)
class LogisticInference:
    """What can be said about the coefficients of a logistic regression.

    Arrays have the shape of `coef`: (k,) for two classes, (K - 1, k) for more, with a row for every
    class but the reference; with an intercept it stands first.

    Attributes
    ----------
    names : tuple of str
    classes : tuple
        The class of every row of `coef`.
    reference : label
    coef, standard_errors : arrays
    covariance_matrix : array (size, size)
        Of the flattened `coef`; NaN for what the rows do not determine.
    log_likelihood, null_log_likelihood : float
        Of the model, and of the one without columns.
    degrees_of_freedom : int
        Columns that the likelihood-ratio test asks about, times classes less one.
    weight : float
        Sum of the weights.
    covariance : str
    notes : tuple of str
        What to keep in mind when reading the tests.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    coef: Floats
    standard_errors: Floats
    covariance_matrix: Floats
    log_likelihood: float
    null_log_likelihood: float
    degrees_of_freedom: int
    n_parameters: int
    weight: float
    covariance: str = "classical"
    notes: tuple[str, ...] = ()
    penalized: bool = False

    # Single coefficients

    @property
    def z_values(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.coef / self.standard_errors)

    @property
    def p_values(self) -> Floats:
        """Two-sided p values of `coef = 0` by Wald's test."""
        return np.asarray(2 * special.ndtr(-np.abs(self.z_values)))

    def intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals, lower and upper ends along the last axis."""
        if not 0 < confidence < 1:
            raise InputError(f"confidence is a probability between 0 and 1, got {confidence!r}.")
        half = special.ndtri((1 + confidence) / 2) * self.standard_errors
        return np.stack([self.coef - half, self.coef + half], axis=-1)

    @property
    def odds_ratios(self) -> Floats:
        """Factor by which the odds grow when a column grows by one."""
        with np.errstate(over="ignore"):
            return np.exp(self.coef)

    def odds_ratio_intervals(self, confidence: float = 0.95) -> Floats:
        """Confidence intervals of the odds ratios."""
        with np.errstate(over="ignore"):
            return np.exp(self.intervals(confidence))

    # Several coefficients

    def wald_test(self, *names: str) -> ChiSquaredTest:
        """Wald's test that all coefficients of these names are zero, in all classes."""
        unknown = [name for name in names if name not in self.names]
        if unknown or not names:
            raise InputError(f"{unknown or names!r} is not among the names {self.names[:20]}.")
        at = np.flatnonzero(np.isin(np.tile(self.names, len(np.atleast_2d(self.coef))), names))
        b, V = self.coef.ravel()[at], self.covariance_matrix[np.ix_(at, at)]
        if not np.isfinite(V).all():
            raise InputError("The rows do not determine these coefficients, so there is no test.")
        scale = unit_scale(np.sqrt(np.diagonal(V)))
        solved = linalg.solve(V * scale * scale[:, np.newaxis], scale * b, assume_a="pos")
        return ChiSquaredTest.of(float((scale * b) @ solved), len(at))

    @property
    def likelihood_ratio(self) -> ChiSquaredTest:
        """The test that no column matters; NaN for a penalized fit, which is no optimum of it."""
        if self.penalized:
            return ChiSquaredTest(np.nan, self.degrees_of_freedom, np.nan)
        ratio = 2 * (self.log_likelihood - self.null_log_likelihood)
        return ChiSquaredTest.of(max(ratio, 0.0), self.degrees_of_freedom)

    @property
    def pseudo_r_squared(self) -> float:
        """McFadden's `1 - log L / log L_0`."""
        return 1 - self.log_likelihood / self.null_log_likelihood

    @property
    def aic(self) -> float:
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        return float(self.n_parameters * np.log(self.weight) - 2 * self.log_likelihood)

    def __repr__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        return element("pre", repr(self))


class ChiSquaredTest(NamedTuple):
    """A chi-squared statistic, its degrees of freedom and its p value."""

    statistic: float
    degrees_of_freedom: int
    p_value: float

    @classmethod
    def of(cls, statistic: float, degrees_of_freedom: int) -> ChiSquaredTest:
        p = float(special.chdtrc(degrees_of_freedom, statistic)) if degrees_of_freedom else 1.0
        return cls(statistic, degrees_of_freedom, p)


def _lines(inference: LogisticInference) -> list[str]:
    names = [printable(name) for name in inference.names]
    width = max(map(len, names))
    coef, errors = np.atleast_2d(inference.coef), np.atleast_2d(inference.standard_errors)
    z, p = np.atleast_2d(inference.z_values), np.atleast_2d(inference.p_values)
    ends = inference.intervals().reshape(*coef.shape, 2)
    lines: list[str] = []
    for k, label in enumerate(inference.classes):
        lines.append(f"{printable(str(label))} against {printable(str(inference.reference))}")
        lines.append(
            f"{'':{width}}  {'coef':>12} {'std err':>11} {'z':>9} {'P>|z|':>9} {'odds':>10}   "
            "95 % interval"
        )
        for j, name in enumerate(names):
            lines.append(
                f"{name:{width}}  {coef[k, j]:12.6g} {errors[k, j]:11.4g} {z[k, j]:9.4g} "
                f"{p[k, j]:9.2g} {np.exp(min(coef[k, j], 700.0)):10.4g}   "
                f"[{ends[k, j, 0]:.6g}, {ends[k, j, 1]:.6g}]"
            )
    test = inference.likelihood_ratio
    lines.append(
        f"log-likelihood {inference.log_likelihood:.6g} (null "
        f"{inference.null_log_likelihood:.6g}), "
        f"likelihood ratio {test.statistic:.4g} on {test.degrees_of_freedom} degrees of freedom, "
        f"P {test.p_value:.2g}, {inference.covariance} covariance"
    )
    return [*lines, *(f"note: {note}" for note in inference.notes)]
