"""Layers as values: what each makes of a shape, what it costs, and how torch computes it.

A layer knows nothing of its neighbors. `novum.neural.stack` puts layers on each other and says
which one does not fit; `novum.neural.convolution` has those with windows. Nothing here needs torch
except `apply` and `module`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.neural.backend import torch_library

Shape = tuple[int, ...]
Sizes = int | tuple[int, ...]
ACTIVATIONS = ("tanh", "relu", "leaky_relu", "sigmoid", "softplus", "linear")


class MisfitError(InputError):
    """Layers that do not fit on each other."""


def per_axis(value: Any, name: str, axes: int, least: int) -> Shape:
    """A setting for every axis of an image."""
    sizes = (value,) * axes if isinstance(value, (int, np.integer)) else tuple(value)
    if len(sizes) != axes or any(not isinstance(s, (int, np.integer)) or s < least for s in sizes):
        raise MisfitError(
            f"{name}={value!r} is not one whole number of at least {least}, or {axes} of them, one "
            "for each axis."
        )
    return tuple(int(s) for s in sizes)


def shape_text(shape: Shape) -> str:
    """A shape in words: channels first."""
    return " x ".join(map(str, shape))


@dataclass(frozen=True, repr=False)
class Layer:
    """One layer: what it makes of a shape, what it costs, and how it is computed by torch."""

    def output_shape(self, shape: Shape) -> Shape:
        """The shape after the layer; raises `MisfitError` where it does not fit."""
        raise NotImplementedError

    def parameter_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        """Of the weights, and of the biases where there are some."""
        del shape
        return ()

    def operations(self, shape: Shape) -> int:
        """Multiplications with additions for one object; comparisons or additions of a pooling."""
        del shape
        return 0

    def rest(self, shape: Shape) -> Shape:
        """Cells at the end of each axis that no window covers."""
        del shape
        return ()

    def mirrored(self, shape: Shape) -> Layer:
        """A layer that goes back to that shape."""
        raise NotImplementedError

    def spread(self, low: Any, high: Any, shape: Shape, axis: int) -> tuple[Any, Any]:
        """First and last input cell behind every output cell along an axis."""
        del shape, axis
        return low, high

    def alternatives(self, shape: Shape, exact: bool) -> Iterator[Layer]:
        """Layers like this one that may fit, the nearest first."""
        del shape, exact
        return iter(())

    def __repr__(self) -> str:
        own = [(f, getattr(self, f.name)) for f in fields(self)]
        said = [
            repr(value) if f.default is MISSING else f"{f.name}={value!r}"
            for f, value in own
            if f.default is MISSING or value != f.default
        ]
        return f"{type(self).__name__}({', '.join(said)})"

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        """The layer of a tensor, by its weights and biases."""
        raise NotImplementedError

    def module(self, shape: Shape) -> Any:
        """The layer as a module of torch."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Dense(Layer):
    """Every output is a weighted sum of all inputs, plus a bias."""

    width: int
    bias: bool = True

    def output_shape(self, shape: Shape) -> Shape:
        if len(shape) != 1:
            raise MisfitError(
                f"it takes a flat input, got {shape_text(shape)}; put Flatten() before it"
            )
        if self.width < 1:
            raise MisfitError(f"width={self.width} must be at least 1")
        return (self.width,)

    def parameter_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        weights = (self.width, shape[0])
        return (weights, (self.width,)) if self.bias else (weights,)

    def operations(self, shape: Shape) -> int:
        return self.width * shape[0]

    def mirrored(self, shape: Shape) -> Layer:
        return Dense(shape[0], self.bias)

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        return torch_library().nn.functional.linear(x, *parameters)

    def module(self, shape: Shape) -> Any:
        return torch_library().nn.Linear(shape[0], self.width, self.bias)


@dataclass(frozen=True, repr=False)
class Activation(Layer):
    """A function of every cell: tanh, relu, leaky_relu, sigmoid, softplus or linear (none)."""

    name: str = "tanh"

    def output_shape(self, shape: Shape) -> Shape:
        if self.name not in ACTIVATIONS:
            raise MisfitError(f"{self.name!r} is none of {', '.join(ACTIVATIONS)}")
        return shape

    def mirrored(self, shape: Shape) -> Layer:
        del shape
        return self

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        del parameters
        torch = torch_library()
        if self.name == "linear":
            return x
        if self.name in ("tanh", "sigmoid"):
            return getattr(torch, self.name)(x)
        return getattr(torch.nn.functional, self.name)(x)

    def module(self, shape: Shape) -> Any:
        del shape
        names = {"tanh": "Tanh", "relu": "ReLU", "leaky_relu": "LeakyReLU", "sigmoid": "Sigmoid"}
        names |= {"softplus": "Softplus", "linear": "Identity"}
        return getattr(torch_library().nn, names[self.name])()


@dataclass(frozen=True, repr=False)
class Flatten(Layer):
    """All cells in one row."""

    def output_shape(self, shape: Shape) -> Shape:
        return (math.prod(shape),)

    def mirrored(self, shape: Shape) -> Layer:
        return Reshape(shape)

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        del parameters
        return x.flatten(1)

    def module(self, shape: Shape) -> Any:
        del shape
        return torch_library().nn.Flatten()


@dataclass(frozen=True, repr=False)
class Reshape(Layer):
    """The same cells in another shape, channels first."""

    shape: Shape

    def output_shape(self, shape: Shape) -> Shape:
        if math.prod(shape) != math.prod(self.shape):
            raise MisfitError(
                f"{shape_text(self.shape)} are {math.prod(self.shape)} cells, and its input has "
                f"{math.prod(shape)}"
            )
        return tuple(self.shape)

    def mirrored(self, shape: Shape) -> Layer:
        return Reshape(shape)

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        del parameters
        return x.reshape(x.shape[0], *self.shape)

    def module(self, shape: Shape) -> Any:
        nn = torch_library().nn
        parts = [] if len(shape) == 1 else [nn.Flatten()]
        return nn.Sequential(*parts, nn.Unflatten(1, self.shape))


@dataclass(frozen=True, repr=False)
class Resize(Layer):
    """Every axis stretched or shrunk to a size by taking the nearest cell."""

    size: Sizes

    def output_shape(self, shape: Shape) -> Shape:
        if len(shape) < 2:
            raise MisfitError("it takes channels and axes; put Reshape(...) before it")
        return (shape[0], *per_axis(self.size, "size", len(shape) - 1, 1))

    def mirrored(self, shape: Shape) -> Layer:
        return Resize(shape[1:])

    def spread(self, low: Any, high: Any, shape: Shape, axis: int) -> tuple[Any, Any]:
        size = self.output_shape(shape)[1 + axis]
        nearest = np.arange(size) * len(low) // size
        return low[nearest], high[nearest]

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        del parameters
        size = per_axis(self.size, "size", x.ndim - 2, 1)
        return torch_library().nn.functional.interpolate(x, size=size, mode="nearest")

    def module(self, shape: Shape) -> Any:
        size = per_axis(self.size, "size", len(shape) - 1, 1)
        return torch_library().nn.Upsample(size=size, mode="nearest")
