"""
Numbers and states in one network
=================================

A state with a normal law for every value of its parents: temperature depends on the season, sales
on both. Answers are exact.

*Scope: B1, B8.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import Dag, fit_parameters

rng = np.random.default_rng(0)
season = rng.choice(["summer", "winter"], 500)
warm = np.where(season == "summer", 22.0, 3.0) + 4 * rng.normal(size=500)
sales = np.where(season == "summer", 10.0, 30.0) + 1.5 * warm + 5 * rng.normal(size=500)
rows = {"season": season.tolist(), "warm": warm.tolist(), "sales": sales.tolist()}
graph = Dag.from_edges([("season", "warm"), ("season", "sales"), ("warm", "sales")])
network = fit_parameters(graph, rows, numbers="normal")
print(network)

points = np.linspace(-5, 35, 60)
chances = [network.marginals({"warm": float(t)})["season"].values for t in points]
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(points, chances)
ax.set(xlabel="temperature", ylabel="probability of the season")
plt.show()
