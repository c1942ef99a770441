"""
The perceptron: AND, OR, and two levels for XOR
===============================================

A perceptron finds a line where there is one, and proves how many mistakes it can make at most. XOR
has no line; a level of OR and NAND below an AND has one, and so has a kernel.

*Scope: L2.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.linear import Perceptron
from novum.svm import KernelPerceptron

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
gates = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "NAND": [1, 1, 1, 0]}
fitted = {name: Perceptron().fit(X, y) for name, y in gates.items()}
for name, model in fitted.items():
    proof = model.certificate_.details
    print(
        name,
        model.predict(X).tolist(),
        "mistakes",
        proof["mistakes"],
        "of at most",
        round(proof["mistake_bound"], 1),
    )

level = np.column_stack([fitted["OR"].predict(X), fitted["NAND"].predict(X)])
print("XOR by two levels:", fitted["AND"].predict(level).tolist())
kernel = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, [0, 1, 1, 0])

x, y = np.meshgrid(np.linspace(-0.5, 1.5, 120), np.linspace(-0.5, 1.5, 120))
grid = np.column_stack([x.ravel(), y.ravel()])
hidden = np.column_stack([fitted["OR"].predict(grid), fitted["NAND"].predict(grid)])
answers = [fitted["AND"].predict(grid), fitted["AND"].predict(hidden), kernel.predict(grid)]
truths = [gates["AND"], [0, 1, 1, 0], [0, 1, 1, 0]]
fig, axes = plt.subplots(1, 3, figsize=(8.5, 2.9), layout="constrained")
for ax, answer, truth, title in zip(
    axes, answers, truths, ("AND", "XOR, two levels", "XOR, a kernel"), strict=True
):
    ax.contourf(x, y, np.reshape(answer, x.shape), levels=1, cmap="coolwarm", alpha=0.4)
    ax.scatter(*X.T, c=truth, cmap="coolwarm", edgecolors="k", s=60)
    ax.set(title=title, xticks=[0, 1], yticks=[0, 1])
plt.show()
