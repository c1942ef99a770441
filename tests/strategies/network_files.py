"""Small networks with awkward names, and damaged files."""

from __future__ import annotations

import warnings
from types import ModuleType

import numpy as np
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.joint_table_states import StateAxis
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import Tabular

# Printable names with what quotes, comments, marks and markup are made of; never empty.
AWKWARD = st.text(
    st.sampled_from("ab1_<>&\"'\\/*{}()[]|,;.:=%# \n\tßΩ\u202e"), min_size=1, max_size=5
).filter(lambda name: name == name.strip())
PLAIN = st.from_regex("[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True).filter(
    lambda name: name not in ("net", "class", "node", "potential", "decision", "utility")
)


@st.composite
def networks(draw: st.DrawFn, names: st.SearchStrategy[str] = AWKWARD) -> BayesianNetwork:
    """Up to four nodes with one to three states and at most two parents."""
    chosen = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes: list[StateAxis] = []
    made = []
    for name in chosen:
        states = draw(st.lists(AWKWARD, min_size=1, max_size=3, unique=True))
        parents = draw(st.lists(st.sampled_from(axes), max_size=2, unique=True)) if axes else []
        axis = StateAxis(name, tuple(states))
        shape = [*(len(parent.states) for parent in parents), len(states)]
        rows = rng.dirichlet(np.full(len(states), 0.3), shape[:-1])
        made.append(Tabular(axis, tuple(parents), rows))
        axes.append(axis)
    order = draw(st.permutations(made))
    return BayesianNetwork(order)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> bytes:
    """A valid file with a few cuts, copies and changed characters, or cut off."""
    alphabet = "{}()[]|,;\"'\\/*<>&=%#-+.eE0129 \nx\0é"
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 30))
        new = draw(st.text(st.sampled_from(alphabet), max_size=4))
        kind = draw(st.sampled_from(["replace", "copy", "cut off"]))
        if kind == "replace":
            text = text[:at] + new + text[at + length :]
        elif kind == "copy":
            text = text[:at] + text[at : at + length] + text[at:]
        else:
            text = text[:at]
    return text.encode()


def refuses_or_reads(module: ModuleType, data: bytes) -> bool:
    """Reads a file; whether it was read. Anything but a message about the input passes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            BayesianNetwork(module.read(data, "damaged"))
        except InputError:
            return False
    return True
