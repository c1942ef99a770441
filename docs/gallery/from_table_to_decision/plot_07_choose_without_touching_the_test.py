"""
Tune without touching the test rows
===================================

Rows that chose a setting cannot judge it. An inner cross-validation chooses, outer folds judge.

*Scope: W5.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.evaluation import GridSearchCV, complexity_curve, nested_cross_validate
from novum.neighbors import KNeighborsClassifier

table, target = load("wine", frame="pandas")
X, y = table.drop(columns=target), table[target]

grid = {"n_neighbors": [1, 3, 5, 9, 15, 25, 45]}
curve = complexity_curve(
    KNeighborsClassifier(), X, y, param_name="n_neighbors", param_range=grid["n_neighbors"]
)
search = GridSearchCV(KNeighborsClassifier(), grid)
judged = nested_cross_validate(search, X, y, cv=5)
print("best of the inner folds:", curve.best)
print("judged by outer folds:", judged.interval())

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
curve.plot(ax)
plt.show()
