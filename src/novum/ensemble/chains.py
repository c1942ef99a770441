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
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    _fit_context,
    clone,
)
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params, check_is_fitted

from novum.core.certificate import Certificate
from novum.core.cross_fitting import cross_fit_predictions
from novum.core.errors import InputError, ModelFileError
from novum.core.exact_validation import rows_of
from novum.core.fitting import fitted_model, fitting
from novum.core.member_rows import as_rows
from novum.core.multiclass import check_rows, weighted_rows
from novum.core.multiclass_members import (
    ConstantPredictor,
    ConstantTargetWarning,
    n_rows_of,
    unfitted_members,
)
from novum.core.progress import track
from novum.core.randomness import seed_sequence, stream
from novum.core.validation import with_checked_weight
from novum.ensemble.certification import certify_members
from novum.ensemble.multiclass import routed_params, store_features
from novum.ensemble.target_columns import (
    Floats,
    TargetColumns,
    joined,
    with_columns,
)


class Chain(MetaEstimatorMixin, BaseEstimator):
    """Shared by `ClassifierChain` and `RegressorChain`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "order": ["array-like", StrOptions({"random"}), None],
        "cv": ["cv_object"],
        "random_state": ["random_state", np.random.Generator, np.random.SeedSequence],
        "verbose": ["boolean"],
    }

    estimator: Any
    order: ArrayLike | str | None
    cv: Any
    random_state: Any
    verbose: bool
    estimators_: list[Any]
    order_: NDArray[np.intp]
    certificate_: Certificate
    _form: str
    _names: NDArray[Any] | None

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

    @_fit_context(prefer_skip_nested_validation=False)
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
                table = with_columns(X, earlier)
                members.append(fitted_member(member, table, targets, self.order_[k], params))
                if k + 1 < len(unfitted):
                    seen = self._seen(members[k], table, y, params)
                    earlier = np.column_stack((earlier, seen))
                progress.advance(note=f"target {self.order_[k]}")
        return members

    def _seen(self, member: Any, X: Any, y: NDArray[Any], params: Any) -> Floats:
        """What the members behind are trained on: the target itself, or cross-fitted answers."""
        if self.cv is None:
            return self._feature(member, y)
        method = self._chain_method()
        if isinstance(member, ConstantPredictor):
            return self._feature(member, getattr(member, method)(X))
        more = dict(params)
        weight = more.pop("sample_weight", None)
        found = cross_fit_predictions(
            clone(member), X, y, self.cv, method=method, sample_weight=weight, fit_params=more
        )
        return self._feature(member, found)

    # Predictions

    def _answers(self, X: Any, answer: Callable[[Any, Any], Any]) -> list[Any]:
        """`answer(member, table)` of every target, in the order of the targets."""
        check_is_fitted(self)
        X = as_rows(X)
        earlier = np.empty((n_rows_of(X), 0))
        method, found = self._chain_method(), []
        for k, member in enumerate(self.estimators_):
            table = with_columns(X, earlier)
            found.append(answer(member, table))
            if k + 1 < len(self.estimators_):
                seen = self._feature(member, getattr(member, method)(table))
                earlier = np.column_stack((earlier, seen))
        return [found[k] for k in np.argsort(self.order_)]

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


def _checked_order(order: Any, n_targets: int, root: Any) -> NDArray[np.intp]:
    if order is None:
        return np.arange(n_targets)
    if isinstance(order, str):
        return stream(root, "order").permutation(n_targets)
    found = np.asarray(order)
    if found.ndim != 1 or sorted(found.tolist()) != list(range(n_targets)):
        raise InputError(
            f"invalid order: it names each of the targets 0 to {n_targets - 1} once, got {order!r}."
        )
    return found.astype(np.intp)


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
