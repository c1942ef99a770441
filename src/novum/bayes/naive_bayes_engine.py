"""The engine of all naive Bayes models: read, sum, estimate the blocks, add up their scores.

    log P(k, x) = log P(k) + sum over blocks of log p(x_block | k)

A model of this family says how it reads its columns (`_reading`) and what blocks follow from the
sums (`_estimated_blocks`). Fits, streams, removal, prediction, explanations, samples and working
points are the same for all. A cell that is missing has the factor one in every class: it is
integrated out, exactly, because the columns are independent given the class.
"""

from __future__ import annotations

import functools
import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.bayes.explanation import Explanation, checked_row_count, drawn_table, row_cells
from novum.bayes.missing_cells import MissingBlock
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics, Reading
from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Stopwatch, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting, stream
from novum.core.sums import (
    PartlyLabelledRows,
    StatisticsMixin,
    UnlabelledRows,
    fit_partly_labelled,
    sum_blocks,
)
from novum.core.tables import Sample, Schema, check_classes, check_features, check_sample
from novum.numerics import Array, Floats, Positions, log_normalize


class ImpossibleRowWarning(UserWarning):
    """Rows that have probability zero in every class; their class priors are returned."""


class NaiveBayesModel(StatisticsMixin, DecisionMixin, ClassifierMixin, Learner):
    """Shared fit and prediction; see `NaiveBayes`, `GaussianNB`, `MultinomialNB` and the others.

    Parameters
    ----------
    unlabelled : None, "em" or UnlabelledRows
        What rows whose label is missing are for: an error, or rows that EM gives to the classes by
        their probabilities, with a weight chosen by held-out labels (`unlabelled_weight_`).
    """

    _sparse_allowed = False

    unlabelled: Any = parameter({"em"}, UnlabelledRows, None, default=None)

    unlabelled_weight_: float = fitted()
    statistics_: NaiveBayesStatistics = fitted()
    certificate_: Certificate = fitted()
    schema_: Schema = fitted()
    classes_: Array = fitted()
    class_count_: Floats = fitted()
    class_prior_: Floats = fitted()
    _blocks: tuple[Any, ...] = fitted()

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        return ("row_order", "duplication")

    # What a model of the family says

    @abstractmethod
    def _reading(self, schema: Schema) -> Reading:
        """Which columns are counted, measured or coded."""

    @abstractmethod
    def _estimated_blocks(self, statistics: NaiveBayesStatistics) -> tuple[Any, ...]:
        """The laws of the columns in every class."""

    def _given_priors(self) -> Any:
        """Priors that are not learned: an array, "uniform", or None."""
        return None

    def _complete_schema(self, schema: Schema) -> Schema:
        """The schema for prediction: with levels that must exist though no row had them."""
        return schema

    # Fits

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Labels of the classes; some may be missing with `unlabelled="em"`.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            sample = self._read(X, y, sample_weight, None)
            if (sample.target < 0).any():
                self._fit_partly(PartlyLabelledRows.of(sample))
            else:
                self._estimate(sum_blocks(self._sum, sample), watch)
        return self

    def _fit_partly(self, rows: PartlyLabelledRows) -> None:
        """EM over the labels that are missing."""
        from novum.bayes.partial_labels import NaiveLaws

        refusal = self._refused_with_em()
        if refusal:
            raise InputError(
                f"unlabelled='em' climbs a likelihood, but {refusal}. Choose other laws, or put "
                f"{type(self).__name__} into novum.ensemble.SelfTraining."
            )
        rule, name = UnlabelledRows.of(self.unlabelled), type(self).__name__
        estimate = fit_partly_labelled(lambda some, _: NaiveLaws(self, some), rows, rule, name)
        model = estimate.fitted.params
        for attribute in ("statistics_", "schema_", "classes_", "class_count_", "class_prior_"):
            setattr(self, attribute, getattr(model, attribute))
        self._blocks = model._blocks
        self.certificate_ = estimate.fitted.certificate
        self.unlabelled_weight_ = estimate.weight

    def _refused_with_em(self) -> str:
        """Why the fit is no maximum of a likelihood, if it is none."""
        return ""

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to those the model has learned from; the first call starts anew.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All labels that may occur. Without it classes are added when they are first met.
        """
        if classes is None:
            return super().partial_fit(X, y, sample_weight)
        _refuse_other_labels(y, classes, getattr(self, "classes_", None))
        if hasattr(self, "statistics_"):
            return super().partial_fit(X, y, sample_weight)
        return self.fit_statistics(self.statistics(X, y, sample_weight).with_classes(classes))

    def _read(self, X: Any, y: Any, sample_weight: Any, schema: Schema | None) -> Sample:
        if schema is None and sparse.issparse(X) and self._sparse_allowed:
            schema = numbered_columns(X.shape[1])
        return check_sample(
            self,
            X,
            y,
            sample_weight,
            target="classes" if self.unlabelled is None else "partial classes",
            schema=schema,
            allow_missing=True,
            accept_sparse=self._sparse_allowed,
        )

    def _sum(self, sample: Sample) -> NaiveBayesStatistics:
        return NaiveBayesStatistics.of(sample, self._reading(sample.schema))

    def _estimate(self, statistics: NaiveBayesStatistics, watch: Stopwatch | None = None) -> None:
        watch = watch or Stopwatch()
        schema = self._complete_schema(statistics.schema)
        complete = statistics.on(schema)
        priors = checked_priors(self._given_priors(), complete.class_count)
        blocks = self._estimated_blocks(complete)
        self.statistics_ = statistics
        self.schema_ = schema
        self.classes_ = statistics.classes
        self.class_count_ = statistics.class_count
        self.class_prior_ = priors
        self._blocks = blocks
        self.__dict__.pop("unlabelled_weight_", None)
        self.certificate_ = Certificate(
            objective="posterior of the class models, in closed form",
            verdict=Verdict.PROVED,
            iterations=0,
            seconds=watch.seconds,
            details={"rows": statistics.rows, "classes": statistics.n_classes},
        )

    # Prediction

    def log_likelihood(self, X: Any) -> Floats:
        """`log p(x | k)` of the present cells, of shape (n_rows, n_classes)."""
        return self._log_likelihood(self._features(X))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """`log P(k, x)`, of shape (n_rows, n_classes)."""
        return self._joint(self._features(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Log-probabilities of the classes, of shape (n_rows, n_classes)."""
        return self._posterior(self._features(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones the first."""
        joint = self._joint(self._features(X), relative=True)
        best = joint.argmax(axis=1)
        if np.isneginf(joint[np.arange(len(joint)), best]).any():
            best = self._normalized(joint).argmax(axis=1)
        return self.classes_[best]

    def explain(self, row: Any, label: Any = None, against: Any = None) -> Explanation:
        """Why this row gets its class: each column's part of the log-odds.

        Parameters
        ----------
        row : one row of `X`
            A list or one-dimensional array, or a table of one row.
        label : label, optional
            The predicted class by default.
        against : label, optional
            The most probable other class by default.

        Returns
        -------
        Explanation
            Prints as a table; its `contributions` and `prior` sum to the log-odds.
        """
        sample = self._features(_one_row(row))
        if sample.n_rows != 1:
            raise InputError(f"`explain` takes one row, got {sample.n_rows}. Pass them one by one.")
        if len(self.classes_) < 2:
            raise InputError("There is one class only, so there is nothing to explain.")
        order = np.argsort(-self._joint(sample, relative=True)[0], kind="stable")
        chosen = int(order[0]) if label is None else self._class_code(label)
        rival = next(int(k) for k in order if k != chosen)
        rival = rival if against is None else self._class_code(against)
        if rival == chosen:
            raise InputError(f"`explain` compares two classes, but both are {against!r}.")
        parts = np.zeros((len(self.classes_), self.schema_.n_columns))
        for block in self._blocks:
            parts[:, self._columns_of(block)] += block.contributions(sample)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.class_prior_)
            values = row_cells(sample)
            return Explanation(
                self.classes_.tolist()[chosen],
                self.classes_.tolist()[rival],
                self.schema_.names,
                values,
                parts[chosen] - parts[rival],
                float(logs[chosen] - logs[rival]),
            )

    def sample(self, n: int, label: Any = None, random_state: Any = None) -> tuple[Any, Array]:
        """New rows from the fitted model.

        Parameters
        ----------
        n : int
            Number of rows.
        label : label, optional
            Their class; drawn from the priors by default.
        random_state : int, Generator, RandomState or None

        Returns
        -------
        X : array of shape (n, n_columns), or an Arrow table where columns have names or levels
        y : array of shape (n,)
        """
        check_is_fitted(self)
        n = checked_row_count(n)
        rng = stream(random_state, "naive Bayes sample")
        if label is None:
            codes = rng.choice(len(self.classes_), n, p=self.class_prior_)
        else:
            codes = np.full(n, self._class_code(label))
        cells: dict[int, Array] = {}
        for block in self._blocks:
            if isinstance(block, MissingBlock):
                continue
            drawn = block.draw(codes, rng)
            cells.update(zip(self._columns_of(block).tolist(), drawn.T, strict=True))
        return drawn_table(self.schema_, cells), self.classes_[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._sparse_allowed
        return tags

    # Leaving one out

    def _leaves_quickly(self) -> bool:
        """Whether the removal of a row changes nothing but its own class."""
        return True

    @available_if(lambda model: model._leaves_quickly())
    def _leave_one_out(self, sample: Sample) -> tuple[Array, Floats]:
        """For every row its prediction without it, and how much of its class is left."""
        counted = sample if sample.weight is None else sample.rows(sample.weight > 0)
        model = clone(self).fit_statistics(sum_blocks(self._sum, counted))
        statistics = model.statistics_.on(model.schema_)
        coded = sample.schema.recode(sample.codes, model.schema_)
        whole = replace(sample, schema=model.schema_, codes=coded)
        if not all(hasattr(block, "leave_one_out") for block in model._blocks):
            return model.classes_[sample.target], np.zeros(sample.n_rows)
        joint = model._log_likelihood(whole)
        own, remainder = leave_one_out(model._blocks, whole, statistics)
        joint[np.arange(sample.n_rows), sample.target] = own
        joint += self._log_priors_without(sample, statistics)
        # A row that is impossible in every class gets the priors, as a refit without it says.
        remainder[np.isneginf(joint).all(axis=1)] = 0.0
        return model.classes_[joint.argmax(axis=1)], remainder

    def _log_priors_without(self, sample: Sample, statistics: NaiveBayesStatistics) -> Floats:
        given = self._given_priors()
        counts = np.repeat(statistics.class_count[np.newaxis], sample.n_rows, axis=0)
        if given is None:
            weight = 1.0 if sample.weight is None else sample.weight
            counts[np.arange(sample.n_rows), sample.target] -= weight
        else:
            counts[:] = checked_priors(given, statistics.class_count)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(np.maximum(counts, 0.0))

    # Steps of a prediction

    def _features(self, X: Any) -> Sample:
        if not hasattr(self, "_blocks"):
            check_is_fitted(self)
        return check_features(self, X, allow_missing=True, accept_sparse=self._sparse_allowed)

    def _log_likelihood(self, sample: Sample) -> Floats:
        first, *others = self._blocks
        total: Floats = first.log_likelihood(sample)
        for block in others:
            total += block.log_likelihood(sample)
        return total

    def _joint(self, sample: Sample, relative: bool = False) -> Floats:
        """`log P(k, x)`; if `relative`, up to a term that all classes of a row share."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.class_prior_)
        likelihood = self._log_likelihood(sample)
        if relative:
            # The prior counts, whatever the size of the likelihoods.
            top = likelihood.max(axis=1, keepdims=True)
            likelihood -= np.where(np.isfinite(top), top, 0.0)
        return likelihood + logs

    def _posterior(self, sample: Sample) -> Floats:
        return self._normalized(self._joint(sample, relative=True))

    def _normalized(self, joint: Floats) -> Floats:
        normalized = log_normalize(joint, axis=1)[0]
        impossible = np.isneginf(joint).all(axis=1)
        if impossible.any():
            warnings.warn(
                f"{int(impossible.sum())} of {len(joint)} rows have probability zero in every "
                f"class, the first is row {int(impossible.argmax())}; their class priors are "
                "returned. Smoothing above zero avoids this.",
                ImpossibleRowWarning,
                stacklevel=4,
            )
            with np.errstate(divide="ignore"):
                normalized[impossible] = np.log(self.class_prior_)
        return normalized

    def _columns_of(self, block: Any) -> Positions:
        """Positions in the table of the columns of a block."""
        if isinstance(block, MissingBlock):
            return np.arange(self.schema_.n_columns)
        if hasattr(block, "columns"):
            return self.schema_.numeric[block.columns]
        return self.schema_.categorical

    def _class_code(self, label: Any) -> int:
        positions = np.flatnonzero(self.classes_ == label)
        if positions.size == 0:
            raise InputError(
                f"{label!r} is not a class of this model, which has "
                f"{', '.join(map(repr, self.classes_.tolist()[:10]))}."
            )
        return int(positions[0])

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        n_classes = len(self.classes_)
        if self.class_prior_.shape != (n_classes,) or self.class_count_.shape != (n_classes,):
            raise ModelFileError(f"The model has {n_classes} classes, but other priors or counts.")
        if not ((self.class_prior_ >= 0).all() and abs(self.class_prior_.sum() - 1) < 1e-6):
            raise ModelFileError("The model's class priors are not probabilities that sum to one.")
        for block in self._blocks:
            block.check(self.schema_, n_classes)


# --- Leaving one out ------------------------------------------------------------------------------


def leave_one_out(
    blocks: tuple[Any, ...], sample: Sample, statistics: NaiveBayesStatistics
) -> tuple[Floats, Floats]:
    """For every row its own class's log-likelihood without it, and what part of the class is left.

    A row takes part only in the sums of its own class, from which every block subtracts it.

    Parameters
    ----------
    blocks : blocks estimated from `statistics`
    sample : Sample
        The rows behind `statistics`, coded by its schema; weights of zero are allowed.
    statistics : NaiveBayesStatistics

    Returns
    -------
    scores, remainder : arrays of shape (n,)
    """
    weight = np.ones(sample.n_rows) if sample.weight is None else np.asarray(sample.weight)
    own = statistics.class_count[sample.target]
    left = 1 - weight / np.maximum(own, np.finfo(float).tiny)
    scores = np.zeros(sample.n_rows)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for block in blocks:
            part, rest = block.leave_one_out(sample, statistics, weight)
            scores += part
            left = np.minimum(left, rest)
    return np.where(np.isnan(scores), 0.0, scores), np.where(np.isnan(scores), 0.0, left)


# --- Priors and labels ----------------------------------------------------------------------------


def checked_priors(given: Any, counts: Floats) -> Floats:
    """Class priors: as given, equal for a word, or the proportions of the counts."""
    if given is None:
        return counts / counts.sum()
    if isinstance(given, str):
        return np.full(len(counts), 1.0 / len(counts))
    priors = np.asarray(given, float).ravel()
    if len(priors) != len(counts):
        raise InputError(
            f"Number of priors must match number of classes: got {len(priors)} priors for "
            f"{len(counts)} classes. Give one for each class, in the order of `classes_`."
        )
    if not (priors >= 0).all():
        raise InputError(f"Priors must be non-negative, got {priors.tolist()}.")
    if not abs(priors.sum() - 1) <= 1e-8:
        raise InputError(
            f"The sum of the priors should be 1, got {priors.sum():.10g}. Divide them by their sum."
        )
    return priors


def _refuse_other_labels(y: Any, classes: Any, known: Array | None) -> None:
    allowed = check_classes(np.asarray(classes), "Naive Bayes")[0]
    if known is not None and not np.isin(allowed, known).all():
        raise InputError(
            f"`classes={list(allowed)}` is not the same as on last call to partial_fit, was: "
            f"{list(known)}. Name all classes at the first call."
        )
    met = check_classes(y, "Naive Bayes")[0]
    other = met[~np.isin(met, allowed)]
    if other.size:
        raise InputError(
            f"The target label(s) {other.tolist()[:5]} in y do not exist in the initial classes "
            f"{allowed.tolist()[:10]}. Add them to `classes`, or leave `classes` out."
        )


@functools.lru_cache(maxsize=4)
def numbered_columns(n_columns: int) -> Schema:
    """Kept, because a text table has so many columns that naming them takes longer than a fit."""
    return Schema.of_array(n_columns)


def _one_row(row: Any) -> Any:
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.reshape(1, -1)
    if isinstance(row, (list, tuple)) and not any(isinstance(c, (list, tuple)) for c in row):
        return [list(row)]
    return row
