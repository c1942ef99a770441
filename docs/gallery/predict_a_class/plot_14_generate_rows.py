"""
New rows from a fitted model
============================

A generative classifier knows what rows of a class look like, so it can make some.

*Scope: G4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.bayes import GaussianClassifier
from novum.data import load

table, target = load("iris", frame="pandas")
columns = ["petal_length", "petal_width"] if "petal_length" in table else list(table.columns[2:4])
X, y = table[columns].to_numpy(), table[target].to_numpy()
model = GaussianClassifier(covariance="full").fit(X, y)
made, labels = model.sample(150, random_state=0)
made = np.asarray(made, float)

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), sharex=True, sharey=True, layout="constrained")
for ax, rows, groups, title in zip(
    axes, (X, made), (y, labels), ("150 flowers", "150 made by the model"), strict=True
):
    for label in model.classes_:
        ax.scatter(*rows[np.asarray(groups) == label].T, s=10, label=str(label))
    ax.set(title=title, xlabel=columns[0])
axes[0].legend(fontsize=8)
plt.show()
