"""
Gradient boosting with early stopping
=====================================

Trees are added while they help on rows held out. Levels and missing cells need no preparation.

*Scope: T6, T8.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.ensemble import EarlyStopping, GradientBoostingClassifier
from novum.evaluation import permutation_importance

table, target = load("german_credit", frame="pandas")
X, y = table.drop(columns=target), table[target]
model = GradientBoostingClassifier(
    n_estimators=300, learning_rate=0.05, early_stopping=EarlyStopping(0.2), random_state=0
).fit(X[:800], y[:800])
print("accuracy on the last 200 rows:", model.score(X[800:], y[800:]))

importance = permutation_importance(model, X[800:], y[800:], random_state=0)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
importance.plot(ax, most=10)
plt.show()
