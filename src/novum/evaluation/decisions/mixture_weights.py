"""Weights of a mixture whose components are known.

    maximize over the simplex    L(pi) = sum_i w_i log sum_c pi_c d_ic

The step of EM multiplies every weight by its mean responsibility,  pi_c <- pi_c g_c / W  with
g_c = sum_i w_i d_ic / m_i  and  m_i = sum_c pi_c d_ic,  and never lowers L. As L is concave, the
gradient g bounds how much is left to gain,

    L(pi*) - L(pi)  <=  max_c g_c - W        (W the total weight, since <pi, g> = W),

so the result is proved, not merely stationary. Squared extrapolation shortens the way.

One weight can be held at a given value; the others then share the rest. The values of a weight at
which twice the loss of likelihood stays below a quantile of chi-squared are its profile interval,
which needs no normal approximation and ends at 0 or 1 where it should.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from novum.numerics.optimize import SquaredExtrapolation

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixtureWeights:
    """Weights of largest likelihood.

    Attributes
    ----------
    weights : array of shape (K,)
    log_likelihood : float
    gap : float
        The log-likelihood is at most this far from its maximum.
    iterations : int
    trace : tuple of float
        Log-likelihood after each step.
    converged : bool
    """

    weights: Floats
    log_likelihood: float
    gap: float
    iterations: int
    trace: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class Mixture:
    """Known component densities of a sample.

    Parameters
    ----------
    densities : array of shape (n, K)
        Of each component at each row, up to a factor of the row; not all zero in any row.
    weight : array of shape (n,)
        Positive.

    Examples
    --------
    Three rows of four can only come from the second component.

    >>> mixture = Mixture(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]), np.ones(4))
    >>> mixture.fit().weights.round(6).tolist()
    [0.25, 0.75]
    >>> mixture.profile_interval(0, 0.95)[0] > 0
    True
    """

    densities: Floats
    weight: Floats

    def fit(
        self,
        start: Floats | None = None,
        held: int | None = None,
        *,
        tol: float = 1e-10,
        max_iter: int = 10_000,
    ) -> MixtureWeights:
        """The weights of largest likelihood.

        Parameters
        ----------
        start : array of shape (K,), optional
            Where to begin; a weight of zero stays zero. Default: equal weights.
        held : int, optional
            Component whose weight stays as in `start`.
        tol : float
            Of the gap, for each unit of weight.
        max_iter : int
        """
        K = self.densities.shape[1]
        weights = np.full(K, 1 / K) if start is None else start
        value, gradient = self._look(weights)
        method, trace = SquaredExtrapolation(), [value]
        limit = tol * float(self.weight.sum())
        gap = self._gap(weights, gradient, held)
        while gap > limit and len(trace) <= max_iter:
            stepped = self._step(weights, gradient, held)
            proposal = method.propose(weights, stepped)
            value, gradient = self._look(stepped)
            if proposal is not None:
                further = self._inside(proposal, weights, held)
                found = self._look(further)
                if found[0] >= value:
                    stepped, (value, gradient) = further, found
                    method.accepted()
                else:
                    method.refused()
            weights = stepped
            trace.append(value)
            gap = self._gap(weights, gradient, held)
        return MixtureWeights(weights, value, gap, len(trace) - 1, tuple(trace), bool(gap <= limit))

    def profile_interval(
        self, component: int, level: float, best: MixtureWeights | None = None
    ) -> tuple[float, float]:
        """All values of a weight whose likelihood ratio is not refuted at `level`."""
        top = self.fit() if best is None else best
        allowed = float(special.chdtri(1, 1 - level)) / 2
        at = float(top.weights[component])

        def excess(value: float) -> float:
            start = self._with(top.weights, component, value)
            return top.log_likelihood - self._profile(start, component) - allowed

        low = 0.0 if at == 0 or excess(0.0) <= 0 else optimize.brentq(excess, 0.0, at, xtol=1e-8)
        high = 1.0 if at == 1 or excess(1.0) <= 0 else optimize.brentq(excess, at, 1.0, xtol=1e-8)
        return float(low), float(high)

    # Parts

    def _look(self, weights: Floats) -> tuple[float, Floats]:
        """Log-likelihood and its gradient."""
        mixed = self.densities @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(self.weight @ np.log(mixed))
            gradient = (self.weight / mixed) @ self.densities
        return (value if np.isfinite(value) else -np.inf), gradient

    def _profile(self, start: Floats, held: int) -> float:
        if not np.isfinite(self._look(start)[0]):
            return -np.inf
        return self.fit(start, held, tol=1e-8).log_likelihood

    @staticmethod
    def _step(weights: Floats, gradient: Floats, held: int | None) -> Floats:
        moved = weights * gradient
        if held is None:
            return moved / moved.sum()
        others = np.delete(np.arange(len(weights)), held)
        rest = moved[others].sum()
        if rest > 0:
            moved[others] *= (1 - weights[held]) / rest
        moved[held] = weights[held]
        return moved

    @staticmethod
    def _inside(proposal: Floats, weights: Floats, held: int | None) -> Floats:
        """A proposal pulled back into the simplex; what EM holds positive stays so."""
        positive = np.maximum(proposal, np.minimum(weights, 1e-12))
        if held is None:
            return positive / positive.sum()
        positive[held] = 0.0
        rest = positive.sum()
        positive *= (1 - weights[held]) / rest if rest > 0 else 0.0
        positive[held] = weights[held]
        return positive

    def _gap(self, weights: Floats, gradient: Floats, held: int | None) -> float:
        total = float(self.weight.sum())
        if held is None:
            return max(float(gradient.max()) - total, 0.0)
        others = np.delete(gradient, held)
        share = float(weights[held])
        return max((1 - share) * float(others.max()) + share * float(gradient[held]) - total, 0.0)

    @staticmethod
    def _with(weights: Floats, component: int, value: float) -> Floats:
        """Weights with one of them changed and the others in proportion, none of them zero."""
        others = np.maximum(weights, 1e-6)
        others[component] = 0.0
        changed = others * (1 - value) / others.sum()
        changed[component] = value
        return changed
