"""Who gets which argument: the learner, the splitter, and every scorer.

With scikit-learn's metadata routing each asks for what it wants; without it, all arguments go to
the learner, `groups` to the splitter, and weights to the scorers that take them as well, because a
row of weight 2 counts as two rows in training and in judgment.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)

from novum.core.errors import InputError
from novum.evaluation.measures.scorers import resolve_scoring
from novum.evaluation.validation.fold_fits import takes_weight


@dataclass(frozen=True, eq=False)
class Routed:
    """Arguments by who gets them.

    Attributes
    ----------
    fit : mapping
        Of the learner.
    score : mapping of scorers' names to mappings
    groups : array-like or None
    split : mapping
        Of the splitter, besides `groups`.
    """

    fit: Mapping[str, Any]
    score: Mapping[str, Mapping[str, Any]]
    groups: Any
    split: Mapping[str, Any]


def named_scorers(model: Any, scoring: Any) -> tuple[dict[str, Any], bool]:
    """Scorers by name, and whether there are several; a single one is named "score".

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> named_scorers(Ridge(), "r2")
    ({'score': scorer('r2')}, False)
    """
    scorers = resolve_scoring(model, scoring)
    if isinstance(scoring, (Mapping, list, tuple, set)):
        return scorers, True
    return {"score": next(iter(scorers.values()))}, False


def route(
    owner: str,
    model: Any,
    scorers: Mapping[str, Any],
    cv: Any,
    groups: Any = None,
    params: Mapping[str, Any] | None = None,
    *,
    method: str = "fit",
) -> Routed:
    """Divides arguments among learner, splitter and scorers.

    Parameters
    ----------
    owner : str
        Name of the caller, for messages.
    model, scorers, cv
        Who may ask for arguments.
    groups : array-like, optional
        For the splitter; goes into `params` where routing is on.
    params : mapping, optional
    method : {"fit", "partial_fit"}
        Of the learner, that gets its arguments.
    """
    given = dict(params or {})
    if not _routing_enabled():
        chosen = given.pop("groups", None) if groups is None else groups
        given.pop("groups", None)
        return Routed(given, _weights_of(scorers, given), chosen, {})
    if groups is not None:
        raise InputError(
            f"{owner} takes groups in params where metadata routing is enabled: "
            "params={'groups': groups}."
        )
    return _routed(owner, model, scorers, cv, given, method)


def _routed(
    owner: str,
    model: Any,
    scorers: Mapping[str, Any],
    cv: Any,
    given: Mapping[str, Any],
    method: str,
) -> Routed:
    router = router_of(owner, model, scorers, cv, method)
    try:
        routed = process_routing(router, "fit", **given)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{owner}.fit", owner),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from None
    split = dict(routed.splitter.split)
    score = {name: dict(getattr(routed, scorer_key(name)).score) for name in scorers}
    return Routed(dict(routed.estimator[method]), score, split.pop("groups", None), split)


def router_of(
    owner: Any, model: Any, scorers: Mapping[str, Any], cv: Any, method: str = "fit"
) -> MetadataRouter:
    """scikit-learn's router of a caller that fits, splits and scores."""
    router = MetadataRouter(owner=owner)
    router.add(estimator=model, method_mapping=MethodMapping().add(caller="fit", callee=method))
    router.add(splitter=cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    for name, scorer in scorers.items():
        mapping = MethodMapping().add(caller="fit", callee="score")
        router.add(
            **{scorer_key(name): scorer},
            method_mapping=mapping.add(caller="score", callee="score"),
        )
    return router


def scorer_key(name: str) -> str:
    """The name of a scorer among the targets of a router."""
    return f"scorer_{name}"


def _weights_of(scorers: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    weight = given.get("sample_weight")
    if weight is None:
        return {}
    blind = [name for name, scorer in scorers.items() if not takes_weight(scorer)]
    for name in blind:
        warnings.warn(
            f"The scoring {name}={scorers[name]!r} does not support sample_weight: rows are "
            "weighted in training but count once in this score. Use a scorer that takes it.",
            UserWarning,
            stacklevel=4,
        )
    return {name: {"sample_weight": weight} for name in scorers if name not in blind}
