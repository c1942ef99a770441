"""Finite hypothesis spaces: the posterior by brute force, and the Bayes-optimal prediction.

    P(h | D)    = P(D | h) P(h) / sum_h' P(D | h') P(h')          for independent observations D
    h_MAP       = argmax_h P(D | h) P(h),     h_ML = argmax_h P(D | h)
    P(v | x, D) = sum_h P(v | x, h) P(h | D)                      Bayes-optimal prediction

No method with the same hypotheses and prior predicts better on average than the last line, and its
label may be one that no single hypothesis would give. A hypothesis says how probable an outcome is;
it comes as

    a mapping of outcomes to probabilities,
    a law with `log_density`,
    a function of an input that returns a label (certain, up to `noise`) or such a mapping.

Everything is kept in logarithms, so a thousand observations do not underflow, and a space is a
value: updating returns a new one.

References
----------
Mitchell, "Machine Learning", 1997, 6.2-6.3 (brute-force MAP) and 6.7 (Bayes-optimal classifier).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import listed, printable
from novum.numerics import Floats, log_normalize, log_sum_exp

Outcome = Hashable
Hypothesis = Mapping[Outcome, float] | Callable[[Any], Any] | Any

# Probabilities of a prior or a prediction table that differ from one by more are no rounding.
_SUM_TOLERANCE = 1e-6


class NoInput:
    """Stands for the input of hypotheses that need none."""

    def __repr__(self) -> str:
        return "no input"


NO_INPUT = NoInput()


@dataclass(frozen=True, eq=False)
class HypothesisSpace:
    """Finitely many hypotheses with their prior and what the data say of each.

    Parameters
    ----------
    hypotheses : mapping of names to hypotheses
        See the head of this module for the three kinds.
    prior : mapping of names to probabilities, optional
        Equal by default.
    noise : float
        How often a hypothesis that names a label is wrong; the other labels share it equally.
    labels : sequence, optional
        All labels there are; needed with `noise`.
    log_likelihood : array, optional
        `log P(D | h)` of the observations so far, one for each hypothesis.

    Examples
    --------
    Bags of candy, after a first lime one.

    >>> bags = HypothesisSpace(
    ...     {
    ...         "all cherry": {"cherry": 1.0, "lime": 0.0},
    ...         "mixed": {"cherry": 0.5, "lime": 0.5},
    ...         "all lime": {"cherry": 0.0, "lime": 1.0},
    ...     },
    ...     prior={"all cherry": 0.25, "mixed": 0.5, "all lime": 0.25},
    ... )
    >>> after = bags.update(["lime"])
    >>> after.posterior
    {'all cherry': 0.0, 'mixed': 0.5, 'all lime': 0.5}
    >>> after.predict_proba()
    {'cherry': 0.25, 'lime': 0.75}
    """

    hypotheses: Mapping[str, Hypothesis]
    prior: Mapping[str, float] | None = None
    noise: float = 0.0
    labels: Sequence[Outcome] | None = None
    log_likelihood: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        hypotheses = dict(self.hypotheses)
        if not hypotheses:
            raise InputError("A hypothesis space needs at least one hypothesis.")
        for name, hypothesis in hypotheses.items():
            _check_hypothesis(name, hypothesis)
        log_likelihood = np.array(self.log_likelihood, float)
        if not log_likelihood.size:
            log_likelihood = np.zeros(len(hypotheses))
        log_likelihood.flags.writeable = False
        _check_noise(self.noise, self.labels)
        set_field = object.__setattr__
        set_field(self, "hypotheses", hypotheses)
        set_field(self, "prior", _checked_prior(self.prior, hypotheses))
        set_field(self, "labels", None if self.labels is None else tuple(self.labels))
        set_field(self, "log_likelihood", log_likelihood)

    # Learning

    def update(
        self, outcomes: Iterable[Outcome], inputs: Iterable[Any] | None = None
    ) -> HypothesisSpace:
        """The space after independent observations; updating twice is updating with both.

        Parameters
        ----------
        outcomes : observed outcomes, or labels of the inputs
        inputs : one for each outcome
            Needed where hypotheses are functions.
        """
        observed = list(outcomes)
        given = [NO_INPUT] * len(observed) if inputs is None else list(inputs)
        if len(given) != len(observed):
            raise InputError(
                f"There are {len(given)} inputs and {len(observed)} outcomes. Give one input for "
                "each outcome."
            )
        total = self.log_likelihood.copy()
        for place, (x, outcome) in enumerate(zip(given, observed, strict=True)):
            terms = self._log_terms(x, outcome)
            if not (np.isfinite(self._log_prior + total + terms)).any():
                raise InputError(
                    f"No hypothesis can explain observation {place} ({_shown(outcome)} for "
                    f"{_shown(x)}) together with those before it. Add hypotheses, or allow for "
                    "noise."
                )
            total += terms
        return replace(self, log_likelihood=total)

    # What is believed

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.hypotheses)

    @property
    def log_posterior(self) -> Floats:
        """`log P(h | D)`, one for each hypothesis."""
        # Relative to the likeliest, so that the prior counts whatever the size of the likelihoods.
        likelihood = log_normalize(self.log_likelihood)[0]
        return log_normalize(self._log_prior + likelihood)[0]

    @property
    def posterior(self) -> dict[str, float]:
        """`P(h | D)` by name."""
        shares = np.exp(self.log_posterior)
        return dict(zip(self.names, map(float, shares), strict=True))

    @property
    def log_evidence(self) -> float:
        """`log P(D)`, the probability of all observations so far, before any was made."""
        return float(log_sum_exp(self._log_prior + self.log_likelihood))

    @property
    def map_hypothesis(self) -> str:
        """The most probable hypothesis given the data; of several the first."""
        return self.names[_first_best(self._log_prior + self.log_likelihood)]

    @property
    def ml_hypothesis(self) -> str:
        """The hypothesis under which the data are most probable; of several the first."""
        return self.names[_first_best(self.log_likelihood)]

    @property
    def consistent(self) -> tuple[str, ...]:
        """Hypotheses of positive posterior probability: the version space where none is noisy."""
        alive = self.log_posterior > -math.inf
        return tuple(name for name, keep in zip(self.names, alive, strict=True) if keep)

    # Prediction

    def predict_proba(self, x: Any = NO_INPUT) -> dict[Outcome, float]:
        """Bayes-optimal probabilities of the outcomes at one input.

        Outcomes come in the order of `labels`, else in that of first mention.
        """
        total: dict[Outcome, float] = dict.fromkeys(self.labels or (), 0.0)
        for name, share in self.posterior.items():
            for outcome, chance in self._table(name, x).items():
                total[outcome] = total.get(outcome, 0.0) + share * chance
        return total

    def predict(self, x: Any = NO_INPUT) -> Outcome:
        """The most probable outcome, over all hypotheses; of several the first."""
        return _most_probable(self.predict_proba(x))

    def predict_with(self, name: str, x: Any = NO_INPUT) -> Outcome:
        """The most probable outcome under one hypothesis, such as `map_hypothesis`."""
        if name not in self.hypotheses:
            raise InputError(f"There is no hypothesis {name!r}; there are {listed(self.names)}.")
        return _most_probable(self._table(name, x))

    def log_predictive(self, outcome: Outcome, x: Any = NO_INPUT) -> float:
        """`log P(outcome | x, D)`; for laws the density of the next observation."""
        return float(log_sum_exp(self.log_posterior + self._log_terms(x, outcome)))

    # Parts

    @property
    def _log_prior(self) -> Floats:
        assert self.prior is not None
        with np.errstate(divide="ignore"):
            return np.log([self.prior[name] for name in self.names])

    def _log_terms(self, x: Any, outcome: Outcome) -> Floats:
        """`log P(outcome | x, h)` for every hypothesis."""
        return np.array([self._log_term(name, x, outcome) for name in self.names])

    def _log_term(self, name: str, x: Any, outcome: Outcome) -> float:
        hypothesis = self.hypotheses[name]
        if hasattr(hypothesis, "log_density"):
            return float(hypothesis.log_density(outcome))
        chance = self._table(name, x).get(outcome, 0.0)
        return math.log(chance) if chance > 0 else -math.inf

    def _table(self, name: str, x: Any) -> Mapping[Outcome, float]:
        """Probabilities of the outcomes under one hypothesis."""
        hypothesis = self.hypotheses[name]
        if isinstance(hypothesis, Mapping):
            return hypothesis
        if hasattr(hypothesis, "log_density"):
            raise InputError(
                f"Hypothesis {name!r} is a law, which has no list of outcomes. Ask "
                "`log_predictive` for the density of an observation."
            )
        if x is NO_INPUT:
            raise InputError(f"Hypothesis {name!r} is a function of an input. Pass `x`.")
        answer = hypothesis(x)
        if isinstance(answer, Mapping):
            _check_table(name, answer)
            return answer
        return self._certain(name, answer)

    def _certain(self, name: str, label: Outcome) -> Mapping[Outcome, float]:
        if self.labels is None:
            return {label: 1.0}
        if label not in self.labels:
            raise InputError(
                f"Hypothesis {name!r} gives {_shown(label)}, which is none of the labels "
                f"{listed(self.labels)}."
            )
        rest = self.noise / (len(self.labels) - 1) if self.noise else 0.0
        return {other: 1 - self.noise if other == label else rest for other in self.labels}


# --- Ties -----------------------------------------------------------------------------------------


def _first_best(scores: Floats) -> int:
    """Scores equal up to rounding are ties, and the first of them wins."""
    top = float(scores.max())
    slack = 1e-12 * max(1.0, abs(top)) if math.isfinite(top) else 0.0
    return int(np.flatnonzero(scores >= top - slack)[0])


def _most_probable(table: Mapping[Outcome, float]) -> Outcome:
    outcomes = list(table)
    return outcomes[_first_best(np.array([table[outcome] for outcome in outcomes]))]


# --- Checks ---------------------------------------------------------------------------------------


def _check_hypothesis(name: str, hypothesis: Hypothesis) -> None:
    if isinstance(hypothesis, Mapping):
        _check_table(name, hypothesis)
    elif not (callable(hypothesis) or hasattr(hypothesis, "log_density")):
        raise InputError(
            f"Hypothesis {name!r} is a {type(hypothesis).__name__}; it must be a mapping of "
            "outcomes to probabilities, a law, or a function of the input."
        )


def _check_table(name: str, table: Mapping[Outcome, float]) -> None:
    shares = [float(share) for share in table.values()]
    total = math.fsum(shares)
    if not (all(share >= 0 for share in shares) and abs(total - 1) <= _SUM_TOLERANCE):
        raise InputError(
            f"The probabilities of hypothesis {name!r} are at least 0 and sum to one; they are "
            f"{listed(shares)} with sum {total:g}."
        )


def _checked_prior(
    prior: Mapping[str, float] | None, hypotheses: Mapping[str, Hypothesis]
) -> dict[str, float]:
    if prior is None:
        return dict.fromkeys(hypotheses, 1 / len(hypotheses))
    if set(prior) != set(hypotheses):
        odd = sorted(map(str, set(prior) ^ set(hypotheses)))
        raise InputError(
            f"The prior needs one probability for each hypothesis; {odd[0]!r} is only in one of "
            "the two."
        )
    shares = {name: float(prior[name]) for name in hypotheses}
    total = math.fsum(shares.values())
    if not (all(share >= 0 for share in shares.values()) and abs(total - 1) <= _SUM_TOLERANCE):
        raise InputError(
            f"A prior is at least 0 and sums to one; this one sums to {total:g} and its smallest "
            f"is {min(shares.values()):g}."
        )
    return shares


def _check_noise(noise: float, labels: Sequence[Outcome] | None) -> None:
    if not 0 <= noise < 1:
        raise InputError(f"The noise is a share from 0 to below 1, got {noise!r}.")
    if noise and (labels is None or len(labels) < 2):
        raise InputError("Noise is spread over the other labels: pass all `labels`, at least two.")
    if labels is not None and len(set(labels)) != len(labels):
        raise InputError(f"The labels {listed(labels)} are not all different.")


def _shown(value: object) -> str:
    return printable(repr(value), 60)


# --- Concepts -------------------------------------------------------------------------------------
#
# Concept spaces for brute-force learning: conjunctions, and all functions of a few instances.
#
# A *concept* is a function from instances to {True, False}. Two spaces are listed in full:
#
#     conjunctions   every attribute is fixed to one of its values or free, plus "never":
#                    1 + prod_j (k_j + 1) concepts
#     all concepts   one for every set of positive instances: 2^|X| concepts, without any bias
#
# The number is computed with Python's integers and refused beyond a limit before anything is
# listed. With equal priors and no noise the posterior of `HypothesisSpace` is uniform over the
# concepts that agree with the data: the version space.


MAX_CONCEPTS = 10**5


@dataclass(frozen=True)
class ConjunctiveConcept:
    """True where every fixed attribute has its value; `fixed` is None for "never".

    Examples
    --------
    >>> warm = ConjunctiveConcept((("sky", "sunny"), ("air", "warm")))
    >>> warm({"sky": "sunny", "air": "warm", "wind": "strong"})
    True
    """

    fixed: tuple[tuple[str, Hashable], ...] | None = ()

    def __call__(self, instance: Mapping[str, Any]) -> bool:
        return self.fixed is not None and all(instance[name] == v for name, v in self.fixed)

    def __str__(self) -> str:
        if self.fixed is None:
            return "never"
        text = " & ".join(f"{name}={value}" for name, value in self.fixed)
        return printable(text) if text else "always"


@dataclass(frozen=True)
class ListedConcept:
    """True at the listed instances only.

    Examples
    --------
    >>> ListedConcept(frozenset({(0, 1)}))((0, 1))
    True
    """

    positive: frozenset[Hashable]

    def __call__(self, instance: Hashable) -> bool:
        return instance in self.positive

    def __str__(self) -> str:
        inside = ", ".join(sorted(map(repr, self.positive)))
        return printable(f"{{{inside}}}")


def conjunctive_concepts(
    attributes: Mapping[str, Sequence[Hashable]],
) -> dict[str, ConjunctiveConcept]:
    """All conjunctions over attributes with those values, the most special first.

    Examples
    --------
    >>> list(conjunctive_concepts({"sky": ["sunny", "rainy"]}))
    ['never', 'sky=sunny', 'sky=rainy', 'always']
    """
    _check_number(1 + math.prod(len(values) + 1 for values in attributes.values()), "conjunctions")
    choices = [[*((name, v) for v in values), None] for name, values in attributes.items()]
    concepts = [ConjunctiveConcept(None)]
    for picks in itertools.product(*choices):
        concepts.append(ConjunctiveConcept(tuple(pick for pick in picks if pick is not None)))
    # A stable sort: those with more conditions first, in the order of the attributes.
    concepts[1:] = sorted(concepts[1:], key=lambda concept: -len(concept.fixed or ()))
    return _named(concepts)


def all_concepts(instances: Sequence[Hashable]) -> dict[str, ListedConcept]:
    """Every function from the instances to {True, False}.

    Examples
    --------
    >>> list(all_concepts(["a", "b"]))
    ['{}', "{'a'}", "{'b'}", "{'a', 'b'}"]
    """
    if len(set(instances)) != len(instances):
        raise InputError("An instance is listed twice. List every instance once.")
    _check_number(2 ** len(instances), "concepts")
    sizes = range(len(instances) + 1)
    sets = itertools.chain.from_iterable(itertools.combinations(instances, k) for k in sizes)
    return _named([ListedConcept(frozenset(positive)) for positive in sets])


def _named(concepts: Sequence[Any]) -> dict[str, Any]:
    named = {str(concept): concept for concept in concepts}
    if len(named) != len(concepts):
        raise InputError(
            "Two different concepts are written alike. Give attributes and instances values whose "
            "text differs."
        )
    return named


def _check_number(number: int, what: str) -> None:
    if number > MAX_CONCEPTS:
        size = str(number) if number < 10**15 else f"about 2^{number.bit_length() - 1}"
        raise InputError(
            f"There are {size} {what}; the limit for brute force is {MAX_CONCEPTS}. Use fewer "
            "attributes, values or instances, or another learner."
        )
