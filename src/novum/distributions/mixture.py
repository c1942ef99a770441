"""Mixtures of laws: a component is drawn by its weight, then a value from its law.

    p(x) = sum_k w_k p_k(x),        r_k(x) = w_k p_k(x) / p(x)

The component is hidden, so rows enter the likelihood through no fixed sums. Under given parameters
they do: every component has its law's statistics with rows counted by their memberships r_k. These
expected statistics add over parts of a sample, and the likeliest parameters that they give are one
step of expectation and maximization, which never lowers

    sum_i v_i log p(x_i) + c sum_k sum_i v_i log p_k(x_i) / sum_i v_i,      v_i the weights of rows,

the log-likelihood as if every component had seen c further rows, distributed as the whole sample.
With c = 0 that is the likelihood alone, which often has no maximum (a component on one row). With
c > 0 no component is narrower than its c rows allow, no probability is zero, and units do not
matter; a single component of a law with sums is that law's fit, whatever c is.

Reference: McLachlan and Peel, Finite Mixture Models, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.sums import Additive, StopRule, fit_sums
from novum.distributions.components import (
    Component,
    observed_log_density,
    prior_log_density,
)
from novum.distributions.protocol import Size
from novum.distributions.univariate import arguments
from novum.numerics import Floats, Integers, log_sum_exp

if TYPE_CHECKING:
    from novum.core.learners import Certificate

# A component with a smaller share of all rows than this has died: nothing is left to learn from.
_DEAD = 1e-12


# --- Statistics -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MixtureStatistics(Additive):
    """Expected sums of a weighted sample under a mixture.

    Parameters
    ----------
    component : Component
        The components' class of laws.
    weights : array (K,)
        Rows of every component.
    parts : tuple of K
        The components' statistics, the further rows of each among them.
    log_likelihood, log_prior : float
        Of the sample under the mixture, and of the further rows.
    """

    component: Component
    weights: Floats
    parts: tuple[Any, ...]
    log_likelihood: float
    log_prior: float = 0.0

    _fixed: ClassVar[tuple[str, ...]] = ("component",)

    @property
    def weight(self) -> float:
        """Number of rows."""
        return float(self.weights.sum())


# --- The law --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MixtureLaw:
    """Mixture of K laws of vectors, or of labels; `MixtureLaw.of` makes the one for numbers too.

    Parameters
    ----------
    weights : array (K,)
        At least 0; their sum is 1.
    components : tuple of K laws

    Examples
    --------
    >>> from novum.distributions import Poisson
    >>> law = MixtureLaw.of([0.5, 0.5], [Poisson(1.0), Poisson(9.0)])
    >>> law.mean, law.variance
    (5.0, 21.0)
    >>> law.responsibilities([0, 20]).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> counts = law.sample(500, random_state=0)
    >>> found = MixtureLaw.fit(counts, component=Poisson, n_components=2)
    >>> sorted(round(part.rate) for part in found.components)
    [1, 9]
    """

    weights: Floats
    components: tuple[Any, ...]

    def __post_init__(self) -> None:
        weights, components = np.array(self.weights, np.float64), tuple(self.components)
        if weights.shape != (len(components),) or not components:
            raise InputError(
                f"A mixture needs a weight for each of its laws, got {weights.size} weights and "
                f"{len(components)} laws."
            )
        object.__setattr__(self, "weights", mixture_weights(weights))
        object.__setattr__(self, "components", components)

    @staticmethod
    def of(weights: ArrayLike, components: Any) -> MixtureLaw:
        """The mixture of these laws; that of laws of numbers is a law of numbers."""
        laws = tuple(components)
        numbers = all(hasattr(law, "quantile") and not hasattr(law, "levels") for law in laws)
        return (RealMixtureLaw if numbers else MixtureLaw)(np.asarray(weights), laws)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(
            np.array_equal(self.weights, other.weights) and self.components == other.components
        )

    def __hash__(self) -> int:
        return hash((type(self), self.weights.tobytes(), self.components))

    @property
    def n_components(self) -> int:
        return len(self.components)

    @property
    def n_coordinates(self) -> int:
        return int(self.components[0].n_coordinates)

    # Density

    def log_joint(self, x: Any) -> Floats:
        """`log w_k + log p_k` of what is present of points, (..., K)."""
        return self._joined(self._own(x))

    def _own(self, x: Any) -> Floats:
        """`log p_k` of what is present."""
        return np.stack([observed_log_density(law, x) for law in self.components], axis=-1)

    def _joined(self, own: Floats) -> Floats:
        """`log w_k` added; without weight a component is absent, infinite densities and all."""
        with np.errstate(divide="ignore"):
            return np.where(self.weights > 0, own, 0.0) + np.log(self.weights)

    def log_density(self, x: Any) -> Floats:
        """Log-density of points; NaN where a cell is missing."""
        parts = np.stack([np.asarray(law.log_density(x)) for law in self.components], axis=-1)
        missing = np.isnan(parts).any(axis=-1)
        joint = self._joined(np.where(missing[..., None], 0.0, parts))
        return np.where(missing, np.nan, _summed(joint))

    def density(self, x: Any) -> Floats:
        return np.exp(self.log_density(x))

    def log_density_observed(self, x: Any) -> Floats:
        """Log-density of the cells that are present; missing ones are integrated out."""
        return _summed(self.log_joint(x))

    def responsibilities(self, x: Any) -> Floats:
        """The probability of every component, `(..., K)`, given what is present."""
        return _shares(self.log_joint(x))

    # Moments

    @property
    def mean(self) -> Any:
        return np.tensordot(self.weights, np.array([law.mean for law in self.components]), 1)

    @property
    def covariance(self) -> Floats:
        """Of all components together: within and between."""
        means = np.array([law.mean for law in self.components])
        away = means - self.mean
        within = np.array([law.covariance for law in self.components])
        return np.asarray(np.tensordot(self.weights, within, 1) + (away.T * self.weights) @ away)

    @property
    def variance(self) -> Any:
        """Of each coordinate."""
        means = np.array([law.mean for law in self.components])
        spreads = np.array([law.variance for law in self.components]) + (means - self.mean) ** 2
        return np.tensordot(self.weights, spreads, 1)

    # Sampling

    def sample(self, size: Size, random_state: RandomSource = None) -> Any:
        """Independent values."""
        return self.sample_with_components(size, random_state)[0]

    def sample_with_components(
        self, size: Size, random_state: RandomSource = None
    ) -> tuple[Any, Integers]:
        """Values, and the components that they come from."""
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        rng = stream(random_state)
        codes = np.searchsorted(np.cumsum(self.weights)[:-1], rng.random(shape), side="right")
        drawn = [
            np.asarray(law.sample(int((codes == k).sum()), rng))
            for k, law in enumerate(self.components)
        ]
        kind = np.result_type(*(part.dtype for part in drawn))
        values = np.empty((*shape, *drawn[0].shape[1:]), kind)
        for k, part in enumerate(drawn):
            values[codes == k] = part
        return values, np.asarray(codes, np.int64)

    # Estimation

    @classmethod
    def fit(
        cls,
        x: Any,
        weight: ArrayLike | None = None,
        *,
        component: Any,
        n_components: int,
        **options: Any,
    ) -> MixtureLaw:
        """The best of several climbs by expectation and maximization.

        Parameters
        ----------
        x : array (n,) or (n, d)
        weight : array (n,), optional
        component : class of laws, or Component
        n_components : int
        **options
            As for `fit_certified`.
        """
        from novum.core.learners import warn_if_stopped

        law, certificate = cls.fit_certified(
            x, weight, component=component, n_components=n_components, **options
        )
        warn_if_stopped(certificate, "MixtureLaw")
        return law

    @classmethod
    def fit_certified(
        cls,
        x: Any,
        weight: ArrayLike | None = None,
        *,
        component: Any,
        n_components: int,
        prior_count: float = 0.1,
        n_init: int = 5,
        tol: float = 1e-8,
        max_iter: int = 2000,
        random_state: RandomSource = 0,
    ) -> tuple[MixtureLaw, Certificate]:
        """The fit and its certificate: the objective after every step, and all starts.

        Parameters
        ----------
        x, weight, component, n_components
            As for `fit`.
        prior_count : float
            Rows c that every component has seen in advance.
        n_init : int
            Starts, of which the best is kept.
        tol : float
            A climb ends when a step changes the objective per row by less.
        max_iter : int
        random_state : None, int, Generator, RandomState or SeedSequence
        """
        from novum.distributions.mixture_em import (
            LawEM,
            checked_sample,
            first_groups,
            first_mixture,
        )

        rows, weights = checked_sample(x, weight)
        if not 1 <= n_components <= len(rows):
            raise InputError(
                f"{n_components} components of {len(rows)} rows are not possible. Ask for 1 to "
                f"{len(rows)}."
            )
        family = Component.of(component)
        total = float(weights.sum())

        def begin(rng: np.random.Generator) -> MixtureLaw:
            groups = first_groups(rows, weights, n_components, rng)
            return first_mixture(family, rows, weights, groups, n_components, prior_count / total)

        problem = LawEM(family, begin, prior_count / total)
        fitted = fit_sums(
            problem,
            lambda step: step((rows, weights)),
            stop=StopRule(tol=tol, max_iter=max_iter),
            n_init=n_init if n_components > 1 else 1,
            random_state=random_state,
        )
        return fitted.params, fitted.certificate

    # As a component of a hidden model

    @classmethod
    def first(
        cls, x: Any, weight: Floats, *, component: Any, n_components: int, share: float = 0.0
    ) -> MixtureLaw:
        """A mixture to start from: groups around rows that are far from each other."""
        from novum.distributions.mixture_em import first_groups, first_mixture

        family, rows = Component.of(component), np.asarray(x)
        groups = first_groups(rows, weight, n_components, stream(0, "first"))
        return first_mixture(family, rows, weight, groups, n_components, share)

    def expected_statistics(
        self, x: Any, weight: Floats, *, component: Any, prior: Floats | None = None
    ) -> MixtureStatistics:
        """Sums of one pass; `prior` are weights of rows that every component has seen before."""
        family = Component.of(component)
        own = self._own(x)
        joint = self._joined(own)
        R = _shares(joint) * weight[:, None]
        parts, log_prior = [], 0.0
        for k, law in enumerate(self.components):
            parts.append(family.expected(law, x, R[:, k], prior))
            if prior is not None:
                is_plain = not hasattr(law, "prior_log_density")
                log_prior += float(prior @ (own[:, k] if is_plain else law.prior_log_density(x)))
        value = float(weight @ _summed(joint))
        return MixtureStatistics(family, R.sum(axis=0), tuple(parts), value, log_prior)

    def prior_log_density(self, x: Any) -> Floats:
        """Log-density of rows that every component has seen in advance."""
        return np.asarray(sum(prior_log_density(law, x) for law in self.components))

    def maximized(self, statistics: MixtureStatistics) -> MixtureLaw:
        """The likeliest mixture of such sums; a component that has died has weight zero."""
        weights = statistics.weights
        weights = np.where(weights > _DEAD * statistics.weight, weights, 0.0)
        pairs = zip(self.components, statistics.parts, strict=True)
        laws = tuple(statistics.component.likeliest(law, part) for law, part in pairs)
        return MixtureLaw.of(weights / weights.sum(), laws)

    # Relations

    def marginal(self, indices: ArrayLike) -> MixtureLaw:
        """The law of some of the coordinates, in the order given."""
        return MixtureLaw.of(self.weights, [law.marginal(indices) for law in self.components])

    def condition(self, indices: ArrayLike, values: ArrayLike) -> MixtureLaw:
        """The law of the other coordinates when those of `indices` have the given values."""
        fixed, given = np.atleast_1d(indices), np.atleast_1d(values)
        shares = self.marginal(fixed).responsibilities(given)
        return MixtureLaw.of(shares, [law.condition(fixed, given) for law in self.components])


class RealMixtureLaw(MixtureLaw):
    """Mixture of laws of numbers: itself a law of numbers, with cdf and quantiles."""

    @property
    def discrete(self) -> bool:
        """Whether all components have whole numbers only."""
        return all(law.discrete for law in self.components)

    @property
    def support(self) -> tuple[float, float]:
        """From the smallest to the largest value of a component that has a weight."""
        ends = [law.support for law, w in zip(self.components, self.weights, strict=True) if w > 0]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def cdf(self, x: ArrayLike) -> Floats:
        """`sum_k w_k P_k(X <= x)`."""
        below = np.tensordot(self.weights, np.array([law.cdf(x) for law in self.components]), 1)
        # Sums of weights are rounded; beyond the support nothing is left.
        values = arguments.points("MixtureLaw", x)
        return np.where(values >= self.support[1], 1.0, np.minimum(below, 1.0))

    def quantile(self, level: ArrayLike) -> Floats:
        """The smallest value at which the cdf reaches `level`: between those of the components."""
        levels = arguments.levels("MixtureLaw", level)
        alive = [law for law, w in zip(self.components, self.weights, strict=True) if w > 0]
        ends = np.array([law.quantile(levels) for law in alive])
        low, high = ends.min(axis=0), ends.max(axis=0)
        inside = np.isfinite(low) & np.isfinite(high) & (levels > 0) & (levels < 1)
        a, b = np.where(inside, low, 0.0), np.where(inside, high, 0.0)
        # Halving ends at neighboring numbers, or at whole ones.
        for _ in range(2000):
            middle = np.floor(0.5 * (a + b)) if self.discrete else a + 0.5 * (b - a)
            open_ = (a < middle) & (middle < b)
            if self.discrete:
                open_ |= (middle == a) & (a < b)
            if not open_.any():
                break
            reached = self.cdf(middle) >= levels
            step = 1.0 if self.discrete else 0.0
            b = np.where(open_ & reached, middle, b)
            a = np.where(open_ & ~reached, middle + step, a)
        quantiles = np.where(inside, b, np.where(levels >= 1, self.support[1], low))
        return arguments.keep_missing(np.where(levels <= 0, self.support[0], quantiles), levels)

    def probability(self, a: ArrayLike, b: ArrayLike) -> Floats:
        """`P(a <= X <= b)`."""
        parts = [
            getattr(law, "interval_probability", None) or law.probability for law in self.components
        ]
        probabilities = np.tensordot(self.weights, np.array([part(a, b) for part in parts]), 1)
        return np.minimum(probabilities, 1.0)

    @property
    def mean(self) -> float:
        return float(super().mean)

    @property
    def variance(self) -> float:
        return float(super().variance)


# --- Weights and memberships ----------------------------------------------------------------------


def mixture_weights(weights: Floats) -> Floats:
    """Weights of components, which sum to 1 up to rounding; normalized exactly, read-only."""
    if not (weights >= 0).all() or abs(weights.sum() - 1.0) > 1e-6:
        raise InputError(
            f"The weights {weights.tolist()} sum to {weights.sum():g}; they are at least 0 and "
            "sum to 1."
        )
    weights = weights / weights.sum()
    weights.setflags(write=False)
    return weights


def _summed(joint: Floats) -> Floats:
    return log_sum_exp(joint, axis=-1)


def _shares(joint: Floats) -> Floats:
    # Where densities are infinite, those that are share the point.
    poles = np.isposinf(joint)
    at_poles = np.where(poles, 0.0, -np.inf)
    joint = np.where(poles.any(axis=-1, keepdims=True), at_poles, joint)
    total = log_sum_exp(joint, axis=-1, keepdims=True)
    # A point that no component has tells nothing of them.
    possible = np.isfinite(total)
    return np.where(possible, np.exp(joint - np.where(possible, total, 0.0)), 1.0 / joint.shape[-1])
