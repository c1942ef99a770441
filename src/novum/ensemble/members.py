"""Learners inside a learner: named, checked, fitted side by side, asked in order.

`NamedMembers` is what voting and stacking share: the list of named estimators, some of them
perhaps dropped, with scikit-learn's access to nested parameters (`set_params(knn__n_neighbors=3)`,
`set_params(knn="drop")`). Which metadata reach which member follows scikit-learn's routing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.metaestimators import _BaseComposition

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, fitted, parameter, takes_weights
from novum.core.runtime import fitted_model, run_tasks, track
from novum.core.tables import TrainingRows
from novum.numerics import Array, Positions

Task = TypeVar("Task")
Result = TypeVar("Result")
Params = Mapping[str, Any]

_NO_LIST = "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of "


class NamedMembers(MetaEstimatorMixin, Learner, _BaseComposition):
    """Shared by ensembles of named learners; see `VotingClassifier`."""

    estimators: list[tuple[str, Any]] = parameter(list, kw_only=False)
    n_jobs: int | None = parameter(default=None)
    verbose: int = parameter("verbose", default=0)

    estimators_: list[Any] = fitted()
    certificate_: Certificate = fitted()
    n_features_in_: int = fitted()
    feature_names_in_: Array = fitted()
    _slots: list[list[Any]] = fitted()

    # Parameters

    @property
    def named_estimators(self) -> Bunch:
        """The learners by name, as they were given."""
        return Bunch(**dict(self.estimators))

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted learners by name; "drop" for those left out."""
        fitted = iter(self.estimators_)
        return Bunch(**{name: next(fitted) if kept else "drop" for name, kept in self._slots})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the ensemble and, if `deep`, of its learners under `name__parameter`."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Any:
        """Sets parameters; `name=estimator` replaces a learner, `name="drop"` leaves it out."""
        self._set_params("estimators", **params)
        return self

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on: what none of the learners depends on."""
        return shared_invariances([member for _, member in self._active()])

    # Members

    def _active(self) -> list[tuple[str, Any]]:
        return [(name, member) for name, member in self.estimators if not _is_dropped(member)]

    @property
    def _names(self) -> list[str]:
        """Names of the fitted learners."""
        return [name for name, kept in self._slots if kept]

    def _checked_members(self, *, any_kind: bool = False) -> list[tuple[str, Any]]:
        """The learners that take part, of the ensemble's own kind unless `any_kind`."""
        listed = self.estimators
        if not isinstance(listed, (list, tuple)) or len(listed) == 0:
            raise InputError(f"{_NO_LIST}(string, estimator) tuples.")
        for item in listed:
            if not (
                isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)
            ):
                raise InputError(f"{_NO_LIST}(string, estimator) tuples; it holds {item!r}.")
        self._validate_names([name for name, _ in listed])
        active = self._active()
        if not active:
            raise InputError(
                "All estimators are dropped. At least one is required to be an estimator."
            )
        is_kind, kind = (
            (is_classifier, "classifier") if is_classifier(self) else (is_regressor, "regressor")
        )
        for name, member in active:
            if not hasattr(member, "fit") or not (any_kind or is_kind(member)):
                raise InputError(
                    f"The estimator {type(member).__name__} should be a {kind}. Replace or drop "
                    f"{name!r}."
                )
        return active

    def _fit_params(self, training: TrainingRows, given: Params) -> dict[str, Params]:
        """Arguments of `fit` for every learner, by its name."""
        active, weight = self._active(), training.weight
        more = {} if weight is None else {"sample_weight": weight}
        if not _routing_enabled():
            _raise_for_params(given, self, "fit")
            for name, member in active:
                if weight is not None and not takes_weights(member):
                    raise InputError(
                        f"Underlying estimator {type(member).__name__} does not support sample "
                        f"weights: {name!r} takes no sample_weight. Drop it, or leave the weights "
                        "out."
                    )
            return {name: more for name, _ in active}
        routed = process_routing(self, "fit", **more, **training.cut(given))
        return {name: dict(routed[name]["fit"]) for name, _ in active}

    def _fit_members(
        self,
        training: TrainingRows,
        active: Sequence[tuple[str, Any]],
        params: Mapping[str, Params],
    ) -> list[Any]:
        def fit(item: tuple[str, Any]) -> Any:
            name, member = item
            return fitted_member(
                clone(member), training.table, training.target, params[name], f"member {name!r}"
            )

        return run_members(self, fit, active)

    def _store_members(self, members: list[Any]) -> None:
        self.estimators_ = members
        self._slots = [[name, not _is_dropped(member)] for name, member in self.estimators]

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        slots = self._slots
        if not all(isinstance(slot, list) and len(slot) == 2 for slot in slots):
            raise ModelFileError("The names of the model's members are damaged.")
        if len(self._names) != len(self.estimators_) or not self.estimators_:
            raise ModelFileError(
                f"The model has {len(self.estimators_)} members for {len(self._names)} names."
            )

    # scikit-learn

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to which learner, under scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        for name, member in self._active():
            mapping = MethodMapping().add(caller="fit", callee="fit")
            router.add(**{name: member}, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            combine_input_tags(tags, [member for _, member in self._active()])
        except (TypeError, ValueError, AttributeError):
            # What is wrong with the list of estimators is said by `fit`.
            return tags
        return tags

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        names, estimators = zip(*self.estimators, strict=True)
        return _VisualBlock("parallel", estimators, names=names)


# --- One member -----------------------------------------------------------------------------------


def fitted_member(member: Any, X: Any, y: Any, params: Params, what: str) -> Any:
    """The member, fitted; an error says which it was."""
    try:
        return fitted_model(member, X, y, **params)
    except Exception as error:
        error.add_note(f"This happened in the fit of {what}, a {type(member).__name__}.")
        raise


def consumes_weights(member: Any) -> bool:
    """Whether weights of rows can be given to a member by name, under the routing in force."""
    if _routing_enabled():
        request = get_routing_for_object(member)
        return bool(request.consumes("fit", ("sample_weight",)))
    return takes_weights(member)


def member_codes(member: Any, X: Any, classes: Array, **params: Any) -> Positions:
    """Codes into `classes` of what a member predicts."""
    predicted = np.asarray(member.predict(X, **params))
    codes = np.searchsorted(classes, predicted)
    wrong = classes[np.minimum(codes, len(classes) - 1)] != predicted
    if wrong.any():
        raise InputError(
            f"{type(member).__name__} predicts {predicted[wrong].tolist()[0]!r}, which is not "
            f"among the classes {classes.tolist()}. Train it on the same labels."
        )
    return codes


# --- All members ----------------------------------------------------------------------------------


def run_members(
    model: Any, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> list[Result]:
    """`[function(task) for task in tasks]`, `n_jobs` at once; a bar if the model is verbose."""
    todo = list(tasks)
    lock = threading.Lock()
    with track(model, "members", total=len(todo)) as progress:

        def run(task: Task) -> Result:
            result = function(task)
            with lock:
                progress.advance()
            return result

        return run_tasks(run, todo, model.n_jobs)


def shared_invariances(members: Sequence[Any]) -> tuple[str, ...]:
    """What no member depends on; nothing is known of members that declare nothing.

    Examples
    --------
    >>> from novum.linear import LinearRegression, Ridge
    >>> shared_invariances([LinearRegression(), Ridge()])
    ('shift', 'row_order', 'duplication')
    """
    declared = [tuple(getattr(member, "invariances", ())) for member in members]
    return tuple(name for name in declared[0] if all(name in other for other in declared))


def combine_input_tags(tags: Any, members: Sequence[Any]) -> None:
    """What all members can read the ensemble can; what one of them needs it needs."""
    member_tags = [get_tags(member).input_tags for member in members]
    for name in ("allow_nan", "sparse", "categorical", "string", "two_d_array"):
        setattr(tags.input_tags, name, all(getattr(each, name) for each in member_tags))
    tags.input_tags.positive_only = any(each.positive_only for each in member_tags)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member == "drop"
