"""The energy distance of two samples, with a test of whether they are of one law.

    D(x, y) = 2 mean |x_i - y_j| - mean |x_i - x_j| - mean |y_i - y_j|

is zero for equal laws only. Its size by chance is that of the same rows divided at random: the test
counts divisions with at least the distance, the true one among them, and has its level exactly.

References
----------
G. J. Szekely and M. L. Rizzo (2013). Energy statistics: a class of statistics based on distances.
Journal of Statistical Planning and Inference 143, 1249-1272.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, check_cancelled, check_memory, stream
from novum.display import probability
from novum.numerics import Floats


@dataclass(frozen=True)
class EnergyTest:
    """An energy distance, and how often chance makes one as large.

    Attributes
    ----------
    distance : float
    p_value : float
    n_permutations : int
    """

    distance: float
    p_value: float
    n_permutations: int

    def __repr__(self) -> str:
        return f"energy distance {self.distance:.4g}, p = {probability(self.p_value)}"


def energy_test(
    x: Floats, y: Floats, n_permutations: int = 199, random_state: RandomSource = 0
) -> EnergyTest:
    """Tests whether two samples of rows (n, d) and (m, d) are of one law.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 2
    >>> energy_test(x, y).p_value
    0.005
    """
    x, y = (np.asarray(sample, np.float64) for sample in (x, y))
    # Samples of numbers are rows of one column.
    x, y = (sample[:, np.newaxis] if sample.ndim == 1 else sample for sample in (x, y))
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or min(len(x), len(y)) < 1:
        raise InputError(
            f"Two samples of rows with the same columns are compared, got shapes {x.shape} "
            f"and {y.shape}."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("Distances need finite numbers. Leave rows with missing cells out.")
    n, m = len(x), len(y)
    check_memory(24 * (n + m) ** 2, "The distances of all rows", "Pass fewer rows.")
    between = _distances(np.vstack([x, y]))
    rng = stream(random_state, "energy")

    def distance(first: Floats) -> float:
        """By indicators of the first sample; one product gives all three means."""
        toward = between @ first
        inner, all_first, total = first @ toward, toward.sum(), between.sum()
        cross = all_first - inner
        rest = total - 2 * cross - inner
        return float(2 * cross / (n * m) - inner / n**2 - rest / m**2)

    own = np.r_[np.ones(n), np.zeros(m)]
    value = distance(own)
    larger = 1
    for _ in range(n_permutations):
        check_cancelled()
        larger += distance(np.asarray(rng.permutation(own), float)) >= value - 1e-12 * abs(value)
    return EnergyTest(max(value, 0.0), larger / (n_permutations + 1), n_permutations)


def _distances(rows: Floats) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    return np.asarray(squareform(pdist(rows)))
