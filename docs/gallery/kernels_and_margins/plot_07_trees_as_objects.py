"""
Parse trees as objects
======================

A sentence is a tree. Two trees are alike by the fragments they share, which a recursion counts
without listing them.

*Scope: S6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import SubsetTreeKernel, SubtreeKernel, normalize

trees = [
    "(S (NP (D the) (N dog)) (VP (V barks)))",
    "(S (NP (D the) (N cat)) (VP (V sleeps)))",
    "(S (NP (N Ada)) (VP (V reads) (NP (D a) (N book))))",
    "(S (NP (N Bob)) (VP (V writes) (NP (D a) (N letter))))",
]
print(
    "the definition:",
    SubsetTreeKernel(decay=1.0).gram(["(A (B c) (B c))", "(A (B c) (B d))"]).tolist(),
)
kernels = {"complete subtrees": SubtreeKernel(), "fragments": SubsetTreeKernel(decay=0.5)}
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    K = normalize(kernel).gram(trees)
    ax.imshow(K, vmin=0, vmax=1)
    for i, j in np.ndindex(4, 4):
        ax.text(
            j, i, f"{K[i, j]:.2f}", ha="center", color="w" if K[i, j] < 0.6 else "k", fontsize=8
        )
    ax.set(title=name, xticks=range(4), yticks=range(4))
plt.show()
