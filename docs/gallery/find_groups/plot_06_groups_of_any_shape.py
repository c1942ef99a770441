"""
Groups of any shape, and rows of none
=====================================

Density finds moons where centers cannot. DBSCAN is told how near is near; HDBSCAN finds it.

*Scope: C2, C4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import DBSCAN, HDBSCAN, KMeans, adjusted_rand_score
from novum.data import TwoMoons

sample = TwoMoons(noise=0.06).sample(300, random_state=0)
X = np.r_[sample.X, np.random.default_rng(0).uniform([-2, -1.5], [3, 2], (20, 2))]
models = {"k-means": KMeans(2, random_state=0), "DBSCAN": DBSCAN(eps=0.2), "HDBSCAN": HDBSCAN(15)}
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    labels = model.fit(X).labels_
    agreement = adjusted_rand_score(sample.y, labels[:300])
    print(f"{name:8} agrees with the moons by {agreement:.3f}, {np.sum(labels == -1)} rows of none")
    ax.scatter(*X.T, c=np.where(labels < 0, np.nan, labels), s=8, plotnonfinite=False)
    ax.scatter(*X[labels < 0].T, c="k", marker="x", s=14)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
