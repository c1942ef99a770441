r"""
20. Kernels on strings, trees and graphs
========================================

**The idea.** Count the parts that two objects share: pieces of strings, fragments of trees, colored
neighborhoods of graphs. A count of shared parts is an inner product of counts.

**The formula.**

.. math:: k(s, t) = \sum_{|u| = k} N_u(s) N_u(t), \qquad
          k_{WL}(G, H) = \sum_{i=0}^{h} \sum_{c \in \text{colors}_i} N_c(G) N_c(H) .
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import Spectrum, SubtreeKernel, WeisfeilerLehman, isomorphism_test

# %%
# **The definition in ten lines.**


def spectrum(s, t, k):
    a = Counter(s[i : i + k] for i in range(len(s) - k + 1))
    b = Counter(t[i : i + k] for i in range(len(t) - k + 1))
    return sum(a[u] * b[u] for u in a)


def weisfeiler_lehman(graphs, h):
    colors = [list(labels) for _, labels in graphs]
    K = np.zeros((len(graphs), len(graphs)))
    for _ in range(h + 1):
        counts = [Counter(c) for c in colors]
        K += [[sum(a[u] * b[u] for u in a) for b in counts] for a in counts]
        new = []
        for (edges, _), old in zip(graphs, colors, strict=True):
            near = {i: [] for i in range(len(old))}
            for i, j in edges:
                near[i].append(old[j])
                near[j].append(old[i])
            new.append([(old[i], tuple(sorted(map(str, near[i])))) for i in near])
        colors = new
    return K


# %%
# **The same numbers.**

words = ["banana", "ananas", "bandana"]
K = np.array([[spectrum(s, t, 2) for t in words] for s in words])
assert np.array_equal(Spectrum(2).gram(words), K)
path, triangle = ([(0, 1), (1, 2)], "aaa"), ([(0, 1), (1, 2), (0, 2)], "aaa")
assert np.array_equal(
    WeisfeilerLehman(iterations=2).gram([path, triangle]), weisfeiler_lehman([path, triangle], 2)
)
print(K.tolist())

# %%
# Complete subtrees that two parse trees share.

print(SubtreeKernel().gram(["(S (NP a) (VP b))", "(S (NP a) (VP a))"]).tolist())

# %%
# The colors tell most graphs apart, not all.

hexagon = [(i, (i + 1) % 6) for i in range(6)]
triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
print(isomorphism_test(hexagon, triangles).verdict)
fig, ax = plt.subplots(figsize=(3.8, 3), layout="constrained")
ax.imshow(K)
ax.set_xticks(range(3), words)
ax.set_yticks(range(3), words)
plt.show()

# %%
# **Exercise.** How many pieces of length 3 do "abcabc" and "bcab" share, counted as the kernel
# does?

answer = 2
assert answer == Spectrum(3).cross(["abcabc"], ["bcab"])[0, 0], "not yet"
print("right")
