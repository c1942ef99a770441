"""Checkerboard: classes that no single column tells anything about.

x is uniform on the unit cube, cut into `cells` equal parts along each axis. The class is the parity
of the field's coordinates, flipped with probability `noise`, which is the Bayes error. With an even
number of parts, `cells=2` in two dimensions being XOR, a row with any cell missing has posterior
1/2; with an odd number one color has one field more, and that excess is all that remains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.data.synthetic.sample import Seed, SyntheticSample, averaged, check_size, erased
from novum.numerics import Array, Floats


@dataclass(frozen=True)
class Checkerboard:
    """Two classes on a checkerboard.

    Parameters
    ----------
    cells : int, default=2
        Parts along each axis.
    noise : float, default=0.0
        Probability that a label is flipped, at most 1/2.
    dimensions : int, default=2

    Examples
    --------
    >>> sample = Checkerboard(noise=0.1).sample(4, random_state=1)
    >>> sample.bayes_error, Checkerboard().bayes_predict([[0.2, 0.7], [0.2, 0.3]]).tolist()
    (0.1, [1, 0])
    """

    cells: int = 2
    noise: float = 0.0
    dimensions: int = 2

    def __post_init__(self) -> None:
        if self.cells < 1 or self.dimensions < 1 or not 0 <= self.noise <= 0.5:
            raise InputError(
                "Checkerboard needs cells and dimensions of at least 1 and noise from 0 to 0.5, "
                f"got cells={self.cells!r}, dimensions={self.dimensions!r}, noise={self.noise!r}."
            )

    def sample(self, n: int, random_state: Seed = None, missing: float = 0.0) -> SyntheticSample:
        """`n` rows; `missing` is the rate of cells that are erased."""
        check_size(n, missing)
        rng = np.random.default_rng(random_state)
        X = rng.random((n, self.dimensions))
        y = self.bayes_predict(X) ^ (rng.random(n) < self.noise)
        error, accuracy = self.error(missing)
        return SyntheticSample(erased(X, missing, rng), y.astype(np.int64), error, accuracy, self)

    def error(self, missing: float = 0.0) -> tuple[float, float]:
        """Bayes error and its accuracy (0: exact), with cells missing at the given rate."""
        return averaged(self._pattern_error, self.dimensions, missing)

    def positive_probability(self, X: ArrayLike) -> Floats:
        """`P(y = 1 | observed cells)`."""
        rows = np.asarray(X, float)
        seen = ~np.isnan(rows)
        field = np.clip(np.floor(np.where(seen, rows, 0.0) * self.cells), 0, self.cells - 1)
        parity = np.where(seen, field, 0.0).sum(axis=1) % 2
        # The sign (-1)^parity has the mean `excess` over each cell that is missing.
        sign = (1 - 2 * parity) * self._excess ** (~seen).sum(axis=1)
        return 0.5 - 0.5 * (1 - 2 * self.noise) * sign

    def bayes_predict(self, X: ArrayLike) -> Array:
        return (self.positive_probability(X) > 0.5).astype(np.int64)

    @property
    def _excess(self) -> float:
        return (self.cells % 2) / self.cells

    def _pattern_error(self, seen: tuple[bool, ...]) -> tuple[float, float]:
        excess = self._excess ** seen.count(False)
        return self.noise * excess + 0.5 * (1 - excess), 0.0
