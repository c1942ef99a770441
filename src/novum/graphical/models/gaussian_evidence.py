"""What is known of a network with numbers once some of its nodes are: exact, part by part.

The known numbers of each part (`gaussian_parts`) say something about its switches: one table, which
joins the network of the discrete nodes as a further node that was seen. A number is then a mixture
over the switches of its own part.

Densities of different cases may be as far apart as they like, and the states that are given may
rule out the nearest case. Where their ratios are too small for a double, the tables over the
switches and those of the discrete nodes are summed as logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.distributions import ImpossibleEvidence, Normal, StateAxis
from novum.graphical.inference.plain_junction import LogTables
from novum.graphical.models.arrays import NO_HEAD, UNKNOWN, Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Tabular
from novum.graphical.models.gaussian_parts import (
    Part,
    configurations,
    needed_numbers,
    part_moments,
    parts_of,
)
from novum.graphical.models.normal_mixture import MixtureOfNormals
from novum.graphical.models.questions import check_mapping, states_given
from novum.numerics import Floats, Integers, cached_property

if TYPE_CHECKING:
    from novum.graphical.models.answers import Posterior
    from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork


# Configurations of unknown switches that rows are enumerated over together.
MOST_TOGETHER = 4096
# Numbers of a block of rows.
BLOCK = 2**20
# Logarithms of ratios of densities below this leave the range of doubles once they are multiplied.
LEAST_LOG = -660.0


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """A network with evidence: the discrete nodes given all of it, and each number on demand."""

    network: ConditionalGaussianNetwork
    given: Mapping[str, Any]
    numbers: Floats
    fixed: frozenset[int]
    discrete_given: dict[str, Any]
    # What the known numbers of each part say of its switches: logarithms, the largest 0.
    tables: tuple[tuple[tuple[int, ...], Floats], ...] = ()
    log_scale: float = 0.0

    @classmethod
    def of(
        cls, network: ConditionalGaussianNetwork, given: Mapping[str, Any] | None
    ) -> KnownNetwork:
        named = check_mapping(given, "given")
        numbers, fixed, states = np.zeros((1, len(network.names))), set(), {}
        for name, value in named.items():
            place = network.place(name)
            if network.is_numeric[place]:
                numbers[0, place] = checked_number(value, name)
                fixed.add(place)
            else:
                states_given(network.axis(place), value)
                states[name] = value
        empty = cls(network, named, numbers, frozenset(fixed), states)
        tables, scale = [], 0.0
        for part in parts_of(network, needed_numbers(network, fixed), fixed):
            cases, cards = empty.cases(part, "What the known numbers say")
            logs = part_moments(network, part, cases, numbers).log_likelihood[0]
            top = float(logs.max())
            if logs.min() == -np.inf:
                names = listed([network.names[part.nodes[k]] for k in part.known])
                raise InputError(
                    f"What is given of {names} is too far from its law for the density to be a "
                    "number. Check what is given, or leave it out."
                )
            scale += top
            if part.switches:
                tables.append((part.switches, (logs - top).reshape(cards)))
        return replace(empty, tables=tuple(tables), log_scale=scale)

    def cases(self, part: Part, what: str) -> tuple[Integers, tuple[int, ...]]:
        """States of all nodes, for each configuration of a part's switches, and their numbers."""
        network = self.network
        rows = configurations(network, part.switches, len(part.nodes), what)
        states = np.zeros((len(rows), len(network.names)), np.int64)
        states[:, list(part.switches)] = rows
        return states, tuple(network.card(s) for s in part.switches)

    @property
    def log_evidence(self) -> float:
        discrete, given = self._discrete
        if not len(discrete):
            return self.log_scale
        if self._is_wide:
            return self.log_scale + LogTables().log_evidence(*self._in_logs)
        return self.log_scale + discrete.log_evidence(given)

    def states(self, *places: int) -> Posterior:
        """The posterior of some discrete nodes."""
        from novum.graphical.models.answers import Posterior

        network = self.network
        names = [network.names[place] for place in places]
        try:
            if not self._is_wide:
                discrete, given = self._discrete
                return discrete.query(*names, given=given)
            asked = [network.discrete.places[name] for name in names]
            beliefs = LogTables().joint(*self._in_logs, asked)
            return Posterior.of(tuple(network.axis(place) for place in places), beliefs)
        except ImpossibleEvidence:
            # Densities are above zero, so the given states contradict each other without them.
            return network.discrete.query(*names, given=self.discrete_given)

    @cached_property
    def _is_wide(self) -> bool:
        """Whether a ratio of densities that may matter is too small for a double."""
        network = self.network
        for switches, logs in self.tables:
            axes = [network.axis(s) for s in switches]
            left = [
                states_given(axis, self.discrete_given[axis.name])
                if axis.name in self.discrete_given
                else range(len(axis.states))
                for axis in axes
            ]
            if logs[np.ix_(*left)].min() < LEAST_LOG:
                return True
        return False

    @cached_property
    def _discrete(self) -> tuple[BayesianNetwork, dict[str, Any]]:
        """The discrete nodes with a further one, which was seen, for each table."""
        network = self.network
        made, given = list(network.discrete.conditionals), dict(self.discrete_given)
        for switches, logs in self.tables:
            name = f"seen {len(made)}"
            while name in network.graph.places:
                name += "_"
            axes = tuple(network.axis(s) for s in switches)
            share = np.exp(logs)
            table = np.stack([share, 1.0 - share], axis=-1)
            table.flags.writeable = False
            made.append(Tabular.trusted(StateAxis(name, (True, False)), axes, table))
            given[name] = True
        return BayesianNetwork(made), given

    @cached_property
    def _in_logs(self) -> tuple[ModelArrays, Evidence]:
        """The discrete nodes and the tables with logarithms in place of numbers."""
        discrete = self.network.discrete
        model, evidence = discrete.known(self.discrete_given, None, None)
        scopes = [[discrete.places[self.network.names[s]] for s in t[0]] for t in self.tables]
        sizes = [logs.size for _, logs in self.tables]
        with np.errstate(divide="ignore"):
            soft = {v: np.log(weights) for v, weights in evidence.likelihoods.items()}
            own = np.log(model.tables)
        ends = model.scope_starts[-1] + np.cumsum([len(scope) for scope in scopes])
        joined = replace(
            model,
            scope_starts=np.append(model.scope_starts, ends),
            scopes=np.append(model.scopes, np.concatenate(scopes)),
            table_starts=np.append(model.table_starts, model.table_starts[-1] + np.cumsum(sizes)),
            tables=np.concatenate([own, *(logs.ravel() for _, logs in self.tables)]),
            heads=np.append(model.heads, np.full(len(scopes), NO_HEAD)),
        )
        return joined, Evidence(evidence.codes, soft)

    def law(self, place: int) -> Any:
        """The law of a number: normal, or a mixture over what its part depends on."""
        network, name = self.network, self.network.names[place]
        if place in self.fixed:
            raise InputError(f"{label_text(name)} is given already. Ask about another node.")
        needed = needed_numbers(network, {place, *self.fixed})
        part = next(p for p in parts_of(network, needed, set(self.fixed)) if place in p.nodes)
        states, _ = self.cases(part, f"The law of {label_text(name)}")
        weights = np.ones(1)
        if part.switches:
            weights = self.states(*part.switches).probabilities.ravel()
        kept = np.flatnonzero(weights > 0)
        moments = part_moments(network, part, states[kept], self.numbers)
        inner = [part.nodes[h] for h in part.hidden].index(place)
        means, variances = moments.means[0, :, inner], moments.covariances[:, inner, inner]
        if np.ptp(means) == 0 and np.ptp(variances) == 0:
            return Normal(float(means[0]), float(variances[0]))
        return MixtureOfNormals(weights[kept] / weights[kept].sum(), means, variances)


# --- Rows -----------------------------------------------------------------------------------------


def row_log_densities(
    network: ConditionalGaussianNetwork, states: Integers, numbers: Floats
) -> Floats:
    """Log-densities of rows: states by number (-1 missing) and numbers (NaN), (n, n_nodes)."""
    logs = np.empty(len(numbers))
    known = np.where(np.array(network.is_numeric), ~np.isnan(numbers), states != UNKNOWN)
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        logs[rows] = _pattern_logs(network, pattern, states[rows], numbers[rows])
    return logs


def _pattern_logs(
    network: ConditionalGaussianNetwork, pattern: Any, states: Integers, numbers: Floats
) -> Floats:
    """Rows that know the same nodes."""
    known = {i for i in np.flatnonzero(pattern).tolist() if network.is_numeric[i]}
    parts = parts_of(network, needed_numbers(network, known), known)
    switches = sorted({s for part in parts for s in part.switches if not pattern[s]})
    if math.prod(network.card(s) for s in switches) > MOST_TOGETHER:
        cells = (_cells_of(network, s, x, pattern) for s, x in zip(states, numbers, strict=True))
        return np.array([network.log_evidence(given) for given in cells])
    cases = configurations(network, switches, 1, "The density of a row")
    most = max(1, BLOCK // len(cases))
    if len(states) > most:
        ends = range(0, len(states), most)
        pieces = [(states[a : a + most], numbers[a : a + most]) for a in ends]
        return np.concatenate([_pattern_logs(network, pattern, *piece) for piece in pieces])
    total = np.zeros((len(states), len(cases)))
    for part in parts:
        seen = [s for s in part.switches if pattern[s]]
        own = [switches.index(s) for s in part.switches if not pattern[s]]
        # Cases that this part tells apart, and rows that are in the same of those it sees.
        different, case = np.unique(cases[:, own], axis=0, return_inverse=True)
        groups, group = np.unique(states[:, seen], axis=0, return_inverse=True)
        for number, cell in enumerate(groups):
            filled = np.zeros((len(different), len(network.names)), np.int64)
            filled[:, seen] = cell
            filled[:, [switches[o] for o in own]] = different
            rows = np.flatnonzero(group.ravel() == number)
            size = max(1, BLOCK // (len(different) * len(part.nodes)))
            for begin in range(0, len(rows), size):
                block = rows[begin : begin + size]
                moments = part_moments(network, part, filled, numbers[block])
                total[block] += moments.log_likelihood[:, case.ravel()]
    return _summed(network, states, switches, cases, total)


def _summed(
    network: ConditionalGaussianNetwork,
    states: Integers,
    switches: Sequence[int],
    cases: Integers,
    total: Floats,
) -> Floats:
    """Densities in each case, times its probability with the known states, summed."""
    from scipy.special import logsumexp

    from novum.graphical.inference.batches import batch_log_evidence

    places = [i for i, is_number in enumerate(network.is_numeric) if not is_number]
    if not places:
        return total[:, 0]
    cells = np.repeat(states[:, None, :], len(cases), axis=1)
    cells[:, :, list(switches)] = cases
    codes = cells[:, :, places].reshape(-1, len(places))
    discrete = network.discrete
    hidden = discrete.arrays.n_variables - len(places)
    codes = np.pad(codes, ((0, 0), (0, hidden)), constant_values=UNKNOWN)
    logs = batch_log_evidence(discrete.arrays, np.ascontiguousarray(codes, np.int64))
    return np.asarray(logsumexp(logs.reshape(total.shape) + total, axis=1))


def _cells_of(
    network: ConditionalGaussianNetwork, states: Integers, numbers: Floats, pattern: Any
) -> dict[str, Any]:
    return {
        name: float(numbers[i]) if network.is_numeric[i] else network.axis(i).states[states[i]]
        for i, name in enumerate(network.names)
        if pattern[i]
    }


def checked_number(value: Any, name: str) -> float:
    """What is given for a numeric node."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{label_text(name)} is given as {label_text(value)}; give a number.")
    return number
