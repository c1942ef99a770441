"""Linear-Gaussian networks: every node is normal with a mean that is linear in its parents.

    x_i = b_i + sum over parents p of w_ip x_p + e_i,      e_i normal with variance v_i

The joint distribution is normal, with precision (I - W)' V^-1 (I - W), so every question is one of
conditioning a normal distribution: exact, and as quick as a factorization. Tables with columns of
numbers are fitted family by family, by least squares; the score of a family is its largest
log-likelihood minus log(n)/2 for each of its parameters (Gaussian BIC).

References
----------
Shachter and Kenley (1989). Koller and Friedman (2009), chapter 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import Learner
from novum.core.runtime import RandomSource, stream
from novum.core.tables import Kind, check_sample
from novum.core.text import label_text, listed, meant
from novum.distributions import Normal
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, cached_property


class _NumberReader(Learner):
    """Reads tables of numbers as every learner does."""

    categorical_features = "auto"


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """A node: intercept, a coefficient for each parent in its order, and a variance above 0."""

    intercept: float
    coefficients: tuple[float, ...]
    variance: float


@dataclass(frozen=True, eq=False)
class LinearGaussianNetwork:
    """A normal distribution of named variables, as a graph of linear regressions.

    Parameters
    ----------
    graph : Dag
    nodes : tuple of LinearGaussian
        In the order of the graph's nodes.

    Examples
    --------
    >>> graph = Dag.from_edges([("temperature", "sales")])
    >>> network = LinearGaussianNetwork(
    ...     graph, (LinearGaussian(20.0, (), 9.0), LinearGaussian(5.0, (2.0,), 4.0))
    ... )
    >>> law = network.marginals({"sales": 55.0})["temperature"]
    >>> round(law.mean, 3), round(law.variance, 3)
    (24.5, 0.9)
    """

    graph: Dag
    nodes: tuple[LinearGaussian, ...]

    def __post_init__(self) -> None:
        if len(self.nodes) != len(self.graph.names):
            raise InputError(
                f"A graph of {len(self.graph.names)} nodes needs as many distributions, got "
                f"{len(self.nodes)}."
            )
        for name, parents, node in zip(
            self.graph.names, self.graph.parents, self.nodes, strict=True
        ):
            if len(node.coefficients) != len(parents):
                raise InputError(
                    f"{label_text(name)} has {len(parents)} parents and "
                    f"{len(node.coefficients)} coefficients. Give one for each."
                )
            numbers = (node.intercept, *node.coefficients, node.variance)
            if not all(math.isfinite(x) for x in numbers) or not node.variance > 0:
                raise InputError(
                    f"{label_text(name)} has coefficients {node.coefficients} and variance "
                    f"{node.variance!r}; they are finite numbers, the variance above 0."
                )

    @property
    def names(self) -> tuple[str, ...]:
        return self.graph.names

    @cached_property
    def mean(self) -> Floats:
        """Of all nodes, of shape (n,)."""
        means = np.zeros(len(self.nodes))
        for i in self.graph.order:
            node = self.nodes[i]
            above = means[list(self.graph.parents[i])]
            means[i] = node.intercept + np.dot(node.coefficients, above)
        return means

    @cached_property
    def covariance(self) -> Floats:
        """Of all nodes, of shape (n, n): a node's column follows from those of its parents."""
        n = len(self.nodes)
        sigma = np.zeros((n, n))
        done: list[int] = []
        for i in self.graph.order:
            node, parents = self.nodes[i], list(self.graph.parents[i])
            weights = np.array(node.coefficients)
            sigma[i, done] = sigma[done, i] = weights @ sigma[parents][:, done]
            sigma[i, i] = node.variance + weights @ sigma[parents][:, parents] @ weights
            done.append(i)
        return sigma

    def conditioned(self, given: Mapping[str, float] | None = None) -> tuple[Floats, Floats]:
        """Means and covariances of all nodes given some; those given have no spread."""
        known = dict(given or {})
        places = [self._place(name) for name in known]
        values = np.array([_number(known[name], name) for name in known])
        if not places:
            return self.mean, self.covariance
        inner = self.covariance[np.ix_(places, places)]
        gain = np.linalg.solve(inner, self.covariance[places]).T
        mean = self.mean + gain @ (values - self.mean[places])
        sigma = self.covariance - gain @ self.covariance[places]
        mean[places] = values
        sigma[places, :] = sigma[:, places] = 0.0
        return mean, (sigma + sigma.T) / 2

    def marginals(self, given: Mapping[str, float] | None = None) -> dict[str, Normal]:
        """The normal law of each node that is not given."""
        mean, sigma = self.conditioned(given)
        return {
            name: Normal(float(mean[i]), float(sigma[i, i]))
            for i, name in enumerate(self.names)
            if name not in (given or {})
        }

    def log_density(self, rows: Any) -> Any:
        """Logarithm of the density of one row (a mapping) or of each row of a table.

        Cells that are missing, and nodes without a column, are summed over.
        """
        is_row = isinstance(rows, Mapping) and all(np.ndim(value) == 0 for value in rows.values())
        cells = self._cells({k: [v] for k, v in rows.items()} if is_row else rows)
        logs = np.empty(len(cells))
        known = ~np.isnan(cells)
        for pattern in np.unique(known, axis=0):
            chosen = (known == pattern).all(axis=1)
            logs[chosen] = self._log_densities(cells[chosen][:, pattern], np.flatnonzero(pattern))
        return float(logs[0]) if is_row else logs

    def _log_densities(self, cells: Floats, places: Any) -> Floats:
        if not len(places):
            return np.zeros(len(cells))
        factor = np.linalg.cholesky(self.covariance[np.ix_(places, places)])
        scaled = np.linalg.solve(factor, (cells - self.mean[places]).T)
        constant = len(places) * math.log(2 * math.pi) / 2 + np.log(np.diagonal(factor)).sum()
        return -0.5 * (scaled**2).sum(axis=0) - constant

    def sample(self, size: int, random_state: RandomSource = None) -> dict[str, Floats]:
        """Independent rows, as columns by name."""
        rng = stream(random_state, "linear Gaussian")
        columns = np.empty((len(self.nodes), size))
        for i in self.graph.order:
            node, parents = self.nodes[i], list(self.graph.parents[i])
            mean = node.intercept + np.array(node.coefficients) @ columns[parents]
            columns[i] = mean + math.sqrt(node.variance) * rng.standard_normal(size)
        return dict(zip(self.names, columns, strict=True))

    def do(self, values: Mapping[str, float]) -> LinearGaussianNetwork:
        """The network after setting nodes from outside: they lose parents and spread."""
        parents, nodes = list(self.graph.parents), list(self.nodes)
        for name, value in values.items():
            place = self._place(name)
            parents[place] = ()
            tiny = 1e-12 * max(float(self.covariance[place, place]), 1e-300)
            nodes[place] = LinearGaussian(_number(value, name), (), tiny)
        return LinearGaussianNetwork(Dag(self.names, tuple(parents)), tuple(nodes))

    def _place(self, name: str) -> int:
        if name not in self.graph.places:
            raise InputError(
                f"The network has no node {label_text(name)}: {meant(name, self.names)}"
            )
        return self.graph.places[name]

    def _cells(self, rows: Any) -> Floats:
        names, numbers = number_columns(rows)
        cells = np.full((len(numbers), len(self.names)), np.nan)
        for name, column in zip(names, numbers.T, strict=True):
            if name in self.graph.places:
                cells[:, self.graph.places[name]] = column
        return cells

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __repr__(self) -> str:
        lines = []
        for name, parents, node in zip(self.names, self.graph.parents, self.nodes, strict=True):
            terms = "".join(
                f" {w:+.4g} {self.names[p]}"
                for p, w in zip(parents, node.coefficients, strict=True)
            )
            lines.append(f"{name} = {node.intercept:.4g}{terms}, variance {node.variance:.4g}")
        return "\n".join(lines)


# --- Fitting --------------------------------------------------------------------------------------


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
    moments = Moments.of(dag, table, sample_weight)
    nodes = []
    for i, name in enumerate(dag.names):
        weights, variance = moments.regression(i, dag.parents[i])
        if not variance > 0:
            raise InputError(
                f"{label_text(name)} has no variance left given its parents "
                f"({listed([dag.names[p] for p in dag.parents[i]]) or 'none'}): it is constant, or "
                "a linear function of them. Leave the column out, or remove a parent."
            )
        intercept = moments.mean[i] - weights @ moments.mean[list(dag.parents[i])]
        nodes.append(LinearGaussian(float(intercept), tuple(weights.tolist()), variance))
    return LinearGaussianNetwork(dag, tuple(nodes))


def gaussian_bic(dag: Dag, table: Any, *, sample_weight: Any = None) -> float:
    """Log-likelihood of the best linear-Gaussian network minus log(n)/2 for each parameter.

    A node has a parameter for each parent, its intercept and its variance.
    """
    moments = Moments.of(dag, table, sample_weight)
    total = 0.0
    for i, parents in enumerate(dag.parents):
        _, variance = moments.regression(i, parents)
        if not variance > 0:
            return math.inf
        fit = -0.5 * moments.weight * (math.log(2 * math.pi * variance) + 1)
        total += fit - 0.5 * math.log(moments.weight) * (len(parents) + 2)
    return total


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight, means and covariances of the columns of a graph's nodes."""

    weight: float
    mean: Floats
    covariance: Floats

    @classmethod
    def of(cls, dag: Dag, table: Any, sample_weight: Any) -> Moments:
        names, numbers = number_columns(table)
        absent = [name for name in dag.names if name not in names]
        if absent:
            raise InputError(f"The table has no column {listed(absent)}: {meant(absent[0], names)}")
        cells = numbers[:, [names.index(name) for name in dag.names]]
        if np.isnan(cells).any():
            row, column = np.argwhere(np.isnan(cells))[0]
            raise InputError(
                f"Column {label_text(dag.names[column])} has a missing cell in row {row}; the fit "
                "of a linear-Gaussian network needs whole rows. Leave such rows out."
            )
        weights = np.ones(len(cells)) if sample_weight is None else np.asarray(sample_weight, float)
        weight = float(weights.sum())
        mean = weights @ cells / weight
        centered = cells - mean
        return cls(weight, mean, (centered * weights[:, None]).T @ centered / weight)

    def regression(self, i: int, parents: tuple[int, ...]) -> tuple[Floats, float]:
        """Coefficients of a node's parents, and the variance that is left."""
        above = list(parents)
        solved = np.linalg.lstsq(
            self.covariance[above][:, above], self.covariance[above, i], rcond=None
        )
        weights = np.asarray(solved[0], np.float64)
        left = float(self.covariance[i, i] - weights @ self.covariance[above, i])
        return weights, left if left > 1e-12 * float(self.covariance[i, i]) else 0.0


def number_columns(table: Any) -> tuple[list[str], Floats]:
    """Names and cells of a table of numbers; NaN where a cell is missing."""
    if isinstance(table, Mapping):
        import pyarrow as pa

        table = pa.table({str(name): np.asarray(cells, float) for name, cells in table.items()})
    sample = check_sample(_NumberReader(), table, target="none", allow_missing=True)
    others = [c.name for c in sample.schema.columns if c.kind is not Kind.NUMERIC]
    if others:
        raise InputError(
            f"Columns of a linear-Gaussian network are numbers, and {listed(others)} are not. "
            "Select columns of numbers, or learn a discrete network (learn_structure)."
        )
    return list(sample.schema.names), np.asarray(sample.numeric)


def _number(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{label_text(name)} is given as {label_text(value)}; give a number.")
    return number
