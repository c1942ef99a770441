"""
Neighbors: how many, and how weighted
=====================================

One search finds the leave-one-out error of every k. A vote may weigh near rows more; a row at
distance zero then decides alone.

*Scope: N1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.data import TwoMoons
from novum.neighbors import KNeighborsClassifier, KNeighborsRegressor

sample = TwoMoons(noise=0.3).sample(400, random_state=0)
model = KNeighborsClassifier("auto").fit(sample.X, sample.y)
curve = model.curve()
best = curve.n_neighbors[np.argmin(curve.errors)]
print("chosen number of neighbors:", best)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(curve.n_neighbors, curve.errors)
left.axhline(sample.bayes_error, color="gray", ls=":")
left.set(xlabel="neighbors", ylabel="leave-one-out error", title="classification")

x = np.sort(np.random.default_rng(0).uniform(0, 6, 40))
y = np.sin(x)
fine = np.linspace(0, 6, 400)
for weights in ("uniform", "distance"):
    line = KNeighborsRegressor(5, weights=weights).fit(x[:, None], y).predict(fine[:, None])
    right.plot(fine, line, label=weights)
right.plot(x, y, "k.", ms=4)
right.set_title("regression")
right.legend()
plt.show()
