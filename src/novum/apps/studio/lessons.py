"""Learners that are watched at work: what each step of a lesson shows, as plain data.

A lesson turns painted points into frames (`frames.py`). Its last frame is what the learner of the
library gives for the same points (the tests hold it to that), so that what a class room sees is
what a fit does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.apps.studio.frames import (
    CELLS,
    Frame,
    centers,
    ellipses,
    frame,
    grid,
    line,
    mark,
    places,
    region,
)
from novum.bayes import GaussianClassifier, GaussianNB
from novum.core.errors import InputError
from novum.decomposition import PCA
from novum.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from novum.kernels import Gaussian
from novum.linear import GradientDescent, LogisticRegression, Perceptron
from novum.mixture import GaussianMixture, NormalMixture
from novum.neighbors import KNeighborsClassifier
from novum.numerics import Floats, Integers, LogisticLoss, rayleigh_quotient
from novum.svm import SVC
from novum.trees import DecisionTreeClassifier, RandomForestClassifier

# Frames of a lesson at most.
MOST_FRAMES = 100
_SIDES = "Two classes are needed, each with a point. Paint points of a second color."


@dataclass(frozen=True)
class Points:
    """Painted points: places in the unit square (n, 2), and classes (n,)."""

    X: Floats
    y: Integers

    def two_sides(self) -> Floats:
        """-1 for the first class of two, +1 for the second."""
        classes = np.unique(self.y)
        if len(classes) != 2:
            raise InputError(
                _SIDES if len(classes) < 2 else "This lesson is about two classes; erase the third."
            )
        return np.where(self.y == classes[1], 1.0, -1.0)

    def labeled(self) -> None:
        if len(np.unique(self.y)) < 2:
            raise InputError(_SIDES)


@dataclass(frozen=True)
class Setting:
    """What can be set: a number from `low` to `high`, or one of `choices`."""

    name: str
    title: str
    value: Any
    low: float = 0.0
    high: float = 0.0
    step: float = 1.0
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """A learner to watch: `steps(points, **settings)` gives its frames."""

    name: str
    title: str
    about: str
    steps: Callable[..., Iterator[Frame]]
    settings: tuple[Setting, ...] = ()
    needs_classes: bool = True

    def frames(self, points: Points, given: dict[str, Any]) -> list[Frame]:
        """All frames; settings that are not given are the usual ones."""
        if not len(points.X):
            raise InputError("There is no point yet. Paint some, or take an example.")
        chosen = {one.name: _chosen(one, given.get(one.name, one.value)) for one in self.settings}
        frames = []
        with warnings.catch_warnings():
            # Steps that are cut off on purpose are not told as such.
            warnings.simplefilter("ignore")
            for one in self.steps(points, **chosen):
                frames.append(one)
                if len(frames) == MOST_FRAMES:
                    break
        return frames


def _chosen(setting: Setting, value: Any) -> Any:
    if setting.choices:
        if value not in setting.choices:
            raise InputError(f"{setting.title} is one of {', '.join(setting.choices)}.")
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not setting.low <= number <= setting.high:
        raise InputError(f"{setting.title} lies from {setting.low:g} to {setting.high:g}.")
    return int(number) if isinstance(setting.value, int) else number


# --- Groups ---------------------------------------------------------------------------------------


def k_means(points: Points, groups: int, seed: int) -> Iterator[Frame]:
    """Lloyd's steps: the nearest center, then the mean."""
    X, formula = points.X, "J = Σᵢ ‖xᵢ − m(cᵢ)‖²"
    means = _drawn(X, groups, seed)
    labels, last = np.full(len(X), -1), np.inf
    yield frame("Start: centers drawn from the points", formula, [], *centers(means), colors=labels)
    while True:
        distances = ((X[:, np.newaxis] - means) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        # Summed as below, so that not even rounding lets J grow.
        cost = float(distances[np.arange(len(X)), nearest].sum())
        settled = (nearest == labels).all()
        labels = nearest
        title = (
            "No point changes its group: done" if settled else "Each point to its nearest center"
        )
        yield frame(
            title,
            "cᵢ = argminₖ ‖xᵢ − mₖ‖²",
            [("J", cost), ("falls by", last - cost if np.isfinite(last) else None)],
            *centers(means),
            colors=labels,
        )
        if settled:
            return
        # A center without points is moved to the point that is farthest from its own.
        for k in np.setdiff1d(np.arange(groups), labels):
            far = int(distances[np.arange(len(X)), labels].argmax())
            labels[far], distances[far] = k, 0.0
        means = np.array([X[labels == k].mean(axis=0) for k in range(groups)])
        moved = float(((X - means[labels]) ** 2).sum(axis=1).sum())
        yield frame(
            "Each center to the mean of its points",
            "mₖ = Σ xᵢ / nₖ over cᵢ = k",
            [("J", moved), *((f"n{_sub(k)}", int((labels == k).sum())) for k in range(groups))],
            *centers(means),
            colors=labels,
        )
        last = moved


def mixture(points: Points, groups: int, seed: int) -> Iterator[Frame]:
    """EM for a mixture of normal laws, one half step at a time."""
    X = points.X
    if len(X) < 3 * groups:
        raise InputError(f"{groups} normal laws in the plane need at least {3 * groups} points.")
    spread = np.eye(2) / max(float(X.var(axis=0).mean()), 1e-6) * groups
    given: dict[str, Any] = {
        "weights_init": np.full(groups, 1 / groups),
        "means_init": _drawn(X, groups, seed),
        "precisions_init": np.tile(spread, (groups, 1, 1)),
    }
    last = -np.inf
    for number in range(MOST_FRAMES // 2):
        covariances = np.linalg.inv(given["precisions_init"])
        law = NormalMixture(given["weights_init"], given["means_init"], covariances)
        shares, likelihood = law.responsibilities(X), float(law.log_density(X).sum())
        gained = None if not number else likelihood - last
        if gained is not None and abs(gained) <= 1e-12 * max(1.0, abs(likelihood)):
            # The rounding of the sum, in either direction.
            gained = 0.0
        yield frame(
            "E step: how much of each point belongs to each law",
            "rᵢₖ = wₖ N(xᵢ; mₖ, Sₖ) / Σⱼ wⱼ N(xᵢ; mⱼ, Sⱼ)",
            [("log L", likelihood), ("gained", gained)],
            *ellipses(law.means, covariances),
            colors=shares.argmax(axis=1),
            shares=shares.max(axis=1),
        )
        if gained is not None and gained < 1e-6 * max(1.0, abs(likelihood)):
            return
        last = likelihood
        model = GaussianMixture(groups, moves=0, max_iter=1, **given).fit(X)
        yield frame(
            "M step: weights, means and covariances of the shares",
            "mₖ = Σ rᵢₖ xᵢ / Nₖ,  Sₖ = Σ rᵢₖ (xᵢ − mₖ)(xᵢ − mₖ)ᵀ / Nₖ,  wₖ = Nₖ / n",
            [(f"w{_sub(k)}", float(w)) for k, w in enumerate(model.weights_)],
            *ellipses(model.means_, model.covariances_),
            colors=shares.argmax(axis=1),
            shares=shares.max(axis=1),
        )
        given = {
            "weights_init": model.weights_,
            "means_init": model.means_,
            "precisions_init": np.linalg.inv(model.covariances_),
        }


# --- Lines ----------------------------------------------------------------------------------------


def perceptron(points: Points) -> Iterator[Frame]:
    """A line that every mistake moves."""
    X, t = points.X, points.two_sides()
    w, b, mistakes = np.zeros(2), 0.0, 0
    formula = "w ← w + t x,  b ← b + t   for a point with t (w·x + b) ≤ 0"
    yield frame("Start: w = 0", formula, [("mistakes so far", 0)])
    for sweep in range(1, 1001):
        before = mistakes
        for i, (x, side) in enumerate(zip(X, t, strict=True)):
            score = side * float(w @ x + b)
            if score > 0:
                continue
            w, b, mistakes = w + side * x, b + side, mistakes + 1
            numbers = [("t (w·x + b)", score), ("w₁", w[0]), ("w₂", w[1]), ("b", b)]
            yield frame(
                f"Pass {sweep}: mistake {mistakes}, point {i + 1}",
                formula,
                [*numbers, ("mistakes so far", mistakes)],
                *line(w, b),
                mark("ring", x),
            )
        if mistakes == before:
            yield frame(
                f"A pass without a mistake: the line separates the classes after {mistakes}",
                "t (w·x + b) > 0 for every point",
                [("w₁", w[0]), ("w₂", w[1]), ("b", b)],
                *line(w, b),
            )
            return


def descent(points: Points) -> Iterator[Frame]:
    """Gradient descent on the logistic loss of a line."""
    X, t = points.X, points.two_sides()
    for steps in (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40, 60, 100, 200, 500):
        if steps:
            run = GradientDescent(max_iter=steps).minimize(LogisticLoss(), X, t, alpha=1e-3)
            if not len(run.lengths):
                # The start is the best: no line tells the classes apart.
                return
            w, b = run.coef, run.intercept
            reached = [
                ("objective", run.objectives[-1]),
                ("‖gradient‖", run.gradient_norms[-1]),
                ("step length", run.lengths[-1]),
            ]
        else:
            w, b, reached = np.zeros(2), 0.0, [("objective", float(np.log(2)))]
        yield frame(
            "Start: w = 0" if not steps else f"After {steps} step{'s' if steps > 1 else ''}",
            "w ← w − a ∇f(w),   f = mean log(1 + exp(−t (w·x + b))) + 0.001 ‖w‖² / 2",
            [*reached, ("w₁", w[0]), ("w₂", w[1]), ("b", b)],
            *line(w, b),
        )
        if steps and len(run.objectives) <= steps:
            return


def machine(points: Points, kernel: str) -> Iterator[Frame]:
    """Support vectors and the margin, from a soft one to a hard one."""
    t = points.two_sides()
    for C in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0):
        # Of painted points, a width of a tenth of the square bends about as much as an eye does.
        model = SVC(C=C, kernel="linear" if kernel == "straight" else Gaussian(0.15))
        model.fit(points.X, t)
        scores = model.decision_function(grid())
        slack = np.maximum(0.0, 1.0 - t * model.decision_function(points.X))
        numbers = [("C", C), ("support vectors", len(model.support_)), ("Σ slack", slack.sum())]
        marks = [region((scores > 0).astype(int), np.abs(scores) < 1)]
        if kernel == "straight":
            w, b = model.coef_[0], float(model.intercept_[0])
            length = float(np.linalg.norm(w))
            numbers.append(("margin 2/‖w‖", 2.0 / length if length > 0 else None))
            marks += [*line(w, b), *line(w, b - 1, dashed=True), *line(w, b + 1, dashed=True)]
        numbers.append(("gap at most", model.certificate_.gap))
        yield frame(
            f"C = {C:g}: slack is {'cheap' if C < 1 else 'dear'}",
            "min ‖w‖²/2 + C Σ ξᵢ   with   tᵢ (w·xᵢ + b) ≥ 1 − ξᵢ,  ξᵢ ≥ 0",
            numbers,
            *marks,
            *(mark("ring", points.X[i]) for i in model.support_),
        )


def components(points: Points) -> Iterator[Frame]:
    """The direction of most variance, by power iteration."""
    X = points.X
    if len(X) < 3 or not np.ptp(X, axis=0).any():
        raise InputError("A direction needs at least three points that differ. Paint some more.")
    mean, S = X.mean(axis=0), np.cov(X.T, bias=True)
    best = PCA(1).fit(X).components_[0]
    v = np.array([np.cos(2.0), np.sin(2.0)])
    for step in range(40):
        value, total = rayleigh_quotient(S, v), float(np.trace(S))
        turn = float(np.degrees(np.arccos(min(1.0, abs(float(v @ best))))))
        projected = mean + np.outer((X - mean) @ v, v)
        ends = [mean - 0.7 * v, mean + 0.7 * v]
        drops = [
            {"kind": "path", "points": places([x, p]), "series": 8, "dashed": True}
            for x, p in zip(X, projected, strict=True)
        ]
        yield frame(
            "Start: any direction" if not step else f"Step {step}: turned by the covariance",
            "v ← S v / ‖S v‖,   variance along v = vᵀ S v",
            [("vᵀSv", value), ("share of all", value / total), ("degrees to go", turn)],
            *drops,
            {"kind": "path", "points": places(ends), "series": 2},
            mark("center", mean, 2),
        )
        if turn < 0.01:
            return
        v = S @ v
        v /= np.linalg.norm(v)


# --- Regions --------------------------------------------------------------------------------------


def neighbors(points: Points) -> Iterator[Frame]:
    """Votes of the k nearest points, for growing k."""
    points.labeled()
    n = len(points.X)
    if n < 3:
        raise InputError("Neighbors need at least three points. Paint some more.")
    curve = KNeighborsClassifier().fit(points.X, points.y).curve(min(n - 1, 31))
    for k in range(1, min(n - 1, 31) + 1, 2):
        model = KNeighborsClassifier(k).fit(points.X, points.y)
        yield frame(
            f"k = {k}: the vote of the {k} nearest"
            if k > 1
            else "k = 1: the nearest point decides",
            "ŷ(x) = argmax_c #{i among the k nearest of x : yᵢ = c}",
            [("k", k), ("left-one-out error", float(curve.errors[k - 1]))],
            region(model.predict(grid())),
        )


def tree(points: Points) -> Iterator[Frame]:
    """Splits of a decision tree, the best one first."""
    points.labeled()
    for leaves in range(1, 16):
        if leaves == 1:
            values, counts = np.unique(points.y, return_counts=True)
            shares = counts / counts.sum()
            yield frame(
                "One leaf: the most frequent class everywhere",
                "Gini = 1 − Σ p_c²",
                [
                    ("Gini", float(1 - (shares**2).sum())),
                    ("errors", int(counts.sum() - counts.max())),
                ],
                region(np.full(CELLS**2, values[counts.argmax()])),
            )
            continue
        model = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        model.fit(points.X, points.y)
        if model.get_n_leaves() < leaves:
            return
        errors = int((model.predict(points.X) != points.y).sum())
        yield frame(
            f"{leaves} leaves",
            "the split that lowers Σ n_leaf · Gini most",
            [("Σ n·Gini / n", _impurity(model, points)), ("errors", errors)],
            region(model.predict(grid())),
        )
        if not errors:
            return


LEARNERS: dict[str, Callable[[], Any]] = {
    "Gaussian classifier": GaussianClassifier,
    "naive Bayes": GaussianNB,
    "logistic regression": lambda: LogisticRegression(C=100.0),
    "perceptron": Perceptron,
    "support vectors": lambda: SVC(C=10.0, kernel=Gaussian(0.15)),
    "nearest neighbors": KNeighborsClassifier,
    "decision tree": lambda: DecisionTreeClassifier(random_state=0),
    "random forest": lambda: RandomForestClassifier(50, random_state=0),
    "AdaBoost": lambda: AdaBoostClassifier(random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=60, min_samples_leaf=3),
}


def regions(points: Points, learner: str) -> Iterator[Frame]:
    """Where a classifier says what."""
    points.labeled()
    model = LEARNERS[learner]()
    if isinstance(model, KNeighborsClassifier):
        model.set_params(n_neighbors=min(5, len(points.X)))
    model.fit(points.X, points.y)
    errors = int((model.predict(points.X) != points.y).sum())
    unsure, formula = None, "ŷ(x) = argmax_c score(c, x)"
    if hasattr(model, "predict_proba"):
        unsure = model.predict_proba(grid()).max(axis=1) < 0.75
        formula = "ŷ(x) = argmax_c P(c | x); pale where P < 0.75"
    yield frame(
        f"{learner[0].upper()}{learner[1:]}",
        formula,
        [("errors on the points", errors), ("points", len(points.y))],
        region(model.predict(grid()), unsure),
    )


_GROUPS = Setting("groups", "Groups", 3, 2, 6)
_SEED = Setting("seed", "Start", 0, 0, 20)
LESSONS = (
    Lesson(
        "k_means",
        "k-means",
        "Centers and points look for each other, and J never grows.",
        k_means,
        (_GROUPS, _SEED),
        needs_classes=False,
    ),
    Lesson(
        "mixture",
        "EM for a mixture",
        "Points belong to normal laws by shares; the likelihood never falls.",
        mixture,
        (_GROUPS, _SEED),
        needs_classes=False,
    ),
    Lesson(
        "perceptron",
        "Perceptron",
        "Every mistake turns the line; where a line separates the classes, it ends.",
        perceptron,
    ),
    Lesson("descent", "Gradient descent", "A line slides down the logistic loss.", descent),
    Lesson(
        "machine",
        "Support vectors",
        "The widest street between two classes, and who stands at its edge.",
        machine,
        (Setting("kernel", "Border", "straight", choices=("straight", "bent")),),
    ),
    Lesson(
        "neighbors",
        "Nearest neighbors",
        "Few neighbors follow every point, many see only the crowd.",
        neighbors,
    ),
    Lesson("tree", "Decision tree", "One split after the other, the best first.", tree),
    Lesson(
        "components",
        "Principal component",
        "The direction along which the points differ most.",
        components,
        needs_classes=False,
    ),
    Lesson(
        "regions",
        "Decision regions",
        "What each classifier makes of the same points.",
        regions,
        (Setting("learner", "Classifier", "Gaussian classifier", choices=tuple(LEARNERS)),),
    ),
)


# --- Steps ----------------------------------------------------------------------------------------


def _drawn(X: Floats, groups: int, seed: int) -> Floats:
    places = np.unique(X, axis=0)
    if len(places) < groups:
        raise InputError(
            f"{groups} groups need as many different points. Paint more, or ask for fewer."
        )
    return places[np.random.default_rng(seed).choice(len(places), groups, replace=False)]


def _impurity(model: Any, points: Points) -> float:
    shares = model.predict_proba(points.X)
    # Every point of a leaf has the shares of its leaf.
    return float((1.0 - (shares**2).sum(axis=1)).mean())


def _sub(k: int) -> str:
    return "₁₂₃₄₅₆₇₈₉"[k]
