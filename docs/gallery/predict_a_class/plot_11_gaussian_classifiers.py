"""
Gaussian classes and their boundaries
=====================================

A covariance that the classes share gives a line; where each has its own, the boundary is a quadric,
for spherical ones a circle. It is there in closed form, and so is the probability of error.

*Scope: G1, D2, D1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier, bayes_error
from novum.data import GaussianClasses

law = GaussianClasses(
    [[0.0, 0.0], [2.5, 1.5]], [[[1.0, 0.6], [0.6, 1.0]], [[1.5, -0.8], [-0.8, 1.0]]]
)
sample = law.sample(400, random_state=0)

x, y = np.meshgrid(np.linspace(-3, 6, 200), np.linspace(-3, 5, 200))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for ax, kind in zip(axes, ("spherical", "diagonal", "tied", "full"), strict=True):
    model = GaussianClassifier(covariance=kind).fit(sample.X, sample.y)
    posterior = model.predict_proba(grid)[:, 1].reshape(x.shape)
    ax.contourf(x, y, posterior, levels=11, cmap="coolwarm", alpha=0.6)
    ax.contour(x, y, posterior, [0.5], colors="k")
    ax.scatter(*sample.X.T, c=sample.y, s=3, cmap="coolwarm")
    ax.set(title=kind, xticks=[], yticks=[])
plt.show()

# %%
# The hyperplane of tied classes, the kind of the quadric of full ones, the error of known
# densities.

tied = GaussianClassifier(covariance="tied").fit(sample.X, sample.y)
full = GaussianClassifier(covariance="full").fit(sample.X, sample.y)
plane = tied.hyperplane(*tied.classes_)
print("normal", plane.normal.round(3).tolist(), "offset", round(float(plane.offset), 3))
print("the general boundary is:", full.boundary_kind(*full.classes_).value)
print("two unit normals 2 apart:", round(bayes_error([[0.0], [2.0]], [[1.0]]).value, 6))
