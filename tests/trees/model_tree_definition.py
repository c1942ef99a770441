"""Model trees from their definition, slowly: least squares for one subset after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from novum.core.tables import Kind, Schema
from novum.numerics import Floats, Positions
from novum.trees.model_trees.model_tree_models import NodeModels
from novum.trees.routing import route
from novum.trees.training import CellRows
from novum.trees.tree import Tree


def pessimistic(squares: float, n: float, v: float) -> float:
    return math.inf if n <= v else math.sqrt(squares / n) * (n + v) / (n - v)


def design(schema: Schema, cells: Floats) -> tuple[Floats, list[tuple[int, int]]]:
    """All columns of the design with NaN for missing cells, and (column, level) of each."""
    columns, keys = [], []
    for j, column in enumerate(schema.columns):
        x = cells[:, j]
        if column.kind is Kind.NUMERIC:
            columns.append(x)
            keys.append((j, -1))
            continue
        known = ~np.isnan(x) & (x >= 0)
        for code in range(1, column.n_levels):
            columns.append(np.where(known, x == code, np.nan))
            keys.append((j, code))
    return np.column_stack(columns) if columns else np.empty((len(cells), 0)), keys


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one node: centered design with 0 for missing cells, centered targets, weights."""

    x: Floats
    y: Floats
    weight: Floats

    @classmethod
    def of(cls, x: Floats, y: Floats, weight: Floats) -> Rows:
        known = ~np.isnan(x)
        mass = weight @ known
        mean = (weight @ np.where(known, x, 0.0)) / np.where(mass > 0, mass, 1.0)
        return cls(np.where(known, x - mean, 0.0), y - (weight @ y) / weight.sum(), weight)

    def squares(self, columns: list[int]) -> float:
        """Least squared error with these columns."""
        root = np.sqrt(self.weight)[:, np.newaxis]
        if not columns:
            return float(((root * self.y) ** 2).sum())
        x = root * self.x[:, columns]
        found = np.linalg.lstsq(x, root * self.y, rcond=1e-9)[0]
        return float(((root * self.y - x @ found) ** 2).sum())

    def simplified(self, columns: list[int]) -> list[int]:
        """Columns leave one by one, the one missed least first; the best model on the way."""
        n = float(self.weight.sum())
        kept = list(columns)
        best, least = kept, pessimistic(self.squares(kept), n, len(kept) + 1)
        while kept:
            left = [[k for k in kept if k != out] for out in kept]
            kept = min(left, key=self.squares)
            found = pessimistic(self.squares(kept), n, len(kept) + 1)
            if found <= least:
                best, least = kept, found
        return best


def node_rows(tree: Tree, rows: CellRows, node: int) -> tuple[Positions, Floats]:
    """The rows of a node and their weights there."""
    share = np.asarray(route(tree, rows.cells)[:, [node]].todense()).ravel()
    inside = np.flatnonzero(share > 0)
    return inside, rows.weight[inside] * share[inside]


def model_value(models: NodeModels, node: int, cells: Floats) -> Floats:
    """What the model of a node says of one row, from the definition."""
    value = models.base[node].copy()
    for term in range(int(models.start[node]), int(models.start[node + 1])):
        x, code = cells[models.column[term]], models.level[term]
        if np.isnan(x) or (code >= 0 and x < 0):
            continue
        x = float(x == code) if code >= 0 else x
        value += models.coefficient[term] * (x - models.center[term])
    return value


def prediction(tree: Tree, models: NodeModels, cells: Floats, k: float) -> Floats:
    """The smoothed prediction of one row, by recursion from the root."""

    def below(node: int) -> list[tuple[float, Floats]]:
        """Shares and values of the row in the leaves below, smoothed up to this node."""
        if tree.is_leaf(node):
            return [(1.0, model_value(models, node, cells))]
        x, column = cells[tree.column[node]], tree.schema.columns[int(tree.column[node])]
        children = list(tree.children(node))
        if column.kind is Kind.NOMINAL:
            code = -1 if np.isnan(x) or x < 0 else int(x)
            branch = int(tree.branches(node)[code]) if code >= 0 else -1
        else:
            branch = -1 if np.isnan(x) else int(x > tree.threshold[node])
        if np.isnan(x) and tree.missing_branch[node] >= 0:
            branch = int(tree.missing_branch[node])
        taken = (
            [(children[branch], 1.0)]
            if branch >= 0
            else [(child, float(tree.share[child])) for child in children]
        )
        own = model_value(models, node, cells)
        found = []
        for child, share in taken:
            n = tree.weight[child]
            found += [(share * s, (n * p + k * own) / (n + k)) for s, p in below(child)]
        return found

    return np.sum([share * value for share, value in below(0)], axis=0)
