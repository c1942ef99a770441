"""Stacks of layers: the formulas of the notes, torch's shapes and values, errors with what fits."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.neural import (
    Activation,
    Convolution,
    Dense,
    Flatten,
    MisfitError,
    Pooling,
    Reshape,
    Resize,
    Stack,
    TransposedConvolution,
)
from novum.neural.backend import one_torch_thread


def test_the_formulas_of_the_notes() -> None:
    for w_in, h_in, kernel, p, s in [(32, 28, (5, 3), 2, 1), (227, 227, (11, 11), 0, 4)]:
        stack = Stack((3, h_in, w_in), (Convolution(16, kernel[::-1], s, p),))
        w_out = (w_in - kernel[0] + 2 * p) / s + 1
        h_out = (h_in - kernel[1] + 2 * p) / s + 1
        assert stack.output_shape == (16, h_out, w_out)
        assert stack.n_parameters == kernel[0] * kernel[1] * 3 * 16 + 16
    text = Stack((1, 28, 28), (Convolution(6, 5, padding=2), Pooling(2))).table().as_text()
    assert "6 x 28 x 28" in text
    assert "156" in text  # 5 x 5 x 1 x 6 + 6


def random_layer(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A layer that may or may not fit."""

    def sizes(low: int, high: int) -> Any:
        drawn = tuple(int(v) for v in rng.integers(low, high, size=len(shape) - 1))
        return drawn[0] if rng.random() < 0.5 else drawn

    if len(shape) == 1:
        return [Dense(int(rng.integers(1, 9)), bool(rng.random() < 0.7)), Activation("relu")][
            int(rng.integers(2))
        ]
    groups = int(rng.choice([1, 1, 2]))
    channels = int(rng.integers(1, 5))
    bias = bool(rng.random() < 0.7)
    kind = int(rng.integers(7))
    if kind <= 1:
        return Convolution(
            channels, sizes(1, 5), sizes(1, 4), sizes(0, 3), sizes(1, 3), groups, bias
        )
    if kind == 2:
        return TransposedConvolution(
            channels, sizes(1, 4), sizes(1, 3), sizes(0, 2), sizes(0, 2), sizes(1, 3), groups, bias
        )
    if kind == 3:
        stride = None if rng.random() < 0.5 else sizes(1, 3)
        return Pooling(sizes(1, 4), stride, sizes(0, 2), str(rng.choice(["max", "mean"])))
    if kind == 4:
        return Resize(sizes(1, 9))
    return Flatten() if kind == 5 else Activation("tanh")


def test_a_thousand_random_stacks_are_torchs() -> None:
    """Shape and number of parameters; what is refused here is refused there, and vice versa."""
    torch = pytest.importorskip("torch")
    with one_torch_thread():
        compare_random_stacks(torch)


def compare_random_stacks(torch: Any) -> None:
    rng = np.random.default_rng(0)
    refused = 0
    for trial in range(1000):
        axes = int(rng.integers(1, 4))
        top = 14 if axes < 3 else 7
        shape = tuple(int(v) for v in (rng.integers(1, 5), *rng.integers(1, top, size=axes)))
        start, layers = shape, []
        for _ in range(int(rng.integers(1, 6))):
            layer = random_layer(rng, shape)
            try:
                after = layer.output_shape(shape)
            except MisfitError:
                refused += 1
                with pytest.raises((RuntimeError, ValueError)):
                    layer.module(shape)(torch.zeros(1, *shape))
                continue
            if math.prod(after) > 20_000:
                continue
            layers.append(layer)
            shape = after
        stack = Stack(start, layers)
        module = stack.to_torch()
        x = torch.zeros(1, *start)
        assert tuple(module(x).shape[1:]) == stack.output_shape, stack
        own = [tuple(p.shape) for p in module.parameters()]
        assert own == [s for shapes in stack.parameter_shapes for s in shapes]
        assert sum(p.numel() for p in module.parameters()) == stack.n_parameters
        if trial < 30:
            check_values_and_reach(torch, stack, module)
    assert refused > 100


def check_values_and_reach(torch: Any, stack: Stack, module: Any) -> None:
    """The same values by `apply`, and input cells with a gradient are those of the reach."""
    x = torch.randn(2, *stack.input_shape)
    own = iter(module.parameters())
    parameters = [[next(own) for _ in shapes] for shapes in stack.parameter_shapes]
    torch.testing.assert_close(stack.apply(x, parameters), module(x))
    if any(isinstance(layer, (Flatten, Pooling)) for layer in stack.layers):
        return
    # With positive weights and no activations, every path to an input cell shows in its gradient.
    linear = Stack(stack.input_shape, [la for la in stack.layers if not isinstance(la, Activation)])
    weights = [[torch.ones(s) for s in shapes] for shapes in linear.parameter_shapes]
    x = torch.ones(1, *stack.input_shape, requires_grad=True)
    out = linear.apply(x, weights).sum(dim=1)[0]
    widest = [0] * (len(stack.input_shape) - 1)
    for cell in out.flatten()[:: max(1, out.numel() // 40)]:
        (gradient,) = torch.autograd.grad(cell, x, retain_graph=True, allow_unused=True)
        where = torch.nonzero(gradient[0].abs().sum(dim=0))
        if len(where):
            span = (where.max(dim=0).values - where.min(dim=0).values + 1).tolist()
            widest = [max(a, b) for a, b in zip(widest, span, strict=True)]
    assert all(a <= b for a, b in zip(widest, linear.receptive_field, strict=True))
    if out.numel() <= 40:
        assert tuple(widest) == linear.receptive_field


def test_operations_are_products_of_a_loop() -> None:
    stack = Stack((4, 5, 6), (Convolution(6, (3, 2), 2, 1, groups=2), Flatten(), Dense(3)))
    _, height, width = stack.shapes[1]
    products = sum(1 for _ in range(6 * height * width) for _ in range(2 * 3 * 2))
    assert stack.operations == products + 6 * height * width * 3
    assert stack.memory(batch=2) - stack.memory(batch=1) == 16 * sum(
        math.prod(shape) for shape in stack.shapes
    )


def test_mirrored_stacks_come_back() -> None:
    torch = pytest.importorskip("torch")
    stack = Stack(
        (3, 17, 12),
        (
            Convolution(4, 3, 2), Activation("relu"), Pooling((2, 3)), Convolution(2, 1),
            Flatten(), Dense(5), Activation("tanh"),
        ),
    )  # fmt: skip
    back = stack.mirrored()
    assert back.output_shape == stack.input_shape
    assert back.to_torch()(torch.zeros(1, 5)).shape[1:] == stack.input_shape
    assert back.mirrored().output_shape == stack.output_shape


@pytest.mark.parametrize(
    ("shape", "layers", "exact", "layer", "says"),
    [
        ((1, 4, 4), [Convolution(2, 7)], False, 1, "padding=2, or kernel=4"),
        ((1, 9, 9), [Convolution(2, 3, 4), Convolution(2, 4)], False, 2, "stride=2 in layer 1"),
        ((1, 8, 8), [Convolution(2, 3, 2)], True, 1, "stride=1"),
        ((1, 7, 7), [Pooling(2)], True, 1, "kernel=1"),
        ((1, 6, 6), [Pooling(2, padding=2)], False, 1, "padding=1"),
        ((3, 6, 6), [Convolution(4, 3, groups=2)], False, 1, "groups=1"),
        ((1, 6, 6), [Dense(3)], False, 1, "Flatten()"),
        ((5,), [Convolution(2, 3)], False, 1, "Reshape"),
        ((5,), [Reshape((2, 3))], False, 1, "5"),
        ((1, 3), [TransposedConvolution(1, 2, padding=3)], False, 1, "padding=1 fits"),
        ((1, 3), [TransposedConvolution(1, 2, output_padding=3)], False, 1, "at most 0"),
        ((1, 4), [Convolution(1, 2, padding="same")], False, 1, "odd"),
        ((1, 4), [Activation("rulu")], False, 1, "relu"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_with_what_does(
    shape: Any, layers: Any, exact: bool, layer: int, says: str
) -> None:
    with pytest.raises(MisfitError, match=re.escape(says)) as caught:
        Stack(shape, layers, exact)
    assert str(caught.value).startswith(f"Layer {layer}, ")
    # What is proposed for this layer fits indeed.
    for name, value in re.findall(r"(?:What fits: |, or )(\w+)=(\d+)(?!\d* in)", str(caught.value)):
        mended = [*layers[:-1], replace(layers[-1], **{name: int(value)})]
        assert min(Stack(shape, mended, exact).output_shape) >= 1


def test_a_stack_of_odd_things_is_refused() -> None:
    with pytest.raises(InputError, match="no layer"):
        Stack((1, 4), ["relu"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="input_shape"):
        Stack((0, 4), [])
    with pytest.raises(MisfitError, match="one for each axis"):
        Stack((1, 4, 4), [Convolution(1, (2, 2, 2))])
