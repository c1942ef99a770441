"""
Graphs and their neighborhoods
==============================

Weisfeiler and Lehman recolor every node by the multiset of its neighbors' colors. Colors that
differ prove that graphs differ; colors in common are a similarity.

*Scope: S7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import WeisfeilerLehman, isomorphism_test

path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
print("path and star:", isomorphism_test((path, "CCCC"), (star, "CCCC")).verdict)
print("hexagon and two triangles:", isomorphism_test(hexagon, triangles).verdict)

# %%
# Two paths and a ring of four against one path and two rings: sets of neighbor colors cannot tell
# them apart, multisets can.

ring = [(0, 1), (1, 2), (2, 3), (0, 3)]


def union(*graphs):
    return [(a + 4 * i, b + 4 * i) for i, graph in enumerate(graphs) for a, b in graph]


print(isomorphism_test(union(path, path, ring), union(path, ring, ring)).verdict)

names = ["path", "star", "ring"]
graphs = [(path, "aaaa"), (star, "aaaa"), (ring, "aaaa")]
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
for ax, h in zip(axes, (0, 1, 3), strict=True):
    K = WeisfeilerLehman(iterations=h).gram(graphs)
    K = K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    ax.imshow(K, vmin=0, vmax=1)
    for i in range(3):
        for j in range(3):
            ax.text(j, i, f"{K[i, j]:.2f}", ha="center", color="w" if K[i, j] < 0.6 else "k")
    ax.set_xticks(range(3), names)
    ax.set_yticks(range(3), names)
    ax.set_title(f"{h} iterations")
plt.show()
