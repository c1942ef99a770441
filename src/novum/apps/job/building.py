"""From a row of the table of families to an estimator that can be fitted.

Steps that a learner needs before it stand in a pipeline, each of them visible: dates become
features, free text becomes terms or is not passed on, missing cells are filled by `FillMissing`
only where there are some and the learner cannot take them, and columns are scaled only where the
learner depends on their units.

Where classes are levels with an order, the whole stands in an `OrderedClassifier`, which decides
for their median, and a learner that uses the order is told it.

Columns of few whole numbers may be amounts or names of levels. Families to which that matters are
tried with their preferred settings both ways, and the inner folds choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from novum.apps.job.families import Family, Part, Role, Settings
from novum.apps.job.table.task import PLAIN, SpecialColumns
from novum.core.decisions import OrderedClassifier
from novum.core.learners import Pipeline

LEARNER = "learner"
_LEVELS = "categorical_features"


def imported(path: str) -> Any:
    """The class of an import string such as "novum.trees:RandomForestClassifier"."""
    module, name = path.split(":")
    return getattr(import_module(module), name)


def build(
    family: Family,
    kind: str,
    *,
    seed: int,
    columns: SpecialColumns = PLAIN,
    levels: tuple[Any, ...] = (),
) -> Any:
    """The family's estimator for a task of this kind, with its preferred settings.

    Examples
    --------
    >>> from novum.apps.job.families import family
    >>> build(family("linear"), "regression", seed=0).steps[-1]
    ('learner', Ridge(random_state=0))
    """
    role = _role(family, kind, columns)
    learner = _made(role.learner, {**role.settings, **role.candidates[0]}, seed)
    if levels and "classes" in learner.get_params(deep=False):
        learner.set_params(classes=list(levels))
    if family.name == "constant":
        return in_order(learner, levels)
    steps = []
    takes_text = columns.texts and _takes_text(family, kind)
    apart = () if takes_text else columns.texts
    if columns.dates or apart:
        dates = {
            "columns": list(columns.dates),
            # What comes back every year is near itself for learners that measure distances.
            "cyclic": family.scales,
            "day_first": list(columns.day_first),
            "leave_out": list(apart),
        }
        steps.append(("dates", imported("novum.data:DateFeatures")(**dates)))
    if takes_text or not family.takes_missing:
        # Rows to come may lack cells, whether training rows did or not; complete ones stay as
        # they are.
        steps.append(("fill", imported("novum.data.filling:FillMissing")()))
    if role.nonnegative:
        steps.append(("scale", imported("novum.data.scaling:MinMaxScaler")(clip=True)))
    elif family.scales:
        steps.append(("scale", imported("novum.data.scaling:StandardScaler")()))
    if takes_text:
        others = None if columns.are_texts_alone else Pipeline(steps)
        text = imported("novum.data:TextFeatures")(list(columns.texts), others=others)
        steps = [("text", text)]
    return in_order(Pipeline([*steps, (LEARNER, learner)]) if steps else learner, levels)


def in_order(model: Any, levels: tuple[Any, ...]) -> Any:
    """The model, deciding for the median where there are levels."""
    return OrderedClassifier(model, levels) if levels else model


def candidate(
    family: Family,
    kind: str,
    number: int,
    estimator: Any,
    seed: int,
    columns: SpecialColumns = PLAIN,
) -> dict[str, Any]:
    """The settings of one candidate, as `estimator.set_params` takes them."""
    inside = estimator.model if isinstance(estimator, OrderedClassifier) else estimator
    before = "model__" if inside is not estimator else ""
    prefix = f"{before}{LEARNER}__" if isinstance(inside, Pipeline) else before
    settings = dict(_candidates(family, kind, columns)[number])
    as_levels = settings.pop(_LEVELS, None)
    candidate = {f"{prefix}{name}": _value(value, seed) for name, value in settings.items()}
    if as_levels is not None:
        steps = inside.steps if isinstance(inside, Pipeline) else [("", inside)]
        for name, step in steps:
            if step is None or _LEVELS in step.get_params():
                candidate[f"{before}{name}__{_LEVELS}" if name else f"{before}{_LEVELS}"] = list(
                    as_levels
                )
    return candidate


def grid(
    family: Family,
    kind: str,
    n_candidates: int,
    estimator: Any,
    seed: int,
    columns: SpecialColumns = PLAIN,
) -> list[dict[str, list[Any]]]:
    """The first candidates as a grid for a search over `estimator`."""
    candidates = (candidate(family, kind, i, estimator, seed, columns) for i in range(n_candidates))
    return [{name: [value] for name, value in settings.items()} for settings in candidates]


def settings_text(params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Settings as they are shown: short names, plain values.

    Examples
    --------
    >>> settings_text({"learner__C": 0.5})
    (('C', '0.5'),)
    """
    shown = {
        name.removeprefix("model__").removeprefix(f"{LEARNER}__"): value
        for name, value in params.items()
    }
    levels = next((value for name, value in shown.items() if name.endswith(_LEVELS)), None)
    shown = {name: value for name, value in shown.items() if not name.endswith(_LEVELS)}
    if levels is not None:
        shown["as levels"] = ", ".join(levels)
    return tuple(
        (name, value if isinstance(value, str) else " ".join(repr(value).split()))
        for name, value in sorted(shown.items())
    )


def learner_of(model: Any) -> Any:
    """The learner at the end of a pipeline, or the model itself."""
    if isinstance(model, OrderedClassifier):
        return learner_of(model.model)
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _role(family: Family, kind: str, columns: SpecialColumns) -> Role:
    role = family.role(kind, bool(columns.texts))
    if role is None:
        raise ValueError(f"{family.name} has no learner for {kind}.")
    return role


def _takes_text(family: Family, kind: str) -> bool:
    role = family.role(kind)
    return role is not None and role.for_text is not None


def _candidates(family: Family, kind: str, columns: SpecialColumns) -> list[Settings]:
    """Settings to try in order; the second has columns of few whole numbers as levels."""
    role = _role(family, kind, columns)
    candidates: list[Settings] = [*role.candidates, *role.if_missing]
    if family.tries_levels(0 if columns.texts else columns.most_whole):
        whole = [name for name, count in columns.whole if count >= (family.levels_from or 0)]
        candidates.insert(1, {**role.candidates[0], _LEVELS: (*columns.levels, *whole)})
    return candidates


def _made(path: str, settings: Settings, seed: int) -> Any:
    learner = imported(path)(**{name: _value(value, seed) for name, value in settings.items()})
    is_seeded = hasattr(learner, "get_params") and "random_state" in learner.get_params()
    return learner.set_params(random_state=seed) if is_seeded else learner


def _value(value: Any, seed: int) -> Any:
    return _made(value.learner, value.settings, seed) if isinstance(value, Part) else value
