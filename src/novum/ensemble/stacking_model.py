"""What stacking classifiers and regressors share: cross-fitting, the table of predictions, routing.

    table -> members fitted to all rows     (kept, and asked at prediction)
    table -> members cross-fitted           (not kept; what they say trains the final learner)

The columns of a member are its probabilities, scores, codes of labels or numbers. Of probabilities
of two classes the second says all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Predictions,
    SharedFolds,
    align_classes,
    cross_fit_predictions,
    fitted,
    parameter,
    takes_weights,
)
from novum.core.runtime import fit_context, fitting
from novum.core.tables import (
    TrainingRows,
    checked_rows,
    columns_of,
    divides_rows,
    frame_of,
    is_frame,
    said_once,
    with_columns,
)
from novum.ensemble.certification import certify_stack
from novum.ensemble.members import (
    NamedMembers,
    Params,
    fitted_member,
    member_codes,
    shared_invariances,
)
from novum.numerics import Array, Floats

_METHODS = ("predict_proba", "decision_function", "predict")


def final_has(method: str) -> Any:
    """Whether the final learner has a method; scikit-learn hides ours otherwise."""

    def check(model: Any) -> bool:
        final = getattr(model, "final_estimator_", None)
        getattr(model._final() if final is None else final, method)
        return True

    return available_if(check)


def _calm(probabilities: Floats) -> Floats:
    """Probabilities closer to 0 or 1 than a square can tell are 0 or 1.

    A column that spreads by less has a variance made of rounding, which the default final learner
    would have to take for information.
    """
    least = np.sqrt(np.finfo(np.float64).eps)
    high = np.where(probabilities > 1 - least, 1.0, probabilities)
    return np.where(probabilities < least, 0.0, high)


class Stacking(TransformerMixin, NamedMembers):
    """Shared by the two; see `StackingClassifier`."""

    final_estimator: Any = parameter(None, HasMethods("fit"), default=None, kw_only=False)
    cv: Any = parameter("cv_object", {"prefit"}, default=None)
    passthrough: bool = parameter(default=False)

    final_estimator_: Any = fitted()
    stack_method_: list[str] = fitted()
    _widths: list[int] = fitted()

    # What a learner of the family says

    @abstractmethod
    def _final(self) -> Any:
        """The final learner, as given or by default, not fitted."""

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Rows and targets of a fit."""

    def _method(self) -> str:
        return "predict"

    def _member_labels(self) -> Any:
        """Labels as the members know them; None where they predict numbers."""
        return None

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on; folds follow the order and the number of the rows."""
        seeing = [member for _, member in self._active()]
        if self.passthrough:
            seeing.append(self._final())
        known = shared_invariances(seeing)
        return tuple(name for name in known if name not in ("row_order", "duplication"))

    # Fit

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members to all rows, and the final learner to their cross-fitted predictions.

        Parameters
        ----------
        X, y
            Rows of any container the members read, and targets.
        sample_weight : array-like of shape (n,), optional
            Passed on to every member and to the final learner, all of which must take weights.
        **fit_params
            For members that request them under scikit-learn's metadata routing.
        """
        with fitting(self) as watch:
            active = self._checked_members(any_kind=is_classifier(self))
            training = self._read(X, y, sample_weight)
            self.final_estimator_ = self._checked_final()
            params = self._fit_params(training, fit_params)
            said = self._learn_members(training, active, params)
            columns = [self._columns(each, m) for m, each in enumerate(said)]
            self._widths = [each.shape[1] for each in columns]
            fitted_member(
                self.final_estimator_,
                self._meta_table(columns, training.table),
                training.target,
                params["final_estimator_"],
                "the final learner",
            )
            self.certificate_ = certify_stack(
                self.estimators_, self.final_estimator_, names=self._names, seconds=watch.seconds
            )
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> Any:
        """`fit(X, y).transform(X)`: what the members, fitted to all rows, say of them."""
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.fit(X, y, **more, **fit_params).transform(X)

    @said_once()
    def transform(self, X: Any) -> Any:
        """What the members say, as the final learner sees it."""
        check_is_fitted(self)
        return self._seen_by_final(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self, "n_features_in_")
        given = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        names = self._column_names()
        return np.concatenate([names, given]) if self.passthrough else names

    # Steps of a fit

    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _checked_final(self) -> Any:
        final = clone(self._final())
        is_kind, kind = (
            (is_classifier, "classifier") if is_classifier(self) else (is_regressor, "regressor")
        )
        if not is_kind(final):
            raise InputError(
                f"'final_estimator' parameter should be a {kind}. Got {final}, which is none."
            )
        return final

    def _fit_params(self, training: TrainingRows, given: Params) -> dict[str, Params]:
        params = super()._fit_params(training, given)
        weight = training.weight
        more = {} if weight is None else {"sample_weight": weight}
        if _routing_enabled():
            routed = process_routing(self, "fit", **more, **training.cut(given))
            return {**params, "final_estimator_": routed["final_estimator_"]["fit"]}
        if weight is not None and not takes_weights(self.final_estimator_):
            raise InputError(
                f"The final learner {type(self.final_estimator_).__name__} takes no "
                "sample_weight. Choose another final_estimator, or leave the weights out."
            )
        return {**params, "final_estimator_": more}

    def _learn_members(
        self, training: TrainingRows, active: Sequence[Any], params: Mapping[str, Params]
    ) -> list[Predictions]:
        """Stores the members; gives what they say of rows they have not been trained on."""
        prefit = self._is_prefit()
        if prefit:
            for _, member in active:
                check_is_fitted(member)
        made = [member for _, member in active]
        self._store_members(made if prefit else self._fit_members(training, active, params))
        self.stack_method_ = [
            self._chosen_method(name, member)
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        if prefit:
            return [self._said(training.table, m) for m in range(len(made))]
        return self._cross_fitted(training, active, params)

    def _chosen_method(self, name: str, member: Any) -> str:
        wanted = _METHODS if self._method() == "auto" else (self._method(),)
        for method in wanted:
            if hasattr(member, method):
                return method
        raise InputError(
            f"Underlying estimator {name} does not implement the method {' or '.join(wanted)}. "
            "Choose another stack_method, or drop it."
        )

    def _cross_fitted(
        self, training: TrainingRows, active: Any, params: Mapping[str, Params]
    ) -> list[Predictions]:
        folds = self._folds(training)
        if isinstance(training.classes, np.ndarray):
            folds.warn_of_absent_classes(training.target, training.classes)
        predictions = []
        for (name, member), method in zip(active, self.stack_method_, strict=True):
            more = dict(params[name])
            weight = more.pop("sample_weight", None)
            try:
                predictions.append(
                    cross_fit_predictions(
                        member,
                        training.table,
                        training.target,
                        folds,
                        method=method,
                        sample_weight=weight,
                        n_jobs=self.n_jobs,
                        fit_params=more,
                    )
                )
            except Exception as error:
                error.add_note(f"This happened in the cross-fitting of member {name!r}.")
                raise
        return predictions

    def _folds(self, training: TrainingRows) -> SharedFolds:
        """What divides rows divides those that count; other folds name given rows."""
        if training.kept is None or divides_rows(self.cv):
            rows = (training.table, training.target)
            return SharedFolds.of(self.cv, *rows, classifier=is_classifier(self))
        whole = SharedFolds.of(self.cv, *training.given, classifier=is_classifier(self))
        return whole.among(training.kept)

    # What members say

    def _said(self, table: Any, m: int) -> Predictions:
        """Predictions of a fitted member, with columns for all classes."""
        member, method, labels = self.estimators_[m], self.stack_method_[m], self._member_labels()
        if not isinstance(labels, np.ndarray) or not is_classifier(member):
            answer = getattr(member, method)(table)
            return answer if isinstance(answer, list) else np.asarray(answer)
        if method == "predict":
            return member_codes(member, table, labels)
        return align_classes(
            np.asarray(getattr(member, method)(table)), member.classes_, labels, method
        )

    def _columns(self, said: Predictions, m: int) -> Floats:
        """Predictions as columns; of probabilities of two classes the last says all."""
        if isinstance(said, list):
            return np.hstack([part[:, 1:] for part in said])
        if said.ndim == 1:
            return said.reshape(-1, 1).astype(np.float64)
        if self.stack_method_[m] != "predict_proba":
            return said
        labels = self._member_labels()
        shown = said[:, 1:] if isinstance(labels, np.ndarray) and len(labels) == 2 else said
        return _calm(shown) if self.final_estimator is None else shown

    def _meta_table(self, columns: list[Floats], table: Any) -> Any:
        joined = np.hstack(columns)
        return beside(joined, self._column_names(), table) if self.passthrough else joined

    def _column_names(self) -> Array:
        prefix, names = type(self).__name__.lower(), []
        for name, width in zip(self._names, self._widths, strict=True):
            several = [f"{prefix}_{name}{j}" for j in range(width)]
            names += several if width > 1 else [f"{prefix}_{name}"]
        return np.array(names, object)

    def _seen_by_final(self, X: Any) -> Any:
        table = checked_rows(self, X, reset=False)
        said = [self._said(table, m) for m in range(len(self.estimators_))]
        return self._meta_table([self._columns(each, m) for m, each in enumerate(said)], table)

    # What others ask of a model

    def _check_state(self) -> None:
        super()._check_state()
        parts = {len(self.estimators_), len(self.stack_method_), len(self._widths)}
        if len(parts) != 1 or not set(self.stack_method_) <= set(_METHODS):
            raise ModelFileError("The methods of the model do not belong to its members.")

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to which member and to the final learner."""
        router = super().get_metadata_routing()
        final = getattr(self, "final_estimator_", None)
        mapping = (
            MethodMapping().add(caller="fit", callee="fit").add(caller="predict", callee="predict")
        )
        router.add(
            final_estimator_=self._final() if final is None else final, method_mapping=mapping
        )
        return router

    def _predict_params(self, given: Params) -> Params:
        """Arguments for `predict` of the final learner."""
        if not _routing_enabled():
            return given
        routed: Params = process_routing(self, "predict", **given).final_estimator_.predict
        return routed

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        last = _VisualBlock(
            "parallel", [self._final()], names=["final_estimator"], dash_wrapped=False
        )
        return _VisualBlock("serial", (super()._sk_visual_block_(), last), dash_wrapped=False)


def beside(columns: Floats, names: Array, X: Any) -> Any:
    """Columns of numbers put in front of a table.

    An array or a frame of numbers gives an array, a sparse matrix a sparse one. A frame with other
    columns stays a frame, so that nominal and missing cells keep their meaning.
    """
    if sparse.issparse(X):
        return sparse.hstack([columns, X], format="csr")
    if not is_frame(X):
        if len(np.shape(X)) != 2:
            raise InputError(
                "The rows of X are no cells in columns, so predictions cannot be put beside them. "
                "Use passthrough=False."
            )
        return np.hstack([columns, X])
    frame = frame_of(X)
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        return np.hstack([columns, frame.to_numpy().astype(np.float64)])
    taken = sorted(set(names.tolist()) & set(frame.columns))
    if taken:
        raise InputError(
            f"X has a column {taken[0]!r}, the name of a member's predictions. Rename the column "
            "or the member."
        )
    n_own, n_new = len(frame.columns), len(names)
    return columns_of(
        with_columns(X, names.tolist(), columns), np.roll(np.arange(n_own + n_new), n_new)
    )
