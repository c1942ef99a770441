"""
Many classes from a learner of two
==================================

One class against the rest, or all pairs: any binary learner then tells many classes apart.

*Scope: L4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import GaussianClasses
from novum.ensemble import OneVsOneClassifier, OneVsRestClassifier
from novum.linear import LogisticRegression

sample = GaussianClasses([[0, 0], [3, 0], [1.5, 2.6], [1.5, 0.9]], [0.3 * np.eye(2)] * 4).sample(
    400, random_state=0
)
x, y = np.meshgrid(np.linspace(-2, 5, 200), np.linspace(-2, 4.5, 200))
grid = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, way in zip(axes, (OneVsRestClassifier, OneVsOneClassifier), strict=True):
    model = way(LogisticRegression()).fit(sample.X, sample.y)
    codes = np.searchsorted(model.classes_, model.predict(grid)).reshape(x.shape)
    ax.contourf(x, y, codes, levels=np.arange(5) - 0.5, alpha=0.4)
    ax.scatter(*sample.X.T, c=sample.y, s=5)
    ax.set(title=f"{way.__name__}: {model.score(sample.X, sample.y):.3f}", xticks=[], yticks=[])
    print(way.__name__, len(model.estimators_), "binary learners")
plt.show()
