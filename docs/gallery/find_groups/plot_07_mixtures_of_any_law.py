"""
Mixtures of any law
===================

Counts are no normals. Two kinds of customers visit two shops; a mixture of Poisson laws tells them
apart, cells that are missing included.

*Scope: C3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import Poisson
from novum.mixture import Mixture

rng = np.random.default_rng(0)
visits = 1.0 * np.vstack([rng.poisson([1, 6], (120, 2)), rng.poisson([8, 2], (80, 2))])
visits[::9, 1] = np.nan
model = Mixture(Poisson, 2, random_state=0).fit(visits)
for share, part in zip(model.weights_, model.components_, strict=True):
    print(round(float(share), 2), [round(law.rate, 2) for law in part.laws])

jitter = visits + 0.25 * rng.normal(size=visits.shape)
fig, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
ax.scatter(*jitter.T, c=model.predict(visits), s=10, cmap="coolwarm")
ax.set(xlabel="visits to the first shop", ylabel="visits to the second")
plt.show()
