"""Learners that label rows for themselves: self-training, and co-training with several views.

    repeat    fit to the rows that have a label by now
              give every other row its likeliest class, if it is likely enough

The rows that a round labels count as labelled in the next. How likely a class is, is calibrated:
most learners are too sure of themselves, the more so the more of their own labels they learn from.
Rows that came with a label are held out in turn, and the scores z of a round become

    p = softmax(b z),     b of least log loss on held-out labels,

no surer on average than (right + 1) / (held out + 2) allows, since few labels prove little. The
same held-out labels tell when the learner has gone astray: of all rounds the one counts under which
they are most probable, and later labels are withdrawn.

Co-training has a learner for each of several views of the columns. If a view alone would do and
views err independently given the class, what one view is sure of teaches the others.

References: Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", 1995;
Blum and Mitchell, "Combining labeled and unlabeled data with co-training", 1998."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, fitted, parameter
from novum.core.runtime import check_cancelled, fit_context, fitting
from novum.core.sums import NO_ACCOUNT, label_folds
from novum.core.tables import (
    TrainingRows,
    checked_rows,
    column_names,
    column_places,
    columns_of,
    rows_of,
)
from novum.ensemble.certification import certify_members
from novum.ensemble.confidence import class_scores, inverse_temperature
from novum.ensemble.members import combine_input_tags, fitted_member, shared_invariances
from novum.ensemble.multiclass import members_have
from novum.numerics import Array, Floats, Integers, Mask, Positions


@dataclass(frozen=True)
class LabelRound:
    """What one round of labelling did.

    Attributes
    ----------
    added : tuple of int
        Rows that were given each class.
    least_confidence : float
        Calibrated probability of the least certain of them.
    inverse_temperature : tuple of float
        By which the scores of each learner were multiplied; below 1 it was too sure.
    disagreements : int
        Rows that two views were sure of but named differently; they got no label.
    remaining : int
        Rows without a label afterwards.
    held_out_log_probability : float
        Mean of the given labels, each held out, before these rows were added; NaN if none can be.
    """

    added: tuple[int, ...]
    least_confidence: float
    inverse_temperature: tuple[float, ...]
    disagreements: int
    remaining: int
    held_out_log_probability: float


class LabellingModel(MetaEstimatorMixin, DecisionMixin, ClassifierMixin, Learner):
    """What both share: the rounds; see `SelfTraining`."""

    estimator: Any = parameter(kw_only=False)
    threshold: float = parameter(default=0.9, at_least=0, at_most=1)
    k_best: int | None = parameter(default=None, at_least=1)
    max_iter: int = parameter(default=20, at_least=0)
    folds: int | None = parameter(default=5, at_least=2)

    classes_: Array = fitted()
    class_prior_: Floats = fitted()
    label_codes_: Integers = fitted()
    labeled_iter_: Integers = fitted()
    history_: tuple[LabelRound, ...] = fitted()
    termination_condition_: str = fitted()
    n_iter_: int = fitted()
    certificate_: Certificate = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """Those of the learner that do not concern the choice of rows."""
        units = ("shift", "column_scale", "common_scale")
        return tuple(name for name in shared_invariances(self._learners()) if name in units)

    # What a kind says

    def _learners(self) -> list[Any]:
        """The learners of all views, not fitted."""
        return [self.estimator]

    def _views(self, table: Any) -> list[Any]:
        """The table as each learner sees it."""
        return [table]

    def _store(self, models: list[Any], scales: list[float]) -> None:
        """Keeps the fitted learners and how their scores are calibrated."""
        raise NotImplementedError

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits to labelled rows, and to others as they get their labels.

        Parameters
        ----------
        X : rows of any container that the learner reads
        y : array-like of shape (n_rows,)
            Labels, missing (NaN, None, NA) for rows without one.
        sample_weight : array-like of shape (n_rows,), optional
            Passed on to the learner, which must take weights.
        """
        with fitting(self) as watch:
            training = TrainingRows.of(self, X, y, sample_weight, target="partial classes")
            given = training.target
            if len(training.classes) == 1 and (given < 0).any():
                raise InputError(
                    f"Labels of one class only, {training.classes.tolist()[0]!r}, tell nothing of "
                    f"other rows: {type(self).__name__} needs at least two classes with labels."
                )
            self.classes_ = training.classes
            views = self._views(training.table)
            codes, when = given.copy(), np.where(given >= 0, 0, -1)
            history: list[LabelRound] = []
            judged: list[tuple[float, list[float]]] = []
            while True:
                check_cancelled()
                models = self._fit_all(training, views, codes)
                if self.max_iter and (given < 0).any():
                    parts = [
                        self._calibrated(k, training, view, given, codes)
                        for k, view in enumerate(views)
                    ]
                    judged.append((float(np.mean([p[1] for p in parts])), [p[0] for p in parts]))
                reason = self._done(codes, history)
                if reason:
                    break
                value, scales = judged[-1]
                rows, labels, sure, odd = self._proposals(models, views, codes, scales)
                if not len(rows):
                    reason = "views disagree on all rows that one is sure of"
                    if not odd:
                        reason = f"no row is labelled with confidence {self.threshold:g} or more"
                    break
                codes[rows], when[rows] = labels, len(history) + 1
                added = tuple(np.bincount(labels, minlength=len(self.classes_)).tolist())
                left = int((codes < 0).sum())
                history.append(
                    LabelRound(added, float(sure.min()), tuple(scales), odd, left, value)
                )
            best = _best_round([value for value, _ in judged])
            if best < len(history):
                codes[when > best], when[when > best] = -1, -1
                models = self._fit_all(training, views, codes)
                reason += f"; held-out labels are most probable after round {best}"
            self._store(models, judged[best][1] if judged else [1.0] * len(models))
            self.label_codes_, self.labeled_iter_ = _of_given(training, codes, when)
            known = np.flatnonzero(codes >= 0)
            shares = np.bincount(codes[known], training.weight_of(known))
            self.class_prior_ = shares / shares.sum()
            self.history_, self.termination_condition_ = tuple(history), reason
            self.n_iter_ = len(history) + 1
            certificate = certify_members(
                models, f"labelling by {len(models)} learner{'s' * (len(models) > 1)}"
            )
            details = {
                **certificate.details,
                "stopped_by": reason,
                "labelled_rows": int((given >= 0).sum()),
                "unlabelled_rows": int((given < 0).sum()),
                "labelled_by_itself": int(((given < 0) & (codes >= 0)).sum()),
            }
            self.certificate_ = replace(certificate, details=details, seconds=watch.seconds)
        return self

    @property
    def transduction_(self) -> Array:
        """The label of every row of `fit`; None where it has none."""
        check_is_fitted(self)
        # A row without a label has the code -1, the place of the last name.
        names = np.array([*self.classes_.tolist(), None], object)
        return names[self.label_codes_]

    def _done(self, codes: Integers, history: list[LabelRound]) -> str:
        if (codes >= 0).all():
            return "every row has a label"
        return f"{self.max_iter} rounds" if len(history) >= self.max_iter else ""

    def _fit_all(self, training: TrainingRows, views: list[Any], codes: Integers) -> list[Any]:
        rows = np.flatnonzero(codes >= 0)
        return [self._fitted(k, training, view, codes, rows) for k, view in enumerate(views)]

    def _fitted(
        self, k: int, training: TrainingRows, view: Any, codes: Integers, rows: Positions
    ) -> Any:
        weight = training.weight_of(rows)
        params = {} if weight is None else {"sample_weight": weight}
        table = view if len(rows) == len(codes) else rows_of(view, rows)
        learner = clone(self._learners()[k])
        return fitted_member(learner, table, self.classes_[codes[rows]], params, "the learner")

    def _calibrated(
        self, k: int, training: TrainingRows, view: Any, given: Integers, codes: Integers
    ) -> tuple[float, float]:
        """What multiplies the scores of a learner for least log loss of held-out labels.

        And their mean log-probability then.
        """
        folds = label_folds(given, self.folds or 0)
        if folds.max(initial=-1) < 1:
            return 1.0, np.nan
        parts, truths = [], []
        for fold in range(int(folds.max()) + 1):
            held = np.flatnonzero(folds == fold)
            rest = np.flatnonzero((codes >= 0) & (folds != fold))
            model = self._fitted(k, training, view, codes, rest)
            parts.append(class_scores(model, rows_of(view, held), self.classes_))
            truths.append(given[held])
        scores, truth = np.vstack(parts), np.concatenate(truths)
        scale = inverse_temperature(scores, truth)
        logs = log_softmax(scale * scores, axis=1)[np.arange(len(truth)), truth]
        return scale, float(logs.mean())

    def _proposals(
        self, models: list[Any], views: list[Any], codes: Integers, scales: list[float]
    ) -> tuple[Positions, Integers, Floats, int]:
        """Rows to label, their classes and confidences, and how many learners disagree on."""
        rows = np.flatnonzero(codes < 0)
        shares = np.array(
            [
                softmax(scale * class_scores(model, rows_of(view, rows), self.classes_), axis=1)
                for model, view, scale in zip(models, views, scales, strict=True)
            ]
        )
        named, sure = shares.argmax(axis=2), shares.max(axis=2)
        is_sure = sure >= self.threshold
        if self.k_best is not None:
            is_sure &= self._surest(named, np.where(is_sure, sure, -1.0), codes)
        best = np.where(is_sure, sure, -1.0).argmax(axis=0)
        label = named[best, np.arange(len(rows))]
        disputed = (is_sure & (named != label)).any(axis=0)
        taken = np.flatnonzero(is_sure.any(axis=0) & ~disputed)
        confidence = sure[best[taken], taken]
        return rows[taken], label[taken].astype(np.int64), confidence, int(disputed.sum())

    def _surest(self, named: Integers, sure: Floats, codes: Integers) -> Mask:
        """The surest rows of each learner, of every class as many as its share of labels asks.

        Without shares the class that is easiest to be sure of would soon have all rows.
        """
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        quotas = np.maximum(1, np.rint((self.k_best or 0) * counts / counts.sum())).astype(int)
        chosen = np.zeros(sure.shape, bool)
        for learner in range(len(sure)):
            for k, quota in enumerate(quotas):
                rows = np.flatnonzero(named[learner] == k)
                # Of equals the row that stands first.
                order = np.argsort(-sure[learner, rows], kind="stable")[:quota]
                chosen[learner, rows[order]] = True
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        combine_input_tags(tags, self._learners())
        return tags

    def _check_state(self) -> None:
        n = len(self.classes_)
        if self.class_prior_.shape != (n,) or (self.label_codes_ >= n).any():
            raise ModelFileError("The model's labels and priors do not belong to its classes.")


class SelfTraining(LabellingModel):
    """Any classifier, which labels rows for itself.

    Parameters
    ----------
    estimator : classifier
        Any that follows scikit-learn and has `predict_proba` or `decision_function`.
    threshold : float
        Calibrated probability from which on a row is labelled.
    k_best : int, optional
        At most about so many rows in a round, the surest of every class in the proportions of the
        labels so far; all by default.
    max_iter : int
        Rounds; 0 fits to labelled rows only, such as the last step of a pipeline whose other steps
        learn from all rows.
    folds : int or None
        Parts in which labelled rows are held out to calibrate; None takes probabilities as they
        are.

    Attributes
    ----------
    estimator_ : the fitted classifier
    classes_, class_prior_
    label_codes_ : int array (n_rows,)
        Code into `classes_` of the label of every row of `fit`, -1 without. A row of weight 0 keeps
        the label that it came with, if it is one of `classes_`, and gets no other.
    transduction_ : array (n_rows,)
        The same by name; None without.
    labeled_iter_ : int array (n_rows,)
        The round that labelled each row; 0 if it came with its label, -1 if none did.
    history_ : tuple of LabelRound
    termination_condition_ : str
        Why it ended, in words.
    n_iter_ : int
        Fits of the learner to more and more labels.
    certificate_, n_features_in_, feature_names_in_

    Notes
    -----
    A round costs a fit and `folds` fits to calibrate. Whether it helps, `label_curve` of
    `novum.evaluation` tells. scikit-learn's `SelfTrainingClassifier` marks rows without a label by
    -1, which is a label here.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = [[0.0], [0.5], [1.0], [1.5], [6.0], [6.5], [7.0], [7.5]]
    >>> y = ["a", "a", None, None, "b", "b", None, None]
    >>> model = SelfTraining(GaussianNB(), threshold=0.5).fit(X, y)
    >>> model.transduction_.tolist(), model.termination_condition_
    (['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'], 'every row has a label')
    """

    estimator_: Any = fitted()

    def _store(self, models: list[Any], scales: list[float]) -> None:
        del scales
        self.estimator_ = models[0]

    def predict(self, X: Any) -> Array:
        """What the learner predicts."""
        return np.asarray(self._asked().predict(checked_rows(self, X, reset=False)))

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """The learner's probabilities of the classes."""
        return np.asarray(self._asked().predict_proba(checked_rows(self, X, reset=False)))

    @available_if(members_have("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Floats:
        """Their logarithms."""
        return np.asarray(self._asked().predict_log_proba(checked_rows(self, X, reset=False)))

    @available_if(members_have("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """The learner's scores."""
        return np.asarray(self._asked().decision_function(checked_rows(self, X, reset=False)))

    def _asked(self) -> Any:
        check_is_fitted(self)
        return self.estimator_


class CoTraining(LabellingModel):
    """Classifiers with different views of the columns that label rows for each other.

    Parameters
    ----------
    estimator : classifier, or list of one for each view
    views : list of lists of columns, by name or position
        At least two, which may share columns but not all; the fewer the better.
    threshold, k_best, max_iter, folds
        As for `SelfTraining`; `k_best` is of each view. A row that two views are sure of but name
        differently gets no label in that round.

    Attributes
    ----------
    estimators_ : list of the fitted classifiers
    views_ : tuple of tuples of positions
    inverse_temperatures_ : array (n_views,)
        How the scores of the views are calibrated.
    classes_, class_prior_, label_codes_, transduction_, labeled_iter_, history_, \
termination_condition_, n_iter_, certificate_, n_features_in_, feature_names_in_
        As for `SelfTraining`.

    Notes
    -----
    Probabilities are the mean of the views' calibrated ones.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> X = [[0.0, 5.0], [0.5, 5.5], [1.0, 5.2], [6.0, 0.0], [6.5, 0.5], [7.0, 0.2]]
    >>> y = ["a", "a", None, "b", "b", None]
    >>> model = CoTraining(GaussianNB(), [[0], [1]], threshold=0.5).fit(X, y)
    >>> model.predict([[0.7, 5.1]]).tolist(), model.n_iter_
    (['a'], 2)
    """

    views: Any = parameter("array-like", list, tuple, kw_only=False)

    estimators_: list[Any] = fitted()
    views_: tuple[tuple[int, ...], ...] = fitted()
    inverse_temperatures_: Floats = fitted()

    def predict(self, X: Any) -> Array:
        """The class of largest mean probability, the first of equals."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Mean of the views' calibrated probabilities (n_rows, n_classes)."""
        check_is_fitted(self)
        table = checked_rows(self, X, reset=False)
        total = np.zeros(1)
        for columns, model, scale in zip(
            self.views_, self.estimators_, self.inverse_temperatures_, strict=True
        ):
            part = columns_of(table, np.array(columns, np.intp))
            total = total + softmax(scale * class_scores(model, part, self.classes_), axis=1)
        return np.asarray(total / len(self.views_))

    def _learners(self) -> list[Any]:
        if isinstance(self.estimator, (list, tuple)):
            return list(self.estimator)
        return [self.estimator] * max(1, len(self.views))

    def _views(self, table: Any) -> list[Any]:
        names = column_names(table) or [f"x{j}" for j in range(self.n_features_in_)]
        given = [[view] if isinstance(view, (str, Integral)) else view for view in self.views]
        views = [tuple(column_places(view, names, "views")) for view in given]
        if len(views) < 2 or not all(views):
            empty = [k for k, view in enumerate(views) if not view]
            what = f"view {empty[0]} has no column" if empty else f"got {len(views)}"
            raise InputError(
                f"CoTraining needs at least two views with columns, but {what}. Give lists of "
                "columns; SelfTraining needs none."
            )
        for k, view in enumerate(views):
            twice = [j for j in view if view.count(j) > 1]
            if twice:
                raise InputError(
                    f"View {k} names column {names[twice[0]]!r} twice. Name each column once."
                )
            same = [i for i in range(k) if set(views[i]) == set(view)]
            if same:
                raise InputError(
                    f"Views {same[0]} and {k} have the same columns, so neither can teach the "
                    "other. Give views that differ; SelfTraining needs none."
                )
        if len(self._learners()) != len(views):
            raise InputError(
                f"There are {len(self._learners())} learners for {len(views)} views. Give one "
                "learner, or one for each view."
            )
        self.views_ = tuple(views)
        return [columns_of(table, np.array(view, np.intp)) for view in views]

    def _store(self, models: list[Any], scales: list[float]) -> None:
        # Not 0: a view that proves nothing still has an order of the classes.
        self.estimators_, self.inverse_temperatures_ = models, np.maximum(scales, 1e-6)

    def _check_state(self) -> None:
        super()._check_state()
        if not len(self.estimators_) == len(self.views_) == len(self.inverse_temperatures_):
            raise ModelFileError("The model's views and members do not fit together.")


# --- Rounds ---------------------------------------------------------------------------------------


def _best_round(values: list[float]) -> int:
    """The round under which held-out labels are most probable; of near equals the last."""
    if not values or np.isnan(values).any():
        return max(0, len(values) - 1)
    return int(np.flatnonzero(np.array(values) >= max(values) - NO_ACCOUNT)[-1])


def _of_given(training: TrainingRows, codes: Array, when: Array) -> tuple[Integers, Integers]:
    """Labels and their rounds of all given rows, of those that count as they are."""
    classes, names = training.classes, training.given_classes
    code_of = np.where(np.isin(names, classes), np.searchsorted(classes, names), -1)
    labels = np.append(code_of, -1)[training.given[1]]
    rounds = np.where(labels >= 0, 0, -1)
    kept = slice(None) if training.kept is None else training.kept
    labels[kept], rounds[kept] = codes, when
    return labels, rounds
