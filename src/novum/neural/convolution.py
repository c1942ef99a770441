"""Convolutions and poolings: what a window that moves makes of a shape, and what it costs.

Along an axis of n cells, with kernel k, stride s, padding p and dilation d,

    k' = d (k - 1) + 1
    convolution, pooling      out = floor((n + 2 p - k') / s) + 1
    transposed convolution    out = (n - 1) s - 2 p + k' + output padding

and a convolution from c to c' channels has k_1 k_2 ... c c' weights and c' biases (with
groups, c is divided by their number). Where the division leaves a rest, the last cells of the axis
are never looked at; the rest is also what a mirrored layer adds to come back to the shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from novum.neural.backend import torch_library
from novum.neural.layers import Layer, MisfitError, Resize, Shape, Sizes, per_axis, shape_text


def _text_of(sizes: Sequence[int]) -> str:
    return repr(sizes[0]) if len(set(sizes)) == 1 else repr(tuple(sizes))


def _axes(shape: Shape) -> Shape:
    if not 2 <= len(shape) <= 4:
        raise MisfitError(
            f"it takes channels and one to three axes, and its input is {shape_text(shape)}. Put "
            "Reshape((channels, height, width)) before it, or use Dense."
        )
    return shape[1:]


@dataclass(frozen=True)
class _Window:
    """Kernel, stride, padding and dilation of every axis, as numbers."""

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape

    @property
    def extent(self) -> Shape:
        pairs = zip(self.kernel, self.dilation, strict=True)
        return tuple(d * (k - 1) + 1 for k, d in pairs)

    def free(self, axes: Shape) -> Shape:
        """How far the window can move along each axis; negative where it does not fit."""
        each = zip(axes, self.padding, self.extent, strict=True)
        return tuple(n + 2 * p - extent for n, p, extent in each)

    def outputs(self, axes: Shape) -> Shape:
        return tuple(f // s + 1 for f, s in zip(self.free(axes), self.stride, strict=True))

    def rest(self, axes: Shape) -> Shape:
        return tuple(f % s for f, s in zip(self.free(axes), self.stride, strict=True))

    def taps(self, axis: int, n_out: int) -> Any:
        """Positions (n_out, kernel) that outputs look at."""
        start = np.arange(n_out) * self.stride[axis] - self.padding[axis]
        return start[:, None] + np.arange(self.kernel[axis]) * self.dilation[axis]


@dataclass(frozen=True, repr=False)
class _Windowed(Layer):
    """What convolutions and poolings share: a window that moves."""

    def _window(self, axes: int) -> _Window:
        raise NotImplementedError

    def _fitted(self, shape: Shape) -> Shape:
        axes = _axes(shape)
        window = self._window(len(axes))
        for n, free, p in zip(axes, window.free(axes), window.padding, strict=True):
            if free < 0:
                extent = n + 2 * p - free
                raise MisfitError(
                    f"its window of {extent} cells is larger than the axis of {n}"
                    + (f" with {p} on both sides" if p else "")
                )
        return window.outputs(axes)

    def rest(self, shape: Shape) -> Shape:
        return self._window(len(shape) - 1).rest(shape[1:])

    def spread(self, low: Any, high: Any, shape: Shape, axis: int) -> tuple[Any, Any]:
        window = self._window(len(shape) - 1)
        taps = window.taps(axis, window.outputs(shape[1:])[axis])
        inside = (taps >= 0) & (taps < len(low))
        at = np.where(inside, taps, 0)
        first = np.where(inside, low[at], np.iinfo(np.int64).max).min(axis=1)
        return first, np.where(inside, high[at], -1).max(axis=1)

    def alternatives(self, shape: Shape, exact: bool) -> Iterator[Layer]:
        axes = _axes(shape)
        window = self._window(len(axes))
        most = max(window.extent) + max(window.stride) + max(axes)
        if (ways := _nearest(self, "padding", window.padding, most, shape, exact)) is not None:
            yield ways
        if exact and (ways := _nearest(self, "stride", window.stride, most, shape, exact)):
            yield ways
        if (ways := _nearest(self, "kernel", window.kernel, most, shape, exact)) is not None:
            yield ways


def _nearest(
    layer: Any, name: str, sizes: Shape, most: int, shape: Shape, exact: bool
) -> Layer | None:
    """The layer with one setting changed by as little as makes every axis fit."""
    chosen = list(sizes)
    for axis in range(len(sizes)):
        one = (shape[0], shape[1 + axis])
        window = layer._window(len(sizes))
        single = replace(layer, **{
            key: getattr(window, key)[axis]
            for key in ("kernel", "stride", "padding", "dilation")
            if getattr(layer, key, None) is not None
        })  # fmt: skip
        least = 0 if name == "padding" else 1
        own = sizes[axis]
        nearby = [(abs(v - own), -v) for v in range(least, most)]
        candidates = [-v for _, v in sorted(nearby)]
        for value in candidates:
            trial = replace(single, **{name: value})
            try:
                trial.output_shape(one)
            except MisfitError:
                continue
            if not exact or not any(trial.rest(one)):
                chosen[axis] = value
                break
        else:
            return None
    return replace(layer, **{name: chosen[0] if len(set(chosen)) == 1 else tuple(chosen)})


@dataclass(frozen=True, repr=False)
class Convolution(_Windowed):
    """A convolution (a correlation, as everywhere in this field).

    Parameters
    ----------
    channels : int
        Of the output.
    kernel, stride, dilation : int or one for each axis
    padding : int, one for each axis, or "same"
        Zeros on both sides; "same" is (k' - 1) / 2, so that a stride of 1 keeps the shape.
    groups : int
        Groups of channels that do not see each other.
    bias : bool
    """

    channels: int
    kernel: Sizes
    stride: Sizes = 1
    padding: Sizes | str = 0
    dilation: Sizes = 1
    groups: int = 1
    bias: bool = True

    def _window(self, axes: int) -> _Window:
        kernel = per_axis(self.kernel, "kernel", axes, 1)
        dilation = per_axis(self.dilation, "dilation", axes, 1)
        if isinstance(self.padding, str):
            extents = _Window(kernel, kernel, kernel, dilation).extent
            if self.padding != "same" or any(extent % 2 == 0 for extent in extents):
                raise MisfitError(
                    f"padding={self.padding!r} needs windows of an odd number of cells, and these "
                    f"have {_text_of(extents)}. Choose odd kernels, or give numbers."
                )
            padding = tuple((extent - 1) // 2 for extent in extents)
        else:
            padding = per_axis(self.padding, "padding", axes, 0)
        return _Window(kernel, per_axis(self.stride, "stride", axes, 1), padding, dilation)

    def output_shape(self, shape: Shape) -> Shape:
        outputs = self._fitted(shape)
        _check_groups(self, shape)
        return (self.channels, *outputs)

    def parameter_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        kernel = self._window(len(shape) - 1).kernel
        weights = (self.channels, shape[0] // self.groups, *kernel)
        return (weights, (self.channels,)) if self.bias else (weights,)

    def operations(self, shape: Shape) -> int:
        return math.prod(self.parameter_shapes(shape)[0]) * math.prod(self.output_shape(shape)[1:])

    def mirrored(self, shape: Shape) -> Layer:
        window = self._window(len(shape) - 1)
        return TransposedConvolution(
            shape[0], window.kernel, window.stride, window.padding, window.rest(shape[1:]),
            window.dilation, self.groups, self.bias,
        )  # fmt: skip

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        window = self._window(x.ndim - 2)
        run = getattr(torch_library().nn.functional, f"conv{x.ndim - 2}d")
        weight, bias = (*parameters, None)[:2]
        return run(x, weight, bias, window.stride, window.padding, window.dilation, self.groups)

    def module(self, shape: Shape) -> Any:
        window = self._window(len(shape) - 1)
        return getattr(torch_library().nn, f"Conv{len(shape) - 1}d")(
            shape[0], self.channels, window.kernel, window.stride, window.padding, window.dilation,
            self.groups, self.bias,
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class TransposedConvolution(Layer):
    """The adjoint of a convolution: it spreads cells where a convolution gathers them.

    Parameters
    ----------
    channels, kernel, stride, padding, dilation, groups, bias
        As for `Convolution`, padding in numbers.
    output_padding : int or one for each axis
        Cells more at the end of an axis, below the stride or the dilation.
    """

    channels: int
    kernel: Sizes
    stride: Sizes = 1
    padding: Sizes = 0
    output_padding: Sizes = 0
    dilation: Sizes = 1
    groups: int = 1
    bias: bool = True

    def _window(self, axes: int) -> _Window:
        return _Window(
            per_axis(self.kernel, "kernel", axes, 1),
            per_axis(self.stride, "stride", axes, 1),
            per_axis(self.padding, "padding", axes, 0),
            per_axis(self.dilation, "dilation", axes, 1),
        )

    def _more(self, axes: int) -> Shape:
        window = self._window(axes)
        more = per_axis(self.output_padding, "output_padding", axes, 0)
        for m, s, d in zip(more, window.stride, window.dilation, strict=True):
            if m >= max(s, d):
                raise MisfitError(
                    f"output_padding={_text_of(more)} must be below the stride or the dilation; at "
                    f"most {max(s, d) - 1} fits"
                )
        return more

    def output_shape(self, shape: Shape) -> Shape:
        axes = _axes(shape)
        window = self._window(len(axes))
        more = self._more(len(axes))
        sizes = []
        for n, s, p, extent, m in zip(
            axes, window.stride, window.padding, window.extent, more, strict=True
        ):
            size = (n - 1) * s - 2 * p + extent + m
            if size < 1:
                most = ((n - 1) * s + extent + m - 1) // 2
                raise MisfitError(
                    f"padding={_text_of(window.padding)} takes away all of its output; at most "
                    f"padding={most} fits"
                )
            sizes.append(size)
        _check_groups(self, shape)
        return (self.channels, *sizes)

    def parameter_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        kernel = self._window(len(shape) - 1).kernel
        weights = (shape[0], self.channels // self.groups, *kernel)
        return (weights, (self.channels,)) if self.bias else (weights,)

    def operations(self, shape: Shape) -> int:
        return math.prod(self.parameter_shapes(shape)[0]) * math.prod(shape[1:])

    def mirrored(self, shape: Shape) -> Layer:
        window = self._window(len(shape) - 1)
        return Convolution(
            shape[0], window.kernel, window.stride, window.padding, window.dilation, self.groups,
            self.bias,
        )  # fmt: skip

    def spread(self, low: Any, high: Any, shape: Shape, axis: int) -> tuple[Any, Any]:
        taps = self._window(len(shape) - 1).taps(axis, len(low))
        n_out = self.output_shape(shape)[1 + axis]
        first = np.full(n_out, np.iinfo(np.int64).max)
        last = np.full(n_out, -1)
        inside = (taps >= 0) & (taps < n_out)
        rows = np.broadcast_to(np.arange(len(low))[:, None], taps.shape)[inside]
        np.minimum.at(first, taps[inside], low[rows])
        np.maximum.at(last, taps[inside], high[rows])
        return first, last

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        axes = x.ndim - 2
        window = self._window(axes)
        run = getattr(torch_library().nn.functional, f"conv_transpose{axes}d")
        weight, bias = (*parameters, None)[:2]
        return run(
            x, weight, bias, window.stride, window.padding, self._more(axes), self.groups,
            window.dilation,
        )  # fmt: skip

    def module(self, shape: Shape) -> Any:
        axes = len(shape) - 1
        window = self._window(axes)
        return getattr(torch_library().nn, f"ConvTranspose{axes}d")(
            shape[0], self.channels, window.kernel, window.stride, window.padding,
            self._more(axes), self.groups, self.bias, window.dilation,
        )  # fmt: skip


def _check_groups(layer: Convolution | TransposedConvolution, shape: Shape) -> None:
    if layer.channels < 1 or layer.groups < 1:
        raise MisfitError(f"channels={layer.channels} and groups={layer.groups} must be at least 1")
    if shape[0] % layer.groups or layer.channels % layer.groups:
        common = math.gcd(shape[0], layer.channels)
        near = min(
            (g for g in range(1, common + 1) if common % g == 0),
            key=lambda g: abs(g - layer.groups),
        )
        raise MisfitError(
            f"groups={layer.groups} does not divide its {shape[0]} input and {layer.channels} "
            f"output channels; groups={near} does"
        )


@dataclass(frozen=True, repr=False)
class Pooling(_Windowed):
    """The largest cell of each window, or their mean.

    Parameters
    ----------
    kernel : int or one for each axis
    stride : int, one for each axis, or None
        None is the kernel: windows side by side.
    padding : int or one for each axis
        At most half of the kernel; zeros that count, for means.
    kind : {"max", "mean"}
    """

    kernel: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    kind: str = "max"

    def _window(self, axes: int) -> _Window:
        kernel = per_axis(self.kernel, "kernel", axes, 1)
        stride = kernel if self.stride is None else per_axis(self.stride, "stride", axes, 1)
        return _Window(kernel, stride, per_axis(self.padding, "padding", axes, 0), (1,) * axes)

    def output_shape(self, shape: Shape) -> Shape:
        if self.kind not in ("max", "mean"):
            raise MisfitError(f"kind={self.kind!r} is neither 'max' nor 'mean'")
        outputs = self._fitted(shape)
        window = self._window(len(shape) - 1)
        for k, p in zip(window.kernel, window.padding, strict=True):
            if 2 * p > k:
                raise MisfitError(
                    f"padding={_text_of(window.padding)} is more than half of its kernel"
                )
        # torch takes no padding into account here.
        if len(shape) == 4 and self.kind == "mean" and max(
            k - n for k, n in zip(window.kernel, shape[1:], strict=True)
        ) > 0:  # fmt: skip
            raise MisfitError("means over three axes need a kernel that fits without padding")
        return (shape[0], *outputs)

    def operations(self, shape: Shape) -> int:
        window = self._window(len(shape) - 1)
        return math.prod(self.output_shape(shape)) * math.prod(window.kernel)

    def mirrored(self, shape: Shape) -> Layer:
        return Resize(shape[1:])

    def apply(self, x: Any, parameters: Sequence[Any]) -> Any:
        del parameters
        axes = x.ndim - 2
        window = self._window(axes)
        name = f"{'max' if self.kind == 'max' else 'avg'}_pool{axes}d"
        run = getattr(torch_library().nn.functional, name)
        return run(x, window.kernel, window.stride, window.padding)

    def module(self, shape: Shape) -> Any:
        window = self._window(len(shape) - 1)
        name = f"{'Max' if self.kind == 'max' else 'Avg'}Pool{len(shape) - 1}d"
        return getattr(torch_library().nn, name)(window.kernel, window.stride, window.padding)
