"""Parameters of networks with numbers, from moments of their families.

A discrete node has counts, a numeric node the weight, mean and scatter of itself and its numeric
parents in each configuration of its discrete parents. Both add, so that tables stream, and rows
come off again. From the moments of a configuration follow

    coefficients  w = S_pp^-1 S_pc,   intercept  m_c - w' m_p,   variance  (S_cc - w' S_pc) / n

by maximum likelihood, and under a normal-Wishart prior (`BGe`) the same from

    R = T + S + (n a / (n + a)) (m - m_0)(m - m_0)',   variance  R_c|p / (degrees left - 2)

The posterior of coefficients is a Student t, that of the variance an inverse gamma distribution.
A configuration with too few rows for a regression of its own, or without spread, takes that over
all rows; so does the score of its family (`gaussian_kernels`).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from novum.core.errors import InputError
from novum.core.sums import Sums
from novum.core.text import label_text, listed
from novum.distributions import StateAxis
from novum.graphical.learning.coded_table import CodedTable, is_number, read_numbers
from novum.graphical.learning.gaussian_kernels import LEAST_PIVOT, LEAST_VARIANCE
from novum.graphical.learning.parameters import Dirichlet, counted, pseudo_counts, shares
from novum.graphical.learning.scores import (
    BIC,
    BGe,
    check_families,
    network_variables,
    score,
)
from novum.graphical.models.conditional import Tabular, row_text
from novum.graphical.models.linear_gaussian import (
    ConditionalGaussianNetwork,
    LinearGaussian,
    LinearGaussianNetwork,
)
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, Moments, cached_property, moments_of

# --- Moments --------------------------------------------------------------------------------------


class MomentsByRow(tuple[Moments, ...]):
    """Moments of every configuration of every numeric family, one after the other; they add."""

    __slots__ = ()

    def __add__(self, other: Any) -> MomentsByRow:
        return MomentsByRow(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other: Any) -> MomentsByRow:
        return MomentsByRow(a - b for a, b in zip(self, other, strict=True))

    def __rmul__(self, factor: Any) -> MomentsByRow:
        return MomentsByRow(factor * a for a in self)

    def isclose(self, other: Any, rtol: float = 1e-10) -> bool:
        return all(a.isclose(b, rtol) for a, b in zip(self, other, strict=True))


@dataclass(frozen=True, eq=False)
class FamilyMoments(Sums):
    """Counts and moments of the families of one graph with numbers.

    Attributes
    ----------
    variables : tuple of StateAxis
        Of columns of numbers `number_axis(name)`.
    parents : tuple of tuples of int
    weight : float
    counts : array
        Tables of the discrete families with axes (parents ..., node), one after the other.
    moments : MomentsByRow
        Of (numeric parents ..., node) in each configuration of the discrete parents.

    Examples
    --------
    >>> graph = Dag.from_edges([("kind", "size")])
    >>> table = {"kind": ["a", "a", "b", "b"], "size": [1.0, 3.0, 10.0, 14.0]}
    >>> sums = family_moments(graph, table)
    >>> print(sums.network())
    kind: a 0.5, b 0.5
    size given kind = a: 2, variance 1
    size given kind = b: 12, variance 4
    >>> (sums + sums - sums).isclose(sums)
    True
    """

    _fixed: ClassVar[tuple[str, ...]] = ("variables", "parents")
    _never_negative: ClassVar[tuple[str, ...]] = ("weight", "counts")
    _combined: ClassVar[Any] = {"moments": operator.add}

    variables: tuple[StateAxis, ...]
    parents: tuple[tuple[int, ...], ...]
    weight: float
    counts: Floats
    moments: MomentsByRow

    @cached_property
    def graph(self) -> Dag:
        return Dag(tuple(axis.name for axis in self.variables), self.parents)

    @cached_property
    def _families(self) -> tuple[_Family, ...]:
        return tuple(_families(self.variables, self.parents))

    def network(self, prior: Any = None) -> ConditionalGaussianNetwork:
        """The network of largest likelihood, or the expected one under a prior.

        Parameters
        ----------
        prior : BGe, or another prior of tables, which leaves numbers to the likelihood
        """
        nodes: list[Any] = []
        for family in self._families:
            if family.is_numeric:
                nodes.append(self._numeric(family, prior))
                continue
            cells = self._posterior_counts(family, prior)
            axes = tuple(self.variables[p] for p in family.switches)
            table = shares(cells.reshape(-1, cells.shape[-1])).reshape(cells.shape)
            nodes.append(Tabular(self.variables[family.node], axes, table))
        kind = ConditionalGaussianNetwork
        if all(family.is_numeric for family in self._families):
            kind = LinearGaussianNetwork
        return kind(self.graph, tuple(nodes))

    def intervals(self, prior: Any = None, level: float = 0.95) -> dict[str, Any]:
        """Central posterior intervals of every number of the network.

        Returns
        -------
        dict from nodes
            Of discrete nodes arrays of shape (parents ..., states, 2), as those of `FamilyCounts`.
            Of numeric nodes a dict with "intercept", "coefficients" and "variance", arrays of the
            shapes of these in `LinearGaussian` with a last axis (low, high).

        Notes
        -----
        Without a prior the intervals of numbers are those of least squares, which are also the
        posterior under a flat prior; a configuration with too few rows has infinite ones.
        """
        from scipy.special import betaincinv
        from scipy.stats import chi2, t

        if not 0 < level < 1:
            raise InputError(f"level is a share between 0 and 1, got {level!r}.")
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        answers: dict[str, Any] = {}
        for family in self._families:
            name = self.graph.names[family.node]
            if not family.is_numeric:
                a = self._posterior_counts(family, Dirichlet(0.5) if prior is None else prior)
                rest = a.sum(axis=-1, keepdims=True) - a
                ends = np.where(a > 0, 1.0, 0.0)[..., None] * np.ones(2)
                inner = (a > 0) & (rest > 0)
                ends[inner] = betaincinv(a[inner][:, None], rest[inner][:, None], tails)
                answers[name] = ends
                continue
            z = len(family.above)
            rows = []
            for row in range(family.q):
                fit = self._regression(family, row, prior)
                freedom, sums = fit.freedom, fit.squares
                if not freedom > 0:
                    rows.append(np.tile([-np.inf, np.inf], (z + 2, 1)))
                    rows[-1][-1, 0] = 0.0
                    continue
                spread = np.sqrt(sums / freedom * fit.leverages)[:, None] * t.ppf(tails, freedom)
                middle = np.append(fit.coefficients, fit.intercept)[:, None]
                variance = sums / chi2.ppf(tails[::-1], freedom)
                rows.append(np.vstack([middle + spread, variance]))
            cells = np.stack(rows).reshape(*family.shape, z + 2, 2)
            answers[name] = {
                "intercept": cells[..., z, :],
                "coefficients": cells[..., :z, :],
                "variance": cells[..., z + 1, :],
            }
        return answers

    # One family

    def _posterior_counts(self, family: _Family, prior: Any) -> Floats:
        shape = family.shape
        shapes = [f.shape for f in self._families if not f.is_numeric]
        names = [self.graph.names[f.node] for f in self._families if not f.is_numeric]
        added = pseudo_counts(prior, shapes, names)
        end = family.begin + math.prod(shape)
        return (self.counts[family.begin : end] + added[family.begin : end]).reshape(shape)

    def _of(self, family: _Family) -> tuple[Moments, ...]:
        return self.moments[family.begin : family.begin + family.q]

    def _pooled(self, family: _Family) -> Moments:
        whole = Moments.zero(len(family.above) + 1)
        for moments in self._of(family):
            whole = whole + moments
        return whole

    @cached_property
    def _prior_moments(self) -> dict[int, tuple[float, float]]:
        """Mean and variance of each column of numbers over all rows."""
        answer = {}
        for family in self._families:
            if family.is_numeric:
                whole = self._pooled(family)
                variance = float(whole.variance()[-1]) if whole.weight else 0.0
                answer[family.node] = (float(whole.mean[-1]), variance)
        return answer

    def _numeric(self, family: _Family, prior: Any) -> LinearGaussian:
        fits = [self._regression(family, row, prior) for row in range(family.q)]
        variances = [fit.variance for fit in fits]
        if not all(v > 0 for v in variances):
            self._refuse(family, int(np.argmin(variances)))
        shape = family.shape
        intercepts = np.array([fit.intercept for fit in fits]).reshape(shape)
        slopes = np.array([fit.coefficients for fit in fits]).reshape(*shape, len(family.above))
        if not shape:
            return LinearGaussian(float(intercepts), tuple(slopes.tolist()), float(variances[0]))
        return LinearGaussian(intercepts, slopes, np.array(variances).reshape(shape))

    def _regression(self, family: _Family, row: int, prior: Any) -> Regression:
        moments = self._of(family)[row]
        if isinstance(prior, BGe):
            return self._expected(family, moments, prior)
        own = regression(moments.weight, moments.mean, moments.scatter)
        whole = self._pooled(family)
        # Spread in units of the whole column, as in the score.
        unit = whole.scatter[-1, -1] / whole.weight if whole.weight else 0.0
        if moments.weight > len(family.above) + 1 and own.variance > LEAST_VARIANCE * unit:
            return own
        shared = regression(whole.weight, whole.mean, whole.scatter)
        if not shared.variance > LEAST_VARIANCE * unit:
            return shared._replace(variance=0.0, freedom=0.0)
        return shared._replace(freedom=0.0) if family.q > 1 else shared

    def _expected(self, family: _Family, moments: Moments, prior: BGe) -> Regression:
        """The posterior of a regression under a normal-Wishart prior."""
        members = [*family.above, family.node]
        d = sum(f.is_numeric for f in self._families)
        centers, variances = np.array([self._prior_moments[m] for m in members]).T
        if prior.variance is not None:
            variances = np.full(len(members), prior.variance)
        if not (variances > 0).all():
            self._refuse(family, 0)
        n, a = moments.weight, prior.mean_rows
        shift = moments.mean - centers if n else np.zeros(len(members))
        scale = np.diag(prior.scale(d) * variances) + moments.scatter
        scale = scale + n * a / (n + a) * np.outer(shift, shift)
        freedom = prior.freedom(d) + n - d + len(members)
        fit = regression(n + a, (n * moments.mean + a * centers) / (n + a), scale)
        # The mean of an inverse gamma, where it has one; its mode else.
        variance = fit.squares / (freedom - 2 if freedom > 2 else freedom + 2)
        return fit._replace(variance=variance, freedom=freedom)

    def _refuse(self, family: _Family, row: int) -> None:
        name = label_text(self.graph.names[family.node])
        above = listed([self.graph.names[p] for p in family.above]) or "none"
        switches = tuple(self.variables[s] for s in family.switches)
        case = f" where {row_text(switches, row)}" if switches else ""
        raise InputError(
            f"{name} has no variance left given its parents ({above}){case}: it is constant, or a "
            "linear function of them. Leave the column out, or remove a parent."
        )


class _Family(NamedTuple):
    """A node, its numeric and its discrete parents, and where its sums begin."""

    node: int
    is_numeric: bool
    above: tuple[int, ...]
    switches: tuple[int, ...]
    shape: tuple[int, ...]
    begin: int

    @property
    def q(self) -> int:
        return math.prod(self.shape)


def _families(
    variables: Sequence[StateAxis], parents: Sequence[Sequence[int]]
) -> Iterator[_Family]:
    begins = [0, 0]
    for node, above in enumerate(parents):
        numeric = is_number(variables[node])
        numbers = tuple(p for p in above if is_number(variables[p]))
        if numbers and not numeric:
            raise InputError(
                f"The discrete node {label_text(variables[node].name)} has the numeric parent "
                f"{label_text(variables[numbers[0]].name)}; only numeric nodes may. Turn the edge, "
                "or cut the numbers into intervals."
            )
        switches = tuple(p for p in above if not is_number(variables[p]))
        cards = [len(variables[p].states) for p in switches]
        shape = tuple(cards) if numeric else (*cards, len(variables[node].states))
        yield _Family(node, numeric, numbers, switches, shape, begins[numeric])
        begins[numeric] += math.prod(shape)


class Regression(NamedTuple):
    """A regression of the last column on the others.

    Attributes
    ----------
    intercept : float
    coefficients : array of shape (z,)
    variance : float
    squares : float
        Sum of squares that are left.
    freedom : float
        Degrees of freedom of the variance.
    leverages : array of shape (z + 1,)
        Variance of each coefficient, and of the intercept last, in units of `variance`.
    """

    intercept: float
    coefficients: Floats
    variance: float
    squares: float
    freedom: float
    leverages: Floats


def regression(weight: float, mean: Floats, scatter: Floats) -> Regression:
    """Least squares from moments; a parent that depends on those before it gets no coefficient."""
    z = len(mean) - 1
    slopes, leverages = np.zeros(z), np.full(z + 1, np.inf)
    if not weight > 0:
        return Regression(0.0, slopes, 0.0, 0.0, 0.0, leverages)
    kept: list[int] = []
    for column in range(z):
        inner = scatter[np.ix_(kept, kept)]
        cross = scatter[kept, column]
        left = scatter[column, column] - cross @ np.linalg.solve(inner, cross)
        if left > LEAST_PIVOT * scatter[column, column]:
            kept.append(column)
    units = np.sqrt(np.diagonal(scatter)[kept])
    inner = scatter[np.ix_(kept, kept)] / np.outer(units, units)
    slopes[kept] = np.linalg.solve(inner, scatter[kept, z] / units) / units
    squares = max(float(scatter[z, z] - slopes[kept] @ scatter[kept, z]), 0.0)
    inverse = np.linalg.inv(inner) / np.outer(units, units)
    leverages[kept] = np.diagonal(inverse)
    leverages[z] = 1 / weight + mean[kept] @ inverse @ mean[kept]
    intercept = float(mean[z] - slopes @ mean[:z])
    freedom = weight - len(kept) - 1
    return Regression(intercept, slopes, squares / weight, squares, freedom, leverages)


def family_moments(
    dag: Dag | ConditionalGaussianNetwork,
    table: Any,
    variables: Sequence[StateAxis] | None = None,
    *,
    sample_weight: Any = None,
) -> FamilyMoments:
    """Counts and moments of the families of a graph in a table with columns of numbers.

    Parameters
    ----------
    dag : Dag or ConditionalGaussianNetwork
    table : data frame, mapping of columns or array
        Columns that are no nodes are left alone; no cell is missing.
    variables : sequence of StateAxis, optional
        In the order of the graph; needed for pieces of a stream, so that all have the same. By
        default those of the table, or of the network.
    sample_weight : array of shape (n_rows,), optional
    """
    return summed(*read_graph(dag, table, variables, sample_weight))


def read_graph(
    dag: Any, table: Any, variables: Sequence[StateAxis] | None, sample_weight: Any
) -> tuple[Dag, CodedTable]:
    """A graph and the columns of its nodes, numbers as they are."""
    if isinstance(dag, ConditionalGaussianNetwork):
        variables, dag = variables or network_variables(dag), dag.graph
    if not isinstance(dag, Dag):
        raise InputError(
            "The structure is a Dag, such as Dag.from_edges([('kind', 'size')]), or a network; got "
            f"{label_text(dag)}."
        )
    return dag, read_numbers(table, variables, sample_weight).select(dag.names)


def summed(graph: Dag, table: CodedTable) -> FamilyMoments:
    """The sums of a table whose columns are the nodes of the graph."""
    check_families(graph, table.cards)
    refuse_missing(table)
    families = list(_families(table.variables, graph.parents))
    moments: list[Moments] = []
    for family in families:
        if not family.is_numeric:
            continue
        columns: list[Any] = [table.numbers[m] for m in (*family.above, family.node)]
        row = np.zeros(table.n_rows, np.int64)
        for switch in family.switches:
            row = row * int(table.cards[switch]) + table.codes[switch]
        moments += moments_by_row(np.stack(columns, axis=1), row, family.q, table.weights)
    # A discrete family has discrete members only.
    discrete = [family for family in families if not family.is_numeric]
    places = {family.node: place for place, family in enumerate(discrete)}
    states = table.select([table.names[node] for node in places])
    parents = [[places[s] for s in family.switches] for family in discrete]
    bare = CodedTable(states.variables, states.codes, states.weights)
    tables = counted(bare, parents) if discrete else np.empty(0)
    return FamilyMoments(table.variables, graph.parents, table.total, tables, MomentsByRow(moments))


def moments_by_row(cells: Floats, row: Integers, q: int, weights: Floats | None) -> list[Moments]:
    """Moments of the cells in each of q configurations."""
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(q + 1)).tolist()
    groups = [order[begin:end] for begin, end in itertools.pairwise(ends)]
    return [moments_of(cells[g], None if weights is None else weights[g]) for g in groups]


def refuse_missing(table: CodedTable) -> None:
    """Moments are those of whole rows."""
    if table.has_missing:
        column, row = np.argwhere(table.codes < 0)[0].tolist()
        raise InputError(
            f"Column {label_text(table.names[column])} has a missing cell in row {row}, and "
            "moments are those of whole rows. Leave such rows out, or use fit_parameters or "
            "fit_expectation, which expect missing cells."
        )


# --- Networks of numbers only ---------------------------------------------------------------------


def fit_linear_gaussian(
    dag: Dag, table: Any, *, sample_weight: Any = None
) -> LinearGaussianNetwork:
    """The linear-Gaussian network of a graph with the largest likelihood: least squares by node.

    Parameters
    ----------
    dag : Dag
    table : data frame, mapping of columns or array
        Columns of numbers, none missing.
    sample_weight : array of shape (n_rows,), optional

    Examples
    --------
    >>> rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.1, 2.9, 5.1, 6.9]}
    >>> fit_linear_gaussian(Dag.from_edges([("x", "y")]), rows)
    x = 1.5, variance 1.25
    y = 1.06 +1.96 x, variance 0.008
    """
    network = family_moments(dag, table, sample_weight=sample_weight).network()
    if not isinstance(network, LinearGaussianNetwork):
        others = [n for n, x in zip(network.names, network.is_numeric, strict=True) if not x]
        raise InputError(
            f"Columns of a linear-Gaussian network are numbers, and {listed(others)} are not. "
            "Select columns of numbers, or use fit_parameters(..., numbers='normal')."
        )
    return network


def gaussian_bic(dag: Dag, table: Any, *, sample_weight: Any = None) -> float:
    """Log-likelihood of the best network with numbers minus log(n)/2 for each parameter.

    A number has a coefficient for each numeric parent, an intercept and a variance in each
    configuration of its discrete parents. The same as `score(dag, table, BIC(), numbers="normal")`.
    """
    return score(dag, table, BIC(), numbers="normal", sample_weight=sample_weight)
