"""Factor graph: a distribution as a product of factors, directed or not.

    P(x) = 1/Z * product over f of  f(x_scope(f)),       Z = the sum of the product over all x

Variables and factors are the two kinds of nodes; a factor is joined to the variables of its scope.
Where that graph has no cycles, messages along it are exact; the junction tree is exact always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, listed
from novum.distributions import StateAxis
from novum.graphical.factor import Factor
from novum.graphical.models.arrays import NO_HEAD, ModelArrays, read_only
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.model_record import ModelRecord, graph_factors, record_of_graph
from novum.graphical.models.network_questions import NetworkQuestions
from novum.graphical.models.states import refuse_set
from novum.numerics import cached_property


class FactorGraph(NetworkQuestions):
    """A product of factors over named variables.

    Parameters
    ----------
    factors : iterable of Factor
        Variables of the same name have the same states.

    Examples
    --------
    >>> pair = {"a": (0, 1), "b": (0, 1)}
    >>> alike = Factor([[3.0, 1.0], [1.0, 3.0]], pair)
    >>> graph = FactorGraph([alike, Factor([1.0, 2.0], {"a": (0, 1)})])
    >>> graph.query("b")
    b  probability
    0     0.416667
    1     0.583333
    """

    factors: tuple[Factor, ...]
    _axes: dict[str, StateAxis]
    _n_hidden: int = 0
    _saved_fields = ("record",)

    def __init__(self, factors: Iterable[Factor]) -> None:
        refuse_set(factors, "Factors")
        given = tuple(factors) if isinstance(factors, Iterable) else (factors,)
        axes: dict[str, StateAxis] = {}
        for factor in given:
            if not isinstance(factor, Factor):
                raise InputError(
                    f"A factor graph is made of factors, got {label_text(factor)}. Give "
                    "Factor(values, variables)."
                )
            for axis in factor.variables:
                known = axes.setdefault(axis.name, axis)
                if known.states != axis.states:
                    raise InputError(
                        f"Variable {label_text(axis.name)} has the states {listed(known.states)} "
                        f"in one factor and {listed(axis.states)} in another."
                    )
        if not axes:
            raise InputError("A factor graph needs at least one variable.")
        self.__dict__.update(factors=given, _axes=axes)

    @classmethod
    def of(cls, network: BayesianNetwork) -> FactorGraph:
        """The conditional tables of a network as factors.

        A noisy or of many parents becomes a chain of small factors over auxiliary variables, as
        engines have it; they are summed over in every answer and listed in `auxiliary` only.
        """
        model = network.arrays
        taken = {*network.names}
        hidden = [_spare_axis(number, taken) for number in range(1, model.n_hidden + 1)]
        axes = (*network.variables, *hidden)
        made = (
            Factor(model.table(factor), [axes[v] for v in model.scope(factor).tolist()])
            for factor in range(model.n_factors)
        )
        return cls(made)._hiding([axis.name for axis in hidden])

    def _hiding(self, names: Iterable[str]) -> FactorGraph:
        """The same graph with some variables behind the others, never shown."""
        last = [*names]
        axes = {name: axis for name, axis in self._axes.items() if name not in {*last}}
        axes.update((name, self._axes[name]) for name in last)
        made = object.__new__(type(self))
        made.__dict__.update(factors=self.factors, _axes=axes, _n_hidden=len(last))
        return made

    @classmethod
    def read(cls, path: str | Path) -> FactorGraph:
        """A factor graph from a `.uai` file, also with `.gz`: MARKOV, or the tables of BAYES."""
        from novum.graphical.formats.files import as_path, check_factor_suffix
        from novum.graphical.formats.uai import read_factors

        check_factor_suffix(as_path(path))
        return cls(read_factors(path))

    def write(self, path: str | Path) -> None:
        """The graph as a MARKOV file, `.uai` or `.uai.gz`; a warning says what names are lost."""
        from novum.graphical.formats.files import as_path, check_factor_suffix
        from novum.graphical.formats.uai import write_factors

        check_factor_suffix(as_path(path))
        write_factors(self, path)

    @property
    def record(self) -> ModelRecord:
        """The graph as flat arrays, as model files hold it."""
        return record_of_graph(self)

    @classmethod
    def _from_saved(cls, record: ModelRecord) -> FactorGraph:
        hidden = record.variables[len(record.variables) - record.n_hidden :]
        return cls(graph_factors(record))._hiding([axis.name for axis in hidden])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for factor in self.factors:
            # Copies of arrays can be written to, and values never change.
            factor.values.flags.writeable = False

    @cached_property
    def variables(self) -> tuple[StateAxis, ...]:
        return tuple(self._axes.values())[: len(self._axes) - self._n_hidden]

    @property
    def auxiliary(self) -> tuple[StateAxis, ...]:
        """Variables behind the others that make noisy ors small, and are never shown."""
        return tuple(self._axes.values())[len(self._axes) - self._n_hidden :]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.variables)

    @cached_property
    def arrays(self) -> ModelArrays:
        """The graph as engines see it."""
        places = self._all_places
        scopes = [[places[name] for name in factor.names] for factor in self.factors]
        n_cells = [factor.values.size for factor in self.factors]
        return ModelArrays(
            cards=np.array([len(axis.states) for axis in self._axes.values()], np.int64),
            scope_starts=np.cumsum([0, *map(len, scopes)]).astype(np.int64),
            scopes=np.array([v for scope in scopes for v in scope], np.int64),
            table_starts=np.cumsum([0, *n_cells]).astype(np.int64),
            tables=read_only(np.concatenate([factor.values.ravel() for factor in self.factors])),
            heads=np.full(len(self.factors), NO_HEAD, np.int64),
            order=np.arange(len(self._axes)),
            n_hidden=self._n_hidden,
        )

    @property
    def _all_places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self._axes)}

    def log_partition(self) -> float:
        """Logarithm of Z, the sum of the product over all states."""
        return self.log_evidence()

    @property
    def is_tree(self) -> bool:
        """Whether no cycle runs through variables and factors."""
        edges = sum(len(factor.variables) for factor in self.factors)
        return edges == len(self.factors) + len(self._axes) - self._n_parts()

    def _n_parts(self) -> int:
        """Connected parts of variables and factors together."""
        places = self._all_places
        root = list(range(len(places)))

        def find(place: int) -> int:
            while root[place] != place:
                root[place] = root[root[place]]
                place = root[place]
            return place

        alone = 0
        for factor in self.factors:
            roots = [find(places[name]) for name in factor.names]
            alone += not roots
            for other in roots[1:]:
                root[find(other)] = find(roots[0])
        return alone + len({find(place) for place in range(len(root))})

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        """How many variables there are."""
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"FactorGraph of {len(self.names)} variables and {len(self.factors)} factors; "
            f"variables {listed(self.names)}"
        )


def _spare_axis(number: int, taken: set[str]) -> StateAxis:
    """An auxiliary variable whose name no other has."""
    name = f"auxiliary {number}"
    while name in taken:
        name += "'"
    taken.add(name)
    return StateAxis(name, ("inactive", "active"))
