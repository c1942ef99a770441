"""Boosting of Novum's own trees: the table is coded once, and every round grows on its codes.

Fitting a tree reads, checks and codes the table anew each time. Here that is done before the first
round; a round brings weights, or rows that were drawn, and the engine of the trees grows one more
tree on the same codes. Trees and thresholds are those that fits with the same weights find, except
that bins come from the weights of the first round.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from novum.core.randomness import stream
from novum.ensemble.adaboost_learners import RowLearning, Votes
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.growth.coded_rows import coded_table
from novum.trees.growth.growing import grow
from novum.trees.growth.grown import tree_of
from novum.trees.model import certify
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.routing import tree_values
from novum.trees.settings import growth_rules
from novum.trees.training import TrainingRows
from novum.trees.tree import Tree

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_CRITERIA = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "squared_error": "squared_error",
}


def grows_on_codes(base: Any) -> bool:
    """Whether a base learner is a tree of ours that the binary engine grows and nothing prunes."""
    if type(base) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    return (
        isinstance(base.criterion, str)
        and base.criterion in _CRITERIA
        and base.nominal != "multiway"
        and base.missing in ("fractional", "direction", "auto")
        and base.pruning is None
        and base.ccp_alpha == 0
        and getattr(base, "class_weight", None) is None
    )


class CodedTrees:
    """Trees on one coded table.

    Parameters
    ----------
    base : DecisionTreeClassifier or DecisionTreeRegressor, of which `grows_on_codes` is true
    rows : TrainingRows of trees
    """

    def __init__(self, base: Any, rows: TrainingRows) -> None:
        self._base, self._rows = base, rows
        self._table, self._scale = coded_table(rows, base.max_bins)

    def grow(self, weight: Floats, rng: np.random.Generator, chosen: Rows | None = None) -> Tree:
        """The tree of rows with these weights: of all, or of the chosen ones."""
        rows = self._rows if chosen is None else self._rows.rows(chosen)
        rules = growth_rules(
            self._base, replace(rows, weight=weight), _CRITERIA[self._base.criterion]
        )
        if self._scale is not None:
            rules = rules.scaled(self._scale.unit**-2)
        places = None if chosen is None else chosen.astype(np.int32)
        grown = grow(self._table, rules, weight, rng, places)
        return tree_of(grown, self._table, rows.schema, rows.classes, self._scale)


class TreeLearning(RowLearning):
    """Classification trees on the codes of a table.

    Parameters
    ----------
    base : DecisionTreeClassifier
    training : TrainingRows of trees
    rows, others : positions of training rows and of held-out ones
    random_state : SeedSequence
    """

    def __init__(
        self,
        base: DecisionTreeClassifier,
        training: TrainingRows,
        rows: Rows,
        others: Rows,
        random_state: np.random.SeedSequence,
    ) -> None:
        assert training.n_classes is not None
        n_classes, target = training.n_classes[0], training.targets[:, 0]
        self._taken = training.rows(rows) if others.size else training
        self._others = training.rows(others)
        self._trees = CodedTrees(base, self._taken)
        self._random_state = random_state
        held_out = Votes(target[others], training.weight[others], n_classes)
        super().__init__(self._taken.targets[:, 0], self._taken.weight, held_out, n_classes)

    def _taught(self, weight: Floats, number: int) -> Tree:
        return self._trees.grow(weight, stream(self._random_state, "tree", number))

    def _asked(self, learner: Any, *, held_out: bool) -> NDArray[Any]:
        cells = self._others.cells if held_out else self._taken.cells
        return tree_values(learner, cells).argmax(axis=1)


class DrawnTrees:
    """Regression trees on the codes of a table, each of rows that were drawn.

    Parameters
    ----------
    base : DecisionTreeRegressor
    rows : TrainingRows of trees, with one target
    random_state : SeedSequence
    """

    def __init__(
        self,
        base: DecisionTreeRegressor,
        rows: TrainingRows,
        random_state: np.random.SeedSequence,
    ) -> None:
        self.target, self.weight = rows.targets[:, 0], rows.weight
        self._cells, self._random_state = rows.cells, random_state
        self._trees = CodedTrees(base, rows)

    def taught(self, drawn: Rows, number: int) -> Tree:
        """The tree of the drawn rows; a row drawn twice has weight 2, which is the same."""
        chosen, counts = np.unique(drawn, return_counts=True)
        rng = stream(self._random_state, "tree", number)
        return self._trees.grow(counts.astype(np.float64), rng, chosen)

    def asked(self, learner: Tree) -> Floats:
        """Predictions for all rows."""
        return tree_values(learner, self._cells)[:, 0]


def fitted_tree(base: Any, tree: Tree, model: Any) -> Any:
    """A clone of the base learner that has this tree, as if it had been fitted.

    Parameters
    ----------
    base : DecisionTreeClassifier or DecisionTreeRegressor
    tree : Tree
    model : ensemble
        Gives the names of the columns, and the classes with their shares.
    """
    fitted = clone(base)
    fitted.tree_, fitted.schema_ = tree, tree.schema
    fitted.certificate_ = certify(tree)
    fitted.common_values_, fitted.replaced_ = np.empty(0), {}
    fitted.max_features_ = tree.schema.n_columns
    fitted.n_outputs_ = 1
    fitted.n_features_in_ = tree.schema.n_columns
    if hasattr(model, "feature_names_in_"):
        fitted.feature_names_in_ = model.feature_names_in_
    if tree.classes is not None:
        fitted.classes_, fitted.n_classes_ = tree.classes[0], len(tree.classes[0])
        fitted.class_prior_ = model.class_prior_
    return fitted
