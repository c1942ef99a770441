"""The climb of a mixture of any law, and where it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.sums import SumProblem
from novum.distributions.components import Component, prior_log_density
from novum.distributions.mixture import MixtureLaw, MixtureStatistics
from novum.distributions.multivariate.coordinates import sample_weights
from novum.numerics import Floats, Integers


class LawEM(SumProblem[MixtureLaw, MixtureStatistics]):
    """The climb of a mixture of any law; chunks are pairs of rows and weights.

    Parameters
    ----------
    component : Component
    begin : callable
        A first mixture from random numbers.
    share : float
        The part of every row that each component has seen in advance.
    further : pair of rows and weights, optional
        Rows that each component has seen in advance besides, which are not among the chunks.
    """

    objective_name = "log-likelihood of the present cells, with prior rows"
    direction = "maximize"

    def __init__(
        self,
        component: Component,
        begin: Callable[[np.random.Generator], MixtureLaw] | None,
        share: float,
        further: tuple[Any, Floats] | None = None,
    ) -> None:
        self.component, self.begin, self.share = component, begin, share
        self.further = further

    def start(self, rng: np.random.Generator, /) -> MixtureLaw:
        assert self.begin is not None
        return self.begin(rng)

    def step(self, params: MixtureLaw, chunk: Any, /) -> MixtureStatistics:
        rows, weights = chunk
        prior = self.share * weights if self.share > 0 else None
        return params.expected_statistics(rows, weights, component=self.component, prior=prior)

    def objective(self, params: MixtureLaw, statistics: MixtureStatistics, /) -> float:
        return statistics.log_likelihood + statistics.log_prior + self.log_prior(params)

    def log_prior(self, params: MixtureLaw) -> float:
        """Log-density of the further rows, under every component."""
        if self.further is None:
            return 0.0
        rows, weights = self.further
        return float(sum(weights @ prior_log_density(law, rows) for law in params.components))

    def scale(self, params: MixtureLaw, statistics: MixtureStatistics, /) -> float:
        del params
        return statistics.weight

    def update(self, params: MixtureLaw, statistics: MixtureStatistics, /) -> MixtureLaw:
        if self.further is not None:
            rows, weights = self.further
            none = np.zeros(len(weights))
            pairs = zip(params.components, statistics.parts, strict=True)
            parts = (a + self.component.expected(law, rows, none, weights) for law, a in pairs)
            statistics = replace(statistics, parts=tuple(parts))
        return params.maximized(statistics)

    def residual(self, params: MixtureLaw, statistics: MixtureStatistics, /) -> float:
        """Largest change of a weight by a further step."""
        return float(np.abs(self.update(params, statistics).weights - params.weights).max())


def first_mixture(
    component: Component,
    x: Any,
    weight: Floats,
    groups: Integers,
    K: int,
    share: float,
    further: tuple[Any, Floats] | None = None,
) -> MixtureLaw:
    """The mixture of first groups; memberships are not sure yet, so all rows have a share."""
    sure = 0.8 * np.eye(K)[groups] + 0.2 / K if K > 1 else np.ones((len(groups), 1))
    R = sure * weight[:, None]
    counted = R + share * weight[:, None]
    if further is not None:
        x = np.concatenate([x, further[0]])
        counted = np.vstack([counted, np.repeat(further[1][:, None], K, axis=1)])
    laws = [component.first(x, counted[:, k]) for k in range(K)]
    return MixtureLaw.of(R.sum(axis=0) / R.sum(), laws)


def first_groups(x: Any, weight: Floats, K: int, rng: np.random.Generator) -> Integers:
    """Rows by the nearest of K that were drawn far from each other (k-means++)."""
    if x.dtype.kind in "fiub":
        rows = np.asarray(x, np.float64).reshape(len(x), -1)
        center = np.nan_to_num(_average(rows, weight))
        spread = np.sqrt(np.nan_to_num(_average((rows - center) ** 2, weight)))
        rows = np.nan_to_num((rows - center) / np.where(spread > 0, spread, 1.0))
    else:
        levels = {level: k for k, level in enumerate(dict.fromkeys(x.ravel().tolist()))}
        codes = np.array([levels[cell] for cell in x.ravel().tolist()]).reshape(len(x), -1)
        rows = (codes[:, :, None] == np.arange(len(levels))).reshape(len(x), -1).astype(float)
    apart = np.full(len(rows), np.inf)
    groups = np.zeros(len(rows), np.int64)
    for k in range(K):
        chance = weight if k == 0 else weight * apart
        if not chance.sum() > 0:
            break
        # By the place in the sum of weights, so that a row twice is a row of weight two.
        total = np.cumsum(chance)
        seed = min(int(np.searchsorted(total, rng.random() * total[-1], "right")), len(rows) - 1)
        distance = ((rows - rows[seed]) ** 2).sum(axis=1)
        groups = np.where(distance < apart, k, groups)
        apart = np.minimum(distance, apart)
    return groups


def _average(rows: Floats, weight: Floats) -> Floats:
    there = ~np.isnan(rows)
    return (weight @ np.where(there, rows, 0.0)) / np.maximum(weight @ there, 1e-300)


def checked_sample(x: Any, weight: ArrayLike | None) -> tuple[Any, Floats]:
    """Rows and weights, without rows of weight zero."""
    rows = np.asarray(x)
    if rows.ndim not in (1, 2):
        raise InputError(f"A mixture is fitted to (n,) values or (n, d) rows, got {rows.shape}.")
    weights = sample_weights(weight, len(rows))
    return rows[weights > 0], weights[weights > 0]
