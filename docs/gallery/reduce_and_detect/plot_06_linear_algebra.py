"""
A change of basis, and eigenvectors one by one
==============================================

In the basis of the columns of P a matrix may be simple. Power iteration finds the largest
eigenvector, deflation takes it out, and the next one is found.

*Scope: P8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.numerics import (
    coordinates,
    definiteness_of,
    mahalanobis,
    matrix_in_basis,
    power_iteration,
    project,
    rank,
    rayleigh_quotient,
    stationary_point,
)

P = np.array([[3.0, -2.0], [1.0, 1.0]])
print("coordinates of (1, 2):", coordinates([1.0, 2.0], P).round(6).tolist())
A = np.array([[2.0, 6.0], [1.0, 1.0]])
print("A in this basis:", matrix_in_basis(A, P).round(12).tolist())

S = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, -2.0]])
pairs = power_iteration(S)
print("eigenvalues by deflation:", pairs.values.round(6).tolist())
first = pairs.vectors[:, 0]
print("Rayleigh quotient of the first:", round(float(rayleigh_quotient(S, first)), 6))
print("rank", rank(S), "and", definiteness_of(S).verdict.value)
print("x^2 - y^2 has at 0 a", stationary_point([0, 0], [[2, 0], [0, -2]]).kind.value)

# %%
# A projection on a line, and the ellipse of equal Mahalanobis distance: its half-axes are square
# roots of eigenvalues.

C = np.array([[2.0, 1.2], [1.2, 1.0]])
values, vectors = np.linalg.eigh(C)
angle = np.linspace(0, 2 * np.pi, 200)
ellipse = (vectors * np.sqrt(values)) @ np.array([np.cos(angle), np.sin(angle)])
print(
    "distance of the ellipse:", np.unique(mahalanobis(ellipse.T, np.zeros(2), C).round(6)).tolist()
)
point = np.array([1.5, 2.0])
foot = project(point, vectors[:, 1:])
fig, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
ax.plot(*ellipse)
for value, vector in zip(values, vectors.T, strict=True):
    ax.annotate("", np.sqrt(value) * vector, (0, 0), arrowprops={"arrowstyle": "->"})
ax.plot(*np.array([point, foot]).T, "o:")
ax.set_aspect("equal")
plt.show()
print("power iteration:", power_iteration(C, 1).values.round(6), "exact:", values[1].round(6))
