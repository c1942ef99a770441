"""
How many groups?
================

The elbow, the silhouette and four more criteria vote; one group is a possible answer.

*Scope: C4, C1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import choose_clusters, silhouette_score

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.7, (50, 2)) for c in ([0, 0], [4, 0], [2, 3.5], [6, 3.5])])
choice = choose_clusters(X, range=range(1, 8), n_references=10, n_subsamples=10)
print(choice.reason)
print("votes:", choice.votes, "silhouette:", round(silhouette_score(X, choice.labels), 3))

noise = choose_clusters(rng.uniform(size=(200, 2)), range=range(1, 6), n_references=10)
print("uniform rows:", noise.n_clusters, "group")

fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
choice.plot(ax)
plt.show()
