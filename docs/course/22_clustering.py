r"""
22. Clustering
==============

**The idea.** Groups without labels. k-means moves centers to the mean of their rows, agglomeration
merges the two nearest groups.

**The formula.**

.. math:: \sum_k \sum_{x \in C_k} |x - m_k|^2 \to \min, \qquad
          s(i) = \frac{b(i) - a(i)}{\max(a(i), b(i))},

with a(i) the mean distance to the others of its own group, b(i) to the nearest other group.
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import AgglomerativeClustering, KMeans, linkage, silhouette_samples

# %%
# **The definition in ten lines.**

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.5, (30, 2)) for c in ([0, 0], [3, 0], [1.5, 2.5])])
centers, sums = X[[0, 30, 60]], []
for _ in range(20):
    distance = ((X[:, None] - centers) ** 2).sum(axis=2)
    labels = distance.argmin(axis=1)
    sums.append(distance.min(axis=1).sum())
    centers = np.array([X[labels == k].mean(axis=0) for k in range(3)])
print("sum of squares:", round(sums[-1], 4))
assert np.all(np.diff(sums) <= 1e-9)

# %%
# **The same numbers**, and how far from the best possible they can be.

model = KMeans(3, init=X[[0, 30, 60]], n_init=1).fit(X)
assert np.isclose(model.inertia_, sums[-1])
print(model.certificate_.details["statement"])

# %%
# The silhouette of one row by hand; a(i) divides by the size of the group less one.

D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
own = labels == labels[0]
a = D[0, own].sum() / (own.sum() - 1)
b = min(D[0, labels == k].mean() for k in range(3) if k != labels[0])
assert np.isclose(silhouette_samples(X, labels)[0], (b - a) / max(a, b))

# %%
# Merging: single linkage joins the two nearest rows first.

tree = linkage(X, "single")
assert np.isclose(tree[0, 2], D[np.triu_indices(90, 1)].min())
average = AgglomerativeClustering(3, linkage="average").fit(X)
fig, ax = plt.subplots(figsize=(4.4, 3.2), layout="constrained")
ax.scatter(*X.T, c=average.labels_, s=12)
ax.plot(*model.cluster_centers_.T, "k+", ms=12)
plt.show()

# %%
# **Exercise.** Rows 0, 1, 7 and 9 on a line, average linkage. At which heights are they merged?

answer = [1.0, 2.0, 7.5]
assert np.allclose(
    AgglomerativeClustering(2, linkage="average").fit([[0.0], [1.0], [7.0], [9.0]]).distances_,
    answer,
), "not yet"
print("right")
