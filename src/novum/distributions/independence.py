"""Independence of discrete variables: exact on tables, tested on samples.

Sets of variables A, B, ... are independent given C iff for every state c of positive probability

    P(a, b, ... | c) = P(a | c) P(b | c) ...

On a known table this is checked cell by cell, and the largest difference is the evidence. On a
sample the counts `N` are compared with those expected under independence, `E = N_ac N_bc / N_c`:

    Pearson           X^2 = sum (N - E)^2 / E
    likelihood ratio  G   = 2 sum N log(N / E) = 2 n I(A; B | C)     (natural logarithm)

Both follow a chi-square law when A and B are independent and the counts are large, with
`(r_c - 1)(s_c - 1)` degrees of freedom for every c, counting only states that occur with c.

References
----------
Agresti, "Categorical Data Analysis", 2013, 3.2 (tests) and 2.4 (strata); Cochran, "Some methods for
strengthening the common chi-square tests", 1954 (small expected counts).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.distributions.joint_table import JointTable
from novum.distributions.joint_table_states import names_of, shown
from novum.numerics import Floats, Mask

Names = str | Iterable[str]

# A difference of probabilities below this is rounding of sums over up to MAX_CELLS cells.
TOLERANCE = 1e-9


class SmallCountsWarning(UserWarning):
    """Expected counts are too small for the chi-square law to be trusted."""


# --- Exact ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Independence:
    """Whether sets of variables are independent in a table, and where it fails most.

    Parameters
    ----------
    holds : bool
    violation : float
        Largest `|P(a, b | c) - P(a | c) P(b | c)|` over all states.
    at : mapping
        The states of that largest violation.
    joint, product : float
        The two probabilities there.
    """

    holds: bool
    violation: float
    at: dict[str, Level]
    joint: float
    product: float

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        where = ", ".join(f"{shown(name)} = {shown(state)}" for name, state in self.at.items())
        verdict = "independent" if self.holds else "dependent"
        return (
            f"{verdict}: the largest violation is {self.violation:.3g}, at {where} "
            f"({self.joint:.6g} against {self.product:.6g})"
        )


def check_independence(
    table: JointTable, *groups: Names, given: Names = (), tolerance: float = TOLERANCE
) -> Independence:
    """Whether sets of variables are mutually independent, given others, in a table.

    Parameters
    ----------
    table : JointTable
    *groups : names
        Two or more variables, or sets of variables, that do not overlap.
    given : names
        States of these with probability zero say nothing and are left out.
    tolerance : float
        Differences of probabilities up to this count as rounding.

    Examples
    --------
    >>> dice = JointTable(np.full((2, 2), 0.25), ["a", "b"], [("even", "odd")] * 2)
    >>> check_independence(dice, "a", "b").holds
    True
    """
    sets, known = _checked_groups(table, groups, given)
    names = (*known, *(name for group in sets for name in group))
    part = table.marginal(*names)
    sizes = [math.prod(part.shape[: len(known)])]
    sizes += [math.prod(len(table.space.axis(n).states) for n in group) for group in sets]
    cells = part.probabilities.reshape(sizes)
    context = cells.sum(axis=tuple(range(1, cells.ndim)))
    possible = context > 0
    shares = cells[possible] / context[possible].reshape(-1, *[1] * len(sets))
    product = np.ones_like(shares)
    for place in range(1, shares.ndim):
        others = tuple(axis for axis in range(1, shares.ndim) if axis != place)
        product = product * shares.sum(axis=others, keepdims=True)
    gap = np.abs(shares - product)
    # Of violations that are equal up to rounding the first is shown.
    first = int(np.argmax(gap.ravel() >= gap.max() - 1e-14))
    worst = np.unravel_index(first, gap.shape)
    full = (int(np.flatnonzero(possible)[worst[0]]), *(int(i) for i in worst[1:]))
    cell = np.unravel_index(int(np.ravel_multi_index(full, cells.shape)), part.shape)
    at = {axis.name: axis.states[int(i)] for axis, i in zip(part.space, cell, strict=True)}
    violation = float(gap[worst])
    return Independence(
        violation <= tolerance, violation, at, float(shares[worst]), float(product[worst])
    )


# --- On samples -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class IndependenceTest:
    """A test of independence on a sample.

    Parameters
    ----------
    statistic : str
        `"pearson"` or `"likelihood_ratio"`.
    value : float
    degrees_of_freedom : int
    p_value : float
        Probability of a value at least this large under independence, by the chi-square law.
    effect : float
        Cramer's V, from 0 (none) to 1 (one decides the other); over strata their common value.
    sample_size : float
    smallest_expected : float
        The smallest count expected under independence.
    """

    statistic: str
    value: float
    degrees_of_freedom: int
    p_value: float
    effect: float
    sample_size: float
    smallest_expected: float

    def __str__(self) -> str:
        return (
            f"{self.statistic} {self.value:.6g} with {self.degrees_of_freedom} degrees of freedom, "
            f"p = {self.p_value:.3g}, Cramer's V = {self.effect:.3g}, n = {self.sample_size:g}"
        )


def independence_test(
    sample: Any, a: Names, b: Names, given: Names = (), statistic: str = "likelihood_ratio"
) -> IndependenceTest:
    """Test of independence of two (sets of) variables on a sample, given others.

    Parameters
    ----------
    sample : data frame, mapping of columns, or JointTable with a `sample_size`
    a, b, given : names
    statistic : {"likelihood_ratio", "pearson"}
        G or Pearson's X^2.

    Notes
    -----
    Warns (`SmallCountsWarning`) by Cochran's rule: an expected count below 1, or more than a fifth
    of them below 5. A constant variable leaves no degree of freedom and has `p_value` 1.

    Examples
    --------
    >>> votes = JointTable.from_counts(
    ...     [[30, 10], [20, 40]], ["sex", "vote"], [("f", "m"), ("no", "yes")]
    ... )
    >>> test = independence_test(votes, "sex", "vote", statistic="pearson")
    >>> round(test.value, 4), test.degrees_of_freedom, round(test.effect, 4)
    (16.6667, 1, 0.4082)
    """
    if statistic not in ("likelihood_ratio", "pearson"):
        raise InputError(f"The statistic is 'likelihood_ratio' or 'pearson', got {statistic!r}.")
    counts = _strata(sample, a, b, given)
    expected, inside = _expected(counts)
    n_rows = (inside.any(axis=2)).sum(axis=1)
    n_columns = (inside.any(axis=1)).sum(axis=1)
    freedom = int(((n_rows - 1) * (n_columns - 1)).sum())
    smallest = float(expected[inside].min())
    if freedom:
        _warn_small(expected[inside])
    value = _statistic(counts[inside], expected[inside], statistic)
    pearson = _statistic(counts[inside], expected[inside], "pearson")
    largest = float((counts.sum(axis=(1, 2)) * (np.minimum(n_rows, n_columns) - 1)).sum())
    effect = math.sqrt(pearson / largest) if largest > 0 else 0.0
    p_value = float(special.gammaincc(freedom / 2, value / 2)) if freedom else 1.0
    return IndependenceTest(
        statistic, value, freedom, p_value, min(1.0, effect), float(counts.sum()), smallest
    )


def _strata(sample: Any, a: Names, b: Names, given: Names) -> Floats:
    """Counts as an array (states of given, states of a, states of b), empty strata left out."""
    table = sample
    if not isinstance(sample, JointTable):
        names = (*names_of(given), *names_of(a), *names_of(b))
        table = JointTable.from_frame(sample, dict.fromkeys(names))
    if table.sample_size is None:
        raise InputError(
            "A test needs to know how many rows stand behind the table, and this one was not "
            "counted from a sample. Use `check_independence` for a known table, or `from_counts`."
        )
    (left, right), known = _checked_groups(table, (a, b), given)
    part = table.marginal(*known, *left, *right)
    sizes = [math.prod(len(table.space.axis(n).states) for n in group) for group in (left, right)]
    counts = part.probabilities.reshape(-1, *sizes) * table.sample_size
    # Sums of whole counts come back as whole numbers, not as 2.9999999999999996.
    whole = np.rint(counts)
    if np.all(np.abs(counts - whole) <= 1e-12 * table.sample_size):
        counts = whole
    return counts[counts.sum(axis=(1, 2)) > 0]


def _expected(counts: Floats) -> tuple[Floats, Mask]:
    """Counts expected under independence in each stratum, and which cells can occur in it."""
    rows = counts.sum(axis=2, keepdims=True)
    columns = counts.sum(axis=1, keepdims=True)
    expected = rows * columns / counts.sum(axis=(1, 2), keepdims=True)
    return expected, (rows > 0) & (columns > 0)


def _statistic(counts: Floats, expected: Floats, name: str) -> float:
    if name == "pearson":
        return float(((counts - expected) ** 2 / expected).sum())
    terms = special.xlogy(counts, counts / expected)
    # The terms sum to a number of at least 0; what is below is their rounding.
    return max(0.0, 2.0 * math.fsum(terms))


# --- Checks ---------------------------------------------------------------------------------------


def _checked_groups(
    table: JointTable, groups: tuple[Names, ...], given: Names
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    sets, known = [names_of(group) for group in groups], names_of(given)
    if len(sets) < 2 or not all(sets):
        raise InputError("Independence is between at least two variables, or sets of them.")
    table.space.places((*known, *(name for group in sets for name in group)))
    return sets, known


def _warn_small(expected: Floats) -> None:
    low, few = float(expected.min()), int((expected < 5).sum())
    if low < 1 or few > 0.2 * expected.size:
        warnings.warn(
            f"{few} of {expected.size} expected counts are below 5, the smallest is {low:.2g}; the "
            "p-value is rough. Merge states, or collect more rows.",
            SmallCountsWarning,
            stacklevel=3,
        )
