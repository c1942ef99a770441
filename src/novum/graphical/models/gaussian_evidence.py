"""What is known of a network with numbers once some of its nodes are: exact, part by part.

The known numbers of each part (`gaussian_parts`) say something about its switches: one table, which
joins the network of the discrete nodes as a further node that was seen. A number is then a mixture
over the switches of its own part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.distributions import Normal, StateAxis
from novum.graphical.models.arrays import UNKNOWN
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
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.models.answers import Posterior
    from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork


# Configurations of unknown switches that rows are enumerated over together.
MOST_TOGETHER = 4096
# Numbers of a block of rows.
BLOCK = 2**20


@dataclass(frozen=True, eq=False)
class KnownNetwork:
    """A network with evidence: the discrete nodes given all of it, and each number on demand."""

    network: ConditionalGaussianNetwork
    given: Mapping[str, Any]
    numbers: Floats
    fixed: frozenset[int]
    discrete: BayesianNetwork
    evidence: dict[str, Any]
    log_scale: float

    # The state of a table of what known numbers say, in place of a node's own.
    _SEEN: ClassVar[tuple[bool, bool]] = (True, False)

    @classmethod
    def of(
        cls, network: ConditionalGaussianNetwork, given: Mapping[str, Any] | None
    ) -> KnownNetwork:
        named = check_mapping(given, "given")
        numbers, fixed, evidence = np.zeros((1, len(network.names))), set(), {}
        for name, value in named.items():
            place = network.place(name)
            if network.is_numeric[place]:
                numbers[0, place] = checked_number(value, name)
                fixed.add(place)
            else:
                states_given(network.axis(place), value)
                evidence[name] = value
        empty = cls(network, named, numbers, frozenset(fixed), network.discrete, evidence, 0.0)
        made, scale = list(network.discrete.conditionals), 0.0
        for part in parts_of(network, needed_numbers(network, fixed), fixed):
            states, cards = empty.cases(part, "What the known numbers say")
            logs = part_moments(network, part, states, numbers).log_likelihood[0]
            top = float(logs.max())
            scale += top
            if not part.switches:
                continue
            share = np.exp(logs - top).reshape(cards)
            name = f"seen {len(made)}"
            while name in network.graph.places:
                name += "_"
            axes = tuple(network.axis(s) for s in part.switches)
            table = np.stack([share, 1.0 - share], axis=-1)
            table.flags.writeable = False
            made.append(Tabular.trusted(StateAxis(name, cls._SEEN), axes, table))
            evidence = {**evidence, name: True}
        return replace(empty, discrete=BayesianNetwork(made), evidence=evidence, log_scale=scale)

    def cases(self, part: Part, what: str) -> tuple[Integers, tuple[int, ...]]:
        """States of all nodes, for each configuration of a part's switches, and their numbers."""
        network = self.network
        rows = configurations(network, part.switches, len(part.nodes), what)
        states = np.zeros((len(rows), len(network.names)), np.int64)
        states[:, list(part.switches)] = rows
        return states, tuple(network.card(s) for s in part.switches)

    @property
    def log_evidence(self) -> float:
        if not len(self.discrete):
            return self.log_scale
        return self.log_scale + self.discrete.log_evidence(self.evidence)

    def states(self, place: int) -> Posterior:
        """The posterior of a discrete node."""
        return self.discrete.query(self.network.names[place], given=self.evidence)

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
            asked = [network.names[s] for s in part.switches]
            weights = self.discrete.query(*asked, given=self.evidence).probabilities.ravel()
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
