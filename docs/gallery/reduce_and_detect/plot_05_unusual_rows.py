"""
Which rows are unusual?
=======================

Random cuts, neighbors and a law each have an opinion; `compare_detectors` says whether they agree.

*Scope: C7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.decomposition import PCA
from novum.evaluation import compare_detectors
from novum.neighbors import LocalOutlierFactor, NeighborDistance
from novum.trees import IsolationForest

table, target = load("wdbc", frame="pandas")
X = np.log1p(table.drop(columns=target).to_numpy(float))
X = (X - X.mean(axis=0)) / X.std(axis=0)
detectors = {
    "isolation forest": IsolationForest(random_state=0),
    "neighbors": NeighborDistance(),
    "local density": LocalOutlierFactor(novelty=True),
}
found = compare_detectors(X, detectors=detectors)
for each in found.results:
    print(f"{each.name:16} agrees with the others by {each.agreement}")
first = found.most_unusual[:10]
print("rows to look at first:", first.tolist())

place = PCA(2).fit_transform(X)
fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.scatter(*place.T, c=found.consensus, s=8)
ax.scatter(*place[first].T, s=60, facecolors="none", edgecolors="C3")
plt.show()
