"""The sigmoid kernel, which is none in general: similarities that look like a neuron's output.

    k(x, z) = tanh(scale <x, z> + constant)

No choice of the two numbers makes every Gram matrix positive semi-definite (Lin and Lin 2003): two
rows with `<x, x>` small and `<x, z>` large give a negative determinant. It is here because users of
other libraries have models with it; learners check the Gram matrix or refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.kernels.parameters import class_or_value, finite_number
from novum.kernels.protocol import Kernel
from novum.kernels.vectors.vector_rows import InnerProductKernel
from novum.numerics import Array

if TYPE_CHECKING:
    from novum.kernels.composition import Composed


@dataclass(frozen=True)
class Sigmoid(InnerProductKernel):
    """`k(x, z) = tanh(scale <x, z> + constant)`; not positive semi-definite in general.

    Parameters
    ----------
    scale : float, default=1.0
        scikit-learn's `gamma`.
    constant : float, default=0.0
        scikit-learn's `coef0`.

    References
    ----------
    Lin and Lin (2003), A study on sigmoid kernels for SVM and the training of non-PSD kernels by
    SMO-type methods.

    Examples
    --------
    >>> Sigmoid(0.5).gram([[1.0, 0.0], [2.0, 1.0]]).round(4)
    array([[0.4621, 0.7616],
           [0.7616, 0.9866]])
    >>> Sigmoid(0.5).is_psd_by_construction
    False
    """

    scale: float = 1.0
    constant: float = 0.0

    def __post_init__(self) -> None:
        for name in ("scale", "constant"):
            object.__setattr__(self, name, finite_number(getattr(self, name), f"Sigmoid's {name}"))

    @property
    def is_psd_by_construction(self) -> bool:
        return False

    @class_or_value
    def of(
        given: Any,  # noqa: N805
        inner: Kernel,
        scale: float | None = None,
        constant: float | None = None,
    ) -> Composed:
        """`tanh(scale a(x, z) + constant)` for a kernel `a` on any objects.

        What is not given is that of the value it is called on, or the default for the class.
        """
        from novum.kernels.composition import Composed

        outer = Sigmoid(
            given.scale if scale is None else scale,
            given.constant if constant is None else constant,
        )
        return Composed(outer, inner)

    def from_products(self, block: Array) -> Array:
        block *= block.dtype.type(self.scale)
        block += block.dtype.type(self.constant)
        return np.tanh(block, out=block)

    def largest(self, product: float) -> float:
        return abs(self.scale) * product + abs(self.constant)
