"""Evidence that cannot be, said with the findings that contradict each other."""

from __future__ import annotations

from typing import Any

from novum.core.text import label_text
from novum.distributions.joint_table import ImpossibleEvidence
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.arrays import Evidence, Floats, ModelArrays
from novum.graphical.models.questions import NamedModel, default_engine

# Findings of a conflict that a message names.
MOST_FINDINGS = 12


def impossible_evidence(
    network: NamedModel, model: ModelArrays, evidence: Evidence, where: str = ""
) -> ImpossibleEvidence:
    """The error of impossible evidence, which names a smallest part of it that is impossible.

    Parameters
    ----------
    network : NamedModel
        Whose names and states are shown.
    model : ModelArrays
        What was asked: the network's own arrays, or those after an intervention.
    evidence : Evidence
    where : str
        Put in front, such as "Row 3: ".
    """
    from novum.graphical.inference.conflict import smallest_conflict

    engine: Any = default_engine()
    conflict = smallest_conflict(model, evidence, engine)
    parts = []
    for place in conflict.observed:
        axis = network.variables[place]
        state = axis.states[int(evidence.codes[place])]
        parts.append(f"{label_text(axis.name)} = {label_text(state)}")
    if len(parts) > MOST_FINDINGS:
        parts[MOST_FINDINGS:] = [f"and {len(parts) - MOST_FINDINGS} more findings"]
    parts += [
        _weighted(network.variables[place], evidence.likelihoods[place])
        for place in conflict.weighted
    ]
    return ImpossibleEvidence(where + _sentence(parts, conflict.is_smallest))


def _weighted(axis: StateAxis, weights: Floats) -> str:
    """Soft evidence in words: weights of 0 and 1 are several states that were given."""
    name = label_text(axis.name)
    if not ((weights == 0) | (weights == 1)).all() or weights.sum() < 2:
        return f"the likelihood of {name}"
    states = [state for state, weight in zip(axis.states, weights, strict=True) if weight]
    return f"{name} = {' or '.join(label_text(state) for state in states[:MOST_FINDINGS])}"


def _sentence(parts: list[str], is_smallest: bool) -> str:
    if not parts:
        return "The model has no state of all variables that is possible. Check its zeros."
    if len(parts) == 1:
        return f"The evidence has probability 0: {parts[0]} is impossible. Check that state."
    if not is_smallest:
        return (
            f"The evidence has probability 0: {', '.join(parts)} cannot hold all together. To find "
            "out which of them contradict each other would take long; check them by halves."
        )
    return (
        f"The evidence has probability 0: {', '.join(parts)} cannot hold together. Change or "
        "leave out one of them."
    )
