"""
A kernel is an inner product
============================

The polynomial kernel of degree two is the inner product of all products of two columns; the
Gaussian one has no finite list of features. Wider kernels make smoother boundaries.

*Scope: S6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import Checkerboard
from novum.kernels import Delta, Gaussian, Polynomial, Sigmoid
from novum.svm import SVC

kernel = Polynomial(2, constant=1.0)
rows = np.array([[1.0, 2.0], [3.0, -1.0]])
features = kernel.feature_map(rows)
print("kernel:", kernel.gram(rows).tolist())
print("features:", (features @ features.T).round(9).tolist())
print("levels:", Delta().gram(["red", "blue", "red"]).tolist())
print("a sigmoid is psd by construction:", Sigmoid(0.5).is_psd_by_construction)

sample = Checkerboard(noise=0.0).sample(300, random_state=0)
x, y = np.meshgrid(np.linspace(0, 1, 150), np.linspace(0, 1, 150))
grid = np.column_stack([x.ravel(), y.ravel()])
low, high = sample.X.min(axis=0), sample.X.max(axis=0)
grid = low + grid * (high - low)
kinds = {"polynomial": Polynomial(3, constant=1.0), "wide": Gaussian(0.5), "narrow": Gaussian(0.1)}
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.1), layout="constrained")
for ax, (name, kind) in zip(axes, kinds.items(), strict=True):
    model = SVC(kernel=kind, C=100.0).fit(sample.X, sample.y)
    ax.contourf(
        x, y, (model.decision_function(grid) > 0).reshape(x.shape), alpha=0.3, cmap="coolwarm"
    )
    ax.scatter(*((sample.X - low) / (high - low)).T, c=sample.y, s=5, cmap="coolwarm")
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
