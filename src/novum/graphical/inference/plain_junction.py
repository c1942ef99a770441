"""Junction tree propagation in NumPy: the definition of what the compiled engine computes.

    collect     message(c -> parent) = sum over residual(c) of factors(c) * messages from children
    distribute  message(parent -> c) = sum over the rest of everything at the parent but c's own
    posterior   P(x | e) proportional to factors(c) * all messages at the clique of x

The product of everything but one child is made from products of those before it and after it, so
nothing is ever divided and zeros need no care. Each message is divided by its largest entry, whose
logarithm is kept. Where the tables of a model are so many or so small that a product of them might
leave the range of floating-point numbers, sums and products are those of logarithms: a state far
below another one keeps its digits and can decide when later evidence rules the other one out.

Variable elimination collects to one question's variables and never distributes; sum-product on a
factor tree has the factors as cliques. Both are names for this propagation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from novum.distributions import ImpossibleEvidence
from novum.graphical.inference.flat_factors import flat_factors_of, outwards
from novum.graphical.inference.limits import check_price
from novum.graphical.inference.potentials import (
    Potential,
    Scope,
    from_logs,
    in_order,
    known_potentials,
    needed_factors,
    relevant_factors,
    scaled,
    shape_of,
    spread,
    stays_in_range,
)
from novum.graphical.inference.protocol import (
    Beliefs,
    ExactEngine,
    impossible,
    table_of,
    with_observed,
)
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.structure.triangulation import (
    CliqueTree,
    Order,
    best_order,
    clique_tree,
    interaction_graph,
)
from novum.numerics import Floats, Integers

# Further elimination orders that are tried when the first ones make large tables.
RESTARTS = 5
LARGE_CELLS = 1e5


@dataclass(frozen=True)
class PlainJunctionTree(ExactEngine):
    """Exact posteriors by messages in a tree of cliques, in NumPy.

    Parameters
    ----------
    memory_limit : int, str or None
        For the largest tables; by default what `novum.core.runtime.memory` allows.

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
        return Propagation if stays_in_range(model, evidence) else LogPropagation

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        everything = variables is None
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        if everything:
            potentials = known_potentials(model, evidence)
        else:
            potentials = relevant_potentials(model, evidence, list(asked))
        run = self._collected(model, evidence, potentials)
        elsewhere = not everything and self._contradicts_elsewhere(model, evidence)
        if run.log_total == -math.inf or elsewhere:
            raise impossible()
        posteriors = run.posteriors()
        tables = tuple(table_of(model, evidence, variable, posteriors) for variable in asked)
        return Beliefs(tables, run.log_total if everything else None)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        is_known = all(evidence.codes[variable] >= 0 for variable in variables)
        if is_known and self.log_evidence(model, evidence) == -math.inf:
            raise impossible()
        table = self._joint_table(model, evidence, variables)
        if self._contradicts_elsewhere(model, evidence):
            raise impossible()
        return Beliefs((table,))

    def families(self, model: ModelArrays, evidence: Evidence) -> Beliefs:
        run = self._collected(model, evidence, known_potentials(model, evidence))
        if run.log_total == -math.inf:
            raise impossible()
        scopes = [tuple(model.scope(factor).tolist()) for factor in range(model.n_factors)]
        free = [tuple(v for v in scope if evidence.codes[v] < 0) for scope in scopes]
        tables = tuple(
            with_observed(model, evidence, scope, left, table)
            for scope, left, table in zip(scopes, free, run.tables_of(free), strict=True)
        )
        return Beliefs(tables, run.log_total)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        potentials = known_potentials(model, evidence, needed_factors(model, evidence))
        return self._collected(model, evidence, potentials).log_total

    def _collected(
        self,
        model: ModelArrays,
        evidence: Evidence,
        potentials: Sequence[Potential],
        last: Sequence[int] = (),
    ) -> Propagation:
        """Messages to the roots of a good tree; variables in `last` end up in one root together."""
        order = order_for(potentials, model.cards, last)
        check_order(order, self.memory_limit)
        kind = self.propagation(model, evidence)
        run = kind(clique_tree(order, last), potentials, model.cards)
        run.collect()
        return run

    def _joint_table(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]
    ) -> Floats:
        """The joint posterior, where the evidence that it does not depend on is possible."""
        free = [variable for variable in variables if evidence.codes[variable] < 0]
        run = self._collected(model, evidence, relevant_potentials(model, evidence, free), free)
        table = run.root_table(tuple(free))
        total = table.sum()
        if not total > 0:
            raise impossible()
        return with_observed(model, evidence, variables, free, table / total)

    def _contradicts_elsewhere(self, model: ModelArrays, evidence: Evidence) -> bool:
        """Whether evidence that an answer does not depend on is impossible; takes a zero cell."""
        return model.has_zeros and self.log_evidence(model, evidence) == -math.inf


@dataclass(frozen=True)
class LogJunctionTree(PlainJunctionTree):
    """`PlainJunctionTree` in logarithms, whatever the range of the tables.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> rare = BayesianNetwork().add("a", table=[1e-300, 1 - 1e-300])
    >>> rare = rare.add("b", parents="a", table=[[1e-300, 1 - 1e-300], [0.5, 0.5]])
    >>> round(rare.log_evidence({"a": "true", "b": "true"}, engine=LogJunctionTree()), 2)
    -1381.55
    """

    def propagation(self, model: ModelArrays, evidence: Evidence) -> type[Propagation]:
        del model, evidence
        return LogPropagation


@dataclass(frozen=True)
class LogTables(PlainJunctionTree):
    """`PlainJunctionTree` for a model whose tables and likelihoods are given as logarithms."""

    def propagation(self, model: ModelArrays, evidence: Evidence) -> type[Propagation]:
        del model, evidence
        return LogTablePropagation

    def _collected(
        self,
        model: ModelArrays,
        evidence: Evidence,
        potentials: Sequence[Potential],
        last: Sequence[int] = (),
    ) -> Propagation:
        tables = [potential for potential in potentials if potential[0]]
        run = super()._collected(model, evidence, tables, last)
        # The others have no variable left.
        run.log_total += sum(float(table) for scope, table in potentials if not scope)
        return run

    def _contradicts_elsewhere(self, model: ModelArrays, evidence: Evidence) -> bool:
        return self.log_evidence(model, evidence) == -math.inf


@dataclass(frozen=True)
class VariableElimination(PlainJunctionTree):
    """`PlainJunctionTree` asked for one posterior at a time, each from what it depends on.

    Collecting to the clique of the question eliminates one variable after the other:

        sum over x of  f_1(x, ..) f_2(x, ..) g(..)  =  g(..) * (sum over x of f_1(x, ..) f_2(x, ..))

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "false"}, engine=VariableElimination())
    rain   probability
    true      0.027027
    false     0.972973
    """

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        if not stays_in_range(model, evidence):
            # So many tables that one tree for all questions is worth it.
            return super().marginals(model, evidence, variables)
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        log = self.log_evidence(model, evidence)
        if log == -math.inf:
            raise impossible()
        return Beliefs(tuple(self._joint_table(model, evidence, [v]) for v in asked), log)


@dataclass(frozen=True)
class SumProduct(PlainJunctionTree):
    """`PlainJunctionTree` for factor graphs without cycles; others are refused.

        variable to factor   m(x) = product of the messages from its other factors
        factor to variable   m(x) = sum over its other variables of table * their messages

    Observed variables are gone before, so that they cut cycles.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("rain", given={"wet": "true"}, engine=SumProduct())
    rain   probability
    true      0.692308
    false     0.307692
    """

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        self._refuse_cycles(model, evidence, range(model.n_factors))
        return super().marginals(model, evidence, variables)

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        self._refuse_cycles(model, evidence, range(model.n_factors))
        return super().joint(model, evidence, variables)

    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        try:
            self._refuse_cycles(model, evidence, needed_factors(model, evidence))
        except ImpossibleEvidence:
            return -math.inf
        return super().log_evidence(model, evidence)

    def most_probable(self, model: ModelArrays, evidence: Evidence) -> tuple[Integers, float]:
        """States of all variables that are most probable together, and their log-probability."""
        from novum.graphical.inference.explanation import most_probable_codes

        self._refuse_cycles(model, evidence, range(model.n_factors))
        everything = range(model.n_variables)
        plain = PlainJunctionTree(self.memory_limit)
        return most_probable_codes(model, evidence, everything, engine=plain)[0]

    def _refuse_cycles(
        self, model: ModelArrays, evidence: Evidence, factors: Sequence[int]
    ) -> None:
        outwards(flat_factors_of(model, evidence, factors))


class Propagation:
    """Messages in one clique tree, as numbers.

    Attributes
    ----------
    factors : list of lists of (scope, table)
        Those that each clique multiplies, with axes in the order of the tree.
    upward : list of (scope, table)
        The message of each clique to its parent, after `collect`.
    log_total : float
        Logarithm of the sum over all states, after `collect`.
    """

    times: np.ufunc = np.multiply

    def __init__(self, tree: CliqueTree, potentials: Sequence[Potential], cards: Integers) -> None:
        self.tree = tree
        self.cards = cards
        self.log_total = 0.0
        self.factors: list[list[Potential]] = [[] for _ in tree.parents]
        for potential in potentials:
            if potential[0]:
                scope, table = in_order(potential, tree.rank.__getitem__)
                self.factors[tree.home(scope)].append((scope, self._entries(table)))
            else:
                # All its variables are observed: a number.
                value = float(potential[1])
                self.log_total += math.log(value) if value > 0 else -math.inf
        self.children: list[list[int]] = [[] for _ in tree.parents]
        for clique, parent in enumerate(tree.parents):
            if parent >= 0:
                self.children[parent].append(clique)
        self.upward: list[Potential] = []

    # What differs in logarithms

    def _entries(self, table: Floats) -> Floats:
        """A factor as it is multiplied."""
        return table

    def _summed(self, table: Floats, axes: tuple[int, ...]) -> tuple[Floats, float]:
        """A sum over some axes up to its largest entry, and the logarithm of that."""
        return scaled(table.sum(axis=axes))

    def _numbers(self, table: Floats) -> Floats:
        """A product as numbers, up to a factor."""
        return table

    # Messages

    def collect(self) -> None:
        """Messages from the leaves to the roots, and the logarithm of the sum over all states."""
        for clique, separator in enumerate(self.tree.separators):
            table = self._product(self._inside(clique), self.tree.scopes[clique])
            wide = table.reshape(*table.shape[: len(separator)], -1)
            message, log = self._summed(wide, (len(separator),))
            self.log_total += log
            self.upward.append((separator, message))

    def root_table(self, targets: Scope) -> Floats:
        """The joint table, up to a factor, of variables that were eliminated last."""
        if not targets:
            return np.array(1.0 if self.log_total > -math.inf else 0.0)
        if self.log_total == -math.inf:
            return np.zeros(shape_of(targets, self.cards))
        root = self.tree.homes[targets[0]]
        scope = self.tree.scopes[root]
        table = self._numbers(self._product(self._inside(root), scope))
        return table.transpose([scope.index(target) for target in targets])

    def posteriors(self) -> dict[int, Floats]:
        """The posterior of every variable, after `collect`."""
        tables: dict[int, Floats] = {}
        for clique, belief in self._beliefs():
            scope = self.tree.scopes[clique]
            for variable in scope[len(self.tree.separators[clique]) :]:
                tables[variable] = _distribution(belief, scope, (variable,))
        return tables

    def tables_of(self, scopes: Sequence[Scope]) -> list[Floats]:
        """The joint posterior of each scope of a factor, after `collect`."""
        tables: list[Floats] = [np.array(1.0)] * len(scopes)
        at_clique: dict[int, list[int]] = {}
        for number, scope in enumerate(scopes):
            if scope:
                at_clique.setdefault(self.tree.home(scope), []).append(number)
        for clique, belief in self._beliefs():
            for number in at_clique.get(clique, ()):
                tables[number] = _distribution(belief, self.tree.scopes[clique], scopes[number])
        return tables

    def _product(self, potentials: Sequence[Potential], scope: Scope) -> Floats:
        """The product over a scope that contains all others, in the same order; a new array."""
        table = np.full(shape_of(scope, self.cards), float(self.times.identity))
        for inside, factor in potentials:
            self.times(table, spread(factor, inside, scope), out=table)
        return table

    def _inside(self, clique: int) -> list[Potential]:
        return [*self.factors[clique], *(self.upward[child] for child in self.children[clique])]

    def _beliefs(self) -> Iterator[tuple[int, Floats]]:
        """The product of everything at each clique, up to a factor, from the roots down."""
        downward: list[Potential | None] = [None] * len(self.tree.parents)
        for clique in reversed(range(len(self.tree.parents))):
            scope, children = self.tree.scopes[clique], self.children[clique]
            above = downward[clique]
            base = [*self.factors[clique], *([] if above is None else [above])]
            # Products of all messages before each child, and then of all after it.
            before = [self._product(base, scope)]
            for child in children:
                inside, message = self.upward[child]
                before.append(self.times(before[-1], spread(message, inside, scope)))
            after = np.full(before[0].shape, float(self.times.identity))
            for child, others in zip(reversed(children), reversed(before[:-1]), strict=True):
                inside, message = self.upward[child]
                axes = tuple(axis for axis, variable in enumerate(scope) if variable not in inside)
                downward[child] = inside, self._summed(self.times(others, after), axes)[0]
                after = self.times(after, spread(message, inside, scope))
            yield clique, self._numbers(before[-1])


class LogPropagation(Propagation):
    """Messages in one clique tree, factors and messages as logarithms.

    log message(s) = log sum over residual(c) of exp(sum of log factors and log messages)

    The sum is taken relative to its largest term, cell by cell of the message.
    """

    times = np.add

    def _entries(self, table: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(table)

    def _summed(self, table: Floats, axes: tuple[int, ...]) -> tuple[Floats, float]:
        tops = table.max(axis=axes, keepdims=True)
        tops = np.where(tops > -np.inf, tops, 0.0)
        with np.errstate(divide="ignore"):
            sums = np.log(np.exp(table - tops).sum(axis=axes, keepdims=True)) + tops
        logs = sums.squeeze(axes)
        top = float(logs.max(initial=-np.inf))
        return (logs - top, top) if top > -np.inf else (logs, top)

    def _numbers(self, table: Floats) -> Floats:
        return from_logs(table)[0]


class LogTablePropagation(LogPropagation):
    """The same for factors that are logarithms already."""

    def _entries(self, table: Floats) -> Floats:
        return table


def _distribution(belief: Floats, scope: Scope, kept: Scope) -> Floats:
    """A clique's table as the distribution of some of its variables, in their order."""
    others = tuple(axis for axis, variable in enumerate(scope) if variable not in kept)
    table = belief.sum(axis=others)
    left = [variable for variable in scope if variable in kept]
    table = table.transpose([left.index(variable) for variable in kept])
    return np.asarray(table / table.sum())


def order_for(potentials: Sequence[Potential], cards: Integers, last: Sequence[int]) -> Order:
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


def relevant_potentials(
    model: ModelArrays, evidence: Evidence, targets: Sequence[int]
) -> list[Potential]:
    """The factors at what is known that the posterior of the targets depends on."""
    factors, weighted = relevant_factors(model, evidence, targets)
    likelihoods = {variable: evidence.likelihoods[variable] for variable in weighted}
    return known_potentials(model, Evidence(evidence.codes, likelihoods), factors)
