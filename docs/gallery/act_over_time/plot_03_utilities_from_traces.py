"""
What a policy is worth, from watching it
========================================

Mean returns and temporal differences estimate the values of a policy that somebody else follows, in
the states that it visits.

*Scope: R2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.reinforcement import (
    GridWorld,
    direct_utility,
    policy_values,
    simulate,
    solve,
    temporal_differences,
)

process = GridWorld.notes().process
policy = solve(process).policy
exact = policy_values(process, policy)
sizes = [10, 30, 100, 300, 1000, 3000]
errors = {"mean return": [], "temporal differences": []}
for size in sizes:
    traces = simulate(process, policy, size, random_state=0)
    for name, way in (
        ("mean return", direct_utility),
        ("temporal differences", temporal_differences),
    ):
        found = way(traces, 1.0)
        order = [process.states.index(state) for state in found.states]
        gaps = (np.array(found.values) - exact[order])[np.array(found.visits) > 0]
        errors[name].append(np.sqrt(np.mean(gaps**2)))
print({name: np.round(values, 3).tolist() for name, values in errors.items()})

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for name, values in errors.items():
    ax.loglog(sizes, values, "o-", label=name)
ax.set(xlabel="episodes watched", ylabel="error of the values")
ax.legend()
plt.show()
