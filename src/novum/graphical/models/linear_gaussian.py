"""Networks with numbers: every numeric node is normal with a mean that is linear in its parents.

    x_i = b_i[s] + sum over numeric parents p of w_ip[s] x_p + e_i,   e_i normal, variance v_i[s]

where s is the configuration of its discrete parents; discrete nodes have discrete parents and a
table. Given all discrete nodes the numbers are jointly normal, so every question is one of
conditioning normal distributions, mixed over the discrete nodes that are not known
(`gaussian_parts`): exact. Without discrete nodes the joint distribution is normal, with precision
(I - W)' V^-1 (I - W).

References
----------
Shachter and Kenley (1989). Lauritzen (1992). Koller and Friedman (2009), chapters 7 and 14.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream
from novum.core.text import label_text, meant
from novum.distributions import StateAxis
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Conditional, Tabular, row_text
from novum.graphical.models.gaussian_evidence import (
    KnownNetwork,
    checked_number,
    row_log_densities,
)
from novum.graphical.models.gaussian_parts import (
    Part,
    part_moments,
)
from novum.graphical.models.questions import check_mapping, states_given
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, cached_property

if TYPE_CHECKING:
    from novum.core.svg_text import SvgText


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """A numeric node.

    Parameters
    ----------
    intercept : float, or array with an axis for each discrete parent
    coefficients : sequence of float, or array with these axes and one for the numeric parents last
        In the order of the graph's parents.
    variance : float, or array with these axes
        Above 0.

    Examples
    --------
    >>> LinearGaussian([0.0, 5.0], [[2.0], [1.0]], [1.0, 4.0]).n_parameters
    6
    """

    intercept: Any
    coefficients: Any
    variance: Any

    @property
    def n_parameters(self) -> int:
        return sum(int(np.size(part)) for part in self._parts)

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        return (self.intercept, self.coefficients, self.variance)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearGaussian) and all(
            np.array_equal(a, b) for a, b in zip(self._parts, other._parts, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(np.asarray(part, float).tobytes() for part in self._parts))


Node = LinearGaussian | Conditional


@dataclass(frozen=True, eq=False)
class ConditionalGaussianNetwork:
    """Numeric and discrete nodes: normal given the discrete ones.

    Parameters
    ----------
    graph : Dag
        No discrete node has a numeric parent.
    nodes : tuple of LinearGaussian and of Tabular
        In the order of the graph's nodes.

    Examples
    --------
    >>> kind = StateAxis("kind", ("cat", "dog"))
    >>> graph = Dag.from_edges([("kind", "weight"), ("weight", "food")])
    >>> network = ConditionalGaussianNetwork(graph, (
    ...     Tabular(kind, (), [0.5, 0.5]),
    ...     LinearGaussian([4.0, 12.0], np.zeros((2, 0)), [1.0, 16.0]),
    ...     LinearGaussian(10.0, (20.0,), 100.0),
    ... ))
    >>> law = network.marginals()["food"]
    >>> round(law.mean, 3), round(law.standard_deviation, 3)
    (170.0, 99.499)
    >>> network.marginals({"food": 120.0})["kind"].probabilities.round(4).tolist()
    [0.8432, 0.1568]
    """

    graph: Dag
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if len(self.nodes) != len(self.graph.names):
            raise InputError(
                f"A graph of {len(self.graph.names)} nodes needs as many distributions, got "
                f"{len(self.nodes)}."
            )
        for place, node in enumerate(self.nodes):
            self._check_numeric(place, node) if isinstance(
                node, LinearGaussian
            ) else self._check_discrete(place, node)

    def _check_discrete(self, place: int, node: Any) -> None:
        name = self.graph.names[place]
        above = [self.graph.names[p] for p in self.graph.parents[place]]
        numbers = [p for p in self.graph.parents[place] if self.is_numeric[p]]
        if numbers:
            raise InputError(
                f"The discrete node {label_text(name)} has the numeric parent "
                f"{label_text(self.names[numbers[0]])}; only numeric nodes may. Turn the edge, or "
                "cut the numbers into intervals."
            )
        if not isinstance(node, Conditional):
            raise InputError(
                f"The node {label_text(name)} is a LinearGaussian or a Tabular, got "
                f"{label_text(node)}."
            )
        if node.name != name or [axis.name for axis in node.parents] != above:
            raise InputError(
                f"The table of {label_text(node.name)} given {[a.name for a in node.parents]} "
                f"stands at the node {label_text(name)} with the parents {above}."
            )

    def _check_numeric(self, place: int, node: LinearGaussian) -> None:
        name = label_text(self.names[place])
        shape = tuple(self.card(p) for p in self.discrete_parents[place])
        wanted = (shape, (*shape, len(self.numeric_parents[place])), shape)
        given = tuple(np.shape(part) for part in node._parts)
        if given != wanted:
            if not shape and given[1] != wanted[1]:
                raise InputError(
                    f"{name} has {len(self.numeric_parents[place])} parents and "
                    f"{math.prod(given[1])} coefficients. Give one for each."
                )
            raise InputError(
                f"{name} has intercepts, coefficients and variances of shapes {given}; they need "
                f"{wanted}: one axis for each discrete parent, and one for the numeric parents."
            )
        numbers = [np.asarray(part, float) for part in node._parts]
        if not all(np.isfinite(part).all() for part in numbers) or not (numbers[2] > 0).all():
            raise InputError(
                f"{name} has coefficients {node.coefficients} and variance "
                f"{node.variance!r}; they are finite numbers, the variance above 0."
            )

    # Structure

    @property
    def names(self) -> tuple[str, ...]:
        return self.graph.names

    @cached_property
    def is_numeric(self) -> tuple[bool, ...]:
        """Of each node."""
        return tuple(isinstance(node, LinearGaussian) for node in self.nodes)

    @cached_property
    def numeric_parents(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(p for p in above if self.is_numeric[p]) for above in self.graph.parents)

    @cached_property
    def discrete_parents(self) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(p for p in above if not self.is_numeric[p]) for above in self.graph.parents
        )

    @cached_property
    def discrete(self) -> BayesianNetwork:
        """The network of the discrete nodes, which depends on no number."""
        return BayesianNetwork(node for node in self.nodes if isinstance(node, Conditional))

    @cached_property
    def tables(self) -> dict[int, tuple[Floats, Floats, Floats]]:
        """Intercepts (q,), coefficients (q, n_numeric_parents) and variances (q,) by node."""
        return {
            place: (
                np.asarray(node.intercept, float).reshape(-1),
                np.asarray(node.coefficients, float).reshape(
                    np.size(node.intercept), len(self.numeric_parents[place])
                ),
                np.asarray(node.variance, float).reshape(-1),
            )
            for place, node in enumerate(self.nodes)
            if isinstance(node, LinearGaussian)
        }

    @property
    def n_parameters(self) -> int:
        """Numbers that are free to choose."""
        return sum(node.n_parameters for node in self.nodes)

    def axis(self, place: int) -> StateAxis:
        """The states of a discrete node."""
        node = self.nodes[place]
        assert isinstance(node, Conditional)
        return node.variable

    def card(self, place: int) -> int:
        return len(self.axis(place).states)

    def configuration(self, node: int, states: Integers) -> Integers:
        """Rows of a node's tables for states of all nodes, of shape (..., n_nodes)."""
        row = np.zeros(states.shape[:-1], np.int64)
        for parent in self.discrete_parents[node]:
            row = row * self.card(parent) + states[..., parent]
        return row

    # Questions

    def marginals(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What is known of each node that is not given.

        Parameters
        ----------
        given : mapping from nodes to states or numbers, optional

        Returns
        -------
        dict from nodes to `Posterior` (discrete), `Normal` or `MixtureOfNormals` (numeric)
        """
        known = KnownNetwork.of(self, given)
        answers: dict[str, Any] = {}
        for place, name in enumerate(self.names):
            if name in known.given:
                continue
            answers[name] = known.law(place) if self.is_numeric[place] else known.states(place)
        return answers

    def query(self, name: str, given: Mapping[str, Any] | None = None) -> Any:
        """What is known of one node."""
        place = self.place(name)
        known = KnownNetwork.of(self, given)
        return known.law(place) if self.is_numeric[place] else known.states(place)

    def log_evidence(self, given: Mapping[str, Any] | None = None) -> float:
        """Logarithm of the density of what is given; all else is summed over."""
        return KnownNetwork.of(self, given).log_evidence

    def log_density(self, rows: Any) -> Any:
        """Logarithm of the density of one row (a mapping) or of each row of a table.

        Cells that are missing, and nodes without a column, are summed over.
        """
        is_row = isinstance(rows, Mapping) and all(np.ndim(value) == 0 for value in rows.values())
        table = {k: [v] for k, v in rows.items()} if is_row else rows
        states, numbers = self.read(table)
        logs = row_log_densities(self, states, numbers)
        return float(logs[0]) if is_row else logs

    def sample(self, size: int, random_state: RandomSource = None) -> dict[str, Any]:
        """Independent rows, as columns by name: numbers, and states of discrete nodes."""
        rng = stream(random_state, "linear Gaussian")
        numbers, states = np.zeros((size, len(self))), np.zeros((size, len(self)), np.int64)
        for i in self.graph.order:
            node = self.nodes[i]
            if isinstance(node, Conditional):
                # The state is where a uniform draw falls in the cumulated row.
                rows = np.cumsum(node.table.reshape(-1, self.card(i)), axis=1)
                ends = rows[self.configuration(i, states)]
                draws = rng.random(size) * ends[:, -1]
                states[:, i] = np.minimum((draws[:, None] >= ends).sum(axis=1), self.card(i) - 1)
                continue
            intercepts, coefficients, variances = self.tables[i]
            row = self.configuration(i, states)
            mean = intercepts[row] + np.einsum(
                "np,np->n", coefficients[row], numbers[:, list(self.numeric_parents[i])]
            )
            numbers[:, i] = mean + np.sqrt(variances[row]) * rng.standard_normal(size)
        return {
            name: numbers[:, i].copy()
            if self.is_numeric[i]
            else np.array(self.axis(i).states)[states[:, i]]
            for i, name in enumerate(self.names)
        }

    def do(self, values: Mapping[str, Any]) -> Self:
        """The network after setting nodes from outside: they lose parents and spread."""
        parents, nodes = list(self.graph.parents), list(self.nodes)
        for name, value in check_mapping(values, "values").items():
            place = self.place(name)
            parents[place] = ()
            if self.is_numeric[place]:
                spread = KnownNetwork.of(self, None).law(place).variance
                tiny = 1e-12 * max(float(spread), 1e-300)
                nodes[place] = LinearGaussian(checked_number(value, name), (), tiny)
            else:
                axis = self.axis(place)
                table = np.zeros(len(axis.states))
                (state,) = states_given(axis, value)
                table[state] = 1.0
                nodes[place] = Tabular(axis, (), table)
        return type(self)(Dag(self.names, tuple(parents)), tuple(nodes))

    # Reading

    def place(self, name: Any) -> int:
        """The number of a node; an unknown name is an error that suggests one."""
        if name not in self.graph.places:
            raise InputError(
                f"The network has no node {label_text(name)}: {meant(name, self.names)}"
            )
        return self.graph.places[name]

    def read(self, rows: Any) -> tuple[Integers, Floats]:
        """States by number (-1 missing) and numbers (NaN missing), of shape (n_rows, n_nodes)."""
        from novum.distributions import named_columns
        from novum.graphical.models.row_codes import number_cells, state_cells

        columns = named_columns(rows, what="Rows are read")
        lengths = {len(cells) for cells in columns.values()}
        if len(lengths) > 1:
            raise InputError(
                f"The columns have {min(lengths)} to {max(lengths)} rows. Give all columns one "
                "cell for each row."
            )
        n = lengths.pop() if lengths else 0
        numbers = np.full((n, len(self.names)), np.nan)
        states = np.full((n, len(self.names)), UNKNOWN, np.int64)
        for name, cells in columns.items():
            place = self.graph.places.get(name)
            if place is None:
                continue
            if self.is_numeric[place]:
                numbers[:, place] = number_cells(name, cells)
            else:
                states[:, place] = state_cells(self.axis(place), cells)
        return states, numbers

    # Shown

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.graph.places

    def __getitem__(self, name: str) -> Node:
        return self.nodes[self.place(name)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConditionalGaussianNetwork)
            and self.graph == other.graph
            and self.nodes == other.nodes
        )

    def __hash__(self) -> int:
        return hash((self.graph, self.nodes))

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def to_text(self) -> str:
        """Every equation and table, a line for each configuration of discrete parents."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        for place, (name, node) in enumerate(zip(self.names, self.nodes, strict=True)):
            switches = tuple(self.axis(p) for p in self.discrete_parents[place])
            q = math.prod(len(axis.states) for axis in switches)
            for row in range(q):
                case = f" given {row_text(switches, row)}:" if switches else ""
                if isinstance(node, Conditional):
                    shares = node.table.reshape(-1, self.card(place))[row]
                    cells = zip(node.variable.states, shares, strict=True)
                    text = ", ".join(f"{s} {p:.4g}" for s, p in cells)
                    yield f"{name}{case or ':'} {text}"
                    continue
                intercepts, coefficients, variances = self.tables[place]
                above = [self.names[p] for p in self.numeric_parents[place]]
                terms = "".join(
                    f" {w:+.4g} {p}" for p, w in zip(above, coefficients[row], strict=True)
                )
                spread = f"variance {variances[row]:.4g}"
                yield f"{name}{case or ' ='} {intercepts[row]:.4g}{terms}, {spread}"

    def draw(self, given: Mapping[str, Any] | None = None, *, max_states: int = 8) -> SvgText:
        """The network as an SVG picture: bars of states, means and spreads of numbers."""
        from novum.graphical.drawing.drawing import draw_mixed

        return draw_mixed(self, given, max_states=max_states)

    def _repr_html_(self) -> str:
        return str(self.draw())


class LinearGaussianNetwork(ConditionalGaussianNetwork):
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

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, is_number in zip(self.names, self.is_numeric, strict=True):
            if not is_number:
                raise InputError(
                    f"{label_text(name)} is discrete, and a LinearGaussianNetwork has numbers "
                    "only. Use ConditionalGaussianNetwork."
                )

    @cached_property
    def mean(self) -> Floats:
        """Of all nodes, of shape (n,)."""
        return self._moments[0]

    @cached_property
    def covariance(self) -> Floats:
        """Of all nodes, of shape (n, n)."""
        return self._moments[1]

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        order = list(self.graph.order)
        part = Part(tuple(order), tuple(range(len(order))), (), ())
        size = (1, len(order))
        moments = part_moments(self, part, np.zeros(size, np.int64), np.zeros(size))
        back = np.argsort(order)
        return moments.means[0, 0][back], moments.covariances[0][np.ix_(back, back)]

    def conditioned(self, given: Mapping[str, float] | None = None) -> tuple[Floats, Floats]:
        """Means and covariances of all nodes given some; those given have no spread."""
        fixed = {self.place(name): checked_number(x, name) for name, x in (given or {}).items()}
        order = list(self.graph.order)
        hidden = [i for i, node in enumerate(order) if node not in fixed]
        part = Part(
            tuple(order), tuple(hidden), tuple(i for i in range(len(order)) if i not in hidden), ()
        )
        numbers = np.zeros((1, len(order)))
        numbers[0, list(fixed)] = list(fixed.values())
        moments = part_moments(self, part, np.zeros((1, len(order)), np.int64), numbers)
        mean, sigma = numbers[0].copy(), np.zeros((len(order), len(order)))
        free = [order[i] for i in hidden]
        mean[free] = moments.means[0, 0]
        sigma[np.ix_(free, free)] = moments.covariances[0]
        return mean, sigma
