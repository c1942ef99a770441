"""Variables that are updated together, because single updates would not move them.

A sampler that changes one variable at a time cannot leave a state whose neighbors all have
probability zero, and hardly leaves one whose neighbors are very unlikely. Therefore

    support   states that no zero cell allows are taken out first
    zeros     the variables of a factor that still has zeros form a block; blocks that share a
              variable are one. Factors between blocks are positive then, so that every joint
              state of the blocks' own states is possible and each can be reached
    links     variables of factors with extreme ratios are joined too, strongest first, while the
              block stays small

Only the possible joint states of a block are listed. A block of one variable is an ordinary one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from novum.core.errors import InputError
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors, starts_of
from novum.graphical.inference.protocol import impossible
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats, Integers, cached_property

# Beyond these numbers a block is refused: of possible joint states, and of states looked at.
MOST_CELLS = 2**12
MOST_LOOKED = 2**18
# A factor whose cells differ by more than this ratio is a link that single updates hardly cross.
STRONG = 20.0


class MixingError(InputError):
    """A model whose zeros tie more variables together than a block can hold."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """A partition of variables, with the possible joint states of each part.

    Attributes
    ----------
    left : FlatFactors
    members : tuple of int64 arrays
        Variables of each block.
    states : tuple of int64 arrays (n_cells, n_members)
        Possible joint states of each block.
    cell_starts : int64 array
    inside : float64 array
        For each cell the product of the factors within its block.
    link_starts, link_factors : int64 arrays
        Factors that join each block to others.
    delta_starts, deltas : int64 arrays
        For each link and each cell of its block, how far the cell moves in the factor's table.
    log_constant : float
        Logarithm of what tables and weights were divided by.
    ratios : float64 array
        For each link the largest over the smallest cell of its factor.
    """

    left: FlatFactors
    members: tuple[Integers, ...]
    states: tuple[Integers, ...]
    cell_starts: Integers
    inside: Floats
    link_starts: Integers
    link_factors: Integers
    delta_starts: Integers
    deltas: Integers
    log_constant: float
    ratios: Floats

    @property
    def n_blocks(self) -> int:
        return len(self.members)

    @property
    def strongest(self) -> float:
        """The largest ratio within a table between blocks; 1 where there is none."""
        return float(self.ratios.max(initial=1.0))

    @property
    def n_others(self) -> Integers:
        """For each link the number of other blocks that its factor joins."""
        return np.bincount(self.link_factors)[self.link_factors] - 1

    def influence(self, least_others: int = 1) -> float:
        """How much all other blocks together can change the probabilities of one, at most.

        A table of ratio r moves them by (r - 1) / (r + 1) when one of its other blocks changes.
        Below 1 updates forget where they began, whatever the states (Dobrushin 1968). Only links
        to so many others count.
        """
        n_others = self.n_others
        moved = np.where(n_others >= least_others, n_others * (1 - 2 / (self.ratios + 1)), 0.0)
        return float(self.summed(moved).max(initial=0.0))

    def summed(self, of_links: Floats) -> Floats:
        """The sum over the links of each block."""
        owners = np.repeat(np.arange(self.n_blocks), np.diff(self.link_starts))
        return np.bincount(owners, of_links, self.n_blocks).astype(np.float64, copy=False)

    @cached_property
    def places(self) -> dict[int, tuple[int, int]]:
        """For each variable its block, and its column in the block's states."""
        return {
            variable: (block, column)
            for block, own in enumerate(self.members)
            for column, variable in enumerate(own.tolist())
        }


def blocks_of(left: FlatFactors, most_cells: int, most_tied: float = math.inf) -> Blocks:
    """The blocks of a model.

    Parameters
    ----------
    left : FlatFactors
    most_cells : int
        Strong links join variables as long as the block has at most this many joint states.
    most_tied : float
        Zeros join variables up to so many. Beyond them they stay between blocks, and updates of
        one block after the other do not reach all states.

    Raises
    ------
    MixingError
        Where zeros tie more variables together than a block may hold.
    """
    allowed = _supported(left)
    ratios = _ratios(left, allowed)
    members, block_of = _grouped(_joined(left, allowed, ratios, most_cells, most_tied))
    inner: list[list[int]] = [[] for _ in members]
    outer: list[list[int]] = [[] for _ in members]
    scopes = block_of[left.scopes].tolist()
    for factor, (start, stop) in enumerate(itertools.pairwise(left.scope_starts.tolist())):
        touched = set(scopes[start:stop])
        for block in touched:
            (inner if len(touched) == 1 else outer)[block].append(factor)
    with np.errstate(divide="ignore"):
        listed = [_cells(left, own, allowed, inner[b]) for b, own in enumerate(members)]
    states = tuple(cells for cells, _, _ in listed)
    links = [(block, factor) for block, factors in enumerate(outer) for factor in factors]
    deltas = [_deltas(left, factor, members[block], states[block]) for block, factor in links]
    return Blocks(
        left,
        members,
        states,
        starts_of([len(cells) for cells in states]),
        np.concatenate([weights for _, weights, _ in listed]) if listed else np.empty(0),
        starts_of([len(factors) for factors in outer]),
        np.array([factor for _, factor in links], np.int64),
        starts_of([len(part) for part in deltas]),
        np.concatenate(deltas) if deltas else np.empty(0, np.int64),
        left.log_constant + sum(top for _, _, top in listed),
        np.array([ratios[factor] for _, factor in links], np.float64),
    )


def _grouped(owner: list[int]) -> tuple[tuple[Integers, ...], Integers]:
    """Variables of each block, and the block of each variable."""
    groups: dict[int, list[int]] = {}
    for variable, root in enumerate(owner):
        groups.setdefault(root, []).append(variable)
    place = {root: at for at, root in enumerate(groups)}
    members = tuple(np.array(own, np.int64) for own in groups.values())
    return members, np.array([place[root] for root in owner], np.int64)


def determined(
    model: ModelArrays, evidence: Evidence, targets: Sequence[int] | None = None
) -> tuple[FlatFactors, Evidence]:
    """What is left of a model when variables that zeros leave one state are taken as observed.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> from novum.graphical.models.questions import evidence_of
    >>> network = BayesianNetwork().add("a", table=[0.5, 0.5])
    >>> network = network.add("b", parents=["a"], table=lambda a: a, states=["true", "false"])
    >>> left, known = determined(network.arrays, evidence_of(network, {"b": "true"}))
    >>> left.n_variables, known.codes.tolist()
    (0, [0, 0])
    """
    left = flat_factors(model, evidence, targets)
    if left.tables.all():
        return left, evidence
    codes, weights, log = evidence.codes.copy(), dict(evidence.likelihoods), 0.0
    for variable, mask in zip(left.variables.tolist(), _supported(left), strict=True):
        if mask.sum() == 1:
            codes[variable] = int(mask.argmax())
            if variable in weights:
                log += math.log(float(weights.pop(variable)[codes[variable]]))
    known = Evidence(codes, weights)
    fewer = flat_factors(model, known, targets)
    return replace(fewer, log_constant=fewer.log_constant + log), known


def check_possible(model: ModelArrays, evidence: Evidence) -> None:
    """Refuses evidence that zeros exclude, also where a question does not depend on it.

    Tables are looked at one by one until no state is taken out: what only several of them exclude
    together is not noticed.
    """
    if model.has_zeros and (evidence.observed.size or evidence.likelihoods):
        _supported(flat_factors(model, evidence))


def _supported(left: FlatFactors) -> list[np.ndarray]:
    """For each variable the states that no table excludes on its own, found until none changes."""
    allowed = [np.ones(int(card), np.bool_) for card in left.cards]
    zeros = np.flatnonzero(_lowest(left) == 0).tolist()
    of_variable: dict[int, list[int]] = {}
    for factor in zeros:
        for variable in left.scope(factor).tolist():
            of_variable.setdefault(variable, []).append(factor)
    waiting = dict.fromkeys(zeros)
    while waiting:
        factor = next(iter(waiting))
        del waiting[factor]
        scope = left.scope(factor).tolist()
        possible = _positive(left, factor, allowed)
        for axis, variable in enumerate(scope):
            others = tuple(a for a in range(len(scope)) if a != axis)
            kept = possible.any(axis=others) & allowed[variable]
            if not kept.any():
                raise impossible()
            if (kept != allowed[variable]).any():
                allowed[variable] = kept
                waiting.update(dict.fromkeys(of_variable[variable]))
    return allowed


def _positive(left: FlatFactors, factor: int, allowed: list[np.ndarray]) -> np.ndarray:
    """Which cells of a table are positive at allowed states."""
    possible = left.table(factor) > 0
    for axis, variable in enumerate(left.scope(factor).tolist()):
        shape = [-1 if a == axis else 1 for a in range(possible.ndim)]
        possible = possible & allowed[variable].reshape(shape)
    return possible


def _lowest(left: FlatFactors) -> Floats:
    """The smallest cell of each table."""
    if not left.n_factors:
        return np.empty(0)
    return np.minimum.reduceat(left.tables, left.table_starts[:-1])


def _ratios(left: FlatFactors, allowed: list[np.ndarray]) -> list[float]:
    """The largest over the smallest cell of each table, at allowed states."""
    with np.errstate(divide="ignore"):
        # The largest cell of a table is 1.
        ratios: list[float] = (1.0 / _lowest(left)).tolist()
    is_cut = np.array([not mask.all() for mask in allowed], np.bool_)
    for factor in np.unique(left.factor_of_edge[is_cut[left.scopes]]).tolist():
        masks = [allowed[variable] for variable in left.scope(factor).tolist()]
        cells = left.table(factor)[np.ix_(*masks)]
        low = float(cells.min())
        ratios[factor] = float(cells.max()) / low if low > 0 else math.inf
    return ratios


def _joined(
    left: FlatFactors,
    allowed: list[np.ndarray],
    ratios: list[float],
    most_cells: int,
    most_tied: float,
) -> list[int]:
    """The block of each variable, named by one of its variables."""
    owner = list(range(left.n_variables))
    sizes = [int(mask.sum()) for mask in allowed]

    def find(variable: int) -> int:
        while owner[variable] != variable:
            owner[variable] = owner[owner[variable]]
            variable = owner[variable]
        return variable

    for factor in sorted(range(left.n_factors), key=lambda f: (-ratios[f], f)):
        ratio = ratios[factor]
        roots = sorted({find(variable) for variable in left.scope(factor).tolist()})
        joint = math.prod(sizes[root] for root in roots)
        most = most_cells if ratio < math.inf else max(most_cells, most_tied)
        if len(roots) < 2 or ratio < STRONG or joint > most:
            continue
        for other in roots[1:]:
            owner[other] = roots[0]
        sizes[roots[0]] = joint
    return [find(variable) for variable in range(left.n_variables)]


def _cells(
    left: FlatFactors, own: Integers, allowed: list[np.ndarray], inner: list[int]
) -> tuple[Integers, Floats, float]:
    """Possible joint states of a block, their weights, and the logarithm of the largest."""
    if len(own) == 1 and not inner:
        states = np.flatnonzero(allowed[own[0]])[:, np.newaxis]
        return states, np.ones(len(states)), 0.0
    place = {int(variable): at for at, variable in enumerate(own)}
    ready: dict[int, list[int]] = {}
    for factor in inner:
        last = max(place[variable] for variable in left.scope(factor).tolist())
        ready.setdefault(last, []).append(factor)
    states = np.empty((1, 0), np.int64)
    logs = np.zeros(1)
    for at, variable in enumerate(own):
        choices = np.flatnonzero(allowed[variable])
        if len(states) * len(choices) > MOST_LOOKED:
            raise _too_large(len(own))
        if at == 0:
            states, logs = choices[:, np.newaxis], np.zeros(len(choices))
        else:
            states = np.column_stack(
                [np.repeat(states, len(choices), axis=0), np.tile(choices, len(states))]
            )
            logs = np.repeat(logs, len(choices))
        for factor in ready.get(at, ()):
            columns = [place[v] for v in left.scope(factor).tolist()]
            logs = logs + np.log(left.table(factor)[tuple(states[:, columns].T)])
        states, logs = states[logs > -math.inf], logs[logs > -math.inf]
        if len(states) == 0:
            raise impossible()
    if len(states) > MOST_CELLS:
        raise _too_large(len(own))
    top = float(logs.max())
    return states, np.exp(logs - top), top


def _too_large(n_variables: int) -> MixingError:
    return MixingError(
        f"Zero probabilities tie {n_variables} variables together, with more than {MOST_CELLS} "
        "possible joint states: no product of independent blocks has all of them. Use "
        "JunctionTree(), ImportanceSampling() or Gibbs()."
    )


def _deltas(left: FlatFactors, factor: int, own: Integers, states: Integers) -> Integers:
    """How far each joint state of a block moves in a factor's table."""
    edges = slice(*left.scope_starts[factor : factor + 2].tolist())
    strides = dict(zip(left.scopes[edges].tolist(), left.strides[edges].tolist(), strict=True))
    return states @ np.array([strides.get(variable, 0) for variable in own.tolist()], np.int64)
