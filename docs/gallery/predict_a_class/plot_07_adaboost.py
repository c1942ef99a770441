"""
AdaBoost, round by round
========================

Rows that were wrong weigh more in the next round. Stumps that are each little better than a coin
become a fine boundary. A stump whose error is one half or more would have its vote reversed.

*Scope: T8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import TwoMoons
from novum.ensemble import AdaBoostClassifier

sample = TwoMoons(noise=0.2).sample(300, random_state=0)
model = AdaBoostClassifier(n_estimators=100).fit(sample.X, sample.y)
print("weighted errors of the first five stumps:", model.estimator_errors_[:5].round(3).tolist())

x, y = np.meshgrid(np.linspace(-2, 3, 150), np.linspace(-1.5, 2, 150))
grid = np.column_stack([x.ravel(), y.ravel()])
rounds = list(model.staged_predict(grid))
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, n in zip(axes, (1, 10, 100), strict=True):
    labels = rounds[min(n, len(rounds)) - 1].reshape(x.shape)
    ax.contourf(x, y, labels == model.classes_[1], alpha=0.3, cmap="coolwarm")
    ax.scatter(*sample.X.T, c=sample.y, s=6, cmap="coolwarm")
    ax.set(title=f"{n} stumps", xticks=[], yticks=[])
plt.show()
