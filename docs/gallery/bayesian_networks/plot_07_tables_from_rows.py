"""
Tables from rows, complete or not
=================================

Counts give the maximum of the likelihood, pseudo-counts a posterior mean, and EM fills in what is
missing by what is expected of it.

*Scope: B7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import K2, Dag, fit_expectation, fit_parameters

rng = np.random.default_rng(0)
rain = rng.random(400) < 0.3
wet = np.where(rng.random(400) < np.where(rain, 0.9, 0.1), "yes", "no")
rain = np.where(rain, "yes", "no")
graph = Dag.from_edges([("rain", "wet")])
few = {"rain": rain[:6].tolist(), "wet": wet[:6].tolist()}
print("six rows, counts:", fit_parameters(graph, few)["wet"].table.round(3).tolist())
print("and one more of each:", fit_parameters(graph, few, K2())["wet"].table.round(3).tolist())

holes = {
    "rain": [None if u < 0.5 else r for u, r in zip(rng.random(400), rain.tolist(), strict=True)],
    "wet": wet.tolist(),
}
fitted = fit_expectation(graph, holes)
print("half of the rain unseen:", fitted.network["wet"].table.round(3).tolist())
fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.plot(fitted.certificate.trace, "o-")
ax.set(xlabel="iteration of EM", ylabel="log-likelihood")
plt.show()
