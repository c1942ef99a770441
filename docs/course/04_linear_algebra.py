r"""
4. Bases, projections, eigenvectors
===================================

**The idea.** A vector is the same in every basis, its coordinates are not. The eigenvectors of a
symmetric matrix are the basis in which it only stretches.

**The formula.** With the basis in the columns of :math:`P`,

.. math:: x' = P^{-1} x, \qquad A' = P^{-1} A P, \qquad
          \lambda_1 = \max_v \frac{v^\top A v}{v^\top v}, \quad A - \lambda_1 v_1 v_1^\top \to
          \lambda_2 .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.numerics import coordinates, matrix_in_basis, power_iteration, rayleigh_quotient

# %%
# **The definition in ten lines.** Multiply and normalize until nothing turns; then take that
# direction out.


def largest(A, steps=2000):
    v = np.ones(len(A)) / np.sqrt(len(A))
    for _ in range(steps):
        v = A @ v
        v /= np.linalg.norm(v)
    return v @ A @ v, v


A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
values, rest = [], A.copy()
for _ in range(3):
    value, v = largest(rest)
    values.append(value)
    rest = rest - value * np.outer(v, v)
print("by deflation:", np.round(values, 6))

# %%
# **The same numbers.**

pairs = power_iteration(A)
assert np.allclose(values, pairs.values, atol=1e-8)
assert abs(rayleigh_quotient(A, v) - values[-1]) < 1e-6

# %%
# The change of basis of the notes.

P = np.array([[3.0, -2.0], [1.0, 1.0]])
x = np.array([5.0, 5.0])
print("coordinates:", coordinates(x, P), "and back:", P @ coordinates(x, P))
B = np.array([[2.0, 6.0], [1.0, 1.0]])
print("in its eigenbasis B is diagonal:", matrix_in_basis(B, P).round(12).tolist())

# %%
# How fast the direction settles depends on the ratio of the two largest eigenvalues.

v, angles = np.ones(3) / np.sqrt(3), []
best = np.linalg.eigh(A)[1][:, -1]
for _ in range(15):
    angles.append(np.arccos(min(1.0, abs(v @ best))))
    v = A @ v / np.linalg.norm(A @ v)
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.semilogy(angles, "o-")
ax.set(xlabel="multiplications", ylabel="angle to the eigenvector")
plt.show()

# %%
# **Exercise.** Project (2, 1) on the line through (1, 1). What is the foot?

answer = np.array([1.5, 1.5])
u = np.array([1.0, 1.0]) / np.sqrt(2)
assert np.allclose(answer, u * (u @ [2.0, 1.0])), "not yet"
print("right")
