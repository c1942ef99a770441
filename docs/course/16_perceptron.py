r"""
16. The perceptron
==================

**The idea.** Walk through the rows; where the answer is wrong, add the row to the weights. If a
line separates the classes, the walk ends.

**The formula.** :math:`w \leftarrow w + y_i x_i` wherever :math:`y_i \langle w, x_i \rangle \le
0`. With rows of length at most R and a margin :math:`\gamma` there are at most

.. math:: (R / \gamma)^2 \text{ mistakes.}
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import Perceptron
from novum.svm import SVC, KernelPerceptron

# %%
# **The definition in ten lines.**

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
y = np.array([-1, -1, -1, 1])
Z = np.column_stack([X, np.ones(4)])
w, mistakes = np.zeros(3), 0
for _ in range(100):
    wrong = [i for i in range(4) if y[i] * (Z[i] @ w) <= 0]
    if not wrong:
        break
    w += y[wrong[0]] * Z[wrong[0]]
    mistakes += 1
print("weights", w, "after", mistakes, "mistakes")
assert np.all(np.sign(Z @ w) == y)

# %%
# **The same answer**, with its proof.

model = Perceptron().fit(X, y)
assert np.array_equal(model.predict(X), y)
proof = model.certificate_.details
print(
    "separable:",
    proof["separable"],
    "mistakes",
    proof["mistakes"],
    "<=",
    round(proof["mistake_bound"], 1),
)

# %%
# The margin of the best line bounds the mistakes of any walk.

best = SVC(kernel="linear", C=float("inf")).fit(X, y)
print("largest margin:", round(float(np.ravel(best.margin_)[0]), 4))

# %%
# XOR has no line. The kernel perceptron separates it with products of columns.

xor = [0, 1, 1, 0]
kernel = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, xor)
assert kernel.predict(X).tolist() == xor
x, z = np.meshgrid(np.linspace(-0.5, 1.5, 100), np.linspace(-0.5, 1.5, 100))
values = kernel.decision_function(np.column_stack([x.ravel(), z.ravel()])).reshape(x.shape)
fig, ax = plt.subplots(figsize=(3.8, 3.2), layout="constrained")
ax.contourf(x, z, values > 0, alpha=0.3, cmap="coolwarm")
ax.scatter(*X.T, c=xor, cmap="coolwarm", edgecolors="k", s=60)
plt.show()

# %%
# **Exercise.** XOR is OR and not AND. Give weights (w1, w2, b) of a unit that computes it from the
# outputs of OR and AND.

answer = np.array([1.0, -2.0, -0.5])
hidden = np.array([[0, 0], [1, 0], [1, 0], [1, 1]])
assert [(h @ answer[:2] + answer[2] > 0) * 1 for h in hidden] == xor, "not yet"
print("right")
