"""Rebuilding an estimator from JSON and arrays: the reading half of `core.files.state_coding`.

The JSON may come from an enemy. Each `kind` has one function that knows exactly which members it
must have; a name is looked up in the closed registry, a field in the list of the class's own
fields, a parameter among those of the constructor. Values are built by their constructors, so that
their own checks run, and each fitted estimator confirms its state with `_check_state` before anyone
sees it: kernels do no bounds checks.
"""

from __future__ import annotations

import inspect
import re
import struct
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np

from novum.core.errors import InputError, ModelFileError
from novum.core.files import registry
from novum.core.files.array_members import DTYPES, Array, checked_shape
from novum.core.files.state_coding import (
    MAX_NESTING,
    REQUEST_METHODS,
    field_names,
    is_as_declared,
    is_fitted_attribute,
    saved_parameters,
)

_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_HEX_INTEGER = re.compile(r"-?0x[0-9a-f]+")
_TEXT_DTYPE = re.compile(r"<U(0|[1-9][0-9]{0,9})")
Node = dict[str, Any]


class StateDecoder:
    """Rebuilds one model.

    Parameters
    ----------
    read_array : callable
        Gives array number `index` of the file's table.
    n_arrays : int
        Length of that table; each array must be used exactly once.
    text_bytes : int
        Most memory that fixed-width text arrays may take together.
    """

    def __init__(self, read_array: Callable[[int], Array], n_arrays: int, text_bytes: int) -> None:
        self._read_array = read_array
        self._unused = set(range(n_arrays))
        self._text_bytes = text_bytes

    def decode_model(self, node: object) -> Any:
        """The model at the root of a manifest."""
        if not isinstance(node, dict) or node.get("kind") not in ("estimator", "value"):
            raise ModelFileError("The manifest describes no estimator.")
        model = self.decode(node, "model", 0)
        if self._unused:
            raise ModelFileError(
                f"{len(self._unused)} arrays of the file belong to no part of the model."
            )
        return model

    def decode(self, node: object, path: str, nesting: int) -> Any:
        if nesting > MAX_NESTING:
            raise _fault(path, f"is nested deeper than {MAX_NESTING} levels")
        if node is None or type(node) in (bool, int, float, str):
            return node
        if isinstance(node, list):
            return self._items(node, path, nesting)
        if not isinstance(node, dict) or not isinstance(node.get("kind"), str):
            raise _fault(path, "has no kind")
        decoder = _DECODERS.get(node["kind"])
        if decoder is None:
            raise _fault(path, f"has the unknown kind {ascii(node['kind'])[:40]}")
        members, function = decoder
        if set(node) != {"kind", *members}:
            raise _fault(path, f"of kind {node['kind']} needs exactly {', '.join(members)}")
        return function(self, node, path, nesting + 1)

    # Numbers

    def _integer(self, node: Node, path: str, _: int) -> int:
        return int(_matched(_HEX_INTEGER, node["hex"], path), 16)

    def _float(self, node: Node, path: str, _: int) -> float:
        bits = bytes.fromhex(_matched(_HEX, node["bits"], path))
        if len(bits) != 8:
            raise _fault(path, "is not a float of 64 bits")
        return float(struct.unpack(">d", bits)[0])

    def _scalar(self, node: Node, path: str, _: int) -> np.generic:
        raw = bytes.fromhex(_matched(_HEX, node["bytes"], path))
        if node["dtype"] not in DTYPES or len(raw) != np.dtype(node["dtype"]).itemsize:
            raise _fault(path, "is not a NumPy number of a known dtype")
        if node["dtype"] == "|b1" and raw not in (b"\0", b"\1"):
            raise _fault(path, "is a truth value other than 0 and 1")
        scalar: np.generic = np.frombuffer(raw, node["dtype"])[0]
        return scalar

    def _text(self, node: Node, path: str, _: int) -> np.str_:
        if not isinstance(node["text"], str):
            raise _fault(path, "is no text")
        return np.str_(node["text"])

    # Arrays

    def _array(self, node: Node, path: str, _: int) -> Array:
        index = node["index"]
        if type(index) is not int or index not in self._unused:
            raise _fault(path, "refers to an array that is not in the file or used elsewhere")
        self._unused.discard(index)
        return self._read_array(index)

    def _labels(self, node: Node, path: str, nesting: int) -> Array:
        items, shape, dtype = node["items"], node["shape"], node["dtype"]
        if not isinstance(items, list) or not isinstance(shape, list):
            raise _fault(path, "is no array of labels")
        checked_shape(tuple(shape), 1, len(items), path)
        labels = [self.decode(item, f"{path}[{i}]", nesting) for i, item in enumerate(items)]
        if any(isinstance(label, (list, tuple, Mapping, np.ndarray)) for label in labels):
            raise _fault(path, "has labels that are no text or numbers")
        array: Array
        if dtype == "object":
            array = np.empty(len(labels), dtype=object)
            array[:] = labels
        else:
            array = np.array(labels, dtype=self._text_dtype(dtype, labels, path))
        if type(node["writeable"]) is not bool:
            raise _fault(path, "does not state whether it may be written to")
        array = array.reshape(shape)
        array.flags.writeable = node["writeable"]
        return array

    def _text_dtype(self, dtype: object, labels: list[Any], path: str) -> str:
        width = int(_matched(_TEXT_DTYPE, dtype, path)[2:])
        if not all(type(label) is str and len(label) <= width for label in labels):
            raise _fault(path, f"has labels that are no texts of up to {width} characters")
        self._text_bytes -= 4 * width * len(labels)
        if self._text_bytes < 0:
            raise _fault(path, "takes more memory as text than the size of the file justifies")
        return f"<U{width}"

    # Containers

    def _items(self, items: object, path: str, nesting: int) -> list[Any]:
        if not isinstance(items, list):
            raise _fault(path, "has no list of items")
        return [self.decode(item, f"{path}[{i}]", nesting + 1) for i, item in enumerate(items)]

    def _tuple(self, node: Node, path: str, nesting: int) -> tuple[Any, ...]:
        return tuple(self._items(node["items"], path, nesting - 1))

    def _dict(self, node: Node, path: str, nesting: int) -> dict[Any, Any]:
        pairs = node["items"]
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise _fault(path, "has no pairs of key and value")
        content: dict[Any, Any] = {}
        for i, (key, item) in enumerate(pairs):
            where = f"{path}[{i}]"
            try:
                content[self.decode(key, where, nesting)] = self.decode(item, where, nesting)
            except TypeError:
                raise _fault(where, "has a key that cannot be a key") from None
        if len(content) != len(pairs):
            raise _fault(path, "has a key twice")
        return content

    def _read_only_dict(self, node: Node, path: str, nesting: int) -> Mapping[Any, Any]:
        return MappingProxyType(self._dict(node, path, nesting))

    # Registered classes

    def _class(self, node: Node, path: str, _: int) -> type:
        return _registered(registry.value, node["name"], path)

    def _enum(self, node: Node, path: str, _: int) -> Enum:
        cls = _registered(registry.value, node["name"], path)
        members: Mapping[str, Enum] = cls.__members__ if issubclass(cls, Enum) else {}
        if not isinstance(node["member"], str) or node["member"] not in members:
            raise _fault(path, f"names no member of {cls.__name__}")
        return members[node["member"]]

    def _value(self, node: Node, path: str, nesting: int) -> Any:
        cls = _registered(registry.value, node["name"], path)
        fields = self._named(node["fields"], field_names(cls), cls, path, nesting)
        for name, value in fields.items():
            if not is_as_declared(cls, name, value):
                raise _fault(
                    path, f"sets {name} to a value of another type: {type(value).__name__}"
                )
        return _built(path, getattr(cls, "_from_saved", cls), **fields)

    def _mapping(self, node: Node, path: str, nesting: int) -> Any:
        cls = _registered(registry.value, node["name"], path)
        if not issubclass(cls, Mapping):
            raise _fault(path, f"treats {cls.__name__} as a mapping")
        return _built(path, cls, self._dict(node, path, nesting))

    def _estimator(self, node: Node, path: str, nesting: int) -> Any:
        cls: Any = _registered(registry.estimator, node["name"], path)
        allowed = saved_parameters(cls)
        model = _built(path, cls, **self._named(node["params"], allowed, cls, path, nesting))
        state = self._state(node["state"], model, path, nesting)
        vars(model).update(state)
        _set_requests(model, node["requests"], path)
        if state and hasattr(cls, "_check_state"):
            _built(path, model._check_state)
        return model

    def _named(
        self, node: object, allowed: tuple[str, ...], cls: type, path: str, nesting: int
    ) -> dict[str, Any]:
        """Members by name; missing ones keep their defaults, as files of older releases need."""
        if not isinstance(node, dict):
            raise _fault(path, "has no named parts")
        unknown = sorted(set(node) - set(allowed))
        if unknown:
            raise _fault(path, f"sets {ascii(unknown[0])[:60]}, which {cls.__name__} does not have")
        return {name: self.decode(node[name], f"{path}.{name}", nesting) for name in sorted(node)}

    def _state(self, node: object, model: Any, path: str, nesting: int) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise _fault(path, "has no fitted attributes")
        for name in node:
            # An attribute must not stand in for a parameter, a method or a property.
            if name in vars(model) or not is_fitted_attribute(type(model), name):
                raise _fault(path, f"sets {ascii(name)[:60]}, which is no fitted attribute")
        state = {name: self.decode(node[name], f"{path}.{name}", nesting) for name in sorted(node)}
        for name, value in state.items():
            constant = inspect.getattr_static(type(model), name, None)
            is_constant = type(constant) in (bool, int, float, str, tuple)
            if (is_constant and type(value) is not type(constant)) or not is_as_declared(
                type(model), name, value
            ):
                raise _fault(
                    path, f"sets {name} to a value of another type: {type(value).__name__}"
                )
        return state


_DECODERS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "int": (("hex",), StateDecoder._integer),
    "float": (("bits",), StateDecoder._float),
    "scalar": (("dtype", "bytes"), StateDecoder._scalar),
    "text": (("text",), StateDecoder._text),
    "array": (("index",), StateDecoder._array),
    "labels": (("dtype", "shape", "items", "writeable"), StateDecoder._labels),
    "tuple": (("items",), StateDecoder._tuple),
    "dict": (("items",), StateDecoder._dict),
    "read_only_dict": (("items",), StateDecoder._read_only_dict),
    "class": (("name",), StateDecoder._class),
    "enum": (("name", "member"), StateDecoder._enum),
    "value": (("name", "fields"), StateDecoder._value),
    "mapping": (("name", "items"), StateDecoder._mapping),
    "estimator": (("name", "params", "state", "requests"), StateDecoder._estimator),
}


def _set_requests(model: Any, requests: object, path: str) -> None:
    """Repeat what `set_fit_request` and its siblings were told."""
    if not isinstance(requests, dict) or not set(requests) <= set(REQUEST_METHODS):
        raise _fault(path, "requests metadata for an unknown method")
    if not requests:
        return
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        for method in REQUEST_METHODS:
            if method in requests:
                answers = requests[method]
                setter = getattr(model, f"set_{method}_request", None)
                if setter is None or not isinstance(answers, dict):
                    raise _fault(path, f"requests metadata for {method}, which takes none")
                _built(path, setter, **answers)


def _registered(lookup: Callable[[str], type], name: object, path: str) -> type:
    try:
        return lookup(name)  # type: ignore[arg-type]
    except (InputError, ImportError) as error:
        raise _fault(path, f"cannot be rebuilt: {error}") from None


def _built(path: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a constructor or state check; whatever it objects to, the file is at fault."""
    try:
        return function(*arguments, **named)
    except Exception as error:
        raise _fault(path, f"is not in order: {error}") from error


def _matched(pattern: re.Pattern[str], text: object, path: str) -> str:
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise _fault(path, f"has the malformed entry {ascii(text)[:60]}")
    return text


def _fault(path: str, fault: str) -> ModelFileError:
    return ModelFileError(f"The file's {ascii(path)[1:-1][:200]} {fault}.")
