"""Chains: every target is predicted from the table and from the targets before it.

    y_o(1) = h_1(x),   y_o(2) = h_2(x, y_o(1)),   ...,   y_o(T) = h_T(x, y_o(1), ..., y_o(T-1))

so that targets which belong together are predicted together, which members of their own for each
target cannot do. In training the members see the true earlier targets, or, with `cv`, what a member
that did not see the row says of them, which is what prediction will offer them. Without `cv` each
member is fitted to its factor of P(y | x) = prod_t P(y_t | x, y_1, ..., y_t-1).

Earlier targets enter as numbers: labels that are numbers as they are, others by their place among
the sorted classes of their column (0 and 1 for two classes).
"""

from __future__ import annotations

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params, _check_response_method, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    ConstantPredictor,
    ConstantTargetWarning,
    Learner,
    check_rows,
    cross_fit_predictions,
    fitted,
    margin,
    parameter,
    unfitted_members,
    weighted_rows,
)
from novum.core.runtime import (
    RandomSource,
    fit_context,
    fitted_model,
    fitting,
    seed_sequence,
    stream,
    track,
)
from novum.core.tables import as_rows, n_rows_of, rows_of, share_of_equal_rows, with_checked_weight
from novum.ensemble.certification import certify_members
from novum.ensemble.multiclass import members_have, routed_params, store_features
from novum.ensemble.target_columns import (
    TargetColumns,
    joined,
    read_label_columns,
    read_number_columns,
    with_previous,
)
from novum.numerics import Array, Floats, Positions


class Chain(MetaEstimatorMixin, Learner):
    """Shared by `ClassifierChain` and `RegressorChain`."""

    estimator: Any = parameter(HasMethods(["fit", "predict"]), kw_only=False)
    order: ArrayLike | str | None = parameter("array-like", {"random"}, default=None)
    cv: Any = parameter("cv_object", default=None)
    random_state: RandomSource = parameter(default=None)
    verbose: bool = parameter(default=False)

    estimators_: list[Any] = fitted()
    order_: Positions = fitted()
    certificate_: Certificate = fitted()
    _form: str = fitted()
    _names: Array | None = fitted()

    # What a chain says

    @abstractmethod
    def _read(self, y: Any) -> TargetColumns:
        """The targets, checked."""

    @abstractmethod
    def _feature(self, member: Any, answer: Any) -> Floats:
        """What a member of the chain said, as a column for those behind it."""

    def _chain_method(self) -> str:
        """The method whose answers are passed along the chain."""
        return "predict"

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fits the members one after the other.

        Parameters
        ----------
        X : table of any kind that the learner takes
        y : array-like of shape (n_rows, n_targets)
            For a chain of classifiers also a sparse 0/1 matrix or a sequence of sets of labels.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; the learner must take it.
        **fit_params
            Further arguments of its `fit`; under scikit-learn's metadata routing those it asks for.

        Returns
        -------
        self : fitted estimator
        """
        with fitting(self) as watch:
            params = routed_params(self, "fit", sample_weight, fit_params, passes_all=True)
            X, targets, params = checked_targets(self._read, X, y, params, type(self).__name__)
            members = self._fitted_members(X, targets, params)
            self.estimators_ = members
            self._form, self._names = targets.form, targets.names
            store_features(self, X, members[:1])
            self.certificate_ = certify_members(
                members, f"chain of {len(members)} members", seconds=watch.seconds
            )
        return self

    def _fitted_members(
        self, X: Any, targets: TargetColumns, params: Mapping[str, Any]
    ) -> list[Any]:
        random = isinstance(self.order, str) or self.random_state is not None
        root = seed_sequence(self.random_state) if random else None
        self.order_ = _checked_order(self.order, len(targets.columns), root)
        unfitted = unfitted_members(self.estimator, len(self.order_), root)
        members: list[Any] = []
        earlier = np.empty((targets.n_rows, 0))
        with track(self, "chain", total=len(unfitted), X=X) as progress:
            for k, member in enumerate(unfitted):
                y = targets.columns[self.order_[k]]
                table = with_previous(X, earlier)
                members.append(fitted_member(member, table, targets, self.order_[k], params))
                if k + 1 < len(unfitted):
                    seen = self._seen(members[k], table, y, params)
                    earlier = np.column_stack((earlier, seen))
                progress.advance(note=f"target {self.order_[k]}")
        return members

    def _seen(self, member: Any, X: Any, y: Array, params: Any) -> Floats:
        """What the members behind are trained on: the target itself, or cross-fitted answers."""
        if self.cv is None:
            return self._feature(member, y)
        method = self._chain_method()
        if isinstance(member, ConstantPredictor):
            return self._feature(member, getattr(member, method)(X))
        more = dict(params)
        weight = more.pop("sample_weight", None)
        answers = cross_fit_predictions(
            clone(member), X, y, self.cv, method=method, sample_weight=weight, fit_params=more
        )
        return self._feature(member, answers)

    # Predictions

    def _answers(self, X: Any, answer: Callable[[Any, Any], Any]) -> list[Any]:
        """`answer(member, table)` of every target, in the order of the targets."""
        check_is_fitted(self)
        X = as_rows(X)
        earlier = np.empty((n_rows_of(X), 0))
        method, answers = self._chain_method(), []
        for k, member in enumerate(self.estimators_):
            table = with_previous(X, earlier)
            answers.append(answer(member, table))
            if k + 1 < len(self.estimators_):
                seen = self._feature(member, getattr(member, method)(table))
                earlier = np.column_stack((earlier, seen))
        return [answers[k] for k in np.argsort(self.order_)]

    def predict(self, X: Any) -> Any:
        """Predictions of all targets, in the form of the training targets.

        Returns
        -------
        array of shape (n_rows, n_targets), or what the training target was
        """
        columns = self._answers(X, lambda member, table: np.asarray(member.predict(table)).ravel())
        return joined(self._form, self._names, columns)

    # The contract

    @property
    def invariances(self) -> tuple[str, ...]:
        """Those of the learner, as far as added columns and folds do not break them."""
        own = set(getattr(self.estimator, "invariances", ()))
        if "column_scale" not in own:
            # A common unit does not reach the columns that the chain adds.
            own.discard("common_scale")
        if self.cv is not None:
            own -= {"row_order", "duplication"}
        return tuple(sorted(own))

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the learner, under scikit-learn's routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.input_tags = copy.copy(base.input_tags)
        tags.non_deterministic = base.non_deterministic
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        order = np.asarray(self.order_)
        if sorted(order.tolist()) != list(range(len(self.estimators_))):
            raise ModelFileError(
                f"The chain has {len(self.estimators_)} members in the order {order.tolist()}."
            )


# --- Members --------------------------------------------------------------------------------------


def fitted_member(
    member: Any, X: Any, targets: TargetColumns, target: int, params: Mapping[str, Any]
) -> Any:
    """The member fitted to one target; constant, with a warning, where that has one class."""
    y = targets.columns[target]
    if targets.classes is not None and (y == y[0]).all():
        _warn_constant(target, y[0])
        return ConstantPredictor(y[0].item(), targets.classes[target].tolist())
    try:
        return fitted_model(member, X, y, **params)
    except Exception as error:
        error.add_note(f"This happened in the fit of the member for target {target}.")
        raise


# --- Checks ---------------------------------------------------------------------------------------


def _checked_order(order: Any, n_targets: int, root: Any) -> Positions:
    if order is None:
        return np.arange(n_targets)
    if isinstance(order, str):
        return stream(root, "order").permutation(n_targets)
    sequence = np.asarray(order)
    if sequence.ndim != 1 or sorted(sequence.tolist()) != list(range(n_targets)):
        raise InputError(
            f"invalid order: it names each of the targets 0 to {n_targets - 1} once, got {order!r}."
        )
    return sequence.astype(np.intp)


def checked_targets(
    read: Callable[[Any], TargetColumns], X: Any, y: Any, params: Mapping[str, Any], learner: str
) -> tuple[Any, TargetColumns, Mapping[str, Any]]:
    """Table, targets and arguments of the rows that count; those of weight zero are absent."""
    targets, table = read(y), as_rows(X)
    check_rows(table, targets.n_rows, learner)
    params = with_checked_weight(params, targets.n_rows)
    kept = weighted_rows(params)
    if kept is None:
        return table, targets, params
    own = dict(_check_method_params(table, params, kept))
    return rows_of(table, kept), targets.rows(kept), own


def _warn_constant(target: int, label: Any) -> None:
    warnings.warn(
        f"All rows have the label {label!s} in target {target}, so there is nothing to learn about "
        "it, and its member always predicts it. Leave the target out, or add rows.",
        ConstantTargetWarning,
        stacklevel=4,
    )


_LEAST_LOG = float(np.log(np.finfo(float).smallest_subnormal))
_METHODS = {"predict", "predict_proba", "predict_log_proba", "decision_function"}


class ClassifierChain(ClassifierMixin, Chain):
    """Classifiers in a chain: each sees the predictions of those before it.

    Parameters
    ----------
    estimator : classifier
        Cloned for each target.
    order : array-like of n_targets positions, or "random", optional
        The order of the chain; that of the columns by default.
    cv : int, splitter or iterable, optional
        Train members on cross-fitted predictions of earlier targets in place of the targets.
    chain_method : method or list of methods, default="predict"
        What is passed along: "predict", "predict_proba", "predict_log_proba" or
        "decision_function", of a list the first that the learner has. All but "predict" need
        targets of two classes, and pass what they say for the second.
    random_state : int, Generator, RandomState or None
        Of the random order, and of members whose `random_state` is None.
    verbose : bool, default=False
        Show progress on a terminal.

    Attributes
    ----------
    estimators_ : list of n_targets members, in the order of the chain
    classes_ : list of arrays
        The classes of each member, in the order of the chain.
    order_ : array of shape (n_targets,)
    chain_method_ : str
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Notes
    -----
    A target of one class only gets a constant member, with a warning.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, Classifier chains for multi-label classification, Machine
    Learning 85, 2011.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.ensemble.chains import ClassifierChain
    >>> X = [[0.0], [0.1], [0.2], [2.0], [2.1], [2.3]]
    >>> topics = [{"art"}, {"art"}, {"art"}, {"law", "tax"}, {"law", "tax"}, {"law", "tax"}]
    >>> model = ClassifierChain(GaussianNB()).fit(X, topics)
    >>> [sorted(row) for row in model.predict([[0.05], [2.2]])]
    [['art'], ['law', 'tax']]
    """

    chain_method: str | list[str] = parameter(list, tuple, _METHODS, default="predict")

    @property
    def classes_(self) -> list[Array]:
        """The classes of each member, in the order of the chain."""
        return [np.asarray(member.classes_) for member in self.estimators_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The checks of classifiers expect one array of classes; scikit-learn skips them here too.
        tags._skip_test = True
        return tags

    def _chain_method(self) -> str:
        return self.chain_method_

    def _check_state(self) -> None:
        super()._check_state()
        if self.chain_method_ not in _METHODS:
            raise ModelFileError("The chain passes on what is no prediction.")

    def _read(self, y: Any) -> TargetColumns:
        targets = read_label_columns(y, type(self).__name__)
        self.chain_method_ = _check_response_method(self.estimator, self.chain_method).__name__
        assert targets.classes is not None
        for t, classes in enumerate(targets.classes):
            if self.chain_method_ != "predict" and len(classes) > 2:
                raise InputError(
                    f"chain_method={self.chain_method_!r} passes one number along the chain, but "
                    f"target {t} has {len(classes)} classes. Use chain_method='predict'."
                )
        return targets

    def _feature(self, member: Any, answer: Any) -> Floats:
        column = np.asarray(answer)
        if self.chain_method_ == "predict" or column.dtype.kind not in "f":
            return _numbers(column.ravel(), np.asarray(member.classes_)).reshape(-1, 1)
        second = column[:, -1:] if column.ndim == 2 else column.reshape(-1, 1)
        # The logarithm of zero is no number a learner can read; this is that of the least float.
        return np.maximum(second, _LEAST_LOG)

    # Predictions

    @available_if(members_have("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Probability of the second class of each target, of shape (n_rows, n_targets).

        Each is conditional on the earlier targets as predicted. Where a target has more than two
        classes, a list with one array of shape (n_rows, n_classes) for each target.
        """
        tables = self._answers(X, lambda member, table: member.predict_proba(table))
        if all(len(classes) <= 2 for classes in self.classes_):
            return np.column_stack([table[:, -1] for table in tables])
        return tables

    @available_if(members_have("predict_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return (
                [np.log(part) for part in probabilities]
                if isinstance(probabilities, list)
                else np.log(probabilities)
            )

    @available_if(members_have("decision_function"))
    def decision_function(self, X: Any) -> Floats:
        """Margin of the second class of each target, of shape (n_rows, n_targets)."""
        check_is_fitted(self)
        if any(len(classes) > 2 for classes in self.classes_):
            raise InputError("A target of more than two classes has no single margin.")
        return np.column_stack(self._answers(X, margin))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose targets are all predicted right."""
        predicted = self.predict(X)
        return share_of_equal_rows(self._form, y, predicted, sample_weight)


def _numbers(labels: Array, classes: Array) -> Floats:
    if labels.dtype.kind in "biuf":
        return labels.astype(float)
    return np.searchsorted(classes, labels).astype(float)


class RegressorChain(RegressorMixin, Chain):
    """Regressions in a chain: each sees the predictions of those before it.

    Parameters
    ----------
    estimator : regressor
        Cloned for each target.
    order : array-like of n_targets positions, or "random", optional
        The order of the chain; that of the columns by default.
    cv : int, splitter or iterable, optional
        Train members on cross-fitted predictions of earlier targets in place of the targets.
    random_state : int, Generator, RandomState or None
        Of the random order, and of members whose `random_state` is None.
    verbose : bool, default=False
        Show progress on a terminal.

    Attributes
    ----------
    estimators_ : list of n_targets members, in the order of the chain
    order_ : array of shape (n_targets,)
    certificate_ : Certificate
        The weakest verdict of the members.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> from novum.ensemble.chains import RegressorChain
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]
    >>> RegressorChain(LinearRegression()).fit(X, Y).predict([[3.0]]).round(6).tolist()
    [[6.0, 1.0]]
    """

    def _read(self, y: Any) -> TargetColumns:
        return read_number_columns(y, type(self).__name__)

    def _feature(self, member: Any, answer: Any) -> Floats:  # noqa: ARG002
        return np.asarray(answer, float).reshape(-1, 1)
