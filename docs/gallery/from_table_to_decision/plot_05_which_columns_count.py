"""
Which columns count, and how sure is that
=========================================

A column that helps by chance will not help again. `StabilitySelection` chooses on many halves of
the rows and bounds how many useless columns it keeps on average.

*Scope: W6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import AssociationTest, SelectKBest, StabilitySelection, selection_stability
from novum.linear import Lasso

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 25))
y = 2 * X[:, 3] - 1.5 * X[:, 7] + X[:, 11] + rng.normal(size=120)

scores, p_values = AssociationTest()(X, y)
model = StabilitySelection(Lasso(), random_state=0).fit(X, y)
print("kept:", model.get_support(indices=True).tolist(), "useless on average:", model.error_bound_)

stability = selection_stability(SelectKBest(AssociationTest(), k=3), X, y, cv=10)
print("chosen in ten training parts:", {k: n for k, n in stability.counts.items() if n})

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
colors = np.where(model.get_support(), "tab:blue", "silver")
ax.bar(range(25), scores, color=colors)
ax.axhline(-np.log10(0.05 / 25), color="tab:red", lw=1, label="0.05, corrected for 25 tests")
ax.set(xlabel="column", ylabel="-log10 of the p-value")
ax.legend()
plt.show()
