"""Laws and links of generalized linear models.

A law says how the variance of a target depends on its mean, `Var(y) = scale V(mean) / weight`, and
with that its deviance, twice the log-likelihood lost against a model that knows every mean:

    law                 V(m)          unit deviance d(y, m)
    gaussian            1             (y - m)^2
    bernoulli           m (1 - m)     2 [y log(y / m) + (1 - y) log((1 - y) / (1 - m))]
    poisson             m             2 [y log(y / m) - y + m]
    gamma               m^2           2 [-log(y / m) + (y - m) / m]
    NegativeBinomial(a) m + a m^2     2 [y log(y / m) - (y + 1/a) log((1 + a y) / (1 + a m))]
    Tweedie(p)          m^p           2 [y^(2-p)/((1-p)(2-p)) - y m^(1-p)/(1-p) + m^(2-p)/(2-p)]

A link turns means into scores, `g(m) = b0 + x'b + offset`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.numerics import Floats, Mask

Function = Callable[[Floats], Floats]

# --- Links ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """A link by its name: "identity", "log", "logit", "probit" or "inverse"."""

    name: str

    def score(self, mean: Floats) -> Floats:
        """`g(m)`."""
        with np.errstate(divide="ignore"):
            links = {
                "identity": lambda m: m,
                "log": np.log,
                "logit": special.logit,
                "probit": special.ndtri,
                "inverse": lambda m: 1.0 / m,
            }[self.name](mean)
        return np.asarray(links)

    def mean(self, score: Floats) -> Floats:
        """The mean of a score."""
        with np.errstate(over="ignore", divide="ignore"):
            links = {
                "identity": lambda s: s,
                "log": np.exp,
                "logit": special.expit,
                "probit": special.ndtr,
                "inverse": lambda s: 1.0 / s,
            }[self.name](score)
        return np.asarray(links)

    def slope(self, score: Floats) -> Floats:
        """The derivative of the mean by the score."""
        with np.errstate(over="ignore", divide="ignore"):
            functions: dict[str, Function] = {
                "identity": np.ones_like,
                "log": np.exp,
                "logit": lambda s: special.expit(s) * special.expit(-s),
                "probit": lambda s: np.exp(-0.5 * s * s) / np.sqrt(2 * np.pi),
                "inverse": lambda s: -1.0 / s**2,
            }
            return np.asarray(functions[self.name](score))

    def bend(self, score: Floats) -> Floats:
        """The second derivative of the mean by the score."""
        with np.errstate(over="ignore", divide="ignore"):
            functions: dict[str, Function] = {
                "identity": np.zeros_like,
                "log": np.exp,
                "logit": lambda s: special.expit(s) * special.expit(-s) * np.tanh(-s / 2),
                "probit": lambda s: -s * np.exp(-0.5 * s * s) / np.sqrt(2 * np.pi),
                "inverse": lambda s: 2.0 / s**3,
            }
            return np.asarray(functions[self.name](score))


# --- Laws -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """A law without parameters, by its name; see the module."""

    name: str

    @property
    def link(self) -> str:
        """The link where none is chosen."""
        return {"gaussian": "identity", "bernoulli": "logit"}.get(self.name, "log")

    @property
    def has_scale(self) -> bool:
        """Whether the scale is estimated; else it is 1."""
        return self.name in ("gaussian", "gamma")

    @property
    def lowest(self) -> float:
        """What targets are not below."""
        return -np.inf if self.name == "gaussian" else 0.0

    def allows(self, y: Floats) -> Mask:
        """Which targets are possible."""
        if self.name == "gamma":
            return np.asarray(y > 0)
        if self.name == "bernoulli":
            return np.asarray((y >= 0) & (y <= 1))
        return np.asarray(y >= self.lowest)

    def is_inside(self, mean: Floats) -> bool:
        """Whether all means are possible."""
        above = np.isfinite(mean) & (mean > (-np.inf if self.name == "gaussian" else 0.0))
        if self.name == "bernoulli":
            above &= mean < 1
        return bool(above.all())

    def variance(self, mean: Floats) -> Floats:
        """`V(m)`."""
        if self.name == "bernoulli":
            return mean * (1.0 - mean)
        power = {"gaussian": 0, "poisson": 1, "gamma": 2}[self.name]
        return np.asarray(mean**power, np.float64)

    def variance_slope(self, mean: Floats) -> Floats:
        """`V'(m)`."""
        if self.name == "bernoulli":
            return 1.0 - 2.0 * mean
        power = {"gaussian": 0, "poisson": 1, "gamma": 2}[self.name]
        return np.asarray(power * mean ** max(power - 1, 0), np.float64)

    def deviance(self, y: Floats, mean: Floats) -> Floats:
        """Unit deviances."""
        if self.name == "gaussian":
            return np.asarray((y - mean) ** 2)
        if self.name == "bernoulli":
            return np.asarray(2 * (special.xlogy(y, y / mean) + _rest(y, mean)))
        if self.name == "poisson":
            return np.asarray(2 * (special.xlogy(y, y / mean) - y + mean))
        return np.asarray(2 * ((y - mean) / mean - np.log(y / mean)))

    def log_likelihood(self, y: Floats, mean: Floats, weight: Floats, scale: float) -> float:
        """The sum of log densities; of the Gaussian law at its best variance."""
        total = float(weight.sum())
        if self.name == "gaussian":
            variance = float(weight @ (y - mean) ** 2) / total
            return -0.5 * total * (np.log(2 * np.pi * variance) + 1.0) if variance > 0 else np.inf
        if self.name == "bernoulli":
            logs = special.xlogy(y, mean) + special.xlog1py(1 - y, -mean)
        elif self.name == "poisson":
            logs = special.xlogy(y, mean) - mean - special.gammaln(y + 1)
        elif not scale > 0:
            # Nothing is left over; without rows to spare the scale is not known.
            return np.inf if scale == 0 else float("nan")
        else:
            shape = 1.0 / scale
            logs = (
                shape * np.log(shape * y / mean) - shape * y / mean - np.log(y)
                - special.gammaln(shape)
            )  # fmt: skip
        return float(weight @ logs)


def _rest(y: Floats, mean: Floats) -> Floats:
    return np.asarray(special.xlogy(1 - y, (1 - y) / (1 - mean)))


@dataclass(frozen=True)
class NegativeBinomial:
    """Counts of variance `m + dispersion m^2`; the dispersion is given.

    >>> NegativeBinomial(0.5).variance(np.array([2.0]))
    array([4.])
    """

    dispersion: float = 1.0
    name = "negative binomial"
    link = "log"
    has_scale = False
    lowest = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dispersion) and self.dispersion > 0):
            raise InputError(
                f"The dispersion of NegativeBinomial must be a finite number above 0, got "
                f"{self.dispersion!r}. For 0 use law='poisson'."
            )

    def allows(self, y: Floats) -> Mask:
        return np.asarray(y >= 0)

    def is_inside(self, mean: Floats) -> bool:
        return bool((np.isfinite(mean) & (mean > 0)).all())

    def variance(self, mean: Floats) -> Floats:
        return np.asarray(mean + self.dispersion * mean**2)

    def variance_slope(self, mean: Floats) -> Floats:
        return np.asarray(1.0 + 2.0 * self.dispersion * mean)

    def deviance(self, y: Floats, mean: Floats) -> Floats:
        a = self.dispersion
        rest = (y + 1 / a) * (np.log1p(a * y) - np.log1p(a * mean))
        return np.asarray(2 * (special.xlogy(y, y / mean) - rest))

    def log_likelihood(self, y: Floats, mean: Floats, weight: Floats, scale: float) -> float:
        del scale
        a = self.dispersion
        logs = (
            special.xlogy(y, a * mean) - (y + 1 / a) * np.log1p(a * mean)
            + special.gammaln(y + 1 / a) - special.gammaln(1 / a) - special.gammaln(y + 1)
        )  # fmt: skip
        return float(weight @ logs)


@dataclass(frozen=True)
class Tweedie:
    """The law of variance `scale m^power`: 1 to 2 are sums of gamma amounts, zero included.

    >>> Tweedie(1.5).variance(np.array([4.0]))
    array([8.])
    """

    power: float = 1.5
    name = "tweedie"
    link = "log"
    has_scale = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.power) and (self.power == 0 or self.power >= 1)):
            raise InputError(
                f"The power of Tweedie must be 0 or at least 1, got {self.power!r}: no law has the "
                "variance mean^p for p between."
            )

    @property
    def lowest(self) -> float:
        """What targets are not below."""
        return -np.inf if self.power == 0 else 0.0

    def allows(self, y: Floats) -> Mask:
        return np.asarray(y > 0 if self.power >= 2 else y >= self.lowest)

    def is_inside(self, mean: Floats) -> bool:
        return bool((np.isfinite(mean) & (mean > self.lowest)).all())

    def variance(self, mean: Floats) -> Floats:
        return np.asarray(np.abs(mean) ** self.power)

    def variance_slope(self, mean: Floats) -> Floats:
        if self.power == 0:
            return np.zeros_like(mean)
        return np.asarray(self.power * mean ** (self.power - 1))

    def deviance(self, y: Floats, mean: Floats) -> Floats:
        p = self.power
        if p in (0, 1, 2):
            return Law({0: "gaussian", 1: "poisson", 2: "gamma"}[int(p)]).deviance(y, mean)
        first = y ** (2 - p) / ((1 - p) * (2 - p))
        return np.asarray(2 * (first - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p)))

    def log_likelihood(self, y: Floats, mean: Floats, weight: Floats, scale: float) -> float:
        """Not known in closed form."""
        del y, mean, weight, scale
        return float("nan")


LAWS = {"gaussian", "bernoulli", "poisson", "gamma"}
LINKS = {"identity", "log", "logit", "probit", "inverse"}


def law_of(value: Any) -> Any:
    """A law by its name, or itself."""
    return Law(value) if isinstance(value, str) else value
