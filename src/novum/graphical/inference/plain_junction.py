"""Junction tree propagation in NumPy: exact, readable, and quick on textbook networks.

    collect     message(c -> parent) = sum over residual(c) of factors(c) * messages from children
    distribute  message(parent -> c) = sum over the rest of everything at the parent but c's own
    posterior   P(x | e) proportional to factors(c) * all messages at the clique of x

The product of everything but one child is made from products of those before it and after it, so
nothing is ever divided and zeros need no care. Each message is divided by its largest entry, whose
logarithm is kept. Where the tables of a model are so many or so small that a product of them might
leave the range of floating-point numbers, all of it is done in logarithms (`log_junction`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.limits import check_price
from novum.graphical.inference.potentials import (
    Floats,
    Potential,
    Scope,
    in_order,
    known_potentials,
    product,
    scaled,
    shape_of,
    spread,
    stays_in_range,
)
from novum.graphical.inference.protocol import Beliefs, ExactEngine
from novum.graphical.inference.relevance import needed_factors, relevant_factors
from novum.graphical.models.arrays import Evidence, ModelArrays, Positions
from novum.graphical.structure.junction_tree import CliqueTree, clique_tree
from novum.graphical.structure.triangulation import Order, best_order, interaction_graph

# Further elimination orders that are tried when the first ones make large tables.
RESTARTS = 5
LARGE_CELLS = 1e5


@dataclass(frozen=True)
class PlainJunctionTree(ExactEngine):
    """Exact posteriors by messages in a tree of cliques, in NumPy.

    Parameters
    ----------
    memory_limit : int, str or None
        For the largest tables; by default what `novum.core.memory` allows.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=PlainJunctionTree())
    rain   probability
    true      0.692308
    false     0.307692
    """

    memory_limit: int | str | None = None

    def propagation(self, model: ModelArrays, evidence: Evidence) -> type[Propagation]:
        """How messages are computed: in logarithms where floats might not hold them."""
        if stays_in_range(model, evidence):
            return Propagation
        from novum.graphical.inference.log_junction import LogPropagation

        return LogPropagation

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        everything = variables is None
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        if everything:
            potentials = known_potentials(model, evidence)
        else:
            potentials = relevant_potentials(model, evidence, list(asked))
        run = self.propagation(model, evidence).of(potentials, model.cards, (), self.memory_limit)
        run.collect()
        elsewhere = not everything and contradicts_elsewhere(self, model, evidence)
        if run.log_total == -math.inf or elsewhere:
            raise impossible()
        found = run.posteriors()
        tables = tuple(table_of(model, evidence, variable, found) for variable in asked)
        return Beliefs(tables, run.log_total if everything else None)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        if not free and self.log_evidence(model, evidence) == -math.inf:
            raise impossible()
        potentials = relevant_potentials(model, evidence, free)
        run = self.propagation(model, evidence).of(potentials, model.cards, free, self.memory_limit)
        table = run.collect_to(tuple(free))
        total = table.sum()
        if not total > 0 or contradicts_elsewhere(self, model, evidence):
            raise impossible()
        return Beliefs((with_observed(model, evidence, variables, free, table / total),))

    def families(self, model: ModelArrays, evidence: Evidence) -> Beliefs:
        potentials = known_potentials(model, evidence)
        run = self.propagation(model, evidence).of(potentials, model.cards, (), self.memory_limit)
        run.collect()
        if run.log_total == -math.inf:
            raise impossible()
        scopes = [tuple(model.scope(factor).tolist()) for factor in range(model.n_factors)]
        free = [tuple(v for v in scope if evidence.codes[v] < 0) for scope in scopes]
        found = run.tables_of(free)
        tables = tuple(
            with_observed(model, evidence, scope, left, table)
            for scope, left, table in zip(scopes, free, found, strict=True)
        )
        return Beliefs(tables, run.log_total)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        needed = needed_factors(model, evidence)
        potentials = known_potentials(model, evidence, needed)
        run = self.propagation(model, evidence).of(potentials, model.cards, (), self.memory_limit)
        run.collect()
        return run.log_total


class Propagation:
    """Messages in one clique tree."""

    def __init__(self, tree: CliqueTree, potentials: Sequence[Potential], cards: Positions) -> None:
        self.tree = tree
        self.cards = cards
        self.constant = 0.0
        self.factors: list[list[Potential]] = [[] for _ in tree.parents]
        for potential in potentials:
            if potential[0]:
                ordered = in_order(potential, tree.rank.__getitem__)
                self.factors[tree.home(ordered[0])].append(ordered)
            else:
                # All its variables are observed: a number.
                value = float(potential[1])
                self.constant += math.log(value) if value > 0 else -math.inf
        self.children: list[list[int]] = [[] for _ in tree.parents]
        for clique, parent in enumerate(tree.parents):
            if parent >= 0:
                self.children[parent].append(clique)
        self.upward: list[Potential] = []
        self.log_total = self.constant

    @classmethod
    def of(
        cls,
        potentials: Sequence[Potential],
        cards: Positions,
        last: Sequence[int],
        memory_limit: int | str | None,
    ) -> Propagation:
        """A propagation along a good tree; variables in `last` end up in one root together."""
        order = order_for(potentials, cards, last)
        check_order(order, memory_limit)
        return cls(clique_tree(order, last), potentials, cards)

    def collect(self) -> None:
        """Messages from the leaves to the roots, and the logarithm of the sum over all states."""
        for clique in range(len(self.tree.parents)):
            scope = self.tree.scopes[clique]
            table = product(self._inside(clique), scope, shape_of(scope, self.cards))
            n_kept = len(self.tree.separators[clique])
            kept = table.shape[:n_kept]
            message, log = scaled(table.reshape(*kept, -1).sum(axis=-1))
            self.log_total += log
            self.upward.append((self.tree.separators[clique], message))

    def collect_to(self, targets: Scope) -> Floats:
        """The unnormalized joint table of variables that were eliminated last, in their order."""
        if not targets:
            self.collect()
            return np.array(1.0 if self.log_total > -math.inf else 0.0)
        self.collect()
        if self.log_total == -math.inf:
            return np.zeros(shape_of(targets, self.cards))
        root = self.tree.homes[targets[0]]
        scope = self.tree.scopes[root]
        table = product(self._inside(root), scope, shape_of(scope, self.cards))
        return table.transpose([scope.index(target) for target in targets])

    def _inside(self, clique: int) -> list[Potential]:
        return [*self.factors[clique], *(self.upward[child] for child in self.children[clique])]

    def posteriors(self) -> dict[int, Floats]:
        """The posterior of every variable, after `collect`."""
        found: dict[int, Floats] = {}
        for clique, belief in self._beliefs():
            scope = self.tree.scopes[clique]
            for variable in scope[len(self.tree.separators[clique]) :]:
                found[variable] = _summed_to(belief, scope, (variable,))
        return found

    def tables_of(self, scopes: Sequence[Scope]) -> list[Floats]:
        """The joint posterior of each scope of a factor, after `collect`."""
        found: list[Floats] = [np.array(1.0)] * len(scopes)
        wanted: dict[int, list[int]] = {}
        for place, scope in enumerate(scopes):
            if scope:
                wanted.setdefault(self.tree.home(scope), []).append(place)
        for clique, belief in self._beliefs():
            for place in wanted.get(clique, ()):
                found[place] = _summed_to(belief, self.tree.scopes[clique], scopes[place])
        return found

    def _beliefs(self) -> Iterator[tuple[int, Floats]]:
        """The product of everything at each clique, up to a factor, from the roots down."""
        downward: list[Potential | None] = [None] * len(self.tree.parents)
        for clique in reversed(range(len(self.tree.parents))):
            base = list(self.factors[clique])
            above = downward[clique]
            if above is not None:
                base.append(above)
            yield clique, self._distribute(clique, self.tree.scopes[clique], base, downward)

    def _distribute(
        self,
        clique: int,
        scope: Scope,
        base: list[Potential],
        downward: list[Potential | None],
    ) -> Floats:
        """Sends messages to the children; the product of everything at the clique, scaled."""
        children = self.children[clique]
        shape = shape_of(scope, self.cards)
        for child, table in self._without_each(base, children, scope, shape):
            separator = self.tree.separators[child]
            inside = set(separator)
            axes = tuple(axis for axis, variable in enumerate(scope) if variable not in inside)
            message, _ = scaled(table.sum(axis=axes))
            downward[child] = (separator, message)
        return product([*base, *(self.upward[child] for child in children)], scope, shape)

    def _without_each(
        self, base: list[Potential], children: list[int], scope: Scope, shape: list[int]
    ) -> Iterator[tuple[int, Floats]]:
        """For each child the product of everything at the clique but its message."""
        # Products of all messages before each child, and then of all after it.
        before = [product(base, scope, shape)]
        for child in children[:-1]:
            before.append(before[-1] * spread(self.upward[child][1], self.upward[child][0], scope))
        after = np.ones(shape)
        for child, table in zip(reversed(children), reversed(before), strict=False):
            yield child, table * after
            after = after * spread(self.upward[child][1], self.upward[child][0], scope)


def _summed_to(belief: Floats, scope: Scope, kept: Scope) -> Floats:
    """A clique's table as the distribution of some of its variables, in their order."""
    others = tuple(axis for axis, variable in enumerate(scope) if variable not in kept)
    table = belief.sum(axis=others)
    left = [variable for variable in scope if variable in kept]
    table = table.transpose([left.index(variable) for variable in kept])
    return np.asarray(table / table.sum())


def order_for(potentials: Sequence[Potential], cards: Positions, last: Sequence[int]) -> Order:
    """A good order of elimination of all variables that occur; those in `last` come last."""
    scopes = [scope for scope, _ in potentials]
    if len(last) > 1:
        scopes.append(tuple(last))
    variables = sorted({variable for scope in scopes for variable in scope} | set(last))
    near = interaction_graph(scopes, len(cards))
    sizes = cards.tolist()
    order = best_order(near, sizes, variables, last)
    if order.cells > LARGE_CELLS:
        order = best_order(near, sizes, variables, last, RESTARTS)
    return order


def check_order(order: Order, limit: int | str | None) -> None:
    """Refuses tables that do not fit the memory, before any is made."""
    # A clique is held with products before and after its children.
    check_price(order.width, order.largest, min(order.largest, 1e18) * 8 * 4, limit)


def contradicts_elsewhere(engine: ExactEngine, model: ModelArrays, evidence: Evidence) -> bool:
    """Whether evidence that an answer does not depend on is impossible; it takes a zero cell."""
    if not model.has_zeros:
        return False
    return engine.log_evidence(model, evidence) == -math.inf


def impossible() -> ImpossibleEvidence:
    """The error of evidence that has probability zero."""
    return ImpossibleEvidence(
        "The evidence has probability 0, so nothing can be said given it. Check its states."
    )


def relevant_potentials(
    model: ModelArrays, evidence: Evidence, targets: Sequence[int]
) -> list[Potential]:
    """The factors at what is known that the posterior of the targets depends on."""
    factors, weighted = relevant_factors(model, evidence, targets)
    likelihoods = {variable: evidence.likelihoods[variable] for variable in weighted}
    return known_potentials(model, Evidence(evidence.codes, likelihoods), factors)


def table_of(
    model: ModelArrays, evidence: Evidence, variable: int, found: Mapping[int, Floats]
) -> Floats:
    """What was found for a variable; a one at its state where it is observed."""
    code = int(evidence.codes[variable])
    if code < 0:
        return found[variable]
    table = np.zeros(model.cards[variable])
    table[code] = 1.0
    return table


def with_observed(
    model: ModelArrays,
    evidence: Evidence,
    variables: Sequence[int],
    free: Sequence[int],
    table: Floats,
) -> Floats:
    """A table of the unobserved variables as one of all: zero where observed ones differ."""
    if len(free) == len(variables):
        return table
    whole = np.zeros([int(model.cards[variable]) for variable in variables])
    at = tuple(
        slice(None) if evidence.codes[variable] < 0 else int(evidence.codes[variable])
        for variable in variables
    )
    whole[at] = table
    return whole
