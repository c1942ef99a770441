"""
k-means, step by step
=====================

Rows go to their nearest center, centers to the mean of their rows; the sum never rises. The
certificate bounds how far it is from the best possible one.

*Scope: C1.*
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import KMeans, KMedians

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.6, (60, 2)) for c in ([0, 0], [3, 1], [1, 4])])
start = X[[0, 1, 2]]
sums = []
for steps in range(1, 8):
    with warnings.catch_warnings(action="ignore"):  # it is stopped on purpose
        model = KMeans(3, init=start, n_init=1, max_iter=steps).fit(X)
    sums.append(model.inertia_)
good = KMeans(3, random_state=0).fit(X)
print("trace:", np.round(sums, 2).tolist(), "with good starts:", round(good.inertia_, 2))
print(good.certificate_.details["statement"])

wild = np.r_[X, [[40.0, 40.0]]]
print(
    "medians beside a wild row:",
    KMedians(3, random_state=0).fit(wild).cluster_centers_.round(1).tolist(),
)

fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
left.plot(range(1, 8), sums, "o-")
left.set(xlabel="steps", ylabel="sum of squares within")
right.scatter(*X.T, c=good.labels_, s=10)
right.plot(*good.cluster_centers_.T, "k+", ms=12)
plt.show()
