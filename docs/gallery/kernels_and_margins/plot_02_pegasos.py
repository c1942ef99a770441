"""
Pegasos: one row at a time
==========================

A step of length 1 / (lambda t) on one random row, and the gap to the optimum falls. With a kernel
the same steps count mistakes.

*Scope: S2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import TwoMoons
from novum.svm import KernelPegasos, Pegasos

sample = TwoMoons(noise=0.2).sample(400, random_state=0)
line = Pegasos(alpha=0.01, tol=0.02, random_state=0).fit(sample.X, sample.y)
curve = KernelPegasos(alpha=0.01, gamma=2.0, tol=0.05, random_state=0).fit(sample.X, sample.y)
for model in (line, curve):
    name, proof = type(model).__name__, model.certificate_
    print(f"{name:13} {model.score(sample.X, sample.y):.3f}, relative gap {proof.relative_gap:.3f}")

x, y = np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.5, 2, 120))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, model in zip(axes, (line, curve), strict=True):
    ax.contourf(
        x, y, model.decision_function(grid).reshape(x.shape) > 0, alpha=0.3, cmap="coolwarm"
    )
    ax.scatter(*sample.X.T, c=sample.y, s=6, cmap="coolwarm")
    ax.set(title=type(model).__name__, xticks=[], yticks=[])
plt.show()
