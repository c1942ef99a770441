"""Parameters declared once: the constructor of a learner follows from what its class says.

    class Ridge(Learner):
        alpha: float = parameter(default=1.0, at_least=0, kw_only=False)
        solver: str = parameter({"auto", "lsqr", "gradient"}, default="auto")
        max_iter: int | None = parameter(default=None, at_least=1)

A declaration states type, default and what else is accepted. From the declarations of a class and
of its bases follow `__init__` (which only stores), the check of values at a fit, `get_params`, what
model files hold, and the `Parameters` section that `help()` shows: entries that a docstring does
not write are those of the base, and every entry ends with its default. A subclass changes a
default in one line, `bootstrap = False`. Type checkers read the declarations as those of a
dataclass, so that editors complete and check the constructor.

What a value may be is the union of

    the type          bool, int, float, str, None, RandomSource, or a class, from the annotation
    the bounds        of an int or float: at_least, above, at_most, below
    more alternatives a set of words in place of any str, classes, "array-like", callables, and
                      the other constraints of scikit-learn

`Any` adds nothing, and a parameter of type `Any` without alternatives is not checked. All this is
worked out once for a class; a fit asks one list of predicates.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from inspect import cleandoc
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar, cast, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    Interval,
    RealNotInt,
    StrOptions,
    make_constraint,
    validate_parameter_constraints,
)

from novum.numerics import one_blas_thread

Result = TypeVar("Result")

REQUIRED: Any = type("Required", (), {"__repr__": lambda _: "required"})()
_SIMPLE: dict[str, list[Any]] = {
    "Any": [],
    "None": [None],
    "bool": ["boolean"],
    "str": [str],
    "RandomSource": ["random_state", np.random.Generator, np.random.SeedSequence],
}
_NUMBERS = {"int": Integral, "float": Real}
# Types whose values need no copy.
_NEVER_CHANGE = frozenset({type(None), bool, int, float, str})


@dataclass(frozen=True, eq=False)
class Parameter:
    """One declaration; what it accepts is known when its class is made."""

    default: Any
    alternatives: tuple[Any, ...]
    low: float | None
    high: float | None
    closed: str
    kw_only: bool
    annotation: str = "Any"
    accepts: list[Any] | str = "no_validation"

    def of_type(self, annotation: str, module: str) -> Parameter:
        """With the constraints of its type, whose names are those of a module."""
        given = [StrOptions(a) if isinstance(a, set) else a for a in self.alternatives]
        accepts: list[Any] = list(given)
        for name in (text.strip() for text in annotation.split("|")):
            if name in _NUMBERS:
                if not any(_is_about_numbers(a) for a in given):
                    accepts.append(self._number(_NUMBERS[name]))
            elif (name == "str" and any(isinstance(a, StrOptions) for a in given)) or (
                name == "bool" and "verbose" in given
            ):
                continue
            elif name in _SIMPLE:
                accepts += _SIMPLE[name]
            elif name.isidentifier():
                accepts += _classes_named(name, module)
        # None comes last in messages: "an int in the range [1, inf) or None".
        accepts = [a for a in accepts if a is not None] + [None] * (None in accepts)
        return replace(self, annotation=annotation, accepts=accepts or "no_validation")

    def _number(self, kind: Any) -> Any:
        if self.low is None and self.high is None:
            return kind
        return Interval(kind, self.low, self.high, closed=self.closed)


def _classes_named(name: str, module: str) -> list[type]:
    """The class of that name in a module; protocols and aliases of types say nothing here."""
    if not hasattr(sys.modules[module], name) and not hasattr(builtins, name):
        raise TypeError(f"A parameter has the type {name}, which {module} does not know yet.")
    value = getattr(sys.modules[module], name, getattr(builtins, name, None))
    is_class = isinstance(value, type) and not getattr(value, "_is_protocol", False)
    return [value] if is_class else []  # type: ignore[list-item]


def _is_about_numbers(alternative: Any) -> bool:
    return isinstance(alternative, Interval) or alternative in (Integral, Real, "verbose")


def parameter(
    *alternatives: Any,
    default: Any = REQUIRED,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    kw_only: bool = True,
) -> Any:
    """Declares a parameter of a learner; without a default it must be given.

    Examples
    --------
    >>> class Smoother(Learner):
    ...     width: float = parameter(default=1.0, above=0, kw_only=False)
    ...     shape: str = parameter({"box", "normal"}, default="box")
    >>> class NormalSmoother(Smoother):
    ...     shape = "normal"
    >>> NormalSmoother(0.5).get_params()
    {'shape': 'normal', 'width': 0.5}
    >>> try:
    ...     Smoother(-1.0)._validate_params()
    ... except ValueError as error:
    ...     print(error)
    The 'width' parameter of Smoother must be a float in the range (0.0, inf). Got -1.0 instead.
    """
    low, high = (at_least if above is None else above), (at_most if below is None else below)
    left, right = at_least is not None, at_most is not None
    closed = {(True, True): "both", (True, False): "left", (False, True): "right"}
    return Parameter(
        default, alternatives, low, high, closed.get((left, right), "neither"), kw_only
    )


def count(least: int = 1) -> Interval:
    """A whole number of at least so many, beside other alternatives."""
    return Interval(Integral, least, None, closed="left")


def share(closed: str = "right") -> Interval:
    """A part of one, which is no whole number; `closed` tells which of 0 and 1 belong to it."""
    return Interval(RealNotInt, 0.0, 1.0, closed=closed)


def fitted(*, init: Literal[False] = False) -> Any:  # noqa: ARG001
    """Declares an attribute that `fit` sets; `init` tells type checkers that it is no parameter.

    Examples
    --------
    >>> class Mean(Learner):
    ...     mean_: float = fitted()
    >>> Mean().get_params(), hasattr(Mean(), "mean_")
    ({}, False)
    """
    return _FITTED


_FITTED = object()


# --- Attributes that are computed when somebody looks ---------------------------------------------


class DeferredAttribute:
    """An attribute of a learner that may be set to a computation, made when it is first read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        try:
            value = vars(model)[self.name]
        except KeyError:
            raise AttributeError(
                f"{type(model).__name__!r} object has no attribute {self.name!r}"
            ) from None
        if isinstance(value, _Later):
            # The same bits as within the fit.
            with one_blas_thread():
                value = vars(model)[self.name] = value()
        return value

    def __set__(self, model: Any, value: Any) -> None:
        vars(model)[self.name] = value

    def __delete__(self, model: Any) -> None:
        if vars(model).pop(self.name, self) is self:
            raise AttributeError(self.name)


class _Later(partial[Any]):
    """A call that a fit has left for later."""


def deferred(*, init: Literal[False] = False) -> Any:  # noqa: ARG001
    """Declares an attribute that `fit` sets to a value or to `later(function, ...)`.

    A proof or a table that few people ask for is computed from what the fit keeps, when it is read
    or when the model is saved; whoever reads it sees the value only.

    Examples
    --------
    >>> class Mean(Learner):
    ...     mean_: float = deferred()
    ...     def fit(self, X):
    ...         self.mean_ = later(np.mean, X)
    ...         return self
    >>> model = Mean().fit([1.0, 2.0, 6.0])
    >>> float(model.mean_), hasattr(Mean(), "mean_")
    (3.0, False)
    """
    return DeferredAttribute()


def later(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """A call for an attribute declared as `deferred`, also made when the model is pickled or saved.

    It must be a function of its arguments alone: parameters may change before it is made.
    """
    return cast("Result", _Later(function, *args, **kwargs))


@dataclass_transform(
    kw_only_default=True, eq_default=False, field_specifiers=(parameter, fitted, deferred)
)
class Learner(BaseEstimator):
    """An estimator whose parameters are declared in its class; see `parameter`."""

    _parameters: ClassVar[dict[str, Parameter]] = {}
    _parameter_names: ClassVar[list[str]] = []
    _parameter_docs: ClassVar[dict[str, _Entry]] = {}
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _parameter_checks: ClassVar[list[tuple[str, Any, list[Any]]]] = []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        declares = any(isinstance(value, Parameter) for value in vars(cls).values())
        cls._parameters = _declared_by(cls)
        cls._parameter_constraints = {n: p.accepts for n, p in cls._parameters.items()}
        cls._parameter_checks = [
            (name, cls._parameters[name].default, [make_constraint(one) for one in accepts])
            for name, accepts in cls._parameter_constraints.items()
            if accepts != "no_validation"
        ]
        # A constructor that somebody wrote stays, for this class and those below it.
        inherited = cls.__init__ is BaseEstimator.__init__ or hasattr(cls.__init__, "is_declared")
        if "__init__" not in vars(cls) and (declares or inherited):
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        cls._parameter_names = super()._get_param_names()
        if cls.__doc__:
            cls.__doc__ = _documented(cls)
        super().__init_subclass__(**kwargs)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return cls._parameter_names

    def __sklearn_clone__(self) -> Any:
        """As scikit-learn's, which copies every value deeply: numbers and words need no copy."""
        values = vars(self)
        # Anything else that was set, requests of metadata or a fit, is for scikit-learn.
        if (
            len(values) == len(self._parameters)
            and hasattr(type(self).__init__, "is_declared")
            and all(type(value) in _NEVER_CHANGE for value in values.values())
        ):
            return type(self)(**values)
        return super().__sklearn_clone__()

    def __getstate__(self) -> dict[str, Any]:
        """The attributes for a pickle: values, where a fit has left a call for later."""
        for name, value in list(vars(self).items()):
            if isinstance(value, _Later):
                getattr(self, name)
        return super().__getstate__()

    def _validate_params(self) -> None:
        for name, default, checks in self._parameter_checks:
            value = getattr(self, name)
            # Most are the default itself, which is accepted.
            if value is not default and not any(check.is_satisfied_by(value) for check in checks):
                validate_parameter_constraints(
                    self._parameter_constraints, {name: value}, type(self).__name__
                )


def _declared_by(cls: type) -> dict[str, Parameter]:
    """Parameters of a class and its bases, those of the bases first; takes them off the class."""
    declared: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__[1:]):
        declared |= vars(base).get("_parameters", {})
    for name, value in list(vars(cls).items()):
        if isinstance(value, Parameter):
            declared[name] = value.of_type(str(cls.__annotations__[name]), cls.__module__)
        elif name in declared and not isinstance(value, property):
            declared[name] = replace(declared[name], default=value)
        elif value is not _FITTED:
            continue
        delattr(cls, name)
    return declared


def _constructor(cls: type[Learner]) -> Any:
    """`__init__` as one would write it: positional parameters, `*`, the others; each stored."""
    defaults = {f"_{n}": p.default for n, p in cls._parameters.items() if p.default is not REQUIRED}
    texts = {n: f"{n}=_{n}" if f"_{n}" in defaults else n for n in cls._parameters}
    positional = [texts[n] for n, p in cls._parameters.items() if not p.kw_only]
    others = [texts[n] for n, p in cls._parameters.items() if p.kw_only]
    arguments = ", ".join(["self", *positional, *(["*"] if others else []), *others])
    body = "\n".join(f"    self.{name} = {name}" for name in cls._parameters) or "    pass"
    made: dict[str, Any] = {}
    exec(f"def __init__({arguments}):\n{body}", defaults, made)  # names are identifiers of ours
    init = made["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {n: p.annotation for n, p in cls._parameters.items()} | {"return": None}
    init.is_declared = True
    return init


# --- Documentation --------------------------------------------------------------------------------

# An entry of a docstring: its names, the type in words, and the lines below.
_Entry = tuple[tuple[str, ...], str, tuple[str, ...]]
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.M | re.S)
_NEXT_SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.M)


def _documented(cls: type[Learner]) -> str:
    """The docstring with an entry for every parameter, inherited where the class writes none."""
    text = cleandoc(cls.__doc__ or "")
    section = _SECTION.search(text)
    own = {name: entry for entry in _entries(section[1] if section else "") for name in entry[0]}
    cls._parameter_docs = cls._parameter_docs | own
    if not cls._parameters:
        return text
    lines, written = ["Parameters", "----------"], set()
    for name, declared in sorted(cls._parameters.items(), key=lambda item: item[1].kw_only):
        entry = cls._parameter_docs.get(name, ((name,), declared.annotation, ()))
        names = [n for n in entry[0] if n in cls._parameters and n not in written]
        if name in written:
            continue
        written.update(names)
        defaults = [cls._parameters[n].default for n in names]
        shown = " and ".join(dict.fromkeys(map(repr, defaults)))
        ending = "" if defaults[0] is REQUIRED else f", default={shown}"
        lines += [f"{', '.join(names)} : {entry[1]}{ending}", *entry[2]]
    following = section or _NEXT_SECTION.search(text)
    start = following.start() if following else len(text)
    end = section.end() if section else start
    return "\n\n".join([text[:start].rstrip(), "\n".join(lines), text[end:]]).rstrip()


def _entries(section: str) -> Iterator[_Entry]:
    """Entries of a section of parameters; a backslash joins lines of names."""
    blocks = re.split(r"\n(?=\S)", section.replace("\\\n", "").rstrip())
    for block in filter(None, blocks):
        header, *lines = block.split("\n")
        names, _, kind = header.partition(" : ")
        kind = re.sub(r",? *(default=.*|optional)$", "", kind)
        yield tuple(n.strip() for n in names.split(",")), kind, tuple(lines)
