"""Holm's correction: several tests at once, with one probability of any false rejection.

Sorted p-values `p_(1) <= ... <= p_(m)` become

    adjusted_(i) = max over j <= i of min(1, (m - j + 1) p_(j))

Rejecting all that stay below alpha makes a false rejection with probability alpha at most, whatever
the dependence among the tests, and rejects at least as much as Bonferroni's `m p`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.numerics import Floats


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
    given = np.asarray(p_values, float)
    if given.ndim != 1:
        raise InputError(f"p-values are a vector, one for each test; got shape {given.shape}.")
    bad = np.flatnonzero(~((given >= 0) & (given <= 1)))
    if bad.size:
        raise InputError(
            f"p-values are numbers from 0 to 1; {bad.size} of {given.size} are not, the "
            f"first is {given[bad[0]]:g} at position {bad[0]}."
        )
    order = np.argsort(given, kind="stable")
    factors = np.arange(given.size, 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * given[order]))
    return adjusted


# --- Several procedures ---------------------------------------------------------------------------
# P-values of many tests, adjusted so that they can be compared with one level.
#
# With the p-values in ascending order, `p_1 <= ... <= p_m`:
#
#     Bonferroni            m p_i
#   Holm                  max_{j <= i} (m - j + 1) p_j                       no more than Bonferroni
#     Benjamini-Hochberg    min_{j >= i} (m / j) p_j
#     Benjamini-Yekutieli   min_{j >= i} (m / j) (1 + 1/2 + ... + 1/m) p_j
#
# each cut off at 1. Rejecting what is at most `alpha` keeps the probability of any false rejection
# (Bonferroni, Holm: for any dependence) or the expected share of false ones among the rejected
# (Benjamini-Hochberg: for independent or positively dependent tests; Benjamini-Yekutieli: for any)
# at `alpha`.
#
# References
# ----------
# Holm (1979); Benjamini & Hochberg (1995); Benjamini & Yekutieli (2001).


Correction = Literal["bonferroni", "holm", "benjamini_hochberg", "benjamini_yekutieli"]

CORRECTIONS = ("bonferroni", "holm", "benjamini_hochberg", "benjamini_yekutieli")


def adjusted_p_values(p_values: ArrayLike, correction: Correction = "holm") -> Floats:
    """P-values adjusted for their number.

    Parameters
    ----------
    p_values : array-like of shape (m,)
    correction : {"holm", "bonferroni", "benjamini_hochberg", "benjamini_yekutieli"}

    Returns
    -------
    array of shape (m,), in the order given

    Examples
    --------
    >>> adjusted_p_values([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    >>> adjusted_p_values([0.01, 0.04, 0.03], "benjamini_hochberg").round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p_values, np.float64)
    if correction not in CORRECTIONS:
        raise InputError(f"correction is one of {', '.join(CORRECTIONS)}; got {correction!r}.")
    # It also says what is no p-value.
    by_holm = holm_adjusted(values)
    m = values.size
    if correction == "holm" or m == 0:
        return by_holm
    order = np.argsort(values, kind="stable")
    rank = np.arange(1, m + 1)
    if correction == "bonferroni":
        steps = m * values[order]
    else:
        factor = m / rank
        if correction == "benjamini_yekutieli":
            factor = factor * float((1 / rank).sum())
        steps = np.minimum.accumulate((factor * values[order])[::-1])[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted
