r"""
12. Answers by chance
=====================

**The idea.** Draw states and count. Rows that contradict the evidence are thrown away, or the
evidence is set and every row weighed. A chain that changes one variable at a time visits states as
often as they are probable.

**The formula.** A regular chain has one law that it does not change,

.. math:: \pi^\top T = \pi^\top, \qquad
          w = \prod_{e \in \text{evidence}} P(e \mid \mathrm{parents}(e)) .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import BayesianNetwork, Gibbs, LikelihoodWeighting, MarkovChain

# %%
# **The definition in ten lines.** Likelihood weighting for rain, given wet grass.

rng = np.random.default_rng(0)
rain = rng.random(20000) < 0.2
weights = np.where(rain, 0.9, 0.1)
estimate = weights[rain].sum() / weights.sum()
exact = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.1)
print(round(estimate, 4), "exact:", round(exact, 4))

# %%
# **The same numbers**, with the standard error.

network = BayesianNetwork().add("rain", table=[0.2, 0.8])
network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
found = network.query(
    "rain", given={"wet": "true"}, engine=LikelihoodWeighting(20000, random_state=0)
)
assert abs(found.values[0] - exact) < 4 * found.errors[0]
assert abs(float(network.query("rain", given={"wet": "true"}).values[0]) - exact) < 1e-12
print(found.values[0].round(4), "+-", found.errors[0].round(4))

# %%
# The stationary law: multiply by T until nothing changes.

T = np.array([[0.9, 0.1], [0.5, 0.5]])
law = np.array([1.0, 0.0])
trace = [law]
for _ in range(60):
    law = law @ T
    trace.append(law)
chain = MarkovChain(T, states=["sunny", "rainy"])
assert np.allclose(law, chain.stationary().values)
print(law, chain.is_regular)

# %%
# Gibbs sampling answers on a network without a shortcut.

chained = network.add("slippery", parents=["wet"], table=[[0.8, 0.2], [0.1, 0.9]])
truth = float(chained.query("rain", given={"slippery": "true"}).values[0])
gibbs = chained.query("rain", given={"slippery": "true"}, engine=Gibbs(random_state=0))
assert abs(gibbs.values[0] - truth) < 0.001 + 4 * gibbs.errors[0]
fig, ax = plt.subplots(figsize=(5.5, 2.6), layout="constrained")
ax.plot(np.array(trace)[:12, 0], "o-")
ax.axhline(5 / 6, color="k", ls=":")
ax.set(xlabel="steps", ylabel="P(sunny)")
plt.show()

# %%
# **Exercise.** A chain stays with probability 0.8 in a and 0.6 in b, and changes otherwise. What is
# the stationary probability of a?

answer = 2 / 3
assert abs(answer - MarkovChain([[0.8, 0.2], [0.4, 0.6]]).stationary().values[0]) < 1e-9, "not yet"
print("right")
