"""
Decide by costs, or refuse to
=============================

The action of least expected cost follows from the posterior and a table of costs. Where all actions
are dear, asking somebody may be the cheapest.

*Scope: D1.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.core import WorkingPoint
from novum.evaluation import bayes_actions, conditional_risk

point = WorkingPoint(["ill", "well"], [0.1, 0.9], [[0, 20], [1, 0]], reject_cost=0.4)
p = np.linspace(0, 1, 401)
P = np.column_stack([p, 1 - p])
actions = bayes_actions(P, point)
for action in ("well", "reject", "ill"):
    where = p[actions == action]
    print(f"{action:6} for P(ill) from {where.min():.4f} to {where.max():.4f}")

risk = conditional_risk(P, [[0, 20, 0.4], [1, 0, 0.4]])
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(p, risk, label=["call ill", "call well", "refuse"])
ax.fill_between(p, 0, risk.min(axis=1), alpha=0.2)
ax.set(xlim=(0, 1), ylim=(0, 1.2), xlabel="probability of ill", ylabel="expected cost")
ax.legend()
plt.show()
