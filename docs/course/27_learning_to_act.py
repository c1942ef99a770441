r"""
27. Learning to act
===================

**The idea.** The world is unknown. Act, see what it pays and where it leads, and correct what one
believed; now and then try something else.

**The formula.**

.. math:: Q(s, a) \leftarrow Q(s, a) + \alpha \big[ r + \gamma \max_{a'} Q(s', a') - Q(s, a) \big],

and SARSA uses the action it takes next in place of the best one.
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.reinforcement import (
    GridWorld,
    MarkovDecisionProcess,
    QLearning,
    direct_utility,
    policy_values,
    simulate,
    solve,
)

# %%
# **The definition in ten lines.** Q-learning for the machine of the last lesson.

P = np.array([[[0.8, 0.2], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
r = np.array([[10.0, 7.0], [4.0, -3.0]])
rng = np.random.default_rng(0)
Q, visits, s, trace = np.zeros((2, 2)), np.zeros((2, 2)), 0, []
for _ in range(60000):
    a = Q[s].argmax() if rng.random() > 0.2 else rng.integers(2)
    after = int(rng.random() < P[a, s, 1])
    visits[s, a] += 1
    rate = 1 / (1 + visits[s, a] / 50) ** 0.7
    Q[s, a] += rate * (r[s, a] + 0.9 * Q[after].max() - Q[s, a])
    s = after
    trace.append(Q.max(axis=1))
print(Q.round(1))

# %%
# **The same numbers**, up to chance: the exact values, and the agent of the library.

machine = MarkovDecisionProcess(
    P, r, discount=0.9, states=["good", "worn"], actions=["run", "repair"], start="good"
)
exact = solve(machine)
assert np.allclose(Q.max(axis=1), exact.values, rtol=0.03)
assert Q.argmax(axis=1).tolist() == [0, 1]

world = GridWorld.notes()
agent = QLearning(200_000, random_state=0).fit(world)
assert agent.predict([(1, 1)]) == ["up"]

# %%
# Watching a policy: the mean of what followed a state is its value.

policy = solve(world.process).policy
traces = simulate(world.process, policy, 3000, random_state=0)
seen = direct_utility(traces, 1.0)
at_start = float(seen.values[list(seen.states).index((1, 1))])
truth = solve(world.process).value((1, 1))
assert abs(at_start - truth) < 0.03
print("watched:", round(at_start, 3), "exact:", round(truth, 3))

# %%
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(np.array(trace)[::100], label=["good", "worn"])
for value in exact.values:
    ax.axhline(value, color="k", ls=":", lw=0.8)
ax.set(xlabel="hundreds of steps", ylabel="value")
ax.legend()
plt.show()

# %%
# **Exercise.** An agent believes Q(s, a) = 2, receives 1 and comes to a state whose best action is
# worth 3. With a discount of 0.5 and a rate of 0.1, what does it believe now?

answer = 2 + 0.1 * (1 + 0.5 * 3 - 2)
assert abs(answer - 2.05) < 1e-12, "not yet"
print("right:", answer)
assert np.isfinite(policy_values(world.process, policy)).all()
