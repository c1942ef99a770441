"""The contract of conjugate pairs, as executable checks.

A pair is a prior, a likelihood and the law of an observation for given parameters. Whatever the
formulas of the pair are, three identities hold:

    order       posterior(posterior(p, A), B) = posterior(p, A and B) = posterior(p, S(A) + S(B))
    evidence    log p(A and B) = log p(A) + log p(B | A)
    Bayes' rule log p(t | D) = log p(D | t) + log p(t) - log p(D)        for every t

and the predictive law of one more observation is its evidence. A check raises `AssertionError` with
what differed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.distributions.conjugacy import log_evidence, posterior, predictive
from novum.distributions.contracts import log_density_at

# Sums in another order, and logarithms of gamma functions, differ in the last digits.
_AGREE = 1e-10


@dataclass(frozen=True, eq=False)
class ConjugateCase:
    """A conjugate pair and data for it.

    Parameters
    ----------
    prior : law of the parameters
    likelihood : as in `posterior`
    given : callable
        The law of an observation for parameters as `prior.sample` draws them; those of a pair of
        parameters come as two arguments.
    first, second : arrays
        Two batches of observations.
    """

    prior: Any
    likelihood: Any
    given: Callable[..., Any]
    first: Any
    second: Any

    @property
    def both(self) -> Any:
        """The two batches as one."""
        return np.concatenate([self.first, self.second])


PosteriorCheck = Callable[[ConjugateCase], None]


def posterior_checks() -> list[PosteriorCheck]:
    """All checks of a conjugate pair."""
    return [
        check_batches,
        check_no_data,
        check_chain_of_evidence,
        check_bayes_rule,
        check_predictive,
        check_weights_of_data,
    ]


def check_batches(case: ConjugateCase) -> None:
    """Two batches, in either order, give the posterior of one."""
    whole = posterior(case.prior, case.likelihood, case.both)
    for first, second in ((case.first, case.second), (case.second, case.first)):
        halfway = posterior(case.prior, case.likelihood, first)
        _assert_same(posterior(halfway, case.likelihood, second), whole, "in two batches")


def check_no_data(case: ConjugateCase) -> None:
    """Data of weight zero leave the prior as it is."""
    nothing = posterior(case.prior, case.likelihood, case.first, np.zeros(len(case.first)))
    _assert_same(nothing, case.prior, "without data")


def check_chain_of_evidence(case: ConjugateCase) -> None:
    """The evidence of all data is that of the first times that of the second given the first."""
    halfway = posterior(case.prior, case.likelihood, case.first)
    chained = log_evidence(case.prior, case.likelihood, case.first)
    chained += log_evidence(halfway, case.likelihood, case.second)
    whole = log_evidence(case.prior, case.likelihood, case.both)
    assert _close(chained, whole), f"log-evidence is {whole!r} at once, {chained!r} in two batches"


def check_bayes_rule(case: ConjugateCase) -> None:
    """Posterior is likelihood times prior over evidence, at parameters drawn from the posterior."""
    after = posterior(case.prior, case.likelihood, case.both)
    evidence = log_evidence(case.prior, case.likelihood, case.both)
    drawn = after.sample(8, random_state=0)
    densities = log_density_at(after, drawn)
    before = log_density_at(case.prior, drawn)
    parts = drawn if isinstance(drawn, tuple) else (drawn,)
    for place, parameters in enumerate(zip(*parts, strict=True)):
        chance = float(log_density_at(case.given(*parameters), case.both).sum())
        expected = chance + before[place] - evidence
        assert _close(float(densities[place]), expected, size=abs(chance) + abs(evidence)), (
            f"the log-density of the posterior is {densities[place]!r}; Bayes' rule gives "
            f"{expected!r}"
        )


def check_predictive(case: ConjugateCase) -> None:
    """The predictive density of an observation is its evidence given the data before."""
    after = posterior(case.prior, case.likelihood, case.first)
    law = predictive(after, case.likelihood)
    for place in range(min(len(case.second), 5)):
        one = case.second[place : place + 1]
        expected = log_evidence(after, case.likelihood, one)
        density = float(log_density_at(law, one)[0])
        assert _close(density, expected), (
            f"the predictive log-density of {one!r} is {density!r}, its evidence {expected!r}"
        )


def check_weights_of_data(case: ConjugateCase) -> None:
    """Weight 2 is the observation twice."""
    weight = np.full(len(case.first), 2.0)
    twice = np.repeat(case.first, 2, axis=0)
    expected = posterior(case.prior, case.likelihood, twice)
    _assert_same(posterior(case.prior, case.likelihood, case.first, weight), expected, "by weights")


# --- Comparing ------------------------------------------------------------------------------------


def _assert_same(actual: Any, expected: Any, when: str) -> None:
    assert type(actual) is type(expected), f"{when}: {type(actual).__name__}"
    for part in dataclasses.fields(expected):
        left, right = getattr(actual, part.name), getattr(expected, part.name)
        size = float(np.max(np.abs(right)))
        np.testing.assert_allclose(
            left, right, rtol=_AGREE, atol=_AGREE * size, err_msg=f"{part.name} {when}"
        )


def _close(a: float, b: float, size: float = 1.0) -> bool:
    return abs(a - b) <= _AGREE * max(size, abs(a), abs(b))
