r"""
26. Decision processes
======================

**The idea.** What a state is worth is what it pays now and what the next one is worth. The best
policy follows from the values, the values from the best policy; one begins anywhere.

**The formula.**

.. math:: V(s) = \max_a \Big[ r(s) + \gamma \sum_{s'} P(s' \mid s, a) V(s') \Big] .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.reinforcement import GridWorld, MarkovDecisionProcess, policy_values, solve

# %%
# **The definition in ten lines.** A machine that wears out; a repair costs.

P = np.array([[[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
r = np.array([[10.0, 7.0], [4.0, -3.0]])
gamma, V, trace = 0.9, np.zeros(2), []
for _ in range(400):
    Q = r + gamma * np.einsum("ast,t->sa", P, V)
    V = Q.max(axis=1)
    trace.append(V)
print("values", V.round(4), "policy", Q.argmax(axis=1))

# %%
# **The same numbers**, with a proof of the largest possible loss.

machine = MarkovDecisionProcess(
    P, r, discount=gamma, states=["good", "worn"], actions=["run", "repair"]
)
plan = solve(machine)
assert np.allclose(plan.values, V)
assert [plan.policy["good"], plan.policy["worn"]] == [
    ["run", "repair"][a] for a in Q.argmax(axis=1)
]
print("loss at most", plan.certificate.distance_bound)

# %%
# A fixed policy is a linear system.

chosen = np.array([P[Q[s].argmax(), s] for s in range(2)])
exact = np.linalg.solve(np.eye(2) - gamma * chosen, r[np.arange(2), Q.argmax(axis=1)])
assert np.allclose(exact, policy_values(machine, plan.policy))

# %%
# The grid world of 4 x 3 with slips.

world = GridWorld.notes()
best = solve(world.process)
print(best.draw())
fig, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
best.draw().plot(ax)
plt.show()

# %%
# **Exercise.** From the lower left corner the best policy is worth 0.705. Which way does it go
# first?

answer = "up"
assert round(best.value((1, 1)), 3) == 0.705
assert answer == best.policy[(1, 1)], "not yet"
print("right")
