"""
Laws of vectors
===============

Marginals and conditionals of a normal are normal, the half-axes of its ellipses are square roots of
eigenvalues; heavier tails and laws of shares and of matrices have the same methods.

*Scope: P1, P8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import Dirichlet, MultivariateNormal, MultivariateStudentT, Wishart

law = MultivariateNormal([0.0, 1.0], [[4.0, 2.0], [2.0, 2.0]])
print("given the first is 2:", law.condition([0], [2.0]))
print(
    "Wishart: Var W_ij = v (T_ij^2 + T_ii T_jj):", Wishart(5.0, [[2.0, 1.0], [1.0, 1.0]]).variance
)

x, y = np.meshgrid(np.linspace(-6, 6, 150), np.linspace(-4, 6, 150))
grid = np.column_stack([x.ravel(), y.ravel()])
heavy = MultivariateStudentT(2.0, [0.0, 1.0], [[4.0, 2.0], [2.0, 2.0]])
shares = Dirichlet([4.0, 2.0, 1.0]).sample(400, random_state=0)
fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
levels = [0.001, 0.005, 0.02, 0.05, 0.08]
axes[0].contour(x, y, law.density(grid).reshape(x.shape), levels)
axes[0].set_title("normal")
axes[1].contour(x, y, heavy.density(grid).reshape(x.shape), levels)
axes[1].set_title("Student t")
axes[2].plot(shares[:, 0], shares[:, 1], ".", ms=3)
axes[2].set(title="shares of a Dirichlet", xlabel="first", ylabel="second")
plt.show()
