"""
What an autoencoder cannot say back
===================================

A network squeezes rows through a bottleneck and says them back. Rows unlike those of its training
come back wrong; the line is drawn at the mean error plus some standard deviations. Needs the extra
`neural` (torch).

*Scope: C7.*
"""

import matplotlib.pyplot as plt
import numpy as np

from novum.neural import AutoencoderDetector, DeviationThreshold, has_torch

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 400)
ordinary = np.column_stack([np.cos(angle), np.sin(angle), np.cos(angle) + np.sin(angle)])
unusual = ordinary[:40] * [1.0, 1.0, -1.0]
if has_torch():
    model = AutoencoderDetector(2, threshold=DeviationThreshold(3.0), random_state=0)
    model.fit(ordinary)
    called = [np.mean(model.predict(rows) == -1) for rows in (ordinary, unusual)]
    print("called novel: ordinary", called[0], "unusual", called[1])
    fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    for rows, name in ((ordinary, "ordinary"), (unusual, "third column turned")):
        ax.hist(model.score_samples(rows), 40, alpha=0.6, density=True, label=name)
    ax.axvline(model.offset_, color="k", ls=":", label="mean and 3 deviations")
    ax.set(xlabel="score, low is unusual", yscale="log")
    ax.legend()
    plt.show()
