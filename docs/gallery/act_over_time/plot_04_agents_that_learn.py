"""
Agents that learn to act
========================

Q-learning, SARSA and a model that is counted and planned in; the one with a model needs far fewer
steps. Optimism explores what is little known.

*Scope: R2, R3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import compare_agents
from novum.reinforcement import AdaptiveDynamicProgramming, GridWorld, Optimism, QLearning, Sarsa

agents = {
    "Q-learning": QLearning(20_000),
    "SARSA": Sarsa(20_000),
    "counted model": AdaptiveDynamicProgramming(20_000, rule=Optimism(2.0, 20)),
}
judged = compare_agents(agents, GridWorld.notes(), n_seeds=5, optimum=0.705)
for name in agents:
    print(f"{name:14} at the end {judged.final(name)}, regret {judged.regret(name)}")

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for name in agents:
    ax.plot(judged.steps, np.mean(judged.returns[name], axis=0), label=name)
ax.axhline(0.705, color="k", ls=":", label="best possible")
ax.set(xlabel="steps", ylabel="return")
ax.legend()
plt.show()
