r"""
2. Decision trees
=================

**The idea.** Ask the question that tells most about the class, then go on in every branch. A leaf
is a conjunction of answers, the tree a disjunction of leaves.

**The formula.** A question with branches of shares :math:`n_k / n` gains

.. math:: G = H(y) - \sum_k \frac{n_k}{n} H(y \mid k), \qquad H(y) = -\sum_c p_c \log_2 p_c .

Of a number only thresholds between rows of different class need be tried.
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.distributions import entropy
from novum.trees import DecisionTreeClassifier, ReducedError, id3

# %%
# **The definition in ten lines.** Entropy, and the gain of every column of fourteen days.


def impurity(labels):
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return -np.sum(shares * np.log2(shares))


table, target = load("weather_nominal", frame="pandas")
X, y = table.drop(columns=target), table[target].to_numpy()
gains = {}
for name in X:
    parts = [y[X[name].to_numpy() == level] for level in X[name].unique()]
    gains[name] = impurity(y) - sum(len(part) / len(y) * impurity(part) for part in parts)
print({name: round(gain, 3) for name, gain in gains.items()})

# %%
# **The same numbers.** The library's entropy agrees, and ID3 asks for the column of largest gain.

assert abs(impurity(y) - entropy([9 / 14, 5 / 14], base=2)) < 1e-12
tree = id3().fit(X, y)
assert X.columns[tree.tree_.column[0]] == max(gains, key=gains.get)
print(tree.text())

# %%
# A column that names every row has all of the gain and is worth nothing. Gain ratio divides the
# gain by the entropy of the split itself: 0.940 bits over log2(14).

print("gain ratio of an identifier:", round(impurity(y) / np.log2(14), 3))

# %%
# Grown to the end a tree repeats its rows; reduced-error pruning cuts every branch that rows set
# aside do not support. A tie prunes.

cars, kind = load("car", frame="pandas")
Z, t = cars.drop(columns=kind), cars[kind].to_numpy()
order = np.random.default_rng(0).permutation(len(t))
train, test = order[:1000], order[1000:]
full = DecisionTreeClassifier().fit(Z.iloc[train], t[train])
pruned = DecisionTreeClassifier(pruning=ReducedError(0.3), random_state=0)
pruned.fit(Z.iloc[train], t[train])
for name, model in (("full", full), ("pruned", pruned)):
    print(name, model.get_n_leaves(), "leaves,", round(model.score(Z.iloc[test], t[test]), 3))
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
tree.plot(ax)
plt.show()

# %%
# **Exercise.** A node has 8 rows of class a and 8 of class b. A question sends 6 a and 2 b to one
# side. How many bits does it gain?

answer = 1.0 - impurity(np.array(["a"] * 6 + ["b"] * 2))
assert abs(answer - 0.1887) < 1e-4, "not yet"
print("right:", round(answer, 4), "bits")
