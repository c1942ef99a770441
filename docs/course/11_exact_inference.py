r"""
11. Messages: sums and maxima on a chain
========================================

**The idea.** Sums over all states of a chain cost as much as there are states to the power of its
length, unless the sum is pushed inwards: then each node passes one message.

**The formula.** With transition matrix :math:`T` and evidence factors :math:`e_t`,

.. math:: \alpha_t = e_t \circ T^\top \alpha_{t-1}, \qquad \beta_{t-1} = T (e_t \circ \beta_t),
          \qquad P(x_t \mid e) \propto \alpha_t \circ \beta_t ;

with maxima in place of sums, and pointers back, it is the most probable path.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import HiddenMarkovModel

# %%
# **The definition in ten lines.** Rain behind umbrellas.

start = np.array([0.5, 0.5])
T = np.array([[0.7, 0.3], [0.3, 0.7]])
S = np.array([[0.9, 0.1], [0.2, 0.8]])
seen = [0, 0, 1, 0, 1]
alpha = [start * S[:, seen[0]]]
for symbol in seen[1:]:
    alpha.append(S[:, symbol] * (T.T @ alpha[-1]))
beta = [np.ones(2)]
for symbol in seen[:0:-1]:
    beta.insert(0, T @ (S[:, symbol] * beta[0]))
smoothed = np.array(alpha) * np.array(beta)
smoothed /= smoothed.sum(axis=1, keepdims=True)
print(smoothed[:, 0].round(4))

# %%
# **The same numbers**, and by brute force over all paths.

model = HiddenMarkovModel.of(start, T, S, states=["rain", "dry"], symbols=["umbrella", "none"])
words = [["umbrella", "none"][s] for s in seen]
assert np.allclose(model.smoothed(words), smoothed)
assert np.isclose(model.log_likelihood(words), np.log(alpha[-1].sum()))


def weight(path):
    steps = [T[a, b] for a, b in itertools.pairwise(path)]
    return (
        start[path[0]]
        * np.prod(steps)
        * np.prod([S[x, s] for x, s in zip(path, seen, strict=True)])
    )


paths = list(itertools.product((0, 1), repeat=5))
best = max(paths, key=weight)
found = model.most_probable(words)
assert found.states == [["rain", "dry"][x] for x in best]
print("best path:", found.states)

# %%
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(model.filtered(words)[:, 0], "o:", label="filtered")
ax.plot(smoothed[:, 0], "o-", label="smoothed")
ax.set_xticks(range(5), words)
ax.set_ylabel("P(rain)")
ax.legend()
plt.show()

# %%
# **Exercise.** How probable is rain on the second day after two umbrellas, by what came before?

answer = 0.883
assert abs(answer - model.filtered(["umbrella", "umbrella"])[1, 0]) < 1e-3, "not yet"
print("right")
