"""
Six labels and four hundred rows
================================

Rows without a label still say where the groups are. Labels spread over a graph of neighbors, a
classifier labels rows for itself, or EM counts every row by what is expected of it.

*Scope: C8, W2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier
from novum.data import TwoMoons
from novum.ensemble import SelfTraining
from novum.neighbors import KNeighborsClassifier, LabelPropagation

sample = TwoMoons(noise=0.1).sample(400, random_state=0)
known = np.r_[np.flatnonzero(sample.y == 0)[:3], np.flatnonzero(sample.y == 1)[:3]]
labels = np.full(400, None, dtype=object)
labels[known] = sample.y[known]

models = {
    "the six labels alone": KNeighborsClassifier(1).fit(sample.X[known], sample.y[known]),
    "spread over neighbors": LabelPropagation("knn", n_neighbors=7).fit(sample.X, labels),
    "self-training": SelfTraining(KNeighborsClassifier(1), threshold=0.5).fit(sample.X, labels),
    "EM of two normals": GaussianClassifier(unlabelled="em").fit(sample.X, labels),
}
fig, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    answers = np.asarray(model.predict(sample.X), float)
    right = np.mean(answers == sample.y)
    print(f"{name:22} {right:.3f}")
    ax.scatter(*sample.X.T, c=answers, s=6, cmap="coolwarm")
    ax.scatter(*sample.X[known].T, c=sample.y[known], s=60, cmap="coolwarm", edgecolors="k")
    ax.set(title=f"{name}: {right:.2f}", xticks=[], yticks=[])
plt.show()

# %%
# Moons are no normals: what helps depends on whether the assumption holds.
