"""
A graph from rows, and how sure its edges are
=============================================

Score and search, tests, or all graphs at once: what the table supports, and what it leaves open.

*Scope: B8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import (
    BIC,
    PC,
    Annealing,
    BayesianNetwork,
    Exact,
    HillClimbing,
    compare,
    edge_probabilities,
    learn_structure,
)

truth = (
    BayesianNetwork()
    .add("smoker", table=[0.3, 0.7])
    .add("cough", parents="smoker", table=[[0.6, 0.4], [0.2, 0.8]])
    .add("dust", table=[0.4, 0.6])
    .add(
        "asthma",
        parents=["smoker", "dust"],
        table=[[[0.7, 0.3], [0.4, 0.6]], [[0.35, 0.65], [0.05, 0.95]]],
    )
)
rows = truth.sample(1500, random_state=0)
searches = {
    "hill climbing": HillClimbing(restarts=3),
    "annealing": Annealing(steps=3000),
    "proved best": Exact(),
    "tests": PC(),
}
for name, search in searches.items():
    learned = learn_structure(rows, BIC(), search)
    print(
        f"{name:14} score {learned.score:10.2f}", compare(learned.dag, truth.graph).class_distance
    )

sure = edge_probabilities(rows)
names = sure.names
chances = np.array([[0.0 if a == b else sure.joined(a, b) for b in names] for a in names])
fig, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
ax.imshow(chances, vmin=0, vmax=1, cmap="Blues")
for i, j in np.ndindex(4, 4):
    ax.text(j, i, f"{chances[i, j]:.2f}", ha="center", color="w" if chances[i, j] > 0.6 else "k")
ax.set_xticks(range(4), names)
ax.set_yticks(range(4), names)
ax.set_title("probability of an edge")
plt.show()
