"""P-values of many tests, adjusted so that they can be compared with one level.

With the p-values in ascending order, `p_1 <= ... <= p_m`:

    Bonferroni            m p_i
    Holm                  max_{j <= i} (m - j + 1) p_j                       no more than Bonferroni
    Benjamini-Hochberg    min_{j >= i} (m / j) p_j
    Benjamini-Yekutieli   min_{j >= i} (m / j) (1 + 1/2 + ... + 1/m) p_j

each cut off at 1. Rejecting what is at most `alpha` keeps the probability of any false rejection
(Bonferroni, Holm: for any dependence) or the expected share of false ones among the rejected
(Benjamini-Hochberg: for independent or positively dependent tests; Benjamini-Yekutieli: for any) at
`alpha`.

References
----------
Holm (1979); Benjamini & Hochberg (1995); Benjamini & Yekutieli (2001).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.core.errors import InputError
from novum.evaluation.comparison.ranks.multiplicity import holm_adjusted

Floats = NDArray[np.float64]
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
