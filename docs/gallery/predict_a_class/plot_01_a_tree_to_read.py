"""
A tree to read
==============

A tree is a disjunction of conjunctions: every leaf is one. Text, picture and rules say the same.

*Scope: T1, T5.*
"""

import matplotlib.pyplot as plt

from novum.data import load
from novum.trees import DecisionTreeClassifier

table, target = load("iris", frame="pandas")
X, y = table.drop(columns=target), table[target]
tree = DecisionTreeClassifier(max_depth=3, criterion="entropy").fit(X, y)
print(tree.text())

# %%
print(tree.rules())

# %%
fig, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
tree.plot(ax)
plt.show()
