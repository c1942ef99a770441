"""Junction tree propagation in logarithms: exact where products leave the range of floats.

    log message(s) = log sum over residual(c) of exp(sum of log factors and log messages)

The sum is taken relative to its largest term, cell by cell of the message, so that a state whose
probability is far below that of another keeps its digits and can decide when later evidence rules
the other one out. Slower than `plain_junction`, which it is otherwise the same as.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.graphical.inference.plain_junction import PlainJunctionTree, Propagation
from novum.graphical.inference.potentials import (
    Floats,
    Potential,
    Scope,
    from_logs,
    shape_of,
    spread,
)
from novum.graphical.models.arrays import Evidence, ModelArrays, Positions
from novum.graphical.structure.junction_tree import CliqueTree


class LogPropagation(Propagation):
    """Messages in one clique tree, factors and messages as logarithms."""

    def __init__(self, tree: CliqueTree, potentials: Sequence[Potential], cards: Positions) -> None:
        super().__init__(tree, potentials, cards)
        with np.errstate(divide="ignore"):
            self.factors = [
                [(scope, np.log(table)) for scope, table in factors] for factors in self.factors
            ]

    def collect(self) -> None:
        for clique, separator in enumerate(self.tree.separators):
            logs = self._sum(self._inside(clique), self.tree.scopes[clique])
            message, top = _scaled_logs(logs, range(len(separator), logs.ndim))
            self.log_total += top
            self.upward.append((separator, message))

    def collect_to(self, targets: Scope) -> Floats:
        self.collect()
        if not targets:
            return np.array(1.0 if self.log_total > -math.inf else 0.0)
        if self.log_total == -math.inf:
            return np.zeros(shape_of(targets, self.cards))
        root = self.tree.homes[targets[0]]
        scope = self.tree.scopes[root]
        table, _ = from_logs(self._sum(self._inside(root), scope))
        return table.transpose([scope.index(target) for target in targets])

    def _sum(self, potentials: Sequence[Potential], scope: Scope) -> Floats:
        """Logarithms of a product over a scope; a new array."""
        logs = np.zeros(shape_of(scope, self.cards))
        for inside, table in potentials:
            logs += spread(table, inside, scope)
        return logs

    def _distribute(
        self,
        clique: int,
        scope: Scope,
        base: list[Potential],
        downward: list[Potential | None],
    ) -> Floats:
        children = self.children[clique]
        own = [self._sum([self.upward[child]], scope) for child in children]
        # Sums of all messages before each child, and then of all after it.
        before = [self._sum(base, scope)]
        for logs in own:
            before.append(before[-1] + logs)
        after = np.zeros_like(before[0])
        for child, logs, others in zip(
            reversed(children), reversed(own), reversed(before[:-1]), strict=True
        ):
            separator = self.tree.separators[child]
            axes = [axis for axis, variable in enumerate(scope) if variable not in separator]
            downward[child] = separator, _scaled_logs(others + after, axes)[0]
            after = after + logs
        return from_logs(before[-1])[0]


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


def _scaled_logs(logs: Floats, axes: Sequence[int]) -> tuple[Floats, float]:
    """Logarithms of sums over some axes less the largest one, and that."""
    tops = logs.max(axis=tuple(axes), keepdims=True)
    tops = np.where(tops > -np.inf, tops, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - tops).sum(axis=tuple(axes), keepdims=True)) + tops
    found = sums.squeeze(tuple(axes))
    top = float(found.max(initial=-np.inf))
    return (found - top, top) if top > -np.inf else (found, top)
