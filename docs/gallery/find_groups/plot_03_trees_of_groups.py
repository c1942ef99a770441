"""
Trees of groups
===============

From below the two nearest groups merge; what near means is the linkage. From above the widest group
splits. A cut at a height or at a number gives groups.

*Scope: C2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import (
    AgglomerativeClustering,
    Dendrogram,
    DivisiveClustering,
    cut_tree,
    linkage,
)

rng = np.random.default_rng(2)
X = np.concatenate([rng.normal(c, 0.5, (8, 2)) for c in ([0, 0], [3, 0], [1.5, 3])])
for way in ("single", "complete", "average", "ward"):
    labels = AgglomerativeClustering(3, linkage=way).fit(X).labels_
    print(f"{way:9}", np.bincount(labels).tolist())
by_height = AgglomerativeClustering(n_clusters=None, distance_threshold=4.0).fit(X)
print("below a height of 4:", by_height.n_clusters_, "groups")
print("top down:", np.bincount(DivisiveClustering(3).fit(X).labels_).tolist())
print("cut:", cut_tree(linkage(X, "ward"), 3).tolist())

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
Dendrogram(linkage(X, "ward"), [str(i) for i in range(24)]).plot(ax)
plt.show()
