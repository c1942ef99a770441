"""
Do distances still mean something?
==================================

With many columns of noise the nearest and the farthest row are almost equally far. The diagnosis
says whether that has happened.

*Scope: W6.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.evaluation import distance_concentration

rng = np.random.default_rng(0)
widths = [2, 5, 10, 20, 50, 100, 200, 500]
found = [distance_concentration(rng.normal(size=(300, width))) for width in widths]
for width, each in zip(widths, found, strict=True):
    print(f"{width:4} columns: concentrated {each.concentrated}")

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.semilogx(widths, [each.relative_contrast for each in found], "o-")
ax.set(xlabel="independent columns", ylabel="(farthest - nearest) / nearest", yscale="log")
plt.show()
