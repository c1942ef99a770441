r"""
29. Few labels
==============

**The idea.** Labels are dear, rows are not. Near rows should have like labels: let labels flow
along a graph of similarities until every row is the mean of its neighbors.

**The formula.** With weights :math:`W`, degrees :math:`D` and known labels :math:`f_l`,

.. math:: f_u = (D_{uu} - W_{uu})^{-1} W_{ul} f_l .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import TwoMoons
from novum.neighbors import LabelPropagation

# %%
# **The definition in ten lines.**

X = np.array([[0.0], [1.0], [2.0], [3.0]])
W = np.exp(-((X - X.T) ** 2))
np.fill_diagonal(W, 0.0)
known, unknown = [0, 3], [1, 2]
f = np.array([[1.0, 0.0], [0.0, 1.0]])
laplacian = np.diag(W.sum(axis=1)) - W
spread = np.linalg.solve(laplacian[np.ix_(unknown, unknown)], W[np.ix_(unknown, known)] @ f)
print(spread.round(4))

# %%
# **The same numbers.**

model = LabelPropagation("rbf", gamma=1.0).fit(X, ["a", None, None, "b"])
assert np.allclose(model.label_distributions_[unknown], spread, atol=1e-3)

# %%
# Six labels are enough where the rows show the groups.

sample = TwoMoons(noise=0.1).sample(300, random_state=0)
labels = np.full(300, None, dtype=object)
few = np.r_[np.flatnonzero(sample.y == 0)[:3], np.flatnonzero(sample.y == 1)[:3]]
labels[few] = sample.y[few]
moons = LabelPropagation("knn", n_neighbors=7).fit(sample.X, labels)
answers = np.asarray(moons.predict(sample.X), float)
print("right:", np.mean(answers == sample.y))
fig, ax = plt.subplots(figsize=(4.6, 3), layout="constrained")
ax.scatter(*sample.X.T, c=answers, s=8, cmap="coolwarm")
ax.scatter(*sample.X[few].T, c=sample.y[few], s=70, cmap="coolwarm", edgecolors="k")
plt.show()

# %%
# **Exercise.** A chain a - ? - ? - b with equal weights between neighbors. How much a is the first
# unknown row?

answer = 2 / 3
chain = np.array([[2.0, -1.0], [-1.0, 2.0]])
assert abs(answer - np.linalg.solve(chain, [1.0, 0.0])[0]) < 1e-12, "not yet"
print("right")
