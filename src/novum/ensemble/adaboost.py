"""AdaBoost: learners that are taught one after the other what the ones before them missed.

    V_k(x) = sum_t alpha_t [h_t(x) = k],        predicted class = argmax_k V_k(x)

Every round trains a learner h_t on weighted rows, gives its vote the weight alpha_t that makes the
exponential loss least, and multiplies the weights of the rows it missed by exp(alpha_t)
(`adaboost_rounds` has the formulas and the bounds). Two classes are Freund and Schapire's AdaBoost,
more are SAMME (Zhu et al. 2009). The loss is least where the votes are log-probabilities up to a
shared constant, so the probabilities are

    P(k | x) = exp(V_k(x)) / sum_j exp(V_j(x)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Stopwatch, fitted, parameter, warn_if_stopped
from novum.core.runtime import fit_context, fitting, seed_sequence, stream, track
from novum.core.tables import TrainingRows, check_sample, checked_rows
from novum.ensemble.adaboost_learners import (
    FittedLearning,
    RowLearning,
    StumpLearning,
    TreeLearning,
    grows_on_codes,
)
from novum.ensemble.adaboost_rounds import (
    BestRound,
    BoostedCommittee,
    EarlyStopping,
    Rounds,
    boost,
    certify,
)
from novum.ensemble.members import member_codes, shared_invariances
from novum.numerics import Array, Floats, Positions, log_normalize
from novum.trees import (
    CellRows,
    ContributingTrees,
    Contributions,
    DecisionTreeClassifier,
    Forest,
    StumpRules,
    Stumps,
    Tree,
    cells_of,
    has_missing,
    tree_values,
)

Weak = StumpLearning | RowLearning


def _votes_of_trees(model: AdaBoostClassifier) -> bool:
    """Whether the learners are trees, whose votes columns contribute to."""
    check_is_fitted(model)
    if not model._all_trees():
        name = type(model.estimator_).__name__
        raise AttributeError(f"Contributions are of trees, and the learners are {name}.")
    return True


class AdaBoostClassifier(DecisionMixin, ClassifierMixin, BoostedCommittee, ContributingTrees):
    """AdaBoost for two classes, SAMME for more.

    Parameters
    ----------
    estimator : classifier, optional
        Base learner whose `fit` takes `sample_weight`; a decision tree of depth 1 by default.
    learning_rate : float
        Factor of every learner's weight; below 1 more rounds teach the same.
    early_stopping : EarlyStopping, optional
        Rows to hold out, and how long to wait for a better score on them.
    random_state : None, int, Generator, RandomState or SeedSequence
        For the rows held out, and for base learners with a random state.

    Attributes
    ----------
    estimator_ : the base learner, not fitted
    estimators_ : list of fitted classifiers
    estimator_weights_ : array (n_rounds,)
        Weight of each vote; below 0 the vote is against the answered class.
    estimator_errors_ : array (n_rounds,)
        Weighted error of each learner in its round.
    stumps_ : Stumps or None
        All learners as one value, where they are stumps.
    classes_, n_classes_
    class_prior_ : array (n_classes,)
        Share of the weight that each class has.
    feature_importances_ : array (n_columns,)
    certificate_ : Certificate
        Exponential loss after each round, and the bound of the training error beside it.
    n_features_in_, feature_names_in_, schema_ (of stumps)

    Notes
    -----
    **Ends.** A learner without error decides: its weight exceeds those of all others together by
    log(2 W + 1) + log(K - 1) with the weight W of all rows, as if half a row had been missed
    (scikit-learn: 1, which need not decide), and boosting ends. A learner that guesses (error
    (K - 1) / K) says nothing, and boosting ends without it; if it is the first, that is an error.
    With two classes a learner worse than guessing is used with a negative weight: its opposite is
    better than guessing. With more classes it ends boosting.

    **Probabilities** are those that the exponential loss estimates. scikit-learn divides the votes
    by their total first, which leaves them between 0.12 and 0.88 for two classes.
    `decision_function` is scikit-learn's.

    **Weights** of rows add up to what was given, not to 1 as in scikit-learn, so that the first
    learner is fitted as it would be alone. Weight 2 is the row twice, exactly.

    **Stumps** of `DecisionTreeClassifier(max_depth=1)` are found on codes that are made once for
    all rounds. They take nominal cells as trees do, with `nominal="auto"` as "subset"; where a
    cell does not answer, the branches are mixed by their shares and the likeliest class is
    answered. The default learner has `missing="auto"`: where cells are missing it may ask whether
    they are, and is grown by the engine of the trees.

    References
    ----------
    Y. Freund, R. Schapire (1997). A decision-theoretic generalization of on-line learning and an
    application to boosting. J. Computer and System Sciences 55, 119-139.
    J. Zhu, H. Zou, S. Rosset, T. Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface
    2, 349-360.

    Examples
    --------
    Three intervals of the line need three stumps.

    >>> model = AdaBoostClassifier(n_estimators=3).fit([[1], [2], [3], [4], [5]], list("aabba"))
    >>> model.predict([[1.2], [3.3], [9.0]]).tolist()
    ['a', 'b', 'a']
    >>> model.estimator_errors_.round(4).tolist()
    [0.2, 0.25, 0.1667]
    """

    early_stopping: EarlyStopping | None = parameter(default=None)

    stumps_: Stumps | None = fitted()
    classes_: Array = fitted()
    n_classes_: int = fitted()
    class_prior_: Floats = fitted()

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the learners, one after the other.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
            As far as the base learner takes it.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            self._fit(X, y, sample_weight, watch)
        warn_if_stopped(self.certificate_, type(self).__name__)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, watch: Stopwatch) -> None:
        base = self._base()
        root = seed_sequence(self.random_state)
        weak, weight = self._learning(base, X, y, sample_weight, root)
        best = None if self.early_stopping is None else BestRound(self.early_stopping)
        with track(self, total=self.n_estimators, X=X, y=y) as progress:
            rounds = boost(
                weak,
                self.n_classes_,
                self.n_estimators,
                self.learning_rate,
                weight,
                progress,
                best,
            )
        self._refuse_guessing(rounds, base)
        self.estimator_ = base
        self._store(weak, rounds, watch.seconds)

    def _base(self) -> Any:
        """The base learner, as given or by default."""
        if self.estimator is not None:
            return self.estimator
        return DecisionTreeClassifier(max_depth=1, missing="auto")

    def _learning(
        self, base: Any, X: Any, y: Any, sample_weight: Any, root: np.random.SeedSequence
    ) -> tuple[Weak, float]:
        """The weak learners on their rows, and the weight of these."""
        rules = stump_rules(base)
        if rules is None and not grows_on_codes(base):
            training = TrainingRows.of(self, X, y, sample_weight, target="classes")
            self.__dict__.pop("schema_", None)
            rows, others = self._taken(training.target, training.weight, training.classes, root)
            weight = rows.size if training.weight is None else training.weight[rows].sum()
            return FittedLearning(base, training, rows, others, root), float(weight)
        sample = check_sample(
            self,
            X,
            y,
            sample_weight,
            target="classes",
            allow_missing=True,
            accept_sparse=True,
        )
        rows, others = self._taken(sample.target, sample.weight, sample.classes, root)
        self.schema_, weights = sample.schema, sample.weights
        # Stumps send missing cells down in parts; the engine of trees knows other ways.
        if rules is not None and (base.missing == "fractional" or not has_missing(sample)):
            return StumpLearning(sample, rows, others, rules), float(weights[rows].sum())
        assert sample.classes is not None
        table = CellRows(
            sample.schema, cells_of(sample), sample.targets, weights, (sample.classes,)
        )
        return TreeLearning(base, table, rows, others, root), float(weights[rows].sum())

    def _taken(
        self, target: Array, weight: Any, classes: Any, root: np.random.SeedSequence
    ) -> tuple[Positions, Positions]:
        """Stores the classes; gives the rows to train on, and those to hold out."""
        self.classes_, self.n_classes_ = classes, len(classes)
        counts = np.bincount(target, weight, self.n_classes_).astype(float)
        self.class_prior_ = counts / counts.sum()
        if self.early_stopping is None:
            return np.arange(target.size), np.empty(0, np.intp)
        held = self.early_stopping.held_out(target, stream(root, "validation"))
        return np.flatnonzero(~held), np.flatnonzero(held)

    def _refuse_guessing(self, rounds: Rounds, base: Any) -> None:
        if not rounds.errors:
            raise InputError(
                f"The first {type(base).__name__} is no better than guessing among "
                f"{self.n_classes_} classes (BaseClassifier in AdaBoostClassifier ensemble is "
                "worse than random, ensemble can not be fit). Use a base learner that can tell "
                "the classes apart, or columns that do."
            )

    def _store(self, weak: Weak, rounds: Rounds, seconds: float) -> None:
        committee, training_error = weak.committee(len(rounds.errors))
        self.stumps_ = committee if isinstance(committee, Stumps) else None
        members = committee if isinstance(committee, list) else []
        self._trees = members if isinstance(weak, TreeLearning) else []
        self._members = [] if isinstance(weak, TreeLearning) else members
        self.estimator_weights_ = np.array(rounds.weights)
        self.estimator_errors_ = np.array(rounds.errors)
        self.certificate_ = certify(rounds, training_error, seconds)

    # The learners

    def _all_trees(self) -> list[Tree]:
        if self.stumps_ is None:
            return self._trees
        return [self.stumps_.tree(t, self.classes_) for t in range(len(self.stumps_))]

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' importances, weighted by their votes."""
        check_is_fitted(self)
        if self.stumps_ is None:
            return super().feature_importances_
        share = np.abs(self.estimator_weights_)
        asked = self.stumps_.column >= 0
        columns, share = self.stumps_.column[asked], (share / share.sum())[asked]
        return np.bincount(columns, share, self.n_features_in_).astype(float)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; which rows are held out depends on their order."""
        known = shared_invariances([self._base()])
        if self.early_stopping is None:
            return known
        return tuple(name for name in known if name not in ("row_order", "duplication"))

    def _summands(self) -> tuple[list[Forest], list[float], Any]:
        """The committee as a forest, whose leaves have the weighted vote that is given there."""
        forests = []
        for tree, weight in zip(self._all_trees(), self.estimator_weights_, strict=True):
            forest = Forest.of_tree(tree)
            answers = forest.value.argmax(axis=1)
            forests.append(replace(forest, value=weight * np.eye(self.n_classes_)[answers]))
        return [Forest.joined(forests)], [1.0], 0.0

    @available_if(_votes_of_trees)
    def contributions(
        self, X: Any, background: Any = None, *, interactions: bool = False
    ) -> Contributions:
        """What every column contributes to the votes for the classes: exact Shapley values.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
        background : array-like or data frame, optional
            Rows that stand for what is not known; without them the training rows do.
        interactions : bool
            Whether pairs of columns are told apart too.

        Returns
        -------
        Contributions
            To the votes, whose log-probabilities `predict_log_proba` gives.

        Notes
        -----
        A row that goes down several branches, because a cell is missing, gets one whole vote from
        the tree all the same, which is no sum over leaves: such rows are refused.
        """
        contributions = super().contributions(X, background, interactions=interactions)
        votes = self._votes(X)
        parted = np.abs(contributions.predictions - votes).max(axis=1) > 1e-9 * np.abs(votes).max()
        if parted.any():
            raise InputError(
                f"Row {int(parted.argmax())} lacks a cell and goes down several branches, but each "
                "tree has one vote: it is no sum to which columns contribute. Fit a base learner "
                "with missing='direction', or leave such rows out."
            )
        return contributions

    # Prediction

    def decision_function(self, X: Any) -> Floats:
        """Votes less what a guess gets, as shares of all votes, as in scikit-learn.

        Returns
        -------
        array of shape (n,) for two classes, from -2 (all for the first) to 2, else (n, n_classes)
        """
        return self._decision(self._votes(X), np.abs(self.estimator_weights_).sum())

    def predict(self, X: Any) -> Array:
        """The class with most votes; of tied ones the first."""
        best = self._votes(X).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probabilities of the classes, (n, n_classes)."""
        return log_normalize(self._votes(X), axis=1)[0]

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """`decision_function` after each round."""
        check_is_fitted(self)
        total = 0.0
        for votes, weight in zip(self._staged_votes(X), self.estimator_weights_, strict=True):
            total += abs(weight)
            yield self._decision(votes, total)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round."""
        for votes in self._staged_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """`predict_proba` after each round."""
        for votes in self._staged_votes(X):
            yield np.exp(log_normalize(votes, axis=1)[0])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy after each round."""
        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _votes(self, X: Any) -> Floats:
        """Votes for the classes, (n, n_classes)."""
        check_is_fitted(self)
        if self.stumps_ is not None:
            return self.stumps_.votes(self._cells(X))
        *_, votes = self._staged_votes(X)
        return votes

    def _staged_votes(self, X: Any) -> Iterator[Floats]:
        """Votes after each round; the array is the same each time."""
        check_is_fitted(self)
        votes: Floats | None = None
        for codes, weight in zip(self._answers(X), self.estimator_weights_, strict=True):
            votes = np.zeros((codes.size, self.n_classes_)) if votes is None else votes
            votes[np.arange(codes.size), codes] += weight
            yield votes

    def _answers(self, X: Any) -> Iterator[Array]:
        """Codes of the classes that each learner answers."""
        if self._members:
            table = checked_rows(self, X, reset=False)
            for member in self._members:
                yield member_codes(member, table, self.classes_)
            return
        cells = self._cells(X)
        if self.stumps_ is not None:
            yield from self.stumps_.answers(cells)
        for tree in self._trees:
            yield tree_values(tree, cells).argmax(axis=1)

    def _decision(self, votes: Floats, total: float) -> Floats:
        if self.n_classes_ == 1:
            return np.zeros((len(votes), 1))
        if self.n_classes_ == 2:
            return 2 * (votes[:, 1] - votes[:, 0]) / total
        return (self.n_classes_ * votes / total - 1) / (self.n_classes_ - 1)

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        count, n_classes = len(self.estimator_weights_), len(self.classes_)
        learners = len(self._members) + len(self._trees)
        learners = learners if self.stumps_ is None else len(self.stumps_)
        if learners != count or self.estimator_errors_.shape != (count,) or count == 0:
            raise ModelFileError(f"The model has {learners} learners, but {count} weights.")
        if self.class_prior_.shape != (n_classes,) or self.n_classes_ != n_classes:
            raise ModelFileError(f"The model has {n_classes} classes, but other priors.")
        if self.stumps_ is not None:
            self.stumps_.check(self.schema_, n_classes)
        for tree in self._trees:
            tree.check()
            if tree.schema != self.schema_ or tree.value.shape[1] != n_classes:
                raise ModelFileError("A tree of the model has other columns or classes.")


# --- Stumps ---------------------------------------------------------------------------------------

# What may differ from a tree's defaults without leaving the engine of stumps.
_OF_STUMPS = frozenset(
    {
        "criterion",
        "max_depth",
        "nominal",
        "missing",
        "max_bins",
        "categorical_features",
        "random_state",
    }
)
_CRITERIA = {"gini": "gini", "entropy": "entropy", "log_loss": "entropy"}


def stump_rules(base: Any) -> StumpRules | None:
    """How the stumps of a base learner are chosen; None unless it is one of our trees of depth 1.

    Weights of boosted rows are no counts, so the trees' default limits (a leaf of weight 1) do not
    hold for its stumps: a leaf has rows, however little they weigh.
    """
    if type(base) is not DecisionTreeClassifier:
        return None
    params = base.get_params(deep=False)
    defaults = DecisionTreeClassifier().get_params(deep=False)
    plain = all(params[name] == defaults[name] for name in defaults if name not in _OF_STUMPS)
    known = params["criterion"] in tuple(_CRITERIA) and params["nominal"] != "multiway"
    known &= params["missing"] in ("fractional", "auto")
    if params["max_depth"] != 1 or not (plain and known):
        return None
    criterion = _CRITERIA[params["criterion"]]
    return StumpRules(criterion, params["nominal"] == "single", params["max_bins"])
