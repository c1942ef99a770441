"""Weak learners of AdaBoost, trained in turn: stumps on codes, or anything with weights.

`StumpLearning` codes the table once and only sums weights in each round. `FittedLearning` clones an
estimator and fits it to the rows with their weights; `TreeLearning` grows trees of ours on codes.
The weights add up to those that the user gave, so that the first round fits the estimator as it
would be fitted alone, and a learner that counts weight (least samples of a leaf, pseudo-counts,
penalties) counts what it always counts.

Weights of rows are kept as logarithms, or scaled by powers of two: ten thousand rounds neither
overflow nor lose a row.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.learners import takes_weights
from novum.core.runtime import seed, stream
from novum.core.tables import Sample, TrainingRows, rows_of
from novum.ensemble.members import fitted_member, member_codes
from novum.numerics import Array, Floats, Integers, Positions
from novum.trees import (
    CellRows,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Stump,
    StumpGrower,
    StumpRules,
    Stumps,
    Tree,
    cells_of,
    certify,
    coded_table,
    grow,
    growth_rules,
    tree_of,
    tree_values,
)


class Votes:
    """Votes on rows whose classes are known.

    Parameters
    ----------
    target : codes of classes, (n,)
    weight : float64 array (n,)
    n_classes : int
    """

    def __init__(self, target: Integers, weight: Floats, n_classes: int) -> None:
        self._target, self._weight = target, weight
        self._votes = np.zeros((target.size, n_classes))

    def add(self, answers: Array, weight: float) -> None:
        """Adds the votes of one learner."""
        self._votes[np.arange(answers.size), answers] += weight

    def score(self) -> float:
        """Share of the weight that is classified right."""
        right = self._votes.argmax(axis=1) == self._target
        return float(np.average(right, weights=self._weight))


class StumpLearning:
    """Stumps on the codes of a table.

    Parameters
    ----------
    sample : Sample
        Checked rows.
    rows, others : positions of training rows and of held-out ones
    rules : StumpRules
    """

    def __init__(
        self, sample: Sample, rows: Positions, others: Positions, rules: StumpRules
    ) -> None:
        assert sample.classes is not None
        n_classes = len(sample.classes)
        cells = cells_of(sample)
        self._grower = StumpGrower(
            sample.schema,
            cells[rows] if others.size else cells,
            sample.target[rows],
            n_classes,
            sample.weights[rows],
            rules,
        )
        self._stumps: list[Stump] = []
        self._steps: list[float] = []
        self._other_votes = Votes(sample.target[others], sample.weights[others], n_classes)
        self._other_codes = self._grower.coding.codes(cells[others]) if others.size else None

    def learn(self) -> float:
        self._last = self._grower.grow()
        return self._last.error

    def keep(self, weight: float) -> None:
        self._stumps.append(self._last)
        self._steps.append(weight)
        if self._other_codes is not None:
            codes = self._other_codes[:, max(self._last.column, 0)]
            self._other_votes.add(self._last.answer[self._last.branch[codes]], weight)

    def reweigh(self, step: float) -> None:
        self._grower.reweigh(self._last, float(np.exp(step)))

    def score(self) -> float:
        return self._other_votes.score()

    def committee(self, count: int) -> tuple[Stumps, float]:
        """The first stumps, and the share of the training weight that they misclassify."""
        kept, steps = self._stumps[:count], self._steps[:count]
        return self._grower.packed(kept, steps), self._grower.training_error(kept, steps)


class RowLearning:
    """Learners that answer for every row; a subclass says how one is trained and asked.

    Parameters
    ----------
    target : codes of the classes of the training rows
    weights : float64 array, weights of the training rows as given
    held_out : Votes, on the rows that are held out
    n_classes : int
    """

    def __init__(self, target: Integers, weights: Floats, held_out: Votes, n_classes: int) -> None:
        self._target, self._weights, self._n_classes = target, weights, n_classes
        self._log_weight = np.log(weights)
        self._held_out = held_out
        self._votes = Votes(target, weights, n_classes)
        self._learners: list[Any] = []
        self._steps: list[float] = []

    @abstractmethod
    def _taught(self, weight: Floats, number: int) -> Any:
        """The learner of this round, trained on the weighted rows."""

    @abstractmethod
    def _asked(self, learner: Any, *, held_out: bool) -> Array:
        """Codes of the classes it answers for the training rows, or for those held out."""

    def learn(self) -> float:
        share = np.exp(self._log_weight - self._log_weight.max())
        share /= share.sum()
        # A weight below rounding counts as nothing, but learners divide by sums of weights.
        weight = np.maximum(share, np.finfo(float).eps) * self._weights.sum()
        self._last = self._taught(weight, len(self._learners))
        self._answers = self._asked(self._last, held_out=False)
        self._missed = self._answers != self._target
        return float(share[self._missed].sum()) if not self._missed.all() else 1.0

    def keep(self, weight: float) -> None:
        self._learners.append(self._last)
        self._steps.append(weight)
        self._votes.add(self._answers, weight)

    def reweigh(self, step: float) -> None:
        self._log_weight[self._missed] += step

    def score(self) -> float:
        self._held_out.add(self._asked(self._last, held_out=True), self._steps[-1])
        return self._held_out.score()

    def committee(self, count: int) -> tuple[list[Any], float]:
        """The first learners, and the share of the training weight that they misclassify."""
        votes, kept = self._votes, self._learners[:count]
        if count < len(self._learners):
            votes = Votes(self._target, self._weights, self._n_classes)
            for learner, step in zip(kept, self._steps, strict=False):
                votes.add(self._asked(learner, held_out=False), step)
        return kept, 1.0 - votes.score()


class FittedLearning(RowLearning):
    """Clones of an estimator, each fitted to the weighted rows.

    Parameters
    ----------
    estimator : classifier whose `fit` takes `sample_weight`
    training : TrainingRows
    rows, others : positions of training rows and of held-out ones
    random_state : SeedSequence
    """

    def __init__(
        self,
        estimator: Any,
        training: TrainingRows,
        rows: Positions,
        others: Positions,
        random_state: np.random.SeedSequence,
    ) -> None:
        refuse_unweighted(estimator)
        assert training.classes is not None
        self._estimator, self._random_state = estimator, random_state
        self._classes = training.classes
        self._X = rows_of(training.table, rows) if others.size else training.table
        self._other_X = rows_of(training.table, others)
        weights = np.ones(training.n_rows) if training.weight is None else training.weight
        held_out = Votes(training.target[others], weights[others], len(self._classes))
        super().__init__(training.target[rows], weights[rows], held_out, len(self._classes))

    def _taught(self, weight: Floats, number: int) -> Any:
        learner = seeded(self._estimator, self._random_state, number)
        labels = self._classes[self._target]
        more = {"sample_weight": weight}
        return fitted_member(learner, self._X, labels, more, f"round {number + 1}")

    def _asked(self, learner: Any, *, held_out: bool) -> Array:
        return member_codes(learner, self._other_X if held_out else self._X, self._classes)


class DrawnFits:
    """Clones of a regressor, each fitted to rows that were drawn.

    Parameters
    ----------
    estimator : regressor
    training : TrainingRows
    random_state : SeedSequence
    """

    def __init__(
        self, estimator: Any, training: TrainingRows, random_state: np.random.SeedSequence
    ) -> None:
        self.target = training.target
        self.weight = np.ones(training.n_rows) if training.weight is None else training.weight
        self._estimator, self._table, self._random_state = estimator, training.table, random_state

    def taught(self, drawn: Positions, number: int) -> Any:
        """The learner fitted to the drawn rows."""
        learner = seeded(self._estimator, self._random_state, number)
        rows, y = rows_of(self._table, drawn), self.target[drawn]
        return fitted_member(learner, rows, y, {}, f"round {number + 1}")

    def asked(self, learner: Any) -> Floats:
        """Predictions for all rows."""
        return np.ravel(learner.predict(self._table))


def seeded(estimator: Any, random_state: np.random.SeedSequence, number: int) -> Any:
    """A clone whose random states are its own."""
    copy = clone(estimator)
    states = {
        name: seed(random_state, number, name)
        for name in sorted(copy.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return copy.set_params(**states)


def refuse_unweighted(estimator: Any) -> None:
    """Says so if an estimator cannot be fitted to weighted rows."""
    if not takes_weights(estimator):
        raise InputError(
            f"{type(estimator).__name__} doesn't support sample_weight in fit, and AdaBoost "
            "teaches by weights. Use a base learner that takes them, such as "
            "DecisionTreeClassifier, GaussianNB or LogisticRegression, or BaggingClassifier, "
            "which resamples."
        )


# --- Trees on codes -------------------------------------------------------------------------------
#
# Boosting of Novum's own trees: the table is coded once, and every round grows on its codes.
#
# Fitting a tree reads, checks and codes the table anew each time. Here that is done before the
# first round; a round brings weights, or rows that were drawn, and the engine of the trees grows
# one more tree on the same codes. Trees and thresholds are those that fits with the same weights
# find, except that bins come from the weights of the first round.

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
    rows : CellRows
    """

    def __init__(self, base: Any, rows: CellRows) -> None:
        self._base, self._rows = base, rows
        self._table, self._scale = coded_table(rows, base.max_bins)

    def grow(
        self, weight: Floats, rng: np.random.Generator, chosen: Positions | None = None
    ) -> Tree:
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
    training : CellRows
    rows, others : positions of training rows and of held-out ones
    random_state : SeedSequence
    """

    def __init__(
        self,
        base: DecisionTreeClassifier,
        training: CellRows,
        rows: Positions,
        others: Positions,
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

    def _asked(self, learner: Any, *, held_out: bool) -> Array:
        cells = self._others.cells if held_out else self._taken.cells
        return tree_values(learner, cells).argmax(axis=1)


class DrawnTrees:
    """Regression trees on the codes of a table, each of rows that were drawn.

    Parameters
    ----------
    base : DecisionTreeRegressor
    rows : CellRows, with one target
    random_state : SeedSequence
    """

    def __init__(
        self,
        base: DecisionTreeRegressor,
        rows: CellRows,
        random_state: np.random.SeedSequence,
    ) -> None:
        self.target, self.weight = rows.targets[:, 0], rows.weight
        self._cells, self._random_state = rows.cells, random_state
        self._trees = CodedTrees(base, rows)

    def taught(self, drawn: Positions, number: int) -> Tree:
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
