r"""
19. Kernels
===========

**The idea.** Many learners use rows only through inner products. Replace these by a kernel, and
they learn in a space of features that nobody computes.

**The formula.**

.. math:: k(x, z) = \langle \phi(x), \phi(z) \rangle, \qquad (x^\top z + 1)^2, \qquad
          e^{-|x - z|^2 / 2 s^2}, \qquad f(x) = \sum_i \alpha_i k(x_i, x) .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import Gaussian, Polynomial, check_kernel
from novum.svm import SVDD, SVR, KernelRidge

# %%
# **The definition in ten lines.** The features of the quadratic kernel, and ridge regression in the
# space of a Gaussian one.


def features(x):
    a, b = x
    return np.array([1, np.sqrt(2) * a, np.sqrt(2) * b, a * a, np.sqrt(2) * a * b, b * b])


u, v = np.array([1.0, 2.0]), np.array([3.0, -1.0])
print((u @ v + 1) ** 2, features(u) @ features(v))

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 40))
y = np.sin(x) + 0.1 * rng.normal(size=40)
K = np.exp(-((x[:, None] - x) ** 2) / 2)
alpha = np.linalg.solve(K + 0.1 * np.eye(40), y)

# %%
# **The same numbers.**

assert np.isclose(Polynomial(2, constant=1.0).cross([u], [v])[0, 0], (u @ v + 1) ** 2)
assert np.allclose(Gaussian(1.0).gram(x[:, None]), K)
model = KernelRidge(alpha=0.1, kernel=Gaussian(1.0)).fit(x[:, None], y)
assert np.allclose(model.dual_coef_, alpha)

# %%
# Not every similarity is a kernel: its matrix must have no negative eigenvalue.

print(check_kernel(K).verdict, check_kernel([[1.0, 2.0], [2.0, 1.0]]).verdict)

# %%
# A tube that ignores small errors, and the smallest sphere around rows, take any kernel too.

tube = SVR(kernel=Gaussian(1.0), C=10.0, epsilon=0.2).fit(x[:, None], y)
fine = np.linspace(0, 6, 200)
fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.plot(x, y, ".", color="gray")
ax.plot(fine, model.predict(fine[:, None]), label="ridge")
ax.plot(fine, tube.predict(fine[:, None]), label="tube")
ax.legend()
plt.show()

# %%
# **Exercise.** The smallest sphere (here an interval) around 0, 1 and 4: center and radius?

center, radius = 2.0, 2.0
sphere = SVDD(C=float("inf"), kernel="linear").fit([[0.0], [1.0], [4.0]])
found = [sphere.center_[0], sphere.radius_]
assert np.allclose(found, [center, radius], atol=1e-4), "not yet"
print("right")
