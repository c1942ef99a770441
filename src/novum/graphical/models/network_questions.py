"""The questions that a network answers, by names and states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource
from novum.core.text import label_text
from novum.distributions import ImpossibleEvidence, StateAxis
from novum.graphical.inference.protocol import Engine, ExactEngine
from novum.graphical.models.answers import Configuration, Marginals, Posterior, row_of_codes
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays
from novum.graphical.models.conditional import kept_attributes
from novum.graphical.models.conflicts import impossible_evidence
from novum.graphical.models.questions import (
    Likelihoods,
    States,
    check_single,
    default_engine,
    evidence_of,
    intervened,
    place_of,
)
from novum.graphical.models.states import names_in_order
from novum.graphical.structure.dag import CyclicGraphError
from novum.numerics import Floats, cached_property

if TYPE_CHECKING:
    from novum.graphical.inference.forecast import Forecast
    from novum.graphical.models.explaining import Explanation
    from novum.graphical.models.observed import ObservedNetwork


class NetworkQuestions:
    """What `BayesianNetwork` inherits: questions to its distribution."""

    # Values: what is computed from them is kept, and nothing else is ever set.
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"A {type(self).__name__} never changes, so {name} cannot be set. Make another."
        )

    def __getstate__(self) -> dict[str, Any]:
        return kept_attributes(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    if TYPE_CHECKING:

        @property
        def names(self) -> tuple[str, ...]: ...
        @property
        def variables(self) -> tuple[StateAxis, ...]: ...
        @property
        def arrays(self) -> ModelArrays: ...

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The number of each node."""
        return MappingProxyType({name: place for place, name in enumerate(self.names)})

    def query(
        self,
        *nodes: str,
        given: States | None = None,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        engine: Engine | None = None,
    ) -> Posterior:
        """The joint distribution of some nodes given what is known.

        Parameters
        ----------
        *nodes : str
        given : mapping from nodes to states, optional
            A list, tuple or set of states says that the node has one of them.
        likelihood : mapping from nodes to weights of their states, optional
            Soft evidence: how likely an observation is in each state, up to a factor.
        do : mapping from nodes to states, optional
            Set from outside: cut off from their parents.
        engine : Engine, optional
            `JunctionTree()` by default, which is exact.

        Returns
        -------
        Posterior
            A `JointTable` over the nodes in the order asked.
        """
        asked = self._asked(nodes)
        model, evidence = self.known(given, likelihood, do)
        solver = _checked(engine)
        try:
            beliefs = solver.joint(model, evidence, asked)
        except ImpossibleEvidence:
            raise impossible_evidence(self, model, evidence) from None
        except CyclicGraphError as error:
            raise error.named(self.names) from None
        variables = self.variables
        return Posterior.of(tuple([variables[place] for place in asked]), beliefs)

    def marginals(
        self,
        given: States | None = None,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        engine: Engine | None = None,
    ) -> Marginals:
        """The distribution of each node given what is known, as a mapping from names to tables."""
        model, evidence = self.known(given, likelihood, do)
        solver = _checked(engine)
        try:
            beliefs = solver.marginals(model, evidence)
        except ImpossibleEvidence:
            raise impossible_evidence(self, model, evidence) from None
        except CyclicGraphError as error:
            raise error.named(self.names) from None
        return Marginals(self.variables, self.places, beliefs)

    def observe(
        self,
        given: States | None = None,
        *,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        engine: Engine | None = None,
    ) -> ObservedNetwork:
        """The network with findings that can be added to and taken back."""
        from novum.graphical.models.observed import ObservedNetwork

        return ObservedNetwork(self, given or {}, likelihood or {}, do or {}, engine)

    def log_evidence(
        self,
        given: States | None = None,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        engine: ExactEngine | None = None,
    ) -> float:
        """Logarithm of the probability of what is known; `-inf` where it is impossible.

        Of undirected models the logarithm of the sum over all states that agree with it.
        """
        model, evidence = self.known(given, likelihood, do)
        chosen: Any = _checked(engine)
        if not hasattr(chosen, "log_evidence"):
            raise InputError(
                f"{type(chosen).__name__} does not know the probability of the evidence. Use an "
                "exact engine such as JunctionTree()."
            )
        return float(chosen.log_evidence(model, evidence))

    def probability(self, given: States) -> float:
        """The probability that these nodes have these states."""
        return math.exp(self.log_evidence(given) - self._log_total)

    def most_probable(
        self,
        given: States | None = None,
        likelihood: Likelihoods | None = None,
        do: States | None = None,
        *,
        nodes: str | Sequence[str] | None = None,
        k: int = 1,
        engine: ExactEngine | None = None,
    ) -> Any:
        """The most probable states of all nodes together, the evidence among them.

        Parameters
        ----------
        given, likelihood, do : mappings from nodes, optional
            As in `query`.
        nodes : names, optional
            Only of these, all others summed over (maximum a posteriori).
        k : int
            With more than 1 a list of the k most probable, best first.

        Returns
        -------
        Configuration, or a list of them
            With `nodes`, `log_probability` is that of these states and the evidence.
        """
        from novum.graphical.inference.explanation import most_probable_codes

        if isinstance(k, bool) or not isinstance(k, Integral):
            raise InputError(f"k is the number of configurations wanted, at least 1; got {k!r}.")
        model, evidence = self.known(given, likelihood, do)
        asked = None if nodes is None else self._asked(names_in_order(nodes, "nodes"))
        try:
            ranked = most_probable_codes(model, evidence, asked, int(k), engine)
        except ImpossibleEvidence:
            raise impossible_evidence(self, model, evidence) from None
        except CyclicGraphError as error:
            raise error.named(self.names) from None
        chosen = self.variables if asked is None else [self.variables[p] for p in asked]
        answers = [
            Configuration(row_of_codes(chosen, codes), log - self._log_total)
            for codes, log in ranked
        ]
        return answers[0] if k == 1 else answers

    def sample(
        self,
        size: int,
        random_state: RandomSource = None,
        *,
        frame: str = "arrow",
        do: States | None = None,
    ) -> Any:
        """Independent rows of all nodes, as a table with a dictionary column for each.

        Parameters
        ----------
        size : int
        random_state : int, generator or None
        frame : {"arrow", "pandas", "polars"}
        do : mapping from nodes to states, optional
        """
        from novum.graphical.inference.sampling import forward_codes
        from novum.graphical.models.row_codes import frame_of_codes

        model, _ = self.known(None, None, do)
        codes = forward_codes(model, size, random_state)
        return frame_of_codes(self.variables, codes, frame)

    def forecast(self, given: States | None = None) -> Forecast:
        """The price of all posteriors before running: width, table sizes, bytes, seconds."""
        from novum.graphical.inference.forecast import forecast

        return forecast(*self.known(given, None, None))

    def explain(
        self, node: str, given: States, *, state: Any = None, engine: Engine | None = None
    ) -> Explanation:
        """Which part of the evidence moved a node, and by how much; of one state for each node."""
        from novum.graphical.models.explaining import explained

        check_single(self, given)
        return explained(self, node, given, state, engine)

    # Many rows

    def posteriors(self, rows: Any, *nodes: str) -> dict[str, Floats]:
        """The distribution of each asked node in every row of a table, given the row's cells.

        Parameters
        ----------
        rows : data frame, mapping of columns or sequence of mappings
            Columns are nodes; a missing cell, or a node without a column, is unknown. A node
            that is asked is not used as evidence.
        *nodes : str
            Where none is named, all nodes given all cells, as `marginals` has them: a node whose
            cell is known has one 1.

        Returns
        -------
        dict from nodes to arrays of shape (n_rows, n_states)
            A row that is impossible raises `ImpossibleEvidence`, which names it.
        """
        from novum.graphical.models.row_codes import read_rows

        asked = self._asked(nodes) if nodes else range(len(self.names))
        codes = read_rows(self, rows)
        if nodes:
            codes[:, asked] = UNKNOWN
        return dict(zip(nodes or self.names, self._row_tables(codes, asked), strict=True))

    def code_posteriors(self, codes: Any, asked: Sequence[int]) -> list[Floats]:
        """`posteriors` of rows that are read already, as `row_codes.read_rows` gives them."""
        codes = codes.copy()
        codes[:, asked] = UNKNOWN
        return self._row_tables(codes, asked)

    def _row_tables(self, codes: Any, asked: Sequence[int]) -> list[Floats]:
        """The distribution of each asked node given all cells of each row."""
        from novum.graphical.inference.batches import batch_marginals

        posteriors = batch_marginals(self.arrays, codes, asked)
        for tables in posteriors:
            # A row that is impossible has NaN in all its cells.
            impossible = np.flatnonzero(np.isnan(tables[:, 0]))
            if impossible.size:
                row = int(impossible[0])
                where = f"Row {row} ({impossible.size} such rows): "
                raise impossible_evidence(self, self.arrays, Evidence(codes[row]), where)
        return posteriors

    def log_probabilities(self, rows: Any) -> Floats:
        """Logarithm of the probability of each row's cells; missing cells are summed over."""
        from novum.graphical.inference.batches import batch_log_evidence
        from novum.graphical.models.row_codes import read_rows

        codes = read_rows(self, rows)
        return batch_log_evidence(self.arrays, codes) - self._log_total

    def log_likelihood(self, rows: Any) -> float:
        """Logarithm of the probability of all rows together."""
        return float(np.sum(self.log_probabilities(rows)))

    @cached_property
    def _log_total(self) -> float:
        """Logarithm of the sum over all states: 0 of a network."""
        return 0.0 if self.arrays.is_directed else self.log_evidence()

    def _asked(self, nodes: Sequence[str]) -> tuple[int, ...]:
        if not nodes:
            raise InputError("Name at least one node to ask about, or use marginals for all.")
        asked = tuple([place_of(self, node) for node in nodes])
        if len(asked) > 1 and len(set(asked)) < len(asked):
            twice = next(node for node in nodes if list(nodes).count(node) > 1)
            raise InputError(f"Node {label_text(twice)} is asked twice. Name each node once.")
        return asked

    def known(
        self, given: States | None, likelihood: Likelihoods | None, do: States | None
    ) -> tuple[ModelArrays, Evidence]:
        """The model and what is known of it, as engines take them."""
        evidence = evidence_of(self, given, likelihood)
        return (self.arrays, evidence) if do is None else intervened(self, evidence, do)


def _checked(engine: Engine | None) -> Engine:
    if engine is None:
        return default_engine()
    if not isinstance(engine, Engine):
        raise InputError(
            f"engine is an object such as JunctionTree() or LikelihoodWeighting(); got "
            f"{label_text(engine)}."
        )
    return engine
