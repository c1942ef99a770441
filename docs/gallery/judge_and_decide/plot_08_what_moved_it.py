"""
What a model has learned
========================

How much a column matters, and how the answer moves with it.

*Scope: W6, T6.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.evaluation import partial_dependence, permutation_importance
from novum.trees import RandomForestRegressor

table, target = load("auto_mpg", frame="pandas")
X, y = table.drop(columns=target), table[target]
forest = RandomForestRegressor(60, random_state=0).fit(X[:300], y[:300])
importance = permutation_importance(forest, X[300:], y[300:], random_state=0)
first = importance.ranking()[0]
print("matters most:", first)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
importance.plot(axes[0])
partial_dependence(forest, X[300:], first).plot(axes[1])
plt.show()
