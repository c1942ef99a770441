r"""
1. From a table to a decision
=============================

**The idea.** Learning means: a task, a measure of success, and rows to learn from. Six steps lead
from one to the other: say what is asked, read the data, extract features, choose classes of models,
train, evaluate. What was used to choose must not be used to judge.

**The formula.** The error on new rows is estimated by the error on rows set aside,

.. math:: \hat e = \frac{1}{m} \sum_{i=1}^{m} [\, h(x_i) \ne y_i \,]

with standard error :math:`\sqrt{\hat e (1 - \hat e) / m}`.
"""

import matplotlib.pyplot as plt
import numpy as np

import novum
from novum.data import load
from novum.evaluation import proportion_interval
from novum.trees import DecisionTreeClassifier

# %%
# **The definition in ten lines.** Shuffle, set rows aside, train on the others, count.

table, target = load("iris", frame="pandas")
X, y = table.drop(columns=target).to_numpy(), table[target].to_numpy()
order = np.random.default_rng(0).permutation(len(y))
train, test = order[:100], order[100:]
tree = DecisionTreeClassifier().fit(X[train], y[train])
wrong = int(np.sum(tree.predict(X[test]) != y[test]))
error = wrong / len(test)
print(wrong, "of", len(test), "wrong:", error, "+-", round(np.sqrt(error * (1 - error) / 50), 3))

# %%
# **The same numbers.** `score` counts what is right, and an interval says how sure that is.

assert abs(tree.score(X[test], y[test]) - (1 - error)) < 1e-12
print(proportion_interval(50 - wrong, 50))

# %%
# All six steps are one command. It sets rows aside, compares model classes, and judges once.

run = novum.run("iris", preset="quick", models=["gaussian", "tree", "neighbors"])
print(run.leaderboard["model"].to_pylist())

# %%
# Why the rows that trained cannot judge: a deep tree is always right on them.

depths = range(1, 8)
scores = []
for depth in depths:
    model = DecisionTreeClassifier(max_depth=depth).fit(X[train], y[train])
    scores.append((model.score(X[train], y[train]), model.score(X[test], y[test])))
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(depths, scores, "o-", label=["rows trained on", "rows set aside"])
ax.set(xlabel="depth", ylabel="accuracy")
ax.legend()
plt.show()

# %%
# **Exercise.** A classifier has 6 errors on 100 rows set aside. What is the standard error of its
# error rate? Replace the right-hand side by your own computation; the next line checks it.

answer = np.sqrt(0.06 * 0.94 / 100)
assert abs(answer - 0.0237) < 5e-4, "not yet"
print("right:", round(answer, 4))
