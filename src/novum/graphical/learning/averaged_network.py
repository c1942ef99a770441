"""Rows predicted by all graphs at once, each weighted by how well it explains the table.

    P(row | table) = sum over graphs of  P(graph | table) * product of P(x_i | parents, table)

**Exactly**, for few variables. With each order counting alike this is a quotient of two sums over
orders: that of the table with the row, and that of the table (`novum.graphical.learning.
order_sums`). Both fall apart in the same way, so their quotient is computed as means of means:

    g(v, S) = mean over parents inside S, by their weight, of P(x_v | parents)
    f(S)    = mean over v in S, by the weight of v being last, of  f(S - v) * g(v, S - v)

and f of all variables is the answer. The weights do not depend on the row and are kept. A missing
cell is summed over; where that are too many states, drawn graphs take its place.

**By drawn graphs** for more variables: the mean of P(row | graph, table) over graphs of the
posterior (`edge_probabilities`), missing cells summed over in each.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.runtime import time_sliced
from novum.distributions import StateAxis
from novum.graphical.inference.batches import batch_log_evidence
from novum.graphical.learning import counts_kernels
from novum.graphical.learning.averaged_network_kernels import averaged_rows
from novum.graphical.learning.averaging import EdgeProbabilities, GraphPosterior, edge_probabilities
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.expectation import drawn_rows
from novum.graphical.learning.order_sums import OrderSums, without
from novum.graphical.learning.parameters import fit_parameters
from novum.graphical.learning.scores import BDeu, FamilyScores, LogLikelihood
from novum.graphical.learning.search import learn_structure
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.structure.dag import Dag
from novum.numerics import Floats, Integers, cached_property

# Variables whose orders are summed over for every row, and states of missing cells that are.
MOST_SUMMED = 12
MOST_STATES = 256
# Graphs that are drawn, and families that are kept: all with at least this probability.
GRAPHS = 100
LEAST_CHANCE = 1e-12
# Draws of each row with missing cells in training.
COPIES = 5
PRIOR = BDeu(1.0)


@dataclass(frozen=True, eq=False)
class AveragedNetwork:
    """All graphs of a table's variables, as far as prediction needs them.

    Attributes
    ----------
    variables : tuple of StateAxis
    networks : tuple of BayesianNetwork
        Drawn from the posterior, each once.
    weights : array of shape (n_networks,)
        Their shares of the draws.
    starts, sets, logs : arrays
        Families of variable v at `starts[v]` to `starts[v + 1]`: parents as bits of the others, and
        scores; empty where there are too many variables to sum over.
    firsts, cells : arrays
        Their tables with axes (parents ..., node), one after the other, and where each begins.
    """

    variables: tuple[StateAxis, ...]
    networks: tuple[BayesianNetwork, ...]
    weights: Floats
    starts: Integers
    sets: Integers
    logs: Floats
    firsts: Integers
    cells: Floats

    @property
    def is_exact(self) -> bool:
        return self.sets.size > 0

    def joint(self, codes: Integers, node: int = 0) -> Floats:
        """P(node = k and the known cells of each row), up to a factor for each row.

        Parameters
        ----------
        codes : int array of shape (n_rows, n_variables), -1 where unknown
        node : int
            Its own cells are not looked at.
        """
        codes = codes.copy()
        codes[:, node] = -1
        cards = np.array([len(axis.states) for axis in self.variables])
        joint = np.empty((len(codes), cards[node]))
        states = np.where(codes < 0, cards, 1).prod(axis=1) / cards[node]
        summed = np.flatnonzero((states <= MOST_STATES) & self.is_exact)
        for pattern in np.unique(codes[summed] < 0, axis=0):
            rows = summed[((codes[summed] < 0) == pattern).all(axis=1)]
            joint[rows] = self._summed(codes[rows], np.flatnonzero(pattern), node, cards)
        rest = np.setdiff1d(np.arange(len(codes)), summed)
        if rest.size:
            joint[rest] = self._by_networks(codes[rest], node)
        return joint

    def _summed(self, codes: Integers, unknown: Any, node: int, cards: Any) -> Floats:
        """Exactly, the same cells being unknown in all rows."""
        joint = np.zeros((len(codes), cards[node]))
        for states in itertools.product(*(range(cards[v]) for v in unknown)):
            filled = np.ascontiguousarray(codes, np.int32).copy()
            filled[:, unknown] = states
            chances = np.empty(len(filled))
            for begin, end in time_sliced(len(filled), block=16):
                averaged_rows(
                    self.starts, self.sets, self.firsts, self.cells, cards.astype(np.int64),
                    *self._shares, filled, begin, end, chances,
                )  # fmt: skip
            joint[:, states[unknown.tolist().index(node)]] += chances
        return joint

    def _by_networks(self, codes: Integers, node: int) -> Floats:
        """The mean over drawn graphs."""
        logs = np.stack([batch_log_evidence(net.arrays, codes) for net in self.networks])
        relative = np.exp(logs - logs.max(axis=0)) * self.weights[:, None]
        joint = np.zeros((len(codes), len(self.variables[node].states)))
        for network, shares in zip(self.networks, relative, strict=True):
            joint += shares[:, None] * network.code_posteriors(codes, (node,))[0]
        return joint

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        """Weights of the means: of sets with and without a parent, and of the last variable."""
        d = len(self.variables)
        half = 1 << (d - 1)
        keeping = np.zeros((d, max(d - 1, 1), half))
        inside = np.full((d, half), -math.inf)
        for v in range(d):
            own = slice(self.starts[v], self.starts[v + 1])
            inside[v, self.sets[own]] = self.logs[own]
            for bit in range(d - 1):
                halves = inside[v].reshape(-1, 2, 1 << bit)
                both = np.logaddexp(halves[:, 0], halves[:, 1])
                with np.errstate(invalid="ignore"):
                    share = np.exp(halves[:, 1] - both)
                keeping[v, bit].reshape(-1, 2, 1 << bit)[:, 1] = np.nan_to_num(share)
                halves[:, 1] = both
        codes = np.arange(1 << d)
        forward = np.full(1 << d, -math.inf)
        forward[0] = 0.0
        last = np.zeros((1 << d, d))
        for size in range(1, d + 1):
            level = codes[np.bitwise_count(codes) == size]
            parts = np.full((len(level), d), -math.inf)
            for v in range(d):
                has = level >> v & 1 == 1
                before = level[has] ^ (1 << v)
                parts[has, v] = forward[before] + inside[v, without(before, v)]
            forward[level] = np.logaddexp.reduce(parts, axis=1)
            with np.errstate(invalid="ignore"):
                last[level] = np.nan_to_num(np.exp(parts - forward[level][:, None]))
        return keeping, last

    def check(self) -> None:
        """Refuses parts of a file that do not belong together."""
        d = len(self.variables)
        fits = len(self.networks) == len(self.weights) > 0
        fits = fits and all(net.variables == self.variables for net in self.networks)
        if self.is_exact:
            fits = (
                fits
                and d <= MOST_SUMMED
                and self.starts.shape == (d + 1,)
                and self.starts[-1] == len(self.sets) == len(self.logs) == len(self.firsts)
                and bool(((self.sets >= 0) & (self.sets < 1 << (d - 1))).all())
                and self._holds_all_cells()
            )
        if not fits:
            raise ModelFileError("The parts of the model's average do not fit together.")

    def _holds_all_cells(self) -> bool:
        cards, end = [len(axis.states) for axis in self.variables], 0
        for v, own in enumerate(itertools.pairwise(self.starts.tolist())):
            for f in range(*own):
                members = _members(v, int(self.sets[f]))
                if self.firsts[f] != end:
                    return False
                end += math.prod(cards[m] for m in members)
        return end == len(self.cells)


def average_networks(table: CodedTable) -> tuple[AveragedNetwork, EdgeProbabilities]:
    """All graphs of a table, and how sure its edges are.

    Rows with missing cells are taken several times, their cells drawn from a network that is
    learned by structural EM; all copies of a row together have its weight.
    """
    if table.has_missing:
        once = table.distinct()
        network = learn_structure(once).network(PRIOR)
        table = drawn_rows(network, once, COPIES, 0).distinct()
    posterior = edge_probabilities(table, PRIOR)
    graphs = posterior.graphs(GRAPHS, 0).reshape(-1, table.n_variables, table.n_variables)
    # Chains keep more graphs than are needed.
    graphs = graphs[:: max(1, len(graphs) // GRAPHS)][:GRAPHS]
    different, counts = np.unique(graphs, axis=0, return_counts=True)
    networks = tuple(
        fit_parameters(
            Dag(table.names, tuple(tuple(np.flatnonzero(column).tolist()) for column in graph.T)),
            table,
            PRIOR,
        )
        for graph in different
    )
    families = _families(table, posterior)
    averaged = AveragedNetwork(table.variables, networks, counts / counts.sum(), *families)
    return averaged, EdgeProbabilities(posterior.names, posterior.directed, posterior.basis)


def _members(child: int, code: int) -> list[int]:
    parents = [bit + (bit >= child) for bit in range(code.bit_length()) if code >> bit & 1]
    return [*parents, child]


def _families(
    table: CodedTable, posterior: GraphPosterior
) -> tuple[Integers, Integers, Floats, Integers, Floats]:
    """Families that matter, with the tables that predict the next row."""
    sums = posterior.source
    none = np.empty(0, np.int64)
    if not isinstance(sums, OrderSums) or table.n_variables > MOST_SUMMED:
        return none, none, np.empty(0), none, np.empty(0)
    cards = table.cards.tolist()
    most = max(math.prod(sorted(cards)[-4:]), 1)
    counting = FamilyScores(table, LogLikelihood(), max_cells=most)
    starts, sets, logs, firsts, cells = [0], [], [], [0], []
    for child, chances in enumerate(sums.family_chances()):
        codes, own_logs = sums.sets[child]
        for f in np.flatnonzero(chances >= LEAST_CHANCE).tolist():
            members = _members(child, int(codes[f]))
            shape = tuple(cards[m] for m in members)
            size = math.prod(shape)
            counts_kernels.count_table(
                counting.data, np.array(members, np.int64), size, counting.room
            )
            counts = counting.room[1][:size].reshape(shape) + PRIOR.pseudo_counts(shape)
            cells.append((counts / counts.sum(axis=-1, keepdims=True)).ravel())
            sets.append(int(codes[f]))
            logs.append(float(own_logs[f]))
            firsts.append(firsts[-1] + size)
        starts.append(len(sets))
    return (
        np.array(starts, np.int64),
        np.array(sets, np.int64),
        np.array(logs),
        np.array(firsts[:-1], np.int64),
        np.concatenate(cells),
    )
