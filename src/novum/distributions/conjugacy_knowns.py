"""Likelihoods of which a part is known, as values.

A likelihood is a class of laws when all its parameters are unknown (`Bernoulli`, `Categorical`,
`Normal` with a normal-gamma prior, ...). Where one parameter is known, it is one of these values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.distributions.multivariate.parameters import ArrayParameters
from novum.distributions.multivariate.positive_definite import DefiniteRoot, definite_root
from novum.distributions.univariate import arguments
from novum.distributions.univariate.level_codes import checked_levels
from novum.numerics import Floats, cached_property


@dataclass(frozen=True)
class KnownTrials:
    """Binomial or multinomial counts in a known number of trials.

    Parameters
    ----------
    trials : int
        Of every observation, at least 0.
    """

    trials: int

    def __post_init__(self) -> None:
        if not isinstance(self.trials, Integral) or self.trials < 0:
            raise InputError(f"Trials are a whole number of at least 0, got {self.trials!r}.")


@dataclass(frozen=True)
class KnownLevels:
    """Categories with these names, in the order of the prior's concentrations.

    Parameters
    ----------
    levels : sequence of different labels
    """

    levels: Sequence[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", checked_levels(self.levels))


@dataclass(frozen=True)
class KnownVariance:
    """Normal observations whose variance is known and whose mean is not.

    Parameters
    ----------
    variance : float
        Above 0.
    """

    variance: float

    def __post_init__(self) -> None:
        (variance,) = arguments.positive("KnownVariance", variance=self.variance)
        object.__setattr__(self, "variance", variance)


@dataclass(frozen=True, eq=False)
class KnownCovariance(ArrayParameters):
    """Normal vectors whose covariance is known and whose mean is not.

    Parameters
    ----------
    covariance : array (d, d)
        Positive definite.
    """

    covariance: Floats

    def __post_init__(self) -> None:
        matrix = np.array(self.covariance, np.float64)
        definite_root(matrix, "The known covariance")
        matrix.setflags(write=False)
        self._store(covariance=matrix)

    @cached_property
    def root(self) -> DefiniteRoot:
        return definite_root(self.covariance, "The known covariance")
