"""
The smallest sphere
===================

Novelty is what lies outside of the smallest sphere around the rows, in the space of a kernel. A
price lets some rows stay outside.

*Scope: S4, C7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.svm import SVDD

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 150)
X = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(2, 0.25, 150)[:, None]

x, y = np.meshgrid(np.linspace(-4, 4, 150), np.linspace(-4, 4, 150))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, title, model in (
    (axes[0], "a sphere", SVDD(C=float("inf"), kernel="linear")),
    (axes[1], "in a Gaussian kernel", SVDD(C=0.05, gamma=0.7)),
):
    model.fit(X)
    ax.contour(x, y, model.decision_function(grid).reshape(x.shape), [0.0], colors="k")
    ax.scatter(*X.T, s=8)
    ax.scatter(*X[model.support_].T, s=40, facecolors="none", edgecolors="C3")
    ax.set(title=f"{title}: radius {model.radius_:.3f}", xticks=[], yticks=[])
    print(title, "calls the center", model.predict([[0.0, 0.0]])[0])
plt.show()
