"""
Distances as values, and their axioms
=====================================

The circle of every distance is another one. Whether a distance is a metric can be asked; the cosine
distance is not.

*Scope: N2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distances import (
    Chebyshev,
    Cosine,
    Euclidean,
    Gower,
    Mahalanobis,
    Manhattan,
    Minkowski,
    check_metric,
)

x, y = np.meshgrid(np.linspace(-2, 2, 201), np.linspace(-2, 2, 201))
grid = np.column_stack([x.ravel(), y.ravel()])
kinds = {
    "L1": Manhattan(),
    "L2": Euclidean(),
    "L4": Minkowski(4),
    "Chebyshev": Chebyshev(),
    "Mahalanobis": Mahalanobis([[1.0, 0.7], [0.7, 1.0]]),
}
fig, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
for number, (name, distance) in enumerate(kinds.items()):
    values = distance.pairwise([[0.0, 0.0]], grid).reshape(x.shape)
    ax.contour(x, y, values, [1.0], colors=f"C{number}")
    ax.plot([], [], color=f"C{number}", label=name)
ax.legend()
ax.set_aspect("equal")
plt.show()

# %%
# Mixed columns, and a check of the axioms that names the rows which break one.

people = [[31.0, "Ulm"], [35.0, "Ulm"], [62.0, "Bonn"]]
print(Gower().pairwise(people).round(3).tolist())
print(check_metric(Euclidean(), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
print(check_metric(Cosine(), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])[0])
