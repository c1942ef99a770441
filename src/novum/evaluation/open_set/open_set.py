"""Open-set classification: any classifier, with "none of these" as a further answer.

    predict(x) = class of the inner classifier   if  known(x) >= threshold,   else "unknown"

Training rows are all known, so the threshold cannot be learned from unknown ones. It is the
quantile of *cross-fitted* known scores that keeps a stated share of known rows from being refused:
with k = floor(rate (n + 1)), of n rows scored by models that have not seen them, it lies at the
k-th smallest score, so that a new known row falls below it with probability about `rate` at most
(exactly so for one held-out part: split conformal prediction).

Reference: Vovk, Gammerman & Shafer, Algorithmic Learning in a Random World (2005), section 4.2;
Scheirer et al., IEEE TPAMI 35 (2013), for open-set recognition.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import _raise_for_params
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import label_array
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    Learner,
    SharedFolds,
    Verdict,
    cross_fit_predictions,
    fitted,
    parameter,
    takes_weights,
)
from novum.core.runtime import fit_context, fitted_model, fitting, run_tasks
from novum.core.tables import (
    Schema,
    TrainingRows,
    check_features,
    check_sample,
    checked_rows,
    rows_of,
    treatment_rows,
)
from novum.evaluation.calibration.evidence import certify
from novum.evaluation.open_set.rules import RULES, Density, Distance, Margin, open_set_rule
from novum.numerics import Array, Floats, Mask, Positions


class OpenSet(ClassifierMixin, MetaEstimatorMixin, Learner):
    """A classifier that may answer "none of these".

    Parameters
    ----------
    estimator : classifier
    rule : {"density", "distance", "margin"} or rule object
        `Density(...)`, `Distance(...)` and `Margin(...)` have settings. Margins need
        `predict_proba`. Density and distance read numbers and nominal columns without missing
        cells; `Density(estimator)` reads what that estimator does.
    false_rejection_rate : float
        Share of known rows that may be refused, from 0 (none ever) to below 1.
    unknown_label : label or "auto"
        What `predict` answers. "auto": `"unknown"` for text; for numbers -1, or one below the
        smallest class if that is lower.
    cv : int, splitter or iterable of (train, test), optional
        Folds of the cross-fitting, five by default; the tested parts cover every row once.
    n_jobs : int, optional

    Attributes
    ----------
    estimator_ : fitted classifier
    classes_ : array of K labels
        The known classes; `unknown_label_` is not among them.
    unknown_label_ : label
    threshold_ : float
        Rows whose known score is below are unknown; `-inf` if none is ever refused.
    known_scores_ : array of shape (n,)
        Cross-fitted known scores of the training rows.
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (50, 2)), rng.normal(6, 1, (50, 2))]
    >>> y = ["a"] * 50 + ["b"] * 50
    >>> model = OpenSet(GaussianNB(), rule="density").fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0], [-40.0, 30.0]]).tolist()
    ['a', 'b', 'unknown']
    """

    estimator: Any = parameter(HasMethods(["fit", "predict"]), kw_only=False)
    rule: Any = parameter(set(RULES), Density, Distance, Margin, default="margin", kw_only=False)
    false_rejection_rate: float = parameter(default=0.05, at_least=0, below=1)
    unknown_label: Any = parameter(default="auto")
    cv: Any = parameter("cv_object", default=None)
    n_jobs: int | None = parameter(default=None)

    # How density and distance read the table; no parameter, since the classifier reads it too.
    categorical_features: ClassVar[str] = "auto"

    estimator_: Any = fitted()
    classes_: Array = fitted()
    unknown_label_: Any = fitted()
    threshold_: float = fitted()
    known_scores_: Floats = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()
    schema_: Schema = fitted()
    _fitted_rule: Any = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on: nothing is promised beyond the folds' own."""
        return ()

    @property
    def _holds_training_rows(self) -> bool:
        return isinstance(open_set_rule(self.rule), Distance)

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit classifier and rule, and calibrate the threshold on cross-fitted scores.

        Parameters
        ----------
        X, y
            Rows of known classes.
        sample_weight : array-like of shape (n,), optional
            For the classifier, the rule and the quantile.
        """
        with fitting(self) as watch:
            _raise_for_params(params, self, "fit", allow=["sample_weight"])
            rule = open_set_rule(self.rule)
            training = TrainingRows.of(self, X, y, sample_weight, target="classes", least_classes=2)
            self._refuse_unfit(training, rule)
            self.classes_ = training.classes
            self.unknown_label_ = self._chosen_label(training.classes)
            more = {} if training.weight is None else {"sample_weight": training.weight}
            self.estimator_ = fitted_model(
                clone(self.estimator), training.table, training.labels, **more
            )
            design = self._design_of_fit(training, rule)
            self._fitted_rule = self._ruled(rule, training, design, np.arange(training.n_rows))
            self.known_scores_ = self._cross_fitted(rule, training, design)
            self.threshold_ = rejection_threshold(
                self.known_scores_, self.false_rejection_rate, training.weight
            )
            self.certificate_ = certify(
                "false rejections of cross-fitted rows",
                Verdict.PROVED,
                [self.estimator_],
                value=self._refused_share(training.weight),
                seconds=watch.seconds,
            )
        return self

    # Answers

    def known_scores(self, X: Any) -> Floats:
        """How well each row fits the known classes; larger is more known."""
        check_is_fitted(self)
        table = checked_rows(self, X, reset=False)
        rule = open_set_rule(self.rule)
        if isinstance(rule, Margin):
            return rule.known_scores(np.asarray(self.estimator_.predict_proba(table), float))
        design = None
        if _needs_design(rule):
            sample = check_features(self, table, tell_unseen=False)
            design = treatment_rows(sample, 0, sample.n_rows)
        return np.asarray(self._fitted_rule.known_scores(table, design))

    def is_known(self, X: Any) -> Mask:
        """Whether each row is taken for one of the known classes."""
        return self.known_scores(X) >= self.threshold_

    def predict(self, X: Any) -> Array:
        """A known class, or `unknown_label_`."""
        check_is_fitted(self)
        known, closed = self.is_known(X), self.predict_known(X)
        if known.all():
            return closed
        answers = label_array([*self.classes_.tolist(), self.unknown_label_])
        codes = np.where(known, np.searchsorted(self.classes_, closed), len(self.classes_))
        return answers[codes]

    def predict_known(self, X: Any) -> Array:
        """The class of each row if it is one of the known."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(checked_rows(self, X, reset=False)))

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors of the known classes, given that the row is of one of them."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(checked_rows(self, X, reset=False)))

    # Steps of a fit

    def _refuse_unfit(self, training: TrainingRows, rule: Any) -> None:
        """Says what the classifier or the rule cannot do."""
        if isinstance(rule, Margin) and not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"{type(self.estimator).__name__} has no predict_proba, which the rule 'margin' "
                "needs. Calibrate it (CalibratedClassifierCV), or choose another rule."
            )
        if training.weight is None:
            return
        for part in (self.estimator, getattr(rule, "estimator", None)):
            if part is not None and not takes_weights(part):
                raise InputError(
                    f"{type(part).__name__} takes no sample_weight. Leave the weights out, or "
                    "choose another."
                )

    def _chosen_label(self, classes: Array) -> Any:
        label = self.unknown_label
        if isinstance(label, str) and label == "auto":
            if classes.dtype.kind in "iuf":
                return min(-1, int(np.floor(float(classes.min()))) - 1)
            label = "unknown"
        if label in classes.tolist():
            raise InputError(
                f"{label!r} is one of the classes, so it cannot mean unknown. Choose another "
                "unknown_label."
            )
        return label

    def _design_of_fit(self, training: TrainingRows, rule: Any) -> Floats | None:
        if not _needs_design(rule):
            return None
        sample = check_sample(self, training.table, target="none")
        self.schema_ = sample.schema
        return treatment_rows(sample, 0, sample.n_rows)

    def _cross_fitted(self, rule: Any, training: TrainingRows, design: Floats | None) -> Floats:
        pairs = training.folds(self.cv)
        folds = SharedFolds.of(pairs, training.table, training.labels, classifier=True)
        if isinstance(rule, Margin):
            folds.warn_of_absent_classes(training.target, training.classes)
            posteriors = cross_fit_predictions(
                self.estimator,
                training.table,
                training.labels,
                folds,
                method="predict_proba",
                sample_weight=training.weight,
                n_jobs=self.n_jobs,
            )
            return rule.known_scores(np.asarray(posteriors, float))

        def scored(pair: tuple[Positions, Positions]) -> Floats:
            fitted = self._ruled(rule, training, design, pair[0])
            part = None if design is None else design[pair[1]]
            return np.asarray(fitted.known_scores(rows_of(training.table, pair[1]), part))

        held_out = np.empty(training.n_rows)
        for (_, test), scores in zip(pairs, run_tasks(scored, pairs, self.n_jobs), strict=True):
            held_out[test] = scores
        return held_out

    @staticmethod
    def _ruled(rule: Any, training: TrainingRows, design: Floats | None, rows: Positions) -> Any:
        if isinstance(rule, Margin):
            return None
        # Codes without gaps: a fold may lack a class.
        codes = np.unique(training.target[rows], return_inverse=True)[1]
        part = None if design is None else design[rows]
        return rule.fit(rows_of(training.table, rows), part, codes, training.weight_of(rows))

    def _refused_share(self, weight: Floats | None) -> float:
        return float(np.average(self.known_scores_ < self.threshold_, weights=weight))

    # What others ask of a model

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if np.isnan(self.threshold_) or self.unknown_label_ in self.classes_.tolist():
            raise ModelFileError("The threshold or the unknown label of the model is damaged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if isinstance(self.rule, str) and self.rule != "margin":
            tags.input_tags.allow_nan = tags.input_tags.sparse = False
        return tags


def rejection_threshold(scores: Floats, rate: float, weight: Any = None) -> float:
    """The threshold below which at most the share `rate` of known rows falls.

    Examples
    --------
    >>> rejection_threshold(np.arange(1.0, 20.0), 0.1)
    2.0
    >>> rejection_threshold(np.arange(1.0, 20.0), 0.0)
    -inf
    """
    weights = np.ones(len(scores)) if weight is None else np.asarray(weight, float)
    places, codes = np.unique(scores, return_inverse=True)
    reached = np.cumsum(np.bincount(codes, weights))
    below = np.r_[0.0, reached[:-1]]
    # The new row counts as one more; rounding of the product must not cost a rank.
    allowed = rate * (reached[-1] + 1) * (1 + 1e-12) - 1
    rank = int(np.searchsorted(below, allowed, side="right")) - 1
    return float(places[rank]) if rank >= 0 else float("-inf")


def _needs_design(rule: Any) -> bool:
    return isinstance(rule, Distance) or (isinstance(rule, Density) and rule.estimator is None)
