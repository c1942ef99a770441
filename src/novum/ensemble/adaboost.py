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
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from novum.core.certificate import Certificate, Stopwatch, warn_if_stopped
from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.fitting import fitting
from novum.core.member_rows import checked_rows
from novum.core.progress import CallbackSupport, track
from novum.core.randomness import RandomSource, seed_sequence, stream
from novum.core.schema import Schema
from novum.core.validation import check_features, check_sample
from novum.ensemble.adaboost_learners import FittedLearning, RowLearning, StumpLearning
from novum.ensemble.adaboost_rounds import Rounds, boost, certify
from novum.ensemble.adaboost_trees import TreeLearning, fitted_tree, grows_on_codes
from novum.ensemble.boosting_stop import BestRound, EarlyStopping
from novum.ensemble.members import combine_input_tags, member_codes, shared_invariances
from novum.ensemble.rows import training_rows
from novum.numerics.logspace import log_normalize
from novum.trees.cells import cells_of, has_missing
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.routing import tree_values
from novum.trees.stumps.stump_growing import StumpRules
from novum.trees.stumps.stumps import Stumps
from novum.trees.training import TrainingRows
from novum.trees.tree import Tree

Floats = NDArray[np.float64]
Weak = StumpLearning | RowLearning


class AdaBoostClassifier(
    CallbackSupport, DecisionMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator
):
    """AdaBoost for two classes, SAMME for more.

    Parameters
    ----------
    estimator : classifier, optional
        Base learner whose `fit` takes `sample_weight`; a decision tree of depth 1 by default.
    n_estimators : int
        Rounds at most.
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

    estimator_: Any
    estimator_weights_: Floats
    estimator_errors_: Floats
    stumps_: Stumps | None
    classes_: NDArray[Any]
    n_classes_: int
    class_prior_: Floats
    certificate_: Certificate
    schema_: Schema
    n_features_in_: int
    _members: list[Any]
    _trees: list[Tree]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "early_stopping": [EarlyStopping, None],
        "random_state": ["random_state", np.random.Generator, np.random.SeedSequence],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        early_stopping: EarlyStopping | None = None,
        random_state: RandomSource = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.random_state = random_state

    # Fit

    @_fit_context(prefer_skip_nested_validation=False)
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
            training = training_rows(self, X, y, sample_weight, target="classes")
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
        table = TrainingRows(
            sample.schema, cells_of(sample), sample.targets, weights, (sample.classes,)
        )
        return TreeLearning(base, table, rows, others, root), float(weights[rows].sum())

    def _taken(
        self, target: NDArray[Any], weight: Any, classes: Any, root: np.random.SeedSequence
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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

    @property
    def estimators_(self) -> list[Any]:
        """The fitted learners; those on codes are made into estimators when they are asked for."""
        if not hasattr(self, "_members"):
            raise AttributeError("AdaBoostClassifier is not fitted yet and has no estimators_.")
        trees = self._trees
        if self.stumps_ is not None:
            trees = [self.stumps_.tree(t, self.classes_) for t in range(len(self.stumps_))]
        return self._members or [fitted_tree(self.estimator_, tree, self) for tree in trees]

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' importances, weighted by their votes."""
        check_is_fitted(self)
        share = np.abs(self.estimator_weights_)
        share = share / share.sum()
        if self.stumps_ is not None:
            asked = self.stumps_.column >= 0
            columns = self.stumps_.column[asked]
            return np.bincount(columns, share[asked], self.n_features_in_).astype(float)
        members = self.estimators_
        if not all(hasattr(member, "feature_importances_") for member in members):
            raise AttributeError(
                f"{type(self.estimator_).__name__} has no feature_importances_, so the committee "
                "has none. Permutation importances need none."
            )
        return np.asarray(share @ np.array([member.feature_importances_ for member in members]))

    @property
    def categorical_features(self) -> Any:
        """Which columns are nominal: what the base learner says."""
        return getattr(self._base(), "categorical_features", None)

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; which rows are held out depends on their order."""
        known = shared_invariances([self._base()])
        if self.early_stopping is None:
            return known
        return tuple(name for name in known if name not in ("row_order", "duplication"))

    # Prediction

    def decision_function(self, X: Any) -> Floats:
        """Votes less what a guess gets, as shares of all votes, as in scikit-learn.

        Returns
        -------
        array of shape (n,) for two classes, from -2 (all for the first) to 2, else (n, n_classes)
        """
        return self._decision(self._votes(X), np.abs(self.estimator_weights_).sum())

    def predict(self, X: Any) -> NDArray[Any]:
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

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """`predict` after each round."""
        for votes in self._staged_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """`predict_proba` after each round."""
        for votes in self._staged_votes(X):
            yield np.exp(log_normalize(votes, axis=1)[0])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy after each round."""
        for found in self.staged_predict(X):
            yield float(accuracy_score(y, found, sample_weight=sample_weight))

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
        for found, weight in zip(self._answers(X), self.estimator_weights_, strict=True):
            votes = np.zeros((found.size, self.n_classes_)) if votes is None else votes
            votes[np.arange(found.size), found] += weight
            yield votes

    def _answers(self, X: Any) -> Iterator[NDArray[Any]]:
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

    def _cells(self, X: Any) -> Floats:
        return cells_of(check_features(self, X, allow_missing=True, accept_sparse=True))

    def _decision(self, votes: Floats, total: float) -> Floats:
        if self.n_classes_ == 1:
            return np.zeros((len(votes), 1))
        if self.n_classes_ == 2:
            return 2 * (votes[:, 1] - votes[:, 0]) / total
        return (self.n_classes_ * votes / total - 1) / (self.n_classes_ - 1)

    # scikit-learn and model files

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "certificate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        combine_input_tags(tags, [self._base()])
        return tags

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
