"""Two half circles with Gaussian noise.

    x = arc_c(t) + noise,   t uniform on [0, pi],   noise ~ N(0, variance I)
    arc_0(t) = (cos t, sin t),   arc_1(t) = (1 - cos t, 1/2 - sin t)

The density of a class is an integral over t, done by Gauss-Legendre nodes, which converges
geometrically once they are closer than the noise. A Gaussian splits into a product over the two
coordinates, so the density on a whole grid is one matrix product, and the Bayes error

    integral of min_c p(x, c) dx

is a sum over the grid; its accuracy is the change from a grid of half the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.data.synthetic.sample import Seed, SyntheticSample, averaged, check_size, erased
from novum.numerics import Array, Floats

_LEAST_NOISE, _MOST_NOISE = 0.02, 5.0


@dataclass(frozen=True)
class TwoMoons:
    """Two interleaved half circles, equally likely.

    Parameters
    ----------
    noise : float, default=0.2
        Standard deviation of the noise in both coordinates, from 0.02 to 5.

    Examples
    --------
    >>> sample = TwoMoons(noise=0.3).sample(100, random_state=0)
    >>> sample.X.shape, round(sample.bayes_error, 3)
    ((100, 2), 0.085)
    """

    noise: float = 0.2

    def __post_init__(self) -> None:
        if not _LEAST_NOISE <= self.noise <= _MOST_NOISE:
            raise InputError(
                f"TwoMoons needs noise from {_LEAST_NOISE} to {_MOST_NOISE}, got {self.noise!r}; "
                "with less the Bayes error is 0 to all digits."
            )

    def sample(self, n: int, random_state: Seed = None, missing: float = 0.0) -> SyntheticSample:
        """`n` rows; `missing` is the rate of cells that are erased."""
        check_size(n, missing)
        rng = np.random.default_rng(random_state)
        y = rng.integers(0, 2, n)
        arcs = np.stack(_arcs(np.pi * rng.random(n)))
        X = arcs[y, np.arange(n)] + self.noise * rng.standard_normal((n, 2))
        error, accuracy = self.error(missing)
        return SyntheticSample(erased(X, missing, rng), y, error, accuracy, self)

    def error(self, missing: float = 0.0) -> tuple[float, float]:
        """Bayes error and its accuracy, with cells missing at the given rate."""
        return averaged(self._pattern_error, 2, missing)

    def joint(self, X: ArrayLike) -> Floats:
        """`p(observed cells of x, c)` of shape (n, 2)."""
        rows = np.asarray(X, float)
        _, weights, arcs = self._nodes()
        columns = []
        for arc in arcs:
            density = np.ones((len(rows), len(arc)))
            for j in range(2):
                part = self._normal(rows[:, j], arc[:, j])
                density *= np.where(np.isnan(rows[:, [j]]), 1.0, part)
            columns.append(0.5 * density @ weights)
        return np.column_stack(columns)

    def bayes_predict(self, X: ArrayLike) -> Array:
        return self.joint(X).argmax(axis=1)

    def _nodes(self) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        nodes, weights = np.polynomial.legendre.leggauss(int(100 + 16 / self.noise))
        t = np.pi / 2 * (nodes + 1)
        return t, weights / 2, _arcs(t)

    def _normal(self, x: Floats, centers: Floats) -> Floats:
        z = (x[:, None] - centers) / self.noise
        return np.exp(-0.5 * z * z) / (self.noise * np.sqrt(2 * np.pi))

    def _pattern_error(self, seen: tuple[bool, ...]) -> tuple[float, float]:
        if not any(seen):
            return 0.5, 0.0
        size = int(np.clip(30 / self.noise + 400, 400, 2000)) * (1 if all(seen) else 4)
        fine, coarse = (self._grid_error(seen, points) for points in (size, size // 2))
        return fine, max(abs(fine - coarse), 1e-13)

    def _grid_error(self, seen: tuple[bool, ...], size: int) -> float:
        _, weights, arcs = self._nodes()
        reach = 9 * self.noise
        boxes = ((-1 - reach, 2 + reach), (-0.5 - reach, 1 + reach))
        grids = [np.linspace(*box, size) for box in boxes]
        step = np.prod([grid[1] - grid[0] for grid, use in zip(grids, seen, strict=True) if use])
        joints = []
        for arc in arcs:
            parts = [self._normal(grid, arc[:, j]) for j, grid in enumerate(grids)]
            if all(seen):
                joints.append((parts[0] * weights) @ parts[1].T)
            else:
                joints.append(parts[0 if seen[0] else 1] @ weights)
        return float(0.5 * np.minimum(*joints).sum() * step)


def _arcs(t: Floats) -> tuple[Floats, Floats]:
    upper = np.column_stack([np.cos(t), np.sin(t)])
    return upper, np.column_stack([1 - upper[:, 0], 0.5 - upper[:, 1]])
