"""
Messages on a chain and on a factor graph
=========================================

Sum-product passes two messages over every edge and has all marginals. On a chain the forward
message carries the previous one as a factor.

*Scope: B3.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    Factor,
    FactorGraph,
    JunctionTree,
    SumProduct,
    VariableElimination,
)

chain = BayesianNetwork().add("x0", table=[0.9, 0.1])
for i in range(1, 12):
    chain = chain.add(f"x{i}", parents=f"x{i - 1}", table=[[0.8, 0.2], [0.3, 0.7]])
engines = (Enumeration(), VariableElimination(), SumProduct(), JunctionTree())
answers = [chain.query("x5", given={"x11": "false"}, engine=e).values[0] for e in engines]
print("four engines agree to", np.ptp(answers))

alike = [[3.0, 1.0], [1.0, 3.0]]
ring = FactorGraph(
    [Factor(alike, {f"s{i}": (0, 1), f"s{(i + 1) % 6}": (0, 1)}) for i in range(6)]
    + [Factor([1.0, 4.0], {"s0": (0, 1)})]
)
print("a ring of six:", ring.query("s3").values.round(4).tolist())

before = [chain.query(f"x{i}").values[0] for i in range(12)]
after = [chain.query(f"x{i}", given={"x11": "false", "x4": "false"}).values[0] for i in range(12)]
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.plot(before, "o-", label="nothing known")
ax.plot(after, "s-", label="x4 and x11 are false")
ax.set(xlabel="position on the chain", ylabel="P(true)")
ax.legend()
plt.show()
