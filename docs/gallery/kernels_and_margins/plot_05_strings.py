"""
Strings that share pieces
=========================

The spectrum kernel counts the pieces of length k that two strings have in common; a support vector
machine needs nothing else.

*Scope: S7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.kernels import Spectrum, Substrings, normalize
from novum.svm import SVC

print("banana, ananas:", Spectrum(2).gram(["banana", "ananas"]).tolist())
print("all substrings of ab and abb:", Substrings().gram(["ab", "abb"]).tolist())

rng = np.random.default_rng(0)


def text(motif):
    letters = "".join(rng.choice(list("acgt"), 30))
    at = rng.integers(0, 24)
    return letters[:at] + motif + letters[at + len(motif) :]


strings = [text("gattaca") for _ in range(30)] + [text("ccgtgta") for _ in range(30)]
labels = np.repeat(["first", "second"], 30)
kernel = normalize(Spectrum(4))
model = SVC(kernel=kernel, C=10.0).fit(strings[::2], labels[::2])
print("right on the other half:", (model.predict(strings[1::2]) == labels[1::2]).mean())

fig, ax = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
picture = ax.imshow(kernel.gram(strings), vmax=0.5)
ax.set(xlabel="string", ylabel="string", title="shared pieces of length 4")
fig.colorbar(picture)
plt.show()
