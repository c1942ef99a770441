r"""
24. Projections
===============

**The idea.** Keep the directions in which rows vary most (principal components), or those in which
classes differ most compared with their own spread (discriminant directions).

**The formula.**

.. math:: \max_{|u| = 1} u^\top S u, \qquad \max_u \frac{u^\top S_B u}{u^\top S_W u}, \qquad
          \text{lost} = \sum_{j > q} \lambda_j .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.decomposition import PCA, DiscriminantProjection, ProbabilisticPCA

# %%
# **The definition in ten lines.**

table, target = load("iris", frame="pandas")
X, y = table.drop(columns=target).to_numpy(), table[target].to_numpy()
centered = X - X.mean(axis=0)
values, vectors = np.linalg.eigh(centered.T @ centered / 150)
values, vectors = values[::-1], vectors[:, ::-1]
lost = ((centered - centered @ vectors[:, :2] @ vectors[:, :2].T) ** 2).sum() / 150
print(values.round(4), "lost:", round(lost, 6), "=", round(values[2:].sum(), 6))

# %%
# **The same numbers.**

model = PCA(2).fit(X)
assert np.allclose(np.abs(model.components_ @ vectors[:, :2]), np.eye(2), atol=1e-8)
assert np.allclose(model.explained_variance_ * 149 / 150, values[:2])
noise = ProbabilisticPCA(2).fit(X).noise_variance_
assert np.isclose(noise, values[2:].mean())

# %%
# With fewer rows than columns the matrix of inner products is smaller: :math:`u = X^\top v /
# \sqrt{N \lambda}`.

few = centered[:3] - centered[:3].mean(axis=0)
lam, v = np.linalg.eigh(few @ few.T / 3)
u = few.T @ v[:, -1] / np.sqrt(3 * lam[-1])
assert np.isclose(abs(u @ PCA(1).fit(few).components_[0]), 1.0)

# %%
# Discriminant directions solve a generalized eigenproblem.

within = sum(np.cov(X[y == c].T, bias=True) * 50 for c in np.unique(y))
means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)]) - X.mean(axis=0)
ratio = np.sort(np.linalg.eigvals(np.linalg.solve(within, 50 * means.T @ means)).real)[::-1]
fisher = DiscriminantProjection().fit(X, y)
scale = fisher.eigenvalues_[0] / ratio[0]
assert np.allclose(fisher.eigenvalues_ / scale, ratio[:2])
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, Z, title in zip(
    axes, (model.transform(X), fisher.transform(X)), ("components", "directions"), strict=True
):
    ax.scatter(*np.asarray(Z)[:, :2].T, c=np.unique(y, return_inverse=True)[1], s=10)
    ax.set_title(title)
plt.show()

# %%
# **Exercise.** Which share of the variance of the flowers do two components keep?

answer = 0.9777
assert abs(answer - model.explained_variance_ratio_.sum()) < 1e-3, "not yet"
print("right")
