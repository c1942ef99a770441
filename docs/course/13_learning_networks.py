r"""
13. Learning networks
=====================

**The idea.** Tables are counts. Missing cells are counted by what is expected of them, again and
again. Graphs are compared by a score that rewards fit and asks a price for every number.

**The formula.**

.. math:: \hat\theta_{ijk} = \frac{N_{ijk}}{\sum_k N_{ijk}}, \qquad
          \mathrm{BIC} = \log L - \frac{\log n}{2} \cdot \text{parameters} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import (
    BIC,
    K2,
    Dag,
    Exact,
    fit_expectation,
    fit_parameters,
    learn_structure,
    score,
)

# %%
# **The definition in ten lines.** Counts, and the score of two graphs.

rng = np.random.default_rng(0)
a = rng.integers(0, 2, 200)
b = np.where(rng.random(200) < 0.8, a, 1 - a)
N = np.array([[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)])
theta = N / N.sum(axis=1, keepdims=True)


def log_likelihood(counts):
    return np.sum(counts * np.log(counts / counts.sum(axis=-1, keepdims=True)))


with_edge = log_likelihood(N.sum(axis=1)) + log_likelihood(N) - np.log(200) / 2 * 3
without = log_likelihood(N.sum(axis=1)) + log_likelihood(N.sum(axis=0)) - np.log(200) / 2 * 2
print(theta.round(3).tolist(), round(with_edge, 3), round(without, 3))

# %%
# **The same numbers.**

rows = {"a": a.tolist(), "b": b.tolist()}
edge, empty = Dag.from_edges([("a", "b")]), Dag.from_edges([], ["a", "b"])
assert np.allclose(fit_parameters(edge, rows)["b"].table, theta)
assert np.isclose(score(edge, rows, BIC()), with_edge)
assert np.isclose(score(empty, rows, BIC()), without)
print("one more of each:", fit_parameters(edge, rows, K2())["b"].table.round(3).tolist())

# %%
# Missing cells: EM never lowers the likelihood.

holes = {
    "a": [None if u < 0.4 else v for u, v in zip(rng.random(200), a.tolist(), strict=True)],
    "b": b.tolist(),
}
fitted = fit_expectation(edge, holes)
trace = np.asarray(fitted.certificate.trace)
assert np.all(np.diff(trace) > -1e-9)
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.plot(trace, "o-")
ax.set(xlabel="iteration", ylabel="log-likelihood")
plt.show()

# %%
# **Exercise.** A third variable c copies b with errors of 10 %. Which edges does the best graph
# have, directions aside?

answer = {frozenset("ab"), frozenset("bc")}
c = np.where(rng.random(200) < 0.9, b, 1 - b)
learned = learn_structure(rows | {"c": c.tolist()}, BIC(), Exact())
assert learned.dag.skeleton == answer, "not yet"
print("right:", learned.dag)
