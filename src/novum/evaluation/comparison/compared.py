"""What is compared: models and data sets under names of their own, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation.comparison.score_table import checked_names


class Dataset(NamedTuple):
    """A table with its targets, groups and weights; what is absent is None."""

    X: Any
    y: Any
    groups: Any = None
    sample_weight: Any = None


def named_models(models: Any) -> dict[str, Any]:
    """Models by name, from a mapping, a list of pairs or a list of estimators.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier, DummyRegressor
    >>> list(named_models([DummyClassifier(), DummyRegressor()]))
    ['DummyClassifier', 'DummyRegressor']
    """
    if isinstance(models, Mapping):
        entries = list(models.items())
    elif isinstance(models, (list, tuple)):
        entries = [_pair(entry) for entry in models]
    else:
        raise InputError(
            "models are a mapping of names to estimators or a list of them, at least two; got "
            f"{printable(repr(models), 80)}."
        )
    try:
        names = checked_names([name for name, _ in entries], "model", 2)
    except InputError as error:
        if not isinstance(models, Mapping) and "more than once" in str(error):
            raise InputError(f"{error} Pass a mapping {{name: model}}.") from None
        raise
    for name, (_, model) in zip(names, entries, strict=True):
        _check_model(name, model)
    return {name: model for name, (_, model) in zip(names, entries, strict=True)}


def named_datasets(
    datasets: Any, X: Any, y: Any, groups: Any, sample_weight: Any
) -> dict[str, Dataset]:
    """Data sets by name, from `datasets` or from one table."""
    if datasets is None:
        if X is None:
            raise InputError("compare needs a table: pass X and y, or datasets={name: (X, y)}.")
        return {"data": Dataset(X, y, groups, sample_weight)}
    if X is not None or y is not None:
        raise InputError("Pass X and y, or datasets, not both.")
    entries = _entries(datasets)
    names = checked_names([name for name, _ in entries], "data set", 1)
    extras = {
        "groups": _by_name(groups, names, "groups"),
        "sample_weight": _by_name(sample_weight, names, "sample_weight"),
    }
    return {
        name: Dataset(*_table(name, value), **{key: found[name] for key, found in extras.items()})
        for name, (_, value) in zip(names, entries, strict=True)
    }


def _pair(entry: Any) -> tuple[str, Any]:
    if isinstance(entry, tuple):
        if len(entry) == 2 and isinstance(entry[0], str):
            return entry
        raise InputError(
            f"A pair of models is (name, estimator), got {printable(repr(entry), 80)}."
        )
    return type(entry).__name__, entry


def _check_model(name: str, model: Any) -> None:
    if isinstance(model, type):
        raise InputError(
            f"Model {printable(repr(name), 60)} is the class {model.__name__}, not an estimator. "
            f"Write {model.__name__}()."
        )
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            f"Model {printable(repr(name), 60)} is no estimator: it has no fit and get_params, but "
            f"is {printable(repr(model), 80)}."
        )


def _entries(datasets: Any) -> list[tuple[Any, Any]]:
    if isinstance(datasets, Mapping):
        return list(datasets.items())
    if isinstance(datasets, (list, tuple)) and all(
        isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        for entry in datasets
    ):
        return list(datasets)
    raise InputError(
        "datasets are a mapping {name: (X, y)} or a list of (name, (X, y)), got "
        f"{printable(repr(datasets), 80)}."
    )


def _table(name: str, value: Any) -> tuple[Any, Any]:
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return value[0], value[1]
    raise InputError(
        f"Data set {printable(repr(name), 60)} is a pair (X, y), got {printable(repr(value), 80)}."
    )


def _by_name(values: Any, names: tuple[str, ...], argument: str) -> dict[str, Any]:
    """What belongs to each data set, from a mapping with the same names."""
    if values is None:
        return dict.fromkeys(names)
    if not isinstance(values, Mapping):
        raise InputError(
            f"With several data sets {argument} is a mapping from their names, got "
            f"{type(values).__name__}."
        )
    unequal = sorted(set(map(str, values)) ^ set(names))
    if unequal:
        shown = ", ".join(printable(repr(name), 60) for name in unequal)
        raise InputError(
            f"The names of {argument} and of datasets are not the same: {shown} occurs in one "
            "only. Give every data set its entry, None where it has none."
        )
    return {str(name): value for name, value in values.items()}
