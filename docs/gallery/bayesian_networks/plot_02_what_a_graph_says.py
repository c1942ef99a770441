"""
What a graph says
=================

Separation is read off the graph: blankets, open trails, immoralities, the class of graphs that say
the same, and the members of this class.

*Scope: B2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import Dag, are_equivalent, minimal_independence_map, perfect_map

graph = Dag.from_edges(
    [("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Alarm", "John"), ("Alarm", "Mary")]
)
print("blanket of Burglary:", graph.markov_blanket("Burglary"))
print("John, Mary:", bool(graph.d_separated("John", "Mary")))
print("given the alarm:", bool(graph.d_separated("John", "Mary", given="Alarm")))
open_trail = graph.d_separated("Burglary", "Earthquake", given="John")
print("why not separated:", open_trail)

# %%
# Chain and fork say the same, a collider does not. A bad order needs more edges.

chain = Dag.from_edges([("a", "b"), ("b", "c")])
fork, collider = Dag.from_edges([("b", "a"), ("b", "c")]), Dag.from_edges([("a", "b"), ("c", "b")])
print(
    "chain and fork:", are_equivalent(chain, fork), "and collider:", are_equivalent(chain, collider)
)
print("class of the chain:", chain.pattern())
print(minimal_independence_map(["John", "Mary", "Alarm", "Burglary", "Earthquake"], graph))
print(perfect_map("abc", collider))

names = ["Burglary", "Earthquake", "Alarm", "John", "Mary"]
separated = np.array([[a != b and bool(graph.d_separated(a, b)) for b in names] for a in names])
fig, ax = plt.subplots(figsize=(4.4, 3.8), layout="constrained")
ax.imshow(separated, cmap="Blues")
ax.set_xticks(range(5), names, rotation=45)
ax.set_yticks(range(5), names)
ax.set_title("independent without evidence (dark)")
plt.show()
