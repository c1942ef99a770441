"""
Surprise in bits
================

Entropy is the least mean length of a code; a code made for another law costs the divergence beyond
it; impurity measures of trees satisfy axioms that can be checked.

*Scope: P4.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import (
    check_impurity,
    cross_entropy,
    entropy,
    error_impurity,
    gini_impurity,
    huffman_code,
    kl_divergence,
    mutual_information,
)

p, q = [0.5, 0.25, 0.125, 0.125], [0.25] * 4
code = huffman_code(dict(zip("abcd", p, strict=True)))
print("words", code.words, "mean length", code.expected_length, "entropy", entropy(p, base=2))
print(
    "with the wrong code:", cross_entropy(p, q, base=2), "extra:", kl_divergence(p, q) / np.log(2)
)
print(
    "shared by two fair coins that agree:", mutual_information([[0.5, 0], [0, 0.5]], base=2), "bit"
)
for name, measure in (("Gini", gini_impurity), ("error", error_impurity)):
    print(name, "is an impurity measure:", check_impurity(measure).holds)

share = np.linspace(0, 1, 201)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(share, [entropy([s, 1 - s], base=2) / 2 for s in share], label="entropy / 2")
ax.plot(share, [gini_impurity([s, 1 - s]) for s in share], label="Gini")
ax.plot(share, [error_impurity([s, 1 - s]) for s in share], label="error")
ax.set(xlabel="share of the first class", ylabel="impurity")
ax.legend()
plt.show()
