"""
Pruning a tree
==============

A tree grown to the end repeats its rows. Reduced-error pruning cuts what validation rows do not
support (a tie prunes); cost-complexity pruning asks a price for every leaf.

*Scope: T2.*
"""

import matplotlib.pyplot as plt

from novum.data import Checkerboard
from novum.trees import CostComplexity, DecisionTreeClassifier, ReducedError

law = Checkerboard(noise=0.15)
train, test = law.sample(600, random_state=0), law.sample(4000, random_state=1)

alphas = [0.0, 0.001, 0.002, 0.004, 0.008, 0.016]
leaves, errors = [], []
for alpha in alphas:
    tree = DecisionTreeClassifier(pruning=CostComplexity(alpha)).fit(train.X, train.y)
    leaves.append(tree.get_n_leaves())
    errors.append(1 - tree.score(test.X, test.y))

reduced = DecisionTreeClassifier(pruning=ReducedError(0.3), random_state=0).fit(train.X, train.y)
print("leaves by price:", dict(zip(alphas, leaves, strict=True)))
print("reduced error:", reduced.get_n_leaves(), "leaves")

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(leaves, errors, "o-", label="cost-complexity path")
ax.plot(reduced.get_n_leaves(), 1 - reduced.score(test.X, test.y), "s", label="reduced error")
ax.axhline(train.bayes_error, color="gray", ls=":", label="no classifier is better")
ax.set(xlabel="leaves", ylabel="error on new rows", xscale="log")
ax.legend()
plt.show()
