"""
k-means, and how good it is
===========================

*Scope: C1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.clustering import KMeans

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 0.6, (60, 2)) for c in ([0, 0], [3, 1], [1, 4])])
model = KMeans(3, random_state=0).fit(X)
print(model.certificate_.details["statement"])
plt.scatter(*X.T, c=model.labels_)
