"""
EM for a model of your own: two coins
=====================================

Ten throws each, five times; nobody wrote down which coin it was. Start, expectation and
maximization are all that has to be written.

*Scope: C3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.mixture import LatentModel, expectation_maximization


class Coins(LatentModel):
    def start(self, _, rng):
        return np.sort(rng.uniform(0.2, 0.8, 2))

    def expectation(self, heads, X, weight):
        joint = 0.5 * heads ** X[:, None] * (1 - heads) ** (10 - X[:, None])
        shares = weight[:, None] * joint / joint.sum(axis=1, keepdims=True)
        return weight @ np.log(joint.sum(axis=1)), (shares.T @ X, 10 * shares.sum(axis=0))

    def maximization(self, _, sums):
        return sums[0] / sums[1]


throws = np.array([5, 9, 8, 4, 7])
fit = expectation_maximization(Coins(), throws)
print("heads:", fit.params.round(3).tolist(), fit.certificate.verdict.value)

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(fit.certificate.trace, "o-")
ax.set(xlabel="iteration", ylabel="log-likelihood")
plt.show()
