"""
Answers by chance, with their errors
====================================

Sampling, loopy messages and mean fields answer where exact sums are too dear. Each answer says how
far it can be trusted.

*Scope: B5.*
"""

import matplotlib.pyplot as plt

from novum.graphical import (
    BayesianNetwork,
    Gibbs,
    LikelihoodWeighting,
    LoopyPropagation,
    MeanField,
    MetropolisHastings,
    RejectionSampling,
)

network = (
    BayesianNetwork()
    .add("cloudy", table=[0.5, 0.5])
    .add("sprinkler", parents="cloudy", table=[[0.1, 0.9], [0.5, 0.5]])
    .add("rain", parents="cloudy", table=[[0.8, 0.2], [0.2, 0.8]])
    .add(
        "wet",
        parents=["sprinkler", "rain"],
        table=[[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.02, 0.98]]],
    )
)
evidence = {"wet": "true"}
exact = network.query("rain", given=evidence).values[0]
engines = {
    "rejection": RejectionSampling(4000, random_state=0),
    "likelihood weighting": LikelihoodWeighting(4000, random_state=0),
    "Gibbs": Gibbs(random_state=0),
    "Metropolis-Hastings": MetropolisHastings(random_state=0),
    "loopy messages": LoopyPropagation(),
    "mean field": MeanField(random_state=0),
}
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
for place, (name, engine) in enumerate(engines.items()):
    found = network.query("rain", given=evidence, engine=engine)
    error = 0.0 if found.errors is None else 2 * found.errors[0]
    ax.errorbar(found.values[0], place, xerr=error, fmt="o", color="C0")
    print(f"{name:20} {found.values[0]:.4f}", found.diagnosis.sentence[:70])
ax.axvline(exact, color="k", ls=":", label=f"exact {exact:.4f}")
ax.set_yticks(range(6), engines)
ax.set_xlabel("P(rain | wet grass)")
ax.legend()
plt.show()
