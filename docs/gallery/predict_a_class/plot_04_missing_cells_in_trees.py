"""
Missing cells in a tree
=======================

Three rules for a cell that is not there: the most common value, that of the class, or a row that
goes down every branch in parts.

*Scope: T3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.evaluation import cross_val_score
from novum.trees import DecisionTreeClassifier

table, target = load("wine", frame="pandas")
X, y = table.drop(columns=target).to_numpy(float), table[target].to_numpy()
rules = ["fractional", "most_common", "most_common_of_class"]
shares = [0.0, 0.1, 0.2, 0.3]

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for rule in rules:
    scores = []
    for share in shares:
        holes = X.copy()
        holes[np.random.default_rng(0).random(X.shape) < share] = np.nan
        model = DecisionTreeClassifier(missing=rule, min_samples_leaf=3)
        scores.append(cross_val_score(model, holes, y, cv=5).mean())
    print(f"{rule:22}", np.round(scores, 3).tolist())
    ax.plot(shares, scores, "o-", label=rule)
ax.set(xlabel="share of cells missing", ylabel="accuracy")
ax.legend()
plt.show()
