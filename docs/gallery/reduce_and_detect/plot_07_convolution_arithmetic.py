"""
Shapes and parameters of a convolution
======================================

A window of k cells that moves by s over n cells with p zeros at either end gives
:math:`\\lfloor (n + 2p - k) / s \\rfloor + 1` cells. A stack of layers says its shapes and its
number of parameters before anything is trained.

*Scope: C7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.neural import Convolution, Dense, Flatten, Pooling, Stack

stack = Stack((1, 28, 28), (Convolution(8, 5, padding=2), Pooling(2), Flatten(), Dense(10)))
print("shapes:", stack.shapes)
print("parameters:", stack.n_parameters, "=", 5 * 5 * 1 * 8 + 8, "+", 1568 * 10 + 10)

sizes = np.arange(8, 65)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for kernel, stride, padding in ((3, 1, 1), (5, 2, 0), (5, 2, 2)):
    layer = Convolution(1, kernel, stride=stride, padding=padding)
    found = [Stack((1, int(n), int(n)), (layer,)).shapes[-1][1] for n in sizes]
    formula = (sizes + 2 * padding - kernel) // stride + 1
    assert np.array_equal(found, formula)
    ax.step(sizes, found, label=f"k {kernel}, s {stride}, p {padding}")
ax.set(xlabel="cells in", ylabel="cells out")
ax.legend()
plt.show()
