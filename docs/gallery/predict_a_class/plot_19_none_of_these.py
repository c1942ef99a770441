"""
None of these
=============

A closed-set classifier calls everything one of its classes. `OpenSet` may refuse what is like no
row it was trained on.

*Scope: W3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier
from novum.evaluation import OpenSet, known_unknown_auroc

rng = np.random.default_rng(0)
X = np.r_[rng.normal([0, 0], 0.7, (80, 2)), rng.normal([4, 1], 0.7, (80, 2))]
y = np.repeat(["a", "b"], 80)
strange = rng.normal([1.5, 5], 0.7, (40, 2))

model = OpenSet(GaussianClassifier(), rule="density", false_rejection_rate=0.02).fit(X, y)
print("strangers refused:", (model.predict(strange) == "unknown").mean())
scores = np.r_[model.known_scores(X), model.known_scores(strange)]
area = known_unknown_auroc(np.r_[y, ["x"] * 40], scores, known_classes=["a", "b"])
print("known above unknown:", round(area, 4))

u, v = np.meshgrid(np.linspace(-3, 7, 150), np.linspace(-3, 8, 150))
labels = model.predict(np.column_stack([u.ravel(), v.ravel()]))
codes = np.select([labels == "a", labels == "b"], [0, 2], 1).reshape(u.shape)
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.contourf(u, v, codes, levels=[-0.5, 0.5, 1.5, 2.5], colors=["C0", "white", "C1"], alpha=0.3)
ax.scatter(*X.T, c=np.where(y == "a", "C0", "C1"), s=8)
ax.scatter(*strange.T, c="k", marker="x", s=20, label="of no class")
ax.legend()
plt.show()
