"""The closed list of what a model file may contain.

A model file names classes; the tables of `registered_names` are the only way from such a name to a
class. They are written in the source, resolved by exact match and imported only when used, so that
a file can neither choose a module nor reach an attribute. A name that is not there does not exist:

    name  ->  "package.module:Class"  ->  class

Names are unique over both tables. Tests and private extensions add classes for the length of a
`with registered(...)` block; the tables themselves never change.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from novum.core.errors import InputError
from novum.core.files.registered_names import ESTIMATOR_NAMES, VALUE_NAMES


def _by_name(homes: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Where each name leads; a class whose name is taken is written `Name as OtherName`."""
    home_of: dict[str, str] = {}
    for home, names in homes.items():
        for written in names:
            own, _, other = written.partition(" as ")
            name = other or own
            if name in home_of:
                raise ValueError(f"{name} is registered by {home_of[name]} and by {home}.")
            home_of[name] = f"{home}:{own}"
    return home_of


ESTIMATORS: Mapping[str, str] = _by_name(ESTIMATOR_NAMES)
VALUES: Mapping[str, str] = _by_name(VALUE_NAMES)

_Classes = Mapping[str, type]
_NONE: tuple[_Classes, _Classes] = ({}, {})
_extra: ContextVar[tuple[_Classes, _Classes]] = ContextVar("novum_registry_extra", default=_NONE)


def estimator(name: str) -> type:
    """The estimator class of that registered name.

    Raises
    ------
    InputError
        If the name is not in the table.

    Examples
    --------
    >>> try:
    ...     estimator("os.system")
    ... except InputError as error:
    ...     print(str(error)[:51])
    'os.system' is not an estimator in Novum's registry
    """
    return _class_of(name, ESTIMATORS, _extra.get()[0], "an estimator")


def value(name: str) -> type:
    """The value class (frozen dataclass, named tuple or enum) of that registered name."""
    return _class_of(name, VALUES, _extra.get()[1], "a value")


def name_of(cls: type) -> str | None:
    """The registered name of a class, or `None` if it is in neither table.

    Examples
    --------
    >>> from novum.core.decisions import WorkingPoint
    >>> name_of(WorkingPoint)
    'WorkingPoint'
    >>> name_of(dict) is None
    True
    """
    for classes in _extra.get():
        for name, known in classes.items():
            if known is cls:
                return name
    if cls.__module__.partition(".")[0] != "novum":
        return None
    for table in (ESTIMATORS, VALUES):
        for name, target in table.items():
            # Only a class of the same name can be the target, so nothing else is imported.
            if target.partition(":")[2] == cls.__qualname__ and _imported(target) is cls:
                return name
    return None


@contextmanager
def registered(
    estimators: _Classes | None = None, values: _Classes | None = None
) -> Iterator[None]:
    """Add classes to the registry inside a `with` block, in this thread and context only.

    Parameters
    ----------
    estimators, values : mapping of name to class
        Names must be new; a built-in name cannot be redirected.

    Examples
    --------
    >>> class Mine: ...
    >>> with registered(estimators={"Mine": Mine}):
    ...     estimator("Mine") is Mine
    True
    """
    more_estimators, more_values = dict(estimators or {}), dict(values or {})
    old_estimators, old_values = _extra.get()
    taken = {*ESTIMATORS, *VALUES, *old_estimators, *old_values}
    repeated = sorted(
        (taken & {*more_estimators, *more_values}) | (set(more_estimators) & set(more_values))
    )
    if repeated:
        raise InputError(
            f"The registry already has {', '.join(repeated)}; register under another name."
        )
    token = _extra.set(({**old_estimators, **more_estimators}, {**old_values, **more_values}))
    try:
        yield
    finally:
        _extra.reset(token)


def _class_of(name: str, table: Mapping[str, str], extra: _Classes, what: str) -> type:
    if isinstance(name, str):
        if name in table:
            return _imported(table[name])
        if name in extra:
            return extra[name]
    known = ", ".join(sorted({*table, *extra}))
    # ascii() keeps look-alike letters and terminal escapes of a hostile name visible and inert.
    raise InputError(f"{ascii(name)[:80]} is not {what} in Novum's registry, which has {known}.")


def _imported(target: str) -> type:
    module, _, attribute = target.partition(":")
    cls: type = getattr(importlib.import_module(module), attribute)
    return cls
