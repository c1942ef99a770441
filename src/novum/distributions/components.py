"""Laws as parts of hidden models: first laws, expected sums, likeliest laws.

A row may belong to a component only in part, or carry a hidden variable of its own. Expectation and
maximization need three things of a law, and every law estimated from sums has them:

    first      the law of a weighted sample
    expected   its statistics, rows counted by their memberships
    likeliest  the law of largest likelihood of these statistics

A law that hides a variable itself (the scale of a Student t row, the component of a mixture) has no
such statistics of rows alone; it offers `first`, `expected_statistics` and `maximized` instead, in
which the expectations are taken under the law at hand. `Component` is the one place that knows the
difference, so that a mixture of any law, also of mixtures, is written once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.numerics import Floats

_SUMS = ("statistics", "from_statistics")
_HIDDEN = ("first", "expected_statistics", "maximized")


@dataclass(frozen=True)
class Component:
    """A class of laws, with what a sample does not tell.

    Parameters
    ----------
    law : class of laws
        Estimated from sums, or a hidden law as described above.
    known : mapping, optional
        Keywords of its estimation, such as `{"trials": 10}` or `{"degrees_of_freedom": 4.0}`.

    Examples
    --------
    >>> from novum.distributions import Binomial
    >>> Component(Binomial, {"trials": 4}).first(np.array([1.0, 3.0]), np.array([1.0, 3.0]))
    Binomial(trials=4, probability=0.625)
    """

    law: type[Any]
    known: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        is_law = isinstance(self.law, type) and hasattr(self.law, "log_density")
        if not is_law or not (self.is_hidden or all(hasattr(self.law, n) for n in _SUMS)):
            raise InputError(
                f"A component is a class of laws that are estimated from sums, such as Normal, "
                f"Poisson or MultivariateStudentT, got {self.law!r}."
            )
        object.__setattr__(self, "known", dict(self.known))
        estimation = [getattr(self.law, n) for n in (_HIDDEN if self.is_hidden else _SUMS)]
        taken = set().union(*(_keywords(function) for function in estimation))
        strange = sorted(set(self.known) - taken)
        if strange:
            raise InputError(
                f"The estimation of {self.law.__name__} knows no {strange[0]!r}; it takes "
                f"{', '.join(sorted(taken)) or 'nothing'}."
            )
        needed = set().union(*(_keywords(function, True) for function in estimation))
        untold = sorted(needed - set(self.known))
        if untold:
            raise InputError(
                f"{self.law.__name__} is not estimated without its {' and '.join(untold)}, which a "
                f"sample does not tell: Component({self.law.__name__}, "
                f"{{{', '.join(f'{name!r}: ...' for name in untold)}}})."
            )

    @classmethod
    def of(cls, law: Any) -> Component:
        """A component, or a class of laws as one."""
        return law if isinstance(law, cls) else cls(law)

    @property
    def is_hidden(self) -> bool:
        """Whether expectations depend on the law at hand."""
        return all(hasattr(self.law, name) for name in _HIDDEN)

    @property
    def is_of_numbers(self) -> bool:
        """Whether a value is one number or label; otherwise it is a vector."""
        return hasattr(self.law, "discrete")

    @property
    def takes_missing_cells(self) -> bool:
        """Whether rows of vectors may lack cells, in estimation as in densities."""
        if "component" in self.known:
            return Component.of(self.known["component"]).takes_missing_cells
        own = hasattr(self.law, "completed_statistics")
        return own or getattr(self.law, "takes_missing_cells", False)

    def first(self, x: Any, weight: Floats) -> Any:
        """The law of a weighted sample, or, of a hidden law, one to start from."""
        if self.is_hidden:
            return self.law.first(x, weight, **self._for(self.law.first))
        if self._has_gaps(x):
            make = self.law.completed_statistics
            return self.of_sums(make(x, weight, **self._for(make)))
        return self.of_sums(self.law.statistics(x, weight, **self._for(self.law.statistics)))

    def expected(self, law: Any, x: Any, weight: Floats, prior: Floats | None = None) -> Any:
        """Sums that add over rows; expectations are taken under the law.

        `prior` are further weights of rows that the law has seen in advance, with nothing hidden
        (`prior_log_density`).
        """
        if self.is_hidden:
            known = self._for(self.law.expected_statistics)
            return law.expected_statistics(x, weight, prior=prior, **known)
        whole = weight if prior is None else weight + prior
        if self._has_gaps(x):
            make = self.law.completed_statistics
            return make(x, whole, law=law, **self._for(make))
        return self.law.statistics(x, whole, **self._for(self.law.statistics))

    def likeliest(self, law: Any, statistics: Any) -> Any:
        """The law of largest likelihood; the law at hand where the sums have none."""
        if not statistics.weight > 0:
            return law
        try:
            if self.is_hidden:
                return law.maximized(statistics, **self._for(self.law.maximized))
            return self.of_sums(statistics)
        except InputError:
            # A sample without a maximum, such as equal values: to stay is never a step down.
            return law

    def of_sums(self, statistics: Any) -> Any:
        """The law of largest likelihood of sums of rows alone."""
        make = self.law.from_statistics
        return make(statistics, **self._for(make))

    def _has_gaps(self, x: Any) -> bool:
        """Whether rows lack cells that the law can complete."""
        if not hasattr(self.law, "completed_statistics"):
            return False
        return bool(np.isnan(np.sum(np.asarray(x, np.float64))))

    def _for(self, function: Callable[..., Any]) -> dict[str, Any]:
        taken = _keywords(function)
        return {name: value for name, value in self.known.items() if name in taken}


def observed_log_density(law: Any, x: Any) -> Floats:
    """Log-density of what is present; a missing number, or a row without any cell, has 0."""
    if hasattr(law, "log_density_observed"):
        return np.asarray(law.log_density_observed(x))
    logs = np.asarray(law.log_density(x))
    missing = np.isnan(logs)
    if not missing.any():
        return logs
    if not hasattr(law, "discrete"):
        empty = np.isnan(np.asarray(x, np.float64)).all(axis=-1)
        if (missing & ~empty).any():
            raise InputError(
                f"{type(law).__name__} cannot leave single missing cells out of its density. Fill "
                "them, leave such rows out, or choose a law of independent columns."
            )
    return np.where(missing, 0.0, logs)


def prior_log_density(law: Any, x: Any) -> Floats:
    """Log-density of rows that were seen in advance.

    A law may ask for another density here: that of heavy tails would let it shrink onto a few rows
    at hardly a cost.
    """
    own = getattr(law, "prior_log_density", None)
    return observed_log_density(law, x) if own is None else np.asarray(own(x))


@cache
def _keywords(function: Callable[..., Any], is_needed: bool = False) -> frozenset[str]:
    """Names that an estimation takes, or needs, beside the sample and its weights."""
    items = inspect.signature(function).parameters.items()
    names = {k for k, item in items if not is_needed or item.default is inspect.Parameter.empty}
    return frozenset(names) - {"self", "x", "weight", "prior", "statistics", "law"}
