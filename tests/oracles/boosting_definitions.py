"""Gradient boosting by its definition: every cut of every column tried on the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.ensemble.gradient_boosting.losses import Loss

LEVEL_PENALTY, SHRINKAGE = 10.0, 10.0


@dataclass(eq=False)
class Node:
    """A node: its rows, and how it parts them."""

    rows: Any
    right: Any = None
    gain: float = 0.0
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True)
class Boosting:
    """Boosting of trees grown best first, on cells with NaN for missing ones."""

    cells: Any
    nominal: tuple[bool, ...]
    weight: Any
    rounds: int = 3
    max_leaves: int = 8
    min_rows: float = 5.0
    penalty: float = 0.0
    rate: float = 0.1

    def fitted(self, loss: Loss, y: Any) -> Any:
        """Scores of all rows, (K, n)."""
        start = loss.start(y, self.weight)
        scores = np.repeat(start[:, np.newaxis], len(y), axis=1)
        for _ in range(self.rounds):
            g, h = loss.gradients(scores, y)
            h = np.ones_like(g) if h is None else h
            for k in range(len(scores)):
                for leaf in self.leaves(g[k] * self.weight, h[k] * self.weight):
                    rows = leaf.rows
                    total = (h[k] * self.weight)[rows].sum() + self.penalty
                    step = -(g[k] * self.weight)[rows].sum() / total
                    longest = loss.longest_step
                    scores[k, rows] += self.rate * min(max(step, -longest), longest)
        return scores

    def leaves(self, g: Any, h: Any) -> list[Node]:
        leaves = [self.split(Node(np.arange(len(g))), g, h)]
        while len(leaves) < self.max_leaves:
            best = max(leaves, key=lambda node: node.gain)
            if best.gain <= 0:
                break
            leaves.remove(best)
            sides = best.rows[~best.right], best.rows[best.right]
            leaves += [self.split(Node(rows), g, h) for rows in sides]
        return leaves

    def split(self, node: Node, g: Any, h: Any) -> Node:
        rows = node.rows
        G, H = g[rows].sum(), h[rows].sum()
        before = G**2 / (H + self.penalty)
        for j, nominal in enumerate(self.nominal):
            x = self.cells[rows, j]
            n_levels = len(np.unique(np.where(np.isnan(x), -1, x)))
            penalty = self.penalty + (min(LEVEL_PENALTY, n_levels - 2) if nominal else 0.0)
            cuts = self.sets if nominal else self.thresholds
            for right in cuts(x, g[rows], h[rows]):
                weights = self.weight[rows]
                if min(weights[right].sum(), weights[~right].sum()) < self.min_rows:
                    continue
                worth = sum(
                    g[rows[side]].sum() ** 2 / (h[rows[side]].sum() + penalty)
                    for side in (right, ~right)
                )
                if worth - before > node.gain * (1 + 1e-9) + 1e-9 * abs(before):
                    node.gain, node.right = worth - before, right
        return node

    @staticmethod
    def thresholds(x: Any, _: Any, __: Any) -> Iterator[Any]:
        missing = np.isnan(x)
        values = np.unique(x[~missing])
        for value in values if missing.any() else values[:-1]:
            yield (x > value) | missing
        if missing.any():
            for value in values[:-1]:
                yield x > value

    @staticmethod
    def sets(x: Any, g: Any, h: Any) -> Iterator[Any]:
        levels = np.where(np.isnan(x), 255, x)
        found = np.unique(levels)
        ratios = [
            g[levels == level].sum() / (h[levels == level].sum() + SHRINKAGE) for level in found
        ]
        order = found[np.argsort(ratios, kind="stable")]
        for place in range(len(order) - 1):
            yield np.isin(levels, order[place + 1 :])
