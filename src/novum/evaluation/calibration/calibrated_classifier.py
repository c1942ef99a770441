"""Calibration: a classifier whose probabilities mean what they say.

    P(y = c | h(x))  is estimated from rows that h has not been trained on,

because what a classifier says about its own training rows is too sure. Two ways, as in
scikit-learn: an *ensemble* keeps the classifier of every fold with a map fitted to the rows that
fold left out, and averages their probabilities; otherwise the folds serve to get cross-fitted
scores of all rows (`core.learners.cross_fitting`, at the price of about one fit for learners whose
statistics add up), one map is fitted to them, and the classifier to all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    AbsentClassWarning,
    Certificate,
    Learner,
    Verdict,
    align_classes,
    cross_fit_predictions,
    fitted,
    parameter,
    takes_weights,
    warn_if_stopped,
)
from novum.core.runtime import fit_context, fitted_model, fitting, run_tasks
from novum.core.tables import TrainingRows, checked_rows, rows_of, said_once
from novum.evaluation.calibration.evidence import certify, kept_invariances
from novum.evaluation.calibration.methods import (
    METHODS,
    IsotonicCalibration,
    Method,
    PriorWeightedLogistic,
    ScoreColumns,
    SigmoidCalibration,
    TemperatureCalibration,
    as_columns,
    calibration_evidence,
    calibration_method,
    scores_of,
    scoring_method,
)
from novum.numerics import Array, Floats, Positions


@dataclass(frozen=True, eq=False)
class CalibratedPair:
    """A fitted classifier and the map from its scores to posteriors.

    Attributes
    ----------
    estimator : fitted classifier
    calibration : ColumnMaps, SoftmaxMap or LogLikelihoodMap
        For the classes that the classifier knows.
    classes : array of K labels
        All classes; one that the classifier has not met has probability 0.
    """

    estimator: Any
    calibration: Any
    classes: Array

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors of shape (n, K)."""
        probabilities = self.calibration.probabilities(scores_of(self.estimator, X))
        return align_classes(probabilities, self.estimator.classes_, self.classes)


class CalibratedClassifierCV(DecisionMixin, ClassifierMixin, MetaEstimatorMixin, Learner):
    """Probabilities of a classifier, calibrated on rows that it has not been trained on.

    Parameters
    ----------
    estimator : classifier
        With `decision_function` or `predict_proba`. Wrapped in scikit-learn's `FrozenEstimator`
        it is taken as it is, and all rows serve to calibrate.
    method : {"sigmoid", "isotonic", "temperature", "prior-weighted logistic"} or value object
        `PriorWeightedLogistic(prior=0.1)` fits for an effective prior.
    cv : int, splitter or iterable of (train, test), optional
        Five folds with equal shares of the classes by default.
    n_jobs : int, optional
        Folds at once; the bits do not depend on it.
    ensemble : bool or "auto"
        Whether to keep and average the classifiers of all folds. "auto": unless frozen.

    Attributes
    ----------
    classes_ : array of K labels
    class_prior_ : array of shape (K,)
        Shares of the classes in training; `at(point)` moves the probabilities to other priors.
    calibrated_classifiers_ : list of CalibratedPair
        One for each fold, or one.
    certificate_ : Certificate
    n_features_in_, feature_names_in_

    Notes
    -----
    A row of weight zero is absent, weight 2 counts as two rows in the maps. A class needs at least
    one row for each fold.

    References
    ----------
    Platt (1999); Zadrozny & Elkan, KDD 2002; Guo et al., ICML 2017; Brümmer & du Preez, Computer
    Speech and Language 20 (2006), section 5.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = [[-2.0], [-1.0], [1.0], [2.0]] * 8
    >>> y = ["no", "no", "yes", "yes"] * 7 + ["yes", "no", "yes", "no"]
    >>> plain = GaussianNB().fit(X, y)
    >>> model = CalibratedClassifierCV(GaussianNB(), cv=4, ensemble=False).fit(X, y)
    >>> [each.predict_proba([[2.0]])[0, 1].round(2).item() for each in (plain, model)]
    [1.0, 0.9]
    """

    estimator: Any = parameter(
        HasMethods(["fit", "predict_proba"]),
        HasMethods(["fit", "decision_function"]),
        kw_only=False,
    )
    method: Any = parameter(
        set(METHODS),
        SigmoidCalibration,
        IsotonicCalibration,
        TemperatureCalibration,
        PriorWeightedLogistic,
        default="sigmoid",
    )
    cv: Any = parameter("cv_object", default=None)
    n_jobs: int | None = parameter(default=None)
    ensemble: Any = parameter("boolean", {"auto"}, default="auto")

    classes_: Array = fitted()
    class_prior_: Floats = fitted()
    calibrated_classifiers_: list[CalibratedPair] = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return kept_invariances(self.estimator, folds=True)

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit classifiers and maps.

        Parameters
        ----------
        X, y
            Rows of any container the classifier reads, and labels.
        sample_weight : array-like of shape (n,), optional
            For the maps, and for the classifier if it takes weights.
        **fit_params
            For the classifier's `fit`, and under metadata routing for the splitter.
        """
        with fitting(self) as watch:
            method = calibration_method(self.method)
            training = TrainingRows.of(self, X, y, sample_weight, target="classes", least_classes=2)
            self._refuse_few_rows(training)
            self.classes_, self.class_prior_ = training.classes, training.class_shares
            params, split_params = self._routed(training, fit_params)
            folds = training.folds(self.cv, split_params)
            if self._keeps_folds():
                self.calibrated_classifiers_ = self._pairs_of_folds(training, folds, method, params)
            else:
                self.calibrated_classifiers_ = [self._pair(training, folds, method, params)]
            self.certificate_ = self._certificate(method, watch.seconds)
        warn_if_stopped(self.certificate_, type(self).__name__)
        return self

    @said_once()
    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities, of shape (n, K)."""
        check_is_fitted(self)
        table = checked_rows(self, X, reset=False)
        probabilities = [pair.predict_proba(table) for pair in self.calibrated_classifiers_]
        return np.asarray(np.mean(probabilities, axis=0))

    def predict(self, X: Any) -> Array:
        """The class of largest calibrated probability."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    # Steps of a fit

    def _keeps_folds(self) -> bool:
        if self.ensemble == "auto":
            return not isinstance(self.estimator, FrozenEstimator)
        return bool(self.ensemble)

    def _refuse_few_rows(self, training: TrainingRows) -> None:
        if isinstance(self.cv, LeaveOneOut):
            raise InputError(
                "LeaveOneOut cross-validation does not allow all classes to be present in test "
                "splits. Use a splitter that lets every class appear in every part, such as 5."
            )
        given = self.cv if isinstance(self.cv, Integral) else getattr(self.cv, "n_splits", 0)
        n_folds = int(given or 0)
        counts = np.bincount(training.target)
        if n_folds and (counts < n_folds).any():
            rare = int(counts.argmin())
            raise InputError(
                f"Requesting {n_folds}-fold cross-validation but provided less than {n_folds} "
                f"examples for at least one class: {training.classes.tolist()[rare]!r} has "
                f"{counts[rare]}. Use fewer folds."
            )

    def _routed(
        self, training: TrainingRows, fit_params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments, with an entry for each given row, of the classifier and the splitter."""
        given = dict(fit_params)
        weight = training.weight
        if weight is not None:
            whole = np.zeros(training.n_given)
            whole[slice(None) if training.kept is None else training.kept] = weight
            given["sample_weight"] = whole
        if _routing_enabled():
            routed = process_routing(self, "fit", **given)
            return dict(routed.estimator.fit), dict(routed.splitter.split)
        if weight is not None and not takes_weights(self.estimator):
            warnings.warn(
                f"Since {type(self.estimator).__name__} does not appear to accept sample_weight, "
                "sample weights will only be used for the calibration itself.",
                UserWarning,
                stacklevel=4,
            )
            del given["sample_weight"]
        return given, {}

    def _pairs_of_folds(
        self, training: TrainingRows, folds: list[Any], method: Method, params: dict[str, Any]
    ) -> list[CalibratedPair]:
        def pair(task: tuple[int, tuple[Positions, Positions]]) -> CalibratedPair:
            number, (train, test) = task
            try:
                model = self._fitted(training, train, params)
                scores = scores_of(model, rows_of(training.table, test))
                return self._calibrated(model, scores, training, test, method)
            except Exception as error:
                error.add_note(f"This happened in fold {number} (counted from 0).")
                raise

        return run_tasks(pair, list(enumerate(folds)), self.n_jobs)

    def _pair(
        self, training: TrainingRows, folds: list[Any], method: Method, params: dict[str, Any]
    ) -> CalibratedPair:
        everything = np.arange(training.n_rows)
        model = self._fitted(training, everything, params)
        name = scoring_method(model)
        more = training.cut(params)
        said = cross_fit_predictions(
            self.estimator,
            training.table,
            training.labels,
            folds,
            method=name,
            sample_weight=more.pop("sample_weight", None),
            n_jobs=self.n_jobs,
            fit_params=more,
        )
        scores = as_columns(said, name, len(training.classes), type(model).__name__)
        return self._calibrated(model, scores, training, everything, method)

    def _fitted(self, training: TrainingRows, rows: Positions, params: dict[str, Any]) -> Any:
        table = rows_of(training.table, rows)
        own = training.cut(params, rows)
        return fitted_model(clone(self.estimator), table, training.labels[rows], **own)

    def _calibrated(
        self,
        model: Any,
        scores: ScoreColumns,
        training: TrainingRows,
        rows: Positions,
        method: Method,
    ) -> CalibratedPair:
        """The map for the classes that the model knows; rows of others are negatives to all."""
        known = np.searchsorted(training.classes, model.classes_)
        if len(known) < len(training.classes):
            self._warn_of_absent(training, known)
        place = np.full(len(training.classes), -1)
        place[known] = np.arange(len(known))
        shares = training.class_shares[known]
        calibration = method.fit(
            scores, place[training.target[rows]], training.weight_of(rows), shares / shares.sum()
        )
        return CalibratedPair(model, calibration, training.classes)

    @staticmethod
    def _warn_of_absent(training: TrainingRows, known: Array) -> None:
        absent = np.setdiff1d(np.arange(len(training.classes)), known)
        warnings.warn(
            f"A fold trains without any row of class {training.classes.tolist()[absent[0]]!r}, "
            "which has probability 0 there. Use fewer folds, or folds with equal shares of the "
            "classes.",
            AbsentClassWarning,
            stacklevel=5,
        )

    def _certificate(self, method: Method, seconds: float) -> Certificate:
        pairs = self.calibrated_classifiers_
        certificates = [calibration_evidence(pair.calibration) for pair in pairs]
        losses = [loss for _, loss in certificates if loss is not None]
        own = Verdict.LOCAL if losses else Verdict.PROVED
        if not all(done for done, _ in certificates):
            own = Verdict.STOPPED_EARLY
        what = "mean log loss" if losses else "squared error"
        return certify(
            f"{what} of the {method.name} maps",
            own,
            [pair.estimator for pair in pairs],
            value=float(np.mean(losses)) if losses else None,
            seconds=seconds,
        )

    # What others ask of a model

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if len(self.class_prior_) != len(self.classes_) or not self.calibrated_classifiers_:
            raise ModelFileError("The classes, priors and maps of the model do not fit together.")
        for pair in self.calibrated_classifiers_:
            if not isinstance(pair, CalibratedPair) or len(pair.classes) != len(self.classes_):
                raise ModelFileError("A calibrated classifier of the model is damaged.")
            n_known = len(pair.estimator.classes_)
            maps = getattr(pair.calibration, "maps", None)
            if maps is not None and len(maps) != (1 if n_known == 2 else n_known):
                raise ModelFileError(f"The model has {len(maps)} maps for {n_known} classes.")

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the classifier and to the splitter."""
        fits = MethodMapping().add(caller="fit", callee="fit")
        splits = MethodMapping().add(caller="fit", callee="split")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=fits)
            .add(splitter=self.cv, method_mapping=splits)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or (
            inner.classifier_tags.multi_class
        )
        return tags
