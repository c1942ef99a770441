"""
Kernels that are sums, and weights that are learned
===================================================

Sums, products and limits of kernels are kernels. Which of several counts is learned together with
the machine; whether a matrix is a kernel at all can be asked.

*Scope: S8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import Gaussian, Linear, check_kernel, normalize, on
from novum.svm import SVC, learn_weights

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
y = (X[:, 1] ** 2 + 0.3 * rng.normal(size=150) > 0.6).astype(int)
kernels = [on(column, Gaussian(1.0)) for column in range(4)]
found = learn_weights(kernels, X, y, SVC(C=1.0))
print("weights:", found.weights.round(3).tolist(), "gap:", found.certificate.relative_gap)

both = 0.5 * normalize(Linear()) + on([0, 1], Gaussian(1.0)) * on(2, Linear())
print(check_kernel(both.gram(X[:30])).verdict, "and", check_kernel([[1, 2], [2, 1]]).verdict)

fig, ax = plt.subplots(figsize=(5, 2.8), layout="constrained")
ax.bar(range(4), found.weights)
ax.set(xticks=range(4), xlabel="kernel on column", ylabel="learned weight")
plt.show()
