"""Turning a fitted estimator into JSON and arrays: the writing half of the code.

A value that JSON has is written as itself. Everything else is an object with a `kind`:

    tuple, dict, mapping   items, in order
    int, float             those JSON loses: beyond 64 bits, not finite (by their bits)
    scalar, text           NumPy scalars, by dtype and bytes
    array, labels          numeric array (index into the table of arrays), array of strings
    class                  registered class of values, such as a law, itself
    enum, value            registered enum, frozen dataclass, named tuple or mapping: its fields
    estimator              registered estimator: its parameters and its fitted attributes

What is in no line of this table is refused with the path to it (`Ridge.schema_.columns[2]`), so
that a saved model is never less than the model. Equal models give equal JSON.
`novum.core.files.state_decoding` is the reading half.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import re
import struct
import sys
from collections.abc import Mapping
from enum import Enum
from numbers import Integral, Real
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, get_args, get_origin

import numpy as np

from novum.core.errors import ModelFileError
from novum.core.files import registry
from novum.core.files.array_members import DTYPES, Array
from novum.core.learners import Certificate, DeferredAttribute

# Values inside values; cycles end here too. Each level takes up to three levels of JSON.
MAX_NESTING = 60
# Methods whose metadata requests (`set_fit_request` and so on) are kept.
REQUEST_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
    "inverse_transform",
)
_NAME = re.compile(r"_[A-Za-z][A-Za-z0-9_]*|[A-Za-z][A-Za-z0-9_]*_")
_REQUESTS = "_metadata_request"
_PLAIN = (bool, int, float, str, type(None))
# Kinds of cells that may stand in arrays of a declared kind.
_CELLS = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}


@dataclasses.dataclass
class StateEncoder:
    """Collects what the JSON of one model refers to.

    Attributes
    ----------
    arrays : list of ndarray
        Numeric arrays in the order met.
    holds_training_rows : bool
        Whether the model, or one inside it, keeps rows it was trained on.
    """

    arrays: list[Array] = dataclasses.field(default_factory=list)
    holds_training_rows: bool = False

    def encode(self, value: object, path: str, nesting: int = 0) -> Any:
        """The JSON of a value; `path` names it in messages."""
        if nesting > MAX_NESTING:
            raise ModelFileError(
                f"{path[:200]} is nested deeper than {MAX_NESTING} levels or contains itself; "
                "a model file cannot hold it."
            )
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if -(2**63) <= value < 2**63 else {"kind": "int", "hex": hex(value)}
        if type(value) is float:
            bits = {"kind": "float", "bits": struct.pack(">d", value).hex()}
            return value if np.isfinite(value) else bits
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            return _encoded_scalar(value, path)
        if type(value) is np.ndarray:
            return self._array(value, path, nesting)
        return self._container(value, path, nesting + 1)

    # Arrays

    def _array(self, array: Array, path: str, nesting: int) -> dict[str, Any]:
        if array.dtype.newbyteorder("<").str in DTYPES:
            self.arrays.append(array)
            return {"kind": "array", "index": len(self.arrays) - 1}
        if array.dtype.kind not in "UO":
            raise _refusal(f"{path}, an array of dtype {array.dtype},", "Convert it to float64.")
        items = [
            self._label(item, f"{path}[{i}]", nesting + 1)
            for i, item in enumerate(array.ravel().tolist())
        ]
        return {
            "kind": "labels",
            "dtype": "object" if array.dtype.kind == "O" else f"<U{array.dtype.itemsize // 4}",
            "shape": list(array.shape),
            "items": items,
            "writeable": array.flags.writeable,
        }

    def _label(self, item: object, path: str, nesting: int) -> Any:
        if item is None or type(item) in (str, bool, int, float):
            return self.encode(item, path, nesting)
        raise _refusal(
            f"{path}, a {_type_name(item)} in an array of objects,",
            "Arrays of objects may hold text and plain numbers only.",
        )

    # Containers

    def _container(self, value: object, path: str, nesting: int) -> Any:
        if type(value) is list:
            return self._items(value, path, nesting)
        if type(value) is tuple:
            return {"kind": "tuple", "items": self._items(value, path, nesting)}
        if type(value) in (dict, MappingProxyType):
            kind = "dict" if type(value) is dict else "read_only_dict"
            return {"kind": kind, "items": self._pairs(value, path, nesting)}  # type: ignore[arg-type]
        if isinstance(value, type) and registry.name_of(value) in registry.VALUES:
            return {"kind": "class", "name": registry.name_of(value)}
        name = registry.name_of(type(value))
        if name is None:
            raise _refusal(f"{path}, a {_type_name(value)},", _advice(value))
        if isinstance(value, Enum):
            return _encoded_enum(name, value, path)
        # A classifier at a working point is an estimator too, and a value in files.
        if hasattr(value, "get_params") and not dataclasses.is_dataclass(value):
            return self._estimator(name, value, path, nesting)
        if isinstance(value, Mapping):
            return {"kind": "mapping", "name": name, "items": self._pairs(value, path, nesting)}
        fields = {
            field: self.encode(_saved(value, field), f"{path}.{field}", nesting)
            for field in field_names(type(value))
        }
        return {"kind": "value", "name": name, "fields": fields}

    def _items(self, items: list[Any] | tuple[Any, ...], path: str, nesting: int) -> list[Any]:
        return [self.encode(item, f"{path}[{i}]", nesting) for i, item in enumerate(items)]

    def _pairs(self, pairs: Mapping[Any, Any], path: str, nesting: int) -> list[list[Any]]:
        return [
            [
                self.encode(key, f"{path}.key({key!r:.60})", nesting),
                self.encode(item, f"{path}[{key!r:.60}]", nesting),
            ]
            for key, item in pairs.items()
        ]

    # Estimators

    def _estimator(self, name: str, model: Any, path: str, nesting: int) -> dict[str, Any]:
        self.holds_training_rows |= bool(getattr(model, "_holds_training_rows", False))
        params = model.get_params(deep=False)
        state = {
            key: _computed(model, key, item)
            for key, item in list(vars(model).items())
            if key not in params and key != _REQUESTS and not _is_cached(type(model), key)
        }
        for key, item in state.items():
            if not is_fitted_attribute(type(model), key):
                raise _refusal(
                    f"{path}.{key!s:.60}, a {_type_name(item)},",
                    f"{type(model).__name__} has no such attribute: delete it.",
                )
        return {
            "kind": "estimator",
            "name": name,
            "params": self._named(
                {name: params[name] for name in saved_parameters(type(model))}, path, nesting
            ),
            "state": self._named(state, path, nesting),
            "requests": _encoded_requests(model, path),
        }

    def _named(self, members: dict[str, Any], path: str, nesting: int) -> dict[str, Any]:
        return {
            key: self.encode(item, f"{path}.{key}", nesting)
            for key, item in sorted(members.items())
        }


def _saved(value: object, name: str) -> Any:
    """A field's value; what the clock measured is left out, so equal fits give equal files."""
    return None if isinstance(value, Certificate) and name == "seconds" else getattr(value, name)


def saved_parameters(cls: Any) -> tuple[str, ...]:
    """Names of the parameters in a file: all but those a class calls `_unsaved_parameters`."""
    unsaved = getattr(cls, "_unsaved_parameters", ())
    return tuple(name for name in cls._get_param_names() if name not in unsaved)


def field_names(cls: type) -> tuple[str, ...]:
    """Names of the constructor's fields of a registered dataclass or named tuple.

    A class may name others as `_saved_fields`: attributes of a value, and arguments of its class
    method `_from_saved`, or of the class itself.
    """
    if hasattr(cls, "_saved_fields"):
        return tuple(cls._saved_fields)
    if dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls) if field.init)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return tuple(cls._fields)
    raise ModelFileError(
        f"{cls.__name__} is registered as a value but is no dataclass, named tuple, mapping or "
        "enum; model files cannot hold it."
    )


def is_fitted_attribute(cls: type, name: str) -> bool:
    """Whether a file may set that attribute.

    Fitted attributes end in `_` or begin with it, and the class declares them or its methods name
    them. A method, a property and anything with `__` is none.
    """
    if not _NAME.fullmatch(name) or name not in _names_in(cls):
        return False
    inherited = inspect.getattr_static(cls, name, None)
    return inherited is None or type(inherited) in (bool, int, float, str, tuple, DeferredAttribute)


def is_as_declared(cls: type, name: str, value: Any) -> bool:
    """Whether a value is a number, a text or an array of the kind that its class declares.

    Names of other types say nothing here; whole numbers may stand where fractions may.
    """
    if name == "n_features_in_":
        return isinstance(value, Integral) and not isinstance(value, bool)
    alternatives = _declared(cls, name)
    return alternatives is None or any(_is_of(value, one) for one in alternatives)


@functools.cache
def _declared(cls: type, name: str) -> tuple[Any, ...] | None:
    """The types that a class declares for an attribute; None where one of them is no plain one."""
    for base in cls.__mro__:
        annotation = vars(base).get("__annotations__", {}).get(name)
        if isinstance(annotation, str):
            known = vars(builtins) | vars(sys.modules[base.__module__]) | {"None": type(None)}
            kinds = [known.get(text.strip()) for text in annotation.split("|")]
            is_plain = [kind in _PLAIN or get_origin(kind) is np.ndarray for kind in kinds]
            return tuple(kinds) if all(is_plain) else None
    return None


def _is_of(value: Any, kind: Any) -> bool:
    if kind in (int, float):
        return isinstance(value, Real) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind in _PLAIN:
        return isinstance(value, kind)
    (cell,) = get_args(get_args(kind)[1])
    kinds = _CELLS.get(np.dtype(cell).kind) if isinstance(cell, type) else None
    return isinstance(value, np.ndarray) and (kinds is None or value.dtype.kind in kinds)


@functools.cache
def _names_in(cls: type) -> frozenset[str]:
    """What a class and its bases declare, and what the code of their methods names."""
    names = {"n_features_in_", "feature_names_in_"}
    for base in cls.__mro__:
        names |= {*vars(base), *vars(base).get("__annotations__", ())}
        for member in vars(base).values():
            # Of a property, or of another descriptor, the functions that it keeps.
            kept = getattr(member, "__dict__", {}).values()
            parts = [member, getattr(member, "fget", None), *kept]
            for part in parts:
                if isinstance(part, FunctionType):
                    parts += [part.__code__, *vars(part).values()]
                elif isinstance(part, CodeType):
                    parts += [part.co_names, *part.co_consts]
                elif isinstance(part, tuple):
                    parts += part
                elif isinstance(part, str):
                    names.add(part)
    return frozenset(names)


def _encoded_scalar(value: np.generic, path: str) -> dict[str, Any]:
    if isinstance(value, np.str_):
        return {"kind": "text", "text": str(value)}
    little = np.asarray(value, value.dtype.newbyteorder("<"))
    if little.dtype.str not in DTYPES:
        raise _refusal(f"{path}, a {_type_name(value)},", "Convert it to a plain number or text.")
    return {"kind": "scalar", "dtype": little.dtype.str, "bytes": little.tobytes().hex()}


def _encoded_enum(name: str, value: Enum, path: str) -> dict[str, Any]:
    if value.name not in type(value).__members__:
        raise _refusal(f"{path}, a combination of flags {value!r},", "Store its parts.")
    return {"kind": "enum", "name": name, "member": value.name}


def _encoded_requests(model: Any, path: str) -> dict[str, Any]:
    """What `set_fit_request` and its siblings were told: method -> metadata -> answer."""
    if _REQUESTS not in vars(model):
        return {}
    requests: dict[str, Any] = {}
    for method in REQUEST_METHODS:
        asked = getattr(getattr(vars(model)[_REQUESTS], method, None), "requests", {})
        if not all(answer is None or type(answer) in (bool, str) for answer in asked.values()):
            raise _refusal(f"{path}, whose metadata requests for {method} are {asked!r},", "")
        if asked:
            requests[method] = dict(asked)
    return requests


def _computed(model: Any, key: str, item: Any) -> Any:
    """An attribute's value; what a fit has left for later is computed now."""
    deferred = isinstance(inspect.getattr_static(type(model), key, None), DeferredAttribute)
    return getattr(model, key) if deferred else item


def _is_cached(cls: type, key: str) -> bool:
    """Whether an attribute is the memory of a cached property, which is computed again."""
    return isinstance(inspect.getattr_static(cls, key, None), functools.cached_property)


def _type_name(value: object) -> str:
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _advice(value: object) -> str:
    if hasattr(value, "get_params"):
        return (
            "Model files hold Novum's own estimators only; save the Novum models inside it one by "
            "one, or use skops or pickle among people you trust."
        )
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return "Give an integer as random_state."
    if hasattr(value, "get_n_splits"):
        return (
            "Give the number of folds instead, as in set_params(cv=5); what was fitted stays as it "
            "is."
        )
    return "Model files hold numbers, text, arrays, lists, tuples, dicts and Novum's own values."


def _refusal(what: str, advice: str) -> ModelFileError:
    return ModelFileError(f"{what} cannot be written to a model file. {advice}".strip())
