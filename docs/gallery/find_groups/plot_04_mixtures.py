"""
Groups as laws: a mixture by EM
===============================

Every row belongs to every component with a probability. Shared, diagonal or full covariances give
rounder or freer groups; the likelihood never falls.

*Scope: C3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.mixture import GaussianMixture, choose_components

rng = np.random.default_rng(0)
X = np.r_[
    rng.multivariate_normal([0, 0], [[2, 1.5], [1.5, 2]], 150),
    rng.multivariate_normal([4, 0], [[0.5, 0], [0, 1.5]], 100),
]
x, y = np.meshgrid(np.linspace(-5, 8, 150), np.linspace(-5, 5, 150))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3), layout="constrained")
for ax, kind in zip(axes, ("spherical", "tied", "full"), strict=True):
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    ax.contour(x, y, model.score_samples(grid).reshape(x.shape), levels=np.linspace(-9, -3, 7))
    ax.scatter(*X.T, c=model.predict_proba(X)[:, 0], s=5, cmap="coolwarm")
    ax.set(title=f"{kind}, BIC {model.bic(X):.0f}", xticks=[], yticks=[])
plt.show()
print(choose_components(GaussianMixture(random_state=0), X, range(1, 5)).reason)
