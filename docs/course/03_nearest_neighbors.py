r"""
3. Nearest neighbors
====================

**The idea.** Keep all rows; a new one is what its nearest are. Everything depends on what near
means, so columns are scaled first, and levels need a distance of their own.

**The formula.**

.. math:: d_p(x, z) = \Big( \sum_j |x_j - z_j|^p \Big)^{1/p}, \qquad
          \hat y = \frac{\sum_{i \in N_k(x)} w_i y_i}{\sum_{i \in N_k(x)} w_i}, \quad w_i = 1 /
          d(x, x_i).
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import load
from novum.distances import Chebyshev, Euclidean, Manhattan, Minkowski
from novum.neighbors import KNeighborsClassifier, KNeighborsRegressor

# %%
# **The definition in ten lines.**


def minkowski(x, z, p):
    return np.sum(np.abs(x - z) ** p) ** (1 / p)


def vote(x, X, y, k):
    nearest = np.argsort([minkowski(x, z, 2) for z in X], kind="stable")[:k]
    labels, counts = np.unique(y[nearest], return_counts=True)
    return labels[np.argmax(counts)]


table, target = load("iris", frame="pandas")
X, y = table.drop(columns=target).to_numpy(), table[target].to_numpy()
new = X[::10] + 0.05
by_hand = [vote(x, X, y, 5) for x in new]

# %%
# **The same numbers.**

model = KNeighborsClassifier(5).fit(X, y)
assert model.predict(new).tolist() == by_hand
a, b = np.array([1.0, 2.0]), np.array([4.0, 6.0])
for p, distance in ((1, Manhattan()), (2, Euclidean()), (3, Minkowski(3))):
    assert abs(distance.pairwise([a], [b])[0, 0] - minkowski(a, b, p)) < 1e-12
print(
    "L1, L2, maximum:", minkowski(a, b, 1), minkowski(a, b, 2), Chebyshev().pairwise([a], [b])[0, 0]
)

# %%
# Weights 1/d, with a row at distance zero deciding alone.

line = KNeighborsRegressor(2, weights="distance").fit([[0.0], [1.0]], [0.0, 8.0])
print(line.predict([[0.25], [1.0]]), "by hand:", (0 / 0.25 + 8 / 0.75) / (1 / 0.25 + 1 / 0.75))

# %%
# How many neighbors? Few follow the noise, many forget the place.

curve = KNeighborsClassifier("auto").fit(X, y).curve()
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(curve.n_neighbors, curve.errors)
ax.set(xlabel="neighbors", ylabel="leave-one-out error")
plt.show()

# %%
# **Exercise.** Heights are in meters and weights in kilograms. Which of (1.60, 60) and (1.95, 61)
# is nearer to (1.62, 61) as they are? And after dividing heights by 0.1 and weights by 10?

as_they_are = "second"
scaled = "first"
rows, point = np.array([[1.60, 60.0], [1.95, 61.0]]), np.array([1.62, 61.0])
nearest = [np.argmin([minkowski(point / s, r / s, 2) for r in rows]) for s in (1.0, [0.1, 10.0])]
assert [["first", "second"][i] for i in nearest] == [as_they_are, scaled], "not yet"
print("right")
