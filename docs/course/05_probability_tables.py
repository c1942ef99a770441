r"""
5. Joint tables
===============

**The idea.** A table of the probabilities of all combinations answers every question: sum what is
not asked for, divide by what is known.

**The formula.**

.. math:: P(a) = \sum_b P(a, b), \qquad P(a \mid b) = \frac{P(a, b)}{P(b)}, \qquad
          P(a \mid b) = \frac{P(b \mid a) P(a)}{P(b)} .
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.distributions import ConditionalTable, JointTable, check_independence, variable

# %%
# **The definition in ten lines.** Cavity, toothache, and the dentist's probe that catches.

P = np.array([[[0.108, 0.012], [0.072, 0.008]], [[0.016, 0.064], [0.144, 0.576]]])
p_cavity = P[0].sum()
p_toothache = P[:, 0].sum()
p_cavity_given_toothache = P[0, 0].sum() / p_toothache
print(p_cavity, p_toothache, p_cavity_given_toothache)

# %%
# **The same numbers**, asked as propositions.

table = JointTable(P, ["cavity", "toothache", "catch"], [(True, False)] * 3)
cavity, toothache = variable("cavity"), variable("toothache")
assert abs(table.probability(cavity, given=toothache) - p_cavity_given_toothache) < 1e-12
print("cavity or toothache:", round(table.probability(cavity | toothache), 4))
print("toothache and catch are independent:", check_independence(table, "toothache", "catch").holds)
given = check_independence(table, "toothache", "catch", given="cavity")
print("given the cavity:", given.holds)

# %%
# Bayes' rule: a test that is right 98 and 97 times of 100, an illness of 8 in 1000.

test = ConditionalTable(
    [[0.98, 0.02], [0.03, 0.97]], of={"positive": (True, False)}, given={"ill": (True, False)}
)
shares = np.linspace(0.001, 0.5, 100)
after = [s * 0.98 / (s * 0.98 + (1 - s) * 0.03) for s in shares]
prior = JointTable([0.008, 0.992], ["ill"], [(True, False)])
found = test.reverse(prior).at(positive=True).probability({"ill": True})
print("ill after a positive test:", round(found, 4))
fig, ax = plt.subplots(figsize=(5.5, 2.8), layout="constrained")
ax.plot(shares, after)
ax.set(xlabel="share of the ill", ylabel="P(ill | positive)")
plt.show()

# %%
# **Exercise.** How probable is it to be ill after two independent positive tests?

answer = 0.008 * 0.98**2 / (0.008 * 0.98**2 + 0.992 * 0.03**2)
check = test.reverse(JointTable([found, 1 - found], ["ill"], [(True, False)]))
assert abs(answer - check.at(positive=True).probability({"ill": True})) < 1e-9, "not yet"
print("right:", round(answer, 3))
