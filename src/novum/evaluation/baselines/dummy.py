"""Learners that look at no column: the answer a model has to beat to be worth anything.

The class shares minimize the log loss, the largest class the error rate, the mean the squared and
the median the absolute error, each among all answers that are the same for every row; so the
certificate is a proof.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, check_random_state

from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import Schema, check_features, check_sample
from novum.core.text import label_text, listed
from novum.numerics import Array, Floats, Positions


class _Dummy:
    """What both have in common: columns are checked and not looked at."""

    invariances: ClassVar[tuple[str, ...]] = ("shift", "column_scale", "row_order", "duplication")
    categorical_features: ClassVar[str] = "auto"
    schema_: Schema

    def _rows(self, X: Any) -> int:
        check_is_fitted(self, "schema_")
        return check_features(
            self, X, allow_missing=True, accept_sparse=True, tell_unseen=False
        ).n_rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        for of_kind in (tags.classifier_tags, tags.regressor_tags):
            if of_kind is not None:
                of_kind.poor_score = True
        tags.target_tags.multi_output = tags.regressor_tags is not None
        return tags


class DummyClassifier(_Dummy, DecisionMixin, ClassifierMixin, Learner):
    """The same answer for every row, or one drawn without looking at it.

    Parameters
    ----------
    strategy : {"prior", "most_frequent", "stratified", "uniform", "constant"}
        The largest class with the shares of the classes as probabilities; the same with
        probability one; a class drawn by the shares; any class drawn alike; or `constant`.
    random_state : int, RandomState or None
        Of the strategies that draw.
    constant : label, optional
        The answer of the strategy "constant".

    Attributes
    ----------
    classes_ : array of labels in sorted order
    class_prior_ : array (n_classes,)
        Shares of the weight.
    certificate_, schema_, n_features_in_, feature_names_in_

    Notes
    -----
    Cells are not looked at, so they may be missing. Of classes of equal weight the first is taken.

    Examples
    --------
    >>> model = DummyClassifier().fit([[0], [0], [0]], ["no", "yes", "no"])
    >>> model.predict([[7]]).tolist(), model.predict_proba([[7]]).round(3).tolist()
    (['no'], [[0.667, 0.333]])
    """

    strategy: str = parameter(
        {"prior", "most_frequent", "stratified", "uniform", "constant"}, default="prior"
    )
    random_state: Any = parameter("random_state", default=None)
    constant: Any = parameter(default=None)

    classes_: Array = fitted()
    class_prior_: Floats = fitted()

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Weighs the classes."""
        sample = check_sample(
            self, X, y, sample_weight, target="classes", allow_missing=True, accept_sparse=True
        )
        with fitting(self):
            assert sample.classes is not None
            self._check_constant(sample.classes)
            weight = np.bincount(sample.target, sample.weights, len(sample.classes))
            self.classes_, self.schema_ = sample.classes, sample.schema
            self.class_prior_ = weight / weight.sum()
            present = self.class_prior_[self.class_prior_ > 0]
            self.certificate_ = Certificate(
                objective="log loss of one answer for all rows",
                value=float(-(present @ np.log(present))),
                verdict=Verdict.PROVED,
            )
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The same probabilities for every row, or those of a drawn class, of shape (n, K)."""
        n = self._rows(X)
        K = len(self.classes_)
        if self.strategy == "prior":
            return np.tile(self.class_prior_, (n, 1))
        if self.strategy == "uniform":
            return np.full((n, K), 1 / K)
        return np.eye(K)[self._codes(n)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The answer for each row."""
        n = self._rows(X)
        return self.classes_[self._codes(n)]

    def _codes(self, n: int) -> Positions:
        K = len(self.classes_)
        if self.strategy in ("prior", "most_frequent"):
            return np.full(n, int(self.class_prior_.argmax()))
        if self.strategy == "constant":
            return np.full(n, self.classes_.tolist().index(self.constant))
        shares = self.class_prior_ if self.strategy == "stratified" else None
        return check_random_state(self.random_state).choice(K, n, p=shares)

    def _check_constant(self, classes: Array) -> None:
        if self.strategy == "constant" and self.constant not in classes.tolist():
            raise InputError(
                f"constant={label_text(self.constant)} is none of the classes "
                f"{listed(classes.tolist())}. The constant answer is a class of y."
            )

    def _check_state(self) -> None:
        if self.class_prior_.shape != self.classes_.shape:
            raise ModelFileError("The model's class shares do not belong to its classes.")


class DummyRegressor(_Dummy, RegressorMixin, Learner):
    """The same number for every row.

    Parameters
    ----------
    strategy : {"mean", "median", "quantile", "constant"}
    constant : float, optional
        The answer of the strategy "constant".
    quantile : float in [0, 1], optional
        Of the strategy "quantile".

    Attributes
    ----------
    constant_ : array (n_targets,)
    certificate_, schema_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> DummyRegressor().fit([[0], [0]], [1.0, 2.0]).predict([[5], [6]]).tolist()
    [1.5, 1.5]
    """

    strategy: str = parameter({"mean", "median", "quantile", "constant"}, default="mean")
    constant: Any = parameter(
        "array-like", Interval(Real, None, None, closed="neither"), None, default=None
    )
    quantile: float | None = parameter(default=None, at_least=0, at_most=1)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds the number."""
        sample = check_sample(
            self, X, y, sample_weight, target="numbers", allow_missing=True, accept_sparse=True
        )
        with fitting(self):
            columns = sample.target.reshape(sample.n_rows, -1)
            self._one_target = sample.target.ndim == 1
            self.schema_ = sample.schema
            self.constant_ = self._answer(columns, sample.weights)
            off = sample.weights @ (columns - self.constant_) ** 2 / sample.weights.sum()
            self.certificate_ = Certificate(
                objective="mean squared error of one answer for all rows",
                value=float(off.sum()),
                verdict=Verdict.PROVED if self.strategy == "mean" else Verdict.LOCAL,
            )
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The number, once for each row; with its standard deviation, which is 0, if asked."""
        n = self._rows(X)
        predicted = np.tile(self.constant_, (n, 1))
        answer = predicted[:, 0] if self._one_target else predicted
        return (answer, np.zeros_like(answer)) if return_std else answer

    def _answer(self, columns: Floats, weight: Floats) -> Floats:
        if self.strategy == "mean":
            start = columns[0]
            return np.asarray(start + weight @ (columns - start) / weight.sum())
        if self.strategy == "constant":
            if self.constant is None:
                raise InputError("The strategy 'constant' needs the number: pass constant=...")
            return np.broadcast_to(np.asarray(self.constant, np.float64), columns.shape[1:]).copy()
        if self.strategy == "quantile" and self.quantile is None:
            raise InputError("The strategy 'quantile' needs the share: pass quantile=...")
        share = 0.5 if self.strategy == "median" else float(self.quantile or 0.0)
        return np.array([_weighted_quantile(column, weight, share) for column in columns.T])

    def _check_state(self) -> None:
        if self.constant_.ndim != 1 or (self._one_target and len(self.constant_) != 1):
            raise ModelFileError("The model's answer does not belong to its targets.")


def _weighted_quantile(values: Floats, weight: Floats, share: float) -> float:
    """The least value with `share` of the weight at or below it; of two such the middle."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    wanted = share * below[-1]
    # Sums of weights that differ by rounding are equal.
    near = 1e-12 * below[-1]
    first = int(np.searchsorted(below, wanted - near))
    last = min(int(np.searchsorted(below, wanted + near, side="right")), len(values) - 1)
    return float((values[order[min(first, last)]] + values[order[last]]) / 2)
