"""Holm's correction: several tests at once, with one probability of any false rejection.

Sorted p-values `p_(1) <= ... <= p_(m)` become

    adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j))

Rejecting all that stay below alpha makes a false rejection with probability alpha at most, whatever
the dependence among the tests, and rejects at least as much as Bonferroni's `m p`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.errors import InputError

Floats = NDArray[np.float64]


def holm_adjusted(p_values: ArrayLike) -> Floats:
    """p-values of several tests, adjusted so that any false rejection has probability alpha.

    Parameters
    ----------
    p_values : array-like of shape (m,)

    Returns
    -------
    array of shape (m,)
        In the order given.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6.

    Examples
    --------
    >>> holm_adjusted([0.04, 0.01, 0.03]).tolist()
    [0.06, 0.03, 0.06]
    """
    found = np.asarray(p_values, float)
    if found.ndim != 1:
        raise InputError(f"p-values are a vector, one for each test; got shape {found.shape}.")
    bad = np.flatnonzero(~((found >= 0) & (found <= 1)))
    if bad.size:
        raise InputError(
            f"p-values are numbers from 0 to 1; {bad.size} of {found.size} are not, the first is "
            f"{found[bad[0]]:g} at position {bad[0]}."
        )
    order = np.argsort(found, kind="stable")
    factors = np.arange(found.size, 0, -1)
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * found[order]))
    return adjusted
