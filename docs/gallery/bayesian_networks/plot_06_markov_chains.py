"""
Where a chain settles
=====================

A regular chain forgets where it began. Regularity is sufficient for one stationary law, not
necessary: `[[1, 0], [.5, .5]]` has one too.

*Scope: B6.*
"""

import matplotlib.pyplot as plt

from novum.graphical import MarkovChain

weather = MarkovChain([[0.9, 0.1], [0.5, 0.5]], states=["sunny", "rainy"])
print(weather.stationary())
print("regular", weather.is_regular, "mixed after", weather.time_to_mix(0.01), "days")
trap = MarkovChain([[1.0, 0.0], [0.5, 0.5]], states=["home", "away"])
print("regular", trap.is_regular, "yet settles at", trap.stationary().values.tolist())

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
for start in ("sunny", "rainy"):
    ax.plot([weather.after(start, n).values[0] for n in range(8)], "o-", label=f"from {start}")
ax.axhline(5 / 6, color="k", ls=":")
ax.set(xlabel="days", ylabel="P(sunny)")
ax.legend()
plt.show()
