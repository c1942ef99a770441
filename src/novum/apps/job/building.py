"""From a row of the table of families to an estimator that can be fitted.

Steps that a learner needs before it stand in a pipeline, each of them visible: missing cells are
filled by `FillMissing` only where there are some and the learner cannot take them, and columns are
scaled only where the learner depends on their units.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from novum.apps.job.families import Family, Part, Role, Settings
from novum.core.learners import Pipeline

LEARNER = "learner"


def imported(path: str) -> Any:
    """The class of an import string such as "novum.trees:RandomForestClassifier"."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def build(family: Family, kind: str, *, has_missing: bool, seed: int) -> Any:
    """The family's estimator for a task of this kind, with its preferred settings.

    Examples
    --------
    >>> from novum.apps.job.families import family
    >>> build(family("linear"), "regression", has_missing=False, seed=0).steps[-1]
    ('learner', Ridge(random_state=0))
    """
    role = _role(family, kind)
    learner = _made(role.learner, {**role.settings, **role.candidates[0]}, seed)
    steps = []
    if has_missing and not family.takes_missing:
        steps.append(("fill", imported("novum.data.filling:FillMissing")()))
    if family.scales:
        steps.append(("scale", imported("novum.data.scaling:StandardScaler")()))
    return Pipeline([*steps, (LEARNER, learner)]) if steps else learner


def candidate(family: Family, kind: str, number: int, estimator: Any, seed: int) -> dict[str, Any]:
    """The settings of one candidate, as `estimator.set_params` takes them."""
    prefix = f"{LEARNER}__" if isinstance(estimator, Pipeline) else ""
    role = _role(family, kind)
    settings = (*role.candidates, *role.if_missing)[number]
    return {f"{prefix}{name}": _value(value, seed) for name, value in settings.items()}


def grid(
    family: Family, kind: str, n_candidates: int, estimator: Any, seed: int
) -> list[dict[str, list[Any]]]:
    """The first candidates as a grid for a search over `estimator`."""
    found = (candidate(family, kind, i, estimator, seed) for i in range(n_candidates))
    return [{name: [value] for name, value in settings.items()} for settings in found]


def settings_text(params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Settings as they are shown: short names, plain values.

    Examples
    --------
    >>> settings_text({"learner__C": 0.5})
    (('C', '0.5'),)
    """
    shown = {name.removeprefix(f"{LEARNER}__"): value for name, value in params.items()}
    return tuple(
        (name, value if isinstance(value, str) else " ".join(repr(value).split()))
        for name, value in sorted(shown.items())
    )


def learner_of(model: Any) -> Any:
    """The learner at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _role(family: Family, kind: str) -> Role:
    role = family.role(kind)
    if role is None:
        raise ValueError(f"{family.name} has no learner for {kind}.")
    return role


def _made(path: str, settings: Settings, seed: int) -> Any:
    learner = imported(path)(**{name: _value(value, seed) for name, value in settings.items()})
    return (
        learner.set_params(random_state=seed) if "random_state" in learner.get_params() else learner
    )


def _value(value: Any, seed: int) -> Any:
    return _made(value.learner, value.settings, seed) if isinstance(value, Part) else value
