"""Small learners for the driver of iterative fits: EM, Lloyd's algorithm, Newton's method."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from novum.core.sums import SumProblem
from novum.numerics import Floats, LogisticLoss

Total = Callable[[Callable[[Any], Any]], Any]


# --- Data and sums --------------------------------------------------------------------------------


def two_normals(n: int, distance: float, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    low, high = rng.normal(-distance / 2, 1.0, n), rng.normal(distance / 2, 1.5, n)
    return np.where(rng.random(n) < 0.4, low, high)


def labeled(n: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, np.where(x + rng.logistic(size=n) > 0, 1.0, -1.0)])


def in_memory(x: Any) -> Total:
    return lambda step: step(x)


def chunked(x: Floats, size: int) -> Total:
    return lambda step: sum(step(x[i : i + size]) for i in range(0, len(x), size))


# --- Problems -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """Two normal laws: weight of the first, means, variances."""

    weight: float
    means: tuple[float, float]
    variances: tuple[float, float]


class MixtureOfTwo(SumProblem[Pair, Floats]):
    """EM of a mixture of two normal laws; statistics are log-likelihood, then 3 moments each."""

    objective_name = "log-likelihood"
    direction = "maximize"

    def __init__(self, first: Pair | None = None) -> None:
        self.first = first

    def start(self, rng: np.random.Generator) -> Pair:
        if self.first is not None:
            return self.first
        low, high = sorted(rng.normal(0, 3, 2).tolist())
        return Pair(0.5, (low, high), (4.0, 4.0))

    def step(self, params: Pair, chunk: Floats) -> Floats:
        weights = np.array([params.weight, 1 - params.weight])
        logs = np.log(weights) + stats.norm.logpdf(
            chunk[:, None], params.means, np.sqrt(params.variances)
        )
        total = np.logaddexp(logs[:, 0], logs[:, 1])
        share = np.exp(logs - total[:, None])
        moments = [share.T @ chunk**power for power in range(3)]
        return np.concatenate([[total.sum()], *moments])

    def objective(self, _params: Pair, statistics: Floats) -> float:
        return float(statistics[0])

    def scale(self, _params: Pair, statistics: Floats) -> float:
        return float(statistics[1] + statistics[2])

    def update(self, _params: Pair, statistics: Floats) -> Pair:
        count, first, second = statistics[1:].reshape(3, 2)
        means = first / count
        # The likelihood is unbounded at variance 0; above a floor EM climbs all the same.
        variances = np.maximum(second / count - means**2, 1e-3)
        return Pair(float(count[0] / count.sum()), tuple(means.tolist()), tuple(variances.tolist()))

    def to_vector(self, params: Pair) -> Floats:
        odds = math.log(params.weight / (1 - params.weight))
        return np.array([odds, *params.means, *np.log(params.variances)])

    def from_vector(self, vector: Floats) -> Pair | None:
        if np.abs(vector[[0, 3, 4]]).max() > 30:
            return None
        low, high = vector[1:3].tolist()
        first, second = np.exp(vector[3:]).tolist()
        return Pair(float(1 / (1 + np.exp(-vector[0]))), (low, high), (first, second))


class Lloyd(SumProblem[Floats, Floats]):
    """k-means on a line; statistics are the inertia, then counts and sums of the clusters."""

    objective_name = "inertia"
    direction = "minimize"

    def __init__(self, k: int, x: Floats) -> None:
        self.k, self.x = k, x

    def start(self, rng: np.random.Generator) -> Floats:
        return rng.choice(self.x, self.k, replace=False)

    def step(self, params: Floats, chunk: Floats) -> Floats:
        squares = (chunk[:, None] - params) ** 2
        nearest = squares.argmin(axis=1)
        counts = np.bincount(nearest, minlength=self.k)
        sums = np.bincount(nearest, chunk, minlength=self.k)
        return np.concatenate([[squares.min(axis=1).sum()], counts, sums])

    def objective(self, _params: Floats, statistics: Floats) -> float:
        return float(statistics[0])

    def update(self, params: Floats, statistics: Floats) -> Floats:
        counts, sums = statistics[1:].reshape(2, self.k)
        return np.where(counts > 0, sums / np.maximum(counts, 1), params)


class LogisticSlope(SumProblem[float, Floats]):
    """Newton for one slope with penalty w^2 / 2; statistics are loss, slope and curvature."""

    objective_name = "penalized logistic loss"
    direction = "minimize"
    convex = True

    def __init__(self, first: float = 0.0) -> None:
        self.first = first

    def start(self, _rng: np.random.Generator) -> float:
        return self.first

    def step(self, params: float, chunk: Floats) -> Floats:
        x, y = chunk.T
        loss = LogisticLoss()
        score = params * x
        slope, curvature = x * loss.gradient(score, y), x**2 * loss.curvature(score, y)
        return np.array([loss.value(score, y).sum(), slope.sum(), curvature.sum()])

    def objective(self, params: float, statistics: Floats) -> float:
        return float(statistics[0] + 0.5 * params**2)

    def update(self, params: float, statistics: Floats) -> float:
        return params - float((statistics[1] + params) / (statistics[2] + 1))

    def residual(self, params: float, statistics: Floats) -> float:
        return abs(float(statistics[1] + params))

    def bound(self, params: float, statistics: Floats) -> float:
        # The penalty makes the objective strongly convex with modulus 1.
        return self.objective(params, statistics) - 0.5 * self.residual(params, statistics) ** 2

    def retreat(self, params: float, proposal: float) -> float:
        return (params + proposal) / 2
