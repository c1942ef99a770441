"""Stacks of layers: shapes, parameters, memory, operations and reach before anything is built.

A stack is a value. What does not fit is refused when it is made, with the number of the layer and
with the nearest padding, kernel or stride that fits, of this layer or of an earlier one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.display import Column, Table
from novum.neural.backend import torch_library
from novum.neural.layers import Activation, Dense, Layer, MisfitError, Shape, shape_text
from novum.numerics import cached_property


@dataclass(frozen=True)
class Stack:
    """Layers on each other, and all that can be said about them beforehand.

    Parameters
    ----------
    input_shape : tuple of int
        Channels first: (channels, height, width), with one to three axes; or (width,) for rows.
    layers : sequence of layers
        `Convolution`, `TransposedConvolution`, `Pooling`, `Resize`, `Dense`, `Activation`,
        `Flatten`, `Reshape`.
    exact : bool
        Whether windows must cover every cell. Else those at the end of an axis may be left out,
        as in every library; `table()` says how many.

    Attributes
    ----------
    shapes : tuple of shapes
        The input and what follows each layer.
    n_parameters, operations : int
        Weights and biases; multiplications with additions for one object.
    receptive_field : tuple of int
        Largest stretch of input cells along each axis that an output cell depends on.

    Examples
    --------
    >>> from novum.neural import Convolution, Dense, Flatten, Pooling
    >>> stack = Stack((1, 28, 28), (Convolution(8, 5, padding=2), Pooling(2), Flatten(), Dense(10)))
    >>> stack.shapes
    ((1, 28, 28), (8, 28, 28), (8, 14, 14), (1568,), (10,))
    >>> stack.n_parameters  # 5 x 5 x 1 x 8 + 8, and 1568 x 10 + 10
    15898
    """

    input_shape: Shape
    layers: tuple[Layer, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        shape = self.input_shape
        whole = isinstance(shape, Sequence) and all(isinstance(n, (int, np.integer)) for n in shape)
        if not whole or not 1 <= len(shape) <= 4 or min(shape) < 1:
            raise InputError(
                f"input_shape={shape!r} is not (channels, axis, ...) with one to three axes, nor "
                "(width,): give whole numbers of at least 1."
            )
        object.__setattr__(self, "input_shape", tuple(int(n) for n in shape))
        if not isinstance(self.layers, Sequence):
            raise InputError(f"layers is a list of layers, got {self.layers!r}.")
        object.__setattr__(self, "layers", tuple(self.layers))
        for at, layer in enumerate(self.layers):
            if not isinstance(layer, Layer):
                raise InputError(
                    f"Layer {at + 1} is {layer!r}, which is no layer; use Convolution, Dense and "
                    "the others of novum.neural."
                )
        _ = self.shapes

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        shapes = [self.input_shape]
        for at, layer in enumerate(self.layers):
            try:
                shapes.append(self._checked(layer, shapes[-1]))
            except MisfitError as error:
                advice = self._advice(at, shapes[-1])
                ending = "" if str(error).endswith(".") else "."
                raise MisfitError(
                    f"Layer {at + 1}, {layer}, does not fit its input {shape_text(shapes[-1])}: "
                    f"{error}{ending}{advice}"
                ) from None
        return tuple(shapes)

    def _checked(self, layer: Layer, shape: Shape) -> Shape:
        after = layer.output_shape(shape)
        rest = layer.rest(shape)
        if self.exact and any(rest):
            raise MisfitError(
                f"its window leaves {max(rest)} of the last cells of an axis out, and exact=True "
                "asks for all of them"
            )
        return after

    def _advice(self, at: int, shape: Shape) -> str:
        """Changes of one setting after which the stack fits up to this layer, each tried."""
        layer = self.layers[at]
        try:
            near = list(layer.alternatives(shape, self.exact))
        except MisfitError:
            return ""
        said = [_changed(layer, other) for other in near]
        for earlier in range(at - 1, -1, -1):
            if (other := self._smaller_stride(earlier, at)) is not None:
                change = _changed(self.layers[earlier], other)
                said.append(f"{change} in layer {earlier + 1}")
                break
        return f" What fits: {', or '.join(said)}." if said else ""

    def _smaller_stride(self, earlier: int, at: int) -> Layer | None:
        layer = self.layers[earlier]
        stride = getattr(layer, "stride", None)
        if hasattr(layer, "stride") and stride is None:
            stride = layer.kernel  # type: ignore[attr-defined]
        if not isinstance(stride, int):
            return None
        for smaller in range(stride - 1, 0, -1):
            other = replace(layer, stride=smaller)  # type: ignore[call-arg]
            layers = (*self.layers[:earlier], other, *self.layers[earlier + 1 : at + 1])
            try:
                Stack(self.input_shape, layers, self.exact)
            except MisfitError:
                continue
            return other
        return None

    @property
    def output_shape(self) -> Shape:
        return self.shapes[-1]

    @cached_property
    def parameter_shapes(self) -> tuple[tuple[Shape, ...], ...]:
        """Of every layer: the shapes of its weights and biases."""
        pairs = zip(self.layers, self.shapes, strict=False)
        return tuple(layer.parameter_shapes(shape) for layer, shape in pairs)

    @property
    def n_parameters(self) -> int:
        return sum(math.prod(shape) for shapes in self.parameter_shapes for shape in shapes)

    @property
    def operations(self) -> int:
        return sum(
            layer.operations(shape) for layer, shape in zip(self.layers, self.shapes, strict=False)
        )

    def memory(self, batch: int = 1, cell_bytes: int = 8) -> int:
        """Bytes for a step of training on a batch.

        Weights with their gradients and two moments, and the cells before and after every layer
        with their gradients; what a library needs for its own work comes on top.
        """
        cells = sum(math.prod(shape) for shape in self.shapes)
        return cell_bytes * (4 * self.n_parameters + 2 * batch * cells)

    @property
    def receptive_field(self) -> Shape:
        return self._fields[-1]

    @cached_property
    def _fields(self) -> tuple[Shape, ...]:
        """The receptive field after every layer, in cells of the input along each axis."""
        axes = self.input_shape[1:] or self.input_shape
        spans = [(np.arange(n), np.arange(n)) for n in axes]
        fields = [tuple(1 for _ in axes)]
        mixed = False
        for layer, shape, after in zip(self.layers, self.shapes, self.shapes[1:], strict=False):
            # Rows without axes, and images that were flattened, are seen as a whole or not at all.
            mixed |= len(shape) != len(after) or (len(shape) == 1 and bool(self._weights(layer)))
            mixed |= type(layer).__name__ == "Reshape"
            if mixed:
                fields.append(tuple(axes))
                continue
            if len(shape) > 1:
                spans = [layer.spread(*span, shape, axis) for axis, span in enumerate(spans)]
            # Where all windows of an axis lie in the padding, nothing of the input is seen.
            reach = tuple(int((high - low).max()) + 1 for low, high in spans)
            fields.append(reach if min(reach) > 0 else tuple(0 for _ in axes))
        return tuple(fields)

    @staticmethod
    def _weights(layer: Layer) -> tuple[Shape, ...]:
        return layer.parameter_shapes((1,))

    def table(self) -> Table:
        """Layer by layer: output, parameters, operations, receptive field, cells left out."""
        rows = [["input", shape_text(self.input_shape), "", "", "", ""]]
        for layer, shape, after, shapes, reach in zip(
            self.layers, self.shapes, self.shapes[1:], self.parameter_shapes, self._fields[1:],
            strict=False,
        ):  # fmt: skip
            rest = layer.rest(shape)
            rows.append([
                str(layer),
                shape_text(after),
                f"{sum(math.prod(s) for s in shapes):,}",
                f"{layer.operations(shape):,}",
                shape_text(reach),
                shape_text(rest) if any(rest) else "",
            ])  # fmt: skip
        rows.append(["all", "", f"{self.n_parameters:,}", f"{self.operations:,}", "", ""])
        heads: list[Column | str] = [
            "layer", "output", Column("parameters", True), Column("operations", True),
            "receptive field", "left out",
        ]  # fmt: skip
        return Table("Layers", heads, rows)

    def mirrored(self) -> Stack:
        """The stack that leads back from the output to the shape of the input.

        Convolutions become transposed ones that add what was left out, poolings resize, and dense
        layers go back to their inputs.
        """
        pairs = zip(self.layers, self.shapes, strict=False)
        back = [layer.mirrored(shape) for layer, shape in pairs][::-1]
        return Stack(self.output_shape, tuple(back))

    def apply(self, x: Any, parameters: Sequence[Sequence[Any]]) -> Any:
        """The stack of a tensor (n, *input_shape), by weights and biases of every layer."""
        for layer, own in zip(self.layers, parameters, strict=True):
            x = layer.apply(x, own)
        return x

    def to_torch(self) -> Any:
        """The stack as `torch.nn.Sequential`, with torch's own start values."""
        pairs = zip(self.layers, self.shapes, strict=False)
        return torch_library().nn.Sequential(*(layer.module(shape) for layer, shape in pairs))

    def __repr__(self) -> str:
        return f"Stack({self.input_shape}, {list(self.layers)})"


def _changed(layer: Layer, other: Layer) -> str:
    """What the other layer has different."""
    for name in ("padding", "stride", "kernel"):
        if getattr(layer, name, None) != getattr(other, name, None):
            return f"{name}={getattr(other, name)!r}"
    return str(other)


def dense_stack(widths: Sequence[int], activation: str) -> Stack:
    """Dense layers with activations in between."""
    layers: list[Layer] = []
    for width in widths[1:]:
        layers += [Dense(width), Activation(activation)]
    return Stack((widths[0],), tuple(layers[:-1]))
