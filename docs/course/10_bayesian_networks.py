r"""
10. Bayesian networks
=====================

**The idea.** A graph says who depends on whom; the joint distribution is a product of small tables.
What is independent can be read off the graph.

**The formula.**

.. math:: P(x_1, \dots, x_n) = \prod_i P(x_i \mid \mathrm{parents}(x_i)) .

A trail is blocked by an observed node in its middle, or by a collider of which neither itself nor a
descendant is observed.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import BayesianNetwork

# %%
# **The definition in ten lines.** Burglary, earthquake, alarm, two neighbors.

B, E = [0.001, 0.999], [0.002, 0.998]
A = np.array([[[0.95, 0.05], [0.94, 0.06]], [[0.29, 0.71], [0.001, 0.999]]])
J, M = np.array([[0.9, 0.1], [0.05, 0.95]]), np.array([[0.7, 0.3], [0.01, 0.99]])
joint = {
    (b, e, a, j, m): B[b] * E[e] * A[b, e, a] * J[a, j] * M[a, m]
    for b, e, a, j, m in itertools.product((0, 1), repeat=5)
}
both_call = sum(v for k, v in joint.items() if k[3] == 0 and k[4] == 0)
by_hand = sum(v for k, v in joint.items() if k[0] == 0 and k[3] == 0 and k[4] == 0) / both_call
print("P(burglary | both call) =", round(by_hand, 6))

# %%
# **The same numbers.**

network = (
    BayesianNetwork()
    .add("Burglary", table=B)
    .add("Earthquake", table=E)
    .add("Alarm", parents=["Burglary", "Earthquake"], table=A)
    .add("John", parents=["Alarm"], table=J)
    .add("Mary", parents=["Alarm"], table=M)
)
found = network.query("Burglary", given={"John": "true", "Mary": "true"})
assert abs(float(found.values[0]) - by_hand) < 1e-12
print(network.n_parameters, "numbers instead of", network.n_joint_parameters)

# %%
# What the graph says: the causes are independent until the alarm, or its consequence, is known.

graph = network.graph
for given in ([], ["Alarm"], ["John"]):
    print(
        "Burglary and Earthquake given",
        given,
        bool(graph.d_separated("Burglary", "Earthquake", given=given)),
    )
print("blanket of the alarm:", graph.markov_blanket("Alarm"))

# %%
cases = [
    {},
    {"John": "true"},
    {"John": "true", "Mary": "true"},
    {"John": "true", "Mary": "true", "Earthquake": "true"},
]
values = [float(network.query("Burglary", given=case).values[0]) for case in cases]
fig, ax = plt.subplots(figsize=(5.5, 2.4), layout="constrained")
ax.barh(["nothing", "John", "John, Mary", "and an earthquake"][::-1], values[::-1])
ax.set_xlabel("P(burglary | ...)")
plt.show()

# %%
# **Exercise.** Are John and Mary independent? Given the alarm? Given the burglary?

answers = [False, True, False]
check = [bool(graph.d_separated("John", "Mary", given=g)) for g in ([], ["Alarm"], ["Burglary"])]
assert answers == check, "not yet"
print("right")
