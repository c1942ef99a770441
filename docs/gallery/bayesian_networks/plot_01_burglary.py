"""
Burglary and earthquake
=======================

Five variables, ten numbers in place of 31, and every question answered exactly. If John and Mary
both call, a burglary has probability 0.284.

*Scope: B1, B3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import BayesianNetwork

network = (
    BayesianNetwork()
    .add("Burglary", table=[0.001, 0.999])
    .add("Earthquake", table=[0.002, 0.998])
    .add(
        "Alarm",
        parents=["Burglary", "Earthquake"],
        table=[[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]],
    )
    .add("JohnCalls", parents=["Alarm"], table=[[0.9, 0.1], [0.05, 0.95]])
    .add("MaryCalls", parents=["Alarm"], table=[[0.7, 0.3], [0.01, 0.99]])
)
print(network.n_parameters, "numbers instead of", network.n_joint_parameters)
print(network.query("Burglary", given={"JohnCalls": "true", "MaryCalls": "true"}))

# %%
network.draw({"JohnCalls": "true", "MaryCalls": "true"})

# %%
# An earthquake explains the alarm away.

cases = {
    "nothing": {},
    "John": {"JohnCalls": "true"},
    "John, Mary": {"JohnCalls": "true", "MaryCalls": "true"},
    "and an earthquake": {"JohnCalls": "true", "MaryCalls": "true", "Earthquake": "true"},
}
values = [float(network.query("Burglary", given=case).values[0]) for case in cases.values()]
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(list(cases)[::-1], np.array(values)[::-1])
ax.set_xlabel("P(burglary | ...)")
plt.show()
