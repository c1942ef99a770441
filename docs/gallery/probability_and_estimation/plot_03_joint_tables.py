"""
Toothache, cavity, catch
========================

A joint table answers every question about its variables: marginals, conditionals, propositions,
independence.

*Scope: P2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import JointTable, check_independence, variable

yes_no = (True, False)
table = JointTable(
    [[[0.108, 0.012], [0.072, 0.008]], [[0.016, 0.064], [0.144, 0.576]]],
    ["cavity", "toothache", "catch"],
    [yes_no] * 3,
)
cavity, toothache, catch = (variable(name) for name in ("cavity", "toothache", "catch"))
print("P(cavity or toothache) =", round(table.probability(cavity | toothache), 4))
print("P(cavity | toothache) =", round(table.probability(cavity, given=toothache), 4))
print(
    check_independence(table, "toothache", "catch").holds,
    check_independence(table, "toothache", "catch", given="cavity").holds,
)

questions = {
    "nothing known": None,
    "toothache": toothache,
    "catch": catch,
    "both": toothache & catch,
    "neither": ~toothache & ~catch,
}
values = [
    table.probability(cavity) if given is None else table.probability(cavity, given=given)
    for given in questions.values()
]
fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.barh(list(questions)[::-1], np.array(values)[::-1])
ax.set(xlim=(0, 1), xlabel="P(cavity | ...)")
plt.show()
