"""What a search of graphs maximizes: criteria, priors of tables among them, and of edges.

With N_ijk the weight of the rows in which node i has state k and its parents configuration j,

    log L    sum over i, j, k of N_ijk log(N_ijk / N_ij)
    AIC      log L - parameters
    BIC      log L - log(n) / 2 * parameters
    K2       log of the marginal likelihood under Dirichlet(1, ..., 1)
    BDeu     the same under Dirichlet(s / (q_i r_i)): equal for equivalent graphs
    BDs      s spread over the configurations that the table has
    NML      log L - sum over i, j of log C(N_ij, r_i), the factorized normalized likelihood
    BGe      log of the marginal likelihood of numbers under a normal-Wishart prior

in natural logarithms; more is better. Every declared state counts, in `r_i` and in `q_i`, whether a
row has it or not. Of columns of numbers that are kept as they are, log L is that of regressions.

References
----------
Heckerman, Geiger and Chickering (1995). Schwarz (1978). Scutari (2016) for BDs. Silander, Roos,
Kontkanen and Myllymäki (2008) for the factorized NML. Geiger and Heckerman (2002) for BGe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, meant
from novum.graphical.learning import counts_kernels as kernels
from novum.numerics import Floats


@dataclass(frozen=True)
class Criterion:
    """What a search maximizes; a value. Use one of its subclasses."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.PENALIZED
    takes_fractions: ClassVar[bool] = True

    def penalty(self, total: float) -> float:
        """What one free parameter costs in a table of this weight."""
        del total
        return 0.0

    @property
    def prior_size(self) -> float:
        """Rows that a prior is worth, where its size is one number."""
        return 0.0


@dataclass(frozen=True)
class LogLikelihood(Criterion):
    """The largest log-likelihood. It grows with every edge: only for comparisons of equal size."""


@dataclass(frozen=True)
class AIC(Criterion):
    """Log-likelihood minus the number of free parameters: for prediction, with many edges."""

    def penalty(self, total: float) -> float:
        del total
        return 1.0


@dataclass(frozen=True)
class BIC(Criterion):
    """Log-likelihood minus log(n) / 2 for each free parameter: for finding the true graph."""

    def penalty(self, total: float) -> float:
        return 0.5 * math.log(total) if total > 0 else 0.0


@dataclass(frozen=True)
class _Dirichlet(Criterion):
    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        size = self.equivalent_sample_size
        if isinstance(size, bool) or not (isinstance(size, (int, float)) and 0 < size < math.inf):
            raise InputError(
                f"equivalent_sample_size is a number of rows above 0, got {label_text(size)}."
            )

    @property
    def prior_size(self) -> float:
        return float(self.equivalent_sample_size)


@dataclass(frozen=True)
class BDeu(_Dirichlet):
    """Marginal likelihood under a uniform prior that is worth `equivalent_sample_size` rows.

    As a prior of tables it adds s / cells to each count. For learning a graph 1 is safe where all
    states have many rows; larger sizes draw edges between rare states that are not there.

    Examples
    --------
    >>> BDeu(8.0).pseudo_counts((2, 2)).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_EQUIVALENT

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What the prior adds to the counts of a family with axes (parents ..., node)."""
        del name
        return np.full(shape, self.equivalent_sample_size / math.prod(shape))


@dataclass(frozen=True)
class BDs(_Dirichlet):
    """BDeu with its prior on those configurations of parents that the table has."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_SPARSE


@dataclass(frozen=True)
class K2(Criterion):
    """Marginal likelihood under uniform priors of every row of every table: one more count each."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.DIRICHLET_ONES

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What the prior adds to the counts of a family."""
        del name
        return np.ones(shape)


@dataclass(frozen=True)
class NML(Criterion):
    """Normalized maximum likelihood of each row of each table: no prior to choose."""

    kind: ClassVar[kernels.Kind] = kernels.Kind.NORMALIZED
    takes_fractions: ClassVar[bool] = False


@dataclass(frozen=True)
class BGe(_Dirichlet):
    """Marginal likelihood of columns of numbers under a normal-Wishart prior; of states as BDeu.

        mean | precision  normal about the columns' means, worth `mean_rows` rows
        precision         Wishart with `degrees` degrees of freedom and scale t * variances

    with t = mean_rows (degrees - d - 1) / (mean_rows + 1) for d columns of numbers, so that the
    expected covariance is that of the given variances. Equal for equivalent graphs of numbers. A
    number with discrete parents has such a prior in each of their configurations.

    Parameters
    ----------
    equivalent_sample_size : float
        Of the tables of discrete nodes.
    mean_rows : float
        Rows that the prior of the means is worth.
    degrees : float, optional
        Above d + 1; d + mean_rows + 1 by default.
    variance : float, optional
        Of every column before the table is seen; that of the column in the table by default, so
        that units do not matter.

    Notes
    -----
    As a prior of `fit_parameters` it gives expected coefficients and variances.

    References
    ----------
    Geiger and Heckerman (2002). Kuipers, Moffa and Heckerman (2014).

    Examples
    --------
    >>> BGe().mean_rows
    1.0
    """

    mean_rows: float = 1.0
    degrees: float | None = None
    variance: float | None = None
    kind: ClassVar[kernels.Kind] = kernels.Kind.NORMAL_WISHART

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("mean_rows", "degrees", "variance"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{name} of BGe is a number above 0, got {label_text(value)}.")

    def pseudo_counts(self, shape: tuple[int, ...], name: str = "") -> Floats:
        """What the prior adds to the counts of a discrete node."""
        return BDeu(self.equivalent_sample_size).pseudo_counts(shape, name)

    def freedom(self, n_numbers: int) -> float:
        """Degrees of freedom for so many columns of numbers."""
        if self.degrees is None:
            return n_numbers + self.mean_rows + 1.0
        if not self.degrees > n_numbers + 1:
            raise InputError(
                f"degrees of BGe is above the number of columns and 1, {n_numbers + 1}; got "
                f"{self.degrees:g}."
            )
        return float(self.degrees)

    def scale(self, n_numbers: int) -> float:
        """The factor t of the prior's scale matrix."""
        return self.mean_rows * (self.freedom(n_numbers) - n_numbers - 1) / (self.mean_rows + 1)


@dataclass(frozen=True)
class StructurePrior:
    """What is believed of edges before the table is seen.

    Parameters
    ----------
    edge : float
        Probability of any edge, before acyclicity; 0.5 prefers nothing.
    edges : mapping from (parent, child) to probability
        Of single edges.
    parents : sequence of float, optional
        Weight of having 0, 1, 2, ... parents; the last holds for all larger numbers.

    Examples
    --------
    >>> StructurePrior(edge=0.1, edges={("smoke", "cancer"): 0.9}).edge
    0.1
    """

    edge: float = 0.5
    edges: Mapping[tuple[str, str], float] = field(default_factory=dict)
    parents: Sequence[float] | None = None

    def __post_init__(self) -> None:
        for what, share in (("edge", self.edge), *self.edges.items()):
            if not 0 < share < 1:
                raise InputError(
                    f"The prior probability of {label_text(what)} is {share!r}; it lies between 0 "
                    "and 1. Use Constraints to require or forbid an edge."
                )
        if self.parents is not None and not (
            len(self.parents) and all(weight > 0 for weight in self.parents)
        ):
            raise InputError("parents are weights above 0 of having 0, 1, 2, ... parents.")

    def log_odds(self, names: Sequence[str]) -> Floats:
        """Of each (child, parent)."""
        places = {name: place for place, name in enumerate(names)}
        odds = np.full((len(names), len(names)), math.log(self.edge / (1 - self.edge)))
        for (parent, child), share in self.edges.items():
            for name in (parent, child):
                if name not in places:
                    raise InputError(
                        f"The prior speaks of {label_text(name)}, which is no column: "
                        f"{meant(name, names)}"
                    )
            odds[places[child], places[parent]] = math.log(share / (1 - share))
        return odds

    def log_by_number(self, most: int) -> Floats:
        """Of 0, 1, ..., `most` parents."""
        if self.parents is None:
            return np.empty(0)
        weights = np.array([*self.parents, *[self.parents[-1]] * most], np.float64)
        return np.log(weights[: most + 1])


def check_criterion(criterion: Any) -> Criterion:
    """The criterion given, BIC by default."""
    if criterion is None:
        return BIC()
    if not isinstance(criterion, Criterion):
        raise InputError(
            "criterion is a value such as BIC(), AIC(), BDeu(10.0), K2(), BDs(), NML() or BGe(); "
            f"got {label_text(criterion)}."
        )
    return criterion
