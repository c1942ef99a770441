"""Links of ordered classes: the probability of an interval of the latent scale, and its slopes.

A latent score `x'b` plus noise of law `F` falls between two thresholds,

    P(class k | x) = F(u) - F(l),      u = theta_k - x'b,   l = theta_k-1 - x'b,

with `l = -inf` in the first class and `u = inf` in the last. For the logistic law

    log P = log F(u) + log F(-l) + log(1 - exp(l - u)),

three terms without cancellation, of which the last depends on the class alone; its slopes are
`F(-u) + r` and `-F(l) - r` with `r = 1 / (exp(u - l) - 1)`. Both laws have log-concave densities,
so `log P` is concave in `(u, l)` (Pratt 1981): a likelihood of such terms has one optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import special

from novum.numerics import Floats

_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


class Slopes(NamedTuple):
    """`log P` with its first and second derivatives by the upper and the lower end, shape (n,)."""

    value: Floats
    upper: Floats
    lower: Floats
    upper_upper: Floats
    lower_lower: Floats
    upper_lower: Floats


class Link(Protocol):
    """A law of the latent noise, symmetric about zero."""

    name: ClassVar[str]

    def cdf(self, u: Floats) -> Floats:
        """`F(u)`."""

    def density(self, u: Floats) -> Floats:
        """`F'(u)`."""

    def quantile(self, p: Floats) -> Floats:
        """`F^-1(p)`."""

    def log_interval(self, upper: Floats, lower: Floats) -> Floats:
        """`log(F(upper) - F(lower))`; `-inf` or NaN where the ends are not in order."""

    def slopes(self, upper: Floats, lower: Floats) -> Slopes:
        """`log_interval` with its derivatives; those by an infinite end are zero."""


# --- Logistic -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Logit:
    """Logistic noise: proportional odds.

    Examples
    --------
    >>> found = Logit().log_interval(np.array([0.0]), np.array([-np.inf]))
    >>> round(float(np.exp(found[0])), 12)
    0.5
    """

    name: ClassVar[str] = "logit"

    def cdf(self, u: Floats) -> Floats:
        return np.asarray(special.expit(u))

    def density(self, u: Floats) -> Floats:
        return np.asarray(special.expit(u) * special.expit(-u))

    def quantile(self, p: Floats) -> Floats:
        return np.asarray(special.logit(p))

    def log_interval(self, upper: Floats, lower: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.log(-np.expm1(lower - upper))
        return np.asarray(special.log_expit(upper) + special.log_expit(-lower) + inner)

    def slopes(self, upper: Floats, lower: Floats) -> Slopes:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            width = upper - lower
            ratio = 1 / np.expm1(width)
            bend = ratio * (1 + ratio)
        # An infinite end has an infinite width, for which both vanish.
        ratio, bend = (np.where(np.isinf(width), 0.0, part) for part in (ratio, bend))
        above, below = special.expit(-upper), special.expit(lower)
        return Slopes(
            self.log_interval(upper, lower),
            above + ratio,
            -below - ratio,
            -above * special.expit(upper) - bend,
            -below * special.expit(-lower) - bend,
            bend,
        )


# --- Normal ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Probit:
    """Normal noise: ordered probit.

    Examples
    --------
    >>> found = Probit().log_interval(np.array([np.inf]), np.array([40.0]))
    >>> round(float(found[0]), 4)
    -804.6084
    """

    name: ClassVar[str] = "probit"

    def cdf(self, u: Floats) -> Floats:
        return np.asarray(special.ndtr(u))

    def density(self, u: Floats) -> Floats:
        return np.asarray(np.exp(self._log_density(u)))

    def quantile(self, p: Floats) -> Floats:
        return np.asarray(special.ndtri(p))

    def log_interval(self, upper: Floats, lower: Floats) -> Floats:
        # In the right tail both ends are mirrored, where small probabilities keep their digits.
        mirrored = lower > 0
        top = special.log_ndtr(np.where(mirrored, -lower, upper))
        bottom = special.log_ndtr(np.where(mirrored, -upper, lower))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(top + np.log(-np.expm1(bottom - top)))

    def slopes(self, upper: Floats, lower: Floats) -> Slopes:
        value = self.log_interval(upper, lower)
        with np.errstate(over="ignore", invalid="ignore"):
            above = np.exp(self._log_density(upper) - value)
            below = np.exp(self._log_density(lower) - value)
        bounded, based = (np.where(np.isinf(end), 0.0, end) for end in (upper, lower))
        with np.errstate(over="ignore", invalid="ignore"):
            return Slopes(
                value,
                above,
                -below,
                -above * (bounded + above),
                below * (based - below),
                above * below,
            )

    def _log_density(self, u: Floats) -> Floats:
        return np.asarray(-0.5 * np.square(u) - _LOG_ROOT_TWO_PI)


LINKS: dict[str, Link] = {"logit": Logit(), "probit": Probit()}
