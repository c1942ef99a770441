"""Classification by a Bayesian network: the posterior of one node given the cells of a row.

    P(class | x) proportional to  sum over nodes that are not known of  P(class, x, ...)

Exact inference sums over whatever a row does not know, so missing cells need no filling in, and a
column that the network lacks changes nothing. The network is given, or it is learned: that in which
every column depends on the class alone (`novum.graphical.naive_network`), with a tree or a forest
beside the class, whatever graph explains class and columns best, or all graphs at once
(`novum.graphical.learning`).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import DecisionMixin, label_array
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, ConstantTargetWarning, Learner, Verdict, parameter
from novum.core.runtime import fit_context, fitting
from novum.core.tables import (
    Column,
    Kind,
    Sample,
    Schema,
    check_features,
    check_sample,
    is_frame,
)
from novum.core.text import label_text, listed, meant
from novum.distributions import StateAxis
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.questions import place_of
from novum.graphical.models.row_codes import read_rows
from novum.graphical.naive_network import (
    ColumnStates,
    check_column_states,
    class_name_in,
    column_states,
    naive_network,
    state_codes,
    states_of_columns,
)
from novum.graphical.structure.dag import Dag
from novum.numerics import Array, Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.learning.averaged_network import AveragedNetwork
    from novum.graphical.learning.averaging import EdgeProbabilities
    from novum.graphical.learning.coded_table import CodedTable
    from novum.graphical.learning.trees import Between

# What joins the columns beside the class; None where a search decides about all edges.
STRUCTURES: dict[str, Between | None] = {
    "naive": "nothing",
    "tree": "tree",
    "forest": "forest",
    "general": None,
    "blanket": None,
    "averaged": None,
}


class BayesianNetworkClassifier(DecisionMixin, ClassifierMixin, Learner):
    """Predicts one node of a Bayesian network from the others.

    Parameters
    ----------
    network : BayesianNetwork, optional
        Used as it is: `fit` checks the table against it and learns nothing. Without one, `fit`
        learns a network of the class and the columns.
    target : str, optional
        The node to predict. By default the only node of the network that is no column; without a
        network, the name that the class gets.
    structure : {"naive", "tree", "forest", "general", "blanket", "averaged"}
        What is learned without a network: every column depends on the class alone; also on one
        other column, along the tree of largest likelihood (TAN); along a forest of the edges that
        gain by BIC; the graph that a search finds best for class and columns together, of which
        the Markov blanket of the class decides; the best graph of the class and that blanket
        alone, all other columns left out; or all graphs, each weighted by how well it explains the
        table.
    numbers : {"frequency", "mdl", "score"} or a value
        How columns of numbers become intervals without a network: with about as many rows each
        (`EqualFrequency(6)`); where the class changes, as long as that pays for naming the cut
        (`MinimumDescription(column)`, of the class by default); or by the score of the graph, in
        turns with the search (`ByScore()`), which takes tables without missing cells.

    Attributes
    ----------
    network_ : BayesianNetwork
        Where structures are averaged, that of the edges that are likelier than not; it predicts
        nothing.
    averaged_ : AveragedNetwork or None
    edge_probabilities_ : EdgeProbabilities or None
        How sure the edges are, where structures are averaged.
    target_ : str
    classes_ : array of shape (n_classes,)
        The states of the target, sorted.
    class_prior_ : array of shape (n_classes,)
        Their probabilities when nothing is known.
    column_states_ : tuple of ColumnStates or None, one for each column
        How cells became states; only where the network was estimated.
    schema_, certificate_, n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    A missing cell is unknown, and so is a cell that is no state of its node, with a warning. Nodes
    without a column are summed over. A row that the network holds impossible raises
    `ImpossibleEvidence` with the cells that contradict each other. Estimated tables have one
    pseudo-count in each cell; by frequency, columns of more than 12 different numbers are cut into
    at most 6 intervals. Cuts by score are those of the graph that is learned, and where graphs are
    averaged those of the best.

    Averages take at most 3 parents, and every order of the variables alike before the table is
    seen. They are exact up to 12 variables, the class among them, for rows with few missing cells;
    else they are means over 100 graphs drawn from the posterior (`edge_probabilities`).

    Examples
    --------
    >>> from novum.graphical import BayesianNetwork
    >>> network = BayesianNetwork().add("ill", table=[0.01, 0.99])
    >>> network = network.add("test", parents=["ill"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network = network.add("fever", parents=["ill"], table=[[0.8, 0.2], [0.2, 0.8]])
    >>> rows = {"test": ["true", "true"], "fever": ["true", None]}
    >>> model = BayesianNetworkClassifier(network, target="ill").fit(rows, ["true", "false"])
    >>> model.classes_.tolist(), model.predict_proba(rows).round(4).tolist()
    (['false', 'true'], [[0.7333, 0.2667], [0.9167, 0.0833]])
    """

    categorical_features = "auto"
    invariances: Any = ("row_order", "duplication")
    network: BayesianNetwork | None = parameter(default=None, kw_only=False)
    target: str | None = parameter(default=None, kw_only=False)
    structure: str = parameter({*STRUCTURES}, default="naive")
    numbers: Any = parameter(object, default="frequency")

    # Files of models that average nothing may lack them.
    averaged_: AveragedNetwork | None = None
    edge_probabilities_: EdgeProbabilities | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Checks a table against the network, or estimates one from it.

        Parameters
        ----------
        X : data frame, mapping of columns or array of shape (n_rows, n_columns)
            With a given network columns are its nodes; those of an array are the nodes other than
            the target, in their order.
        y : array-like of shape (n_rows,)
            States of the target.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts; a given network has nothing to weigh.
        """
        with fitting(self) as watch:
            if self.network is None:
                details = self._estimate(X, y, sample_weight)
            else:
                details = self._check(self.network, X, y)
            self.certificate_ = Certificate(
                objective="exact inference in a network "
                + ("with estimated tables" if self.network is None else "that was given"),
                verdict=Verdict.PROVED,
                iterations=0,
                seconds=watch.seconds,
                details=details,
            )
        return self

    # Estimated

    def _estimate(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        sample = check_sample(self, X, y, sample_weight, target="classes", allow_missing=True)
        if sample.classes is None or len(sample.classes) == 0:
            raise InputError("BayesianNetworkClassifier needs at least one class in y.")
        name = class_name_in(sample.schema, self.target)
        target = StateAxis(name, tuple(sample.classes.tolist()))
        averaged, sure = None, None
        if self.structure == "naive" and _cuts_by_frequency(self.numbers):
            states = column_states(sample)
            axes = tuple(item.axis for item in states if item is not None)
            codes = state_codes(states, sample)
            network = naive_network(target, axes, sample.target, codes, sample.weights)
        else:
            table, network, averaged, sure = self._learned(sample, target)
            states = states_of_columns(table, sample.schema)
        self.schema_, self.classes_ = sample.schema, sample.classes
        self.column_states_: tuple[ColumnStates | None, ...] | None = states
        self._store(network, name, np.arange(len(sample.classes)))
        self.averaged_, self.edge_probabilities_ = averaged, sure
        details: dict[str, Any] = {"rows": sample.n_rows, "parameters": network.n_parameters}
        if averaged is not None:
            unknown = averaged.joint(np.full((1, len(averaged.variables)), -1))[0]
            self.class_prior_ = unknown / unknown.sum()
            details["averaged over"] = (
                "all orders of the variables"
                if averaged.is_exact
                else f"{len(averaged.networks)} drawn graphs"
            )
        return details

    def _learned(self, sample: Sample, target: StateAxis) -> tuple[Any, BayesianNetwork, Any, Any]:
        """The table as it was cut, its network, and the average where structures are averaged."""
        from novum.graphical.learning import (
            BIC,
            K2,
            AroundClass,
            ByScore,
            average_networks,
            fit_parameters,
            learn_structure,
        )
        from novum.graphical.learning.discretization import check_discretization, cut_for_graph

        name, raw = target.name, table_with_class(target, sample)
        rule = check_discretization(self.numbers, name)
        if self.structure == "naive" or raw.n_variables == 1:
            graph = Dag(raw.names, ((), *(((0,),) * (raw.n_variables - 1))))
            if isinstance(rule, ByScore):
                table = cut_for_graph(rule, raw, graph, BIC())
            else:
                table = rule.cut(raw)
            codes = table.codes[1:].T.astype(np.int64)
            axes = table.variables[1:]
            return table, naive_network(target, axes, sample.target, codes, sample.weights), *_NONE
        if sample.n_rows < 2 and sample.weights.sum() < 2:
            raise InputError(
                "A structure is learned from what goes together in many rows, and X has 1 sample. "
                'Give at least 2, or use structure="naive".'
            )
        if self.structure == "averaged":
            if isinstance(rule, ByScore):
                table = learn_structure(raw, BIC(), numbers=rule).table
            else:
                table = rule.cut(raw)
            averaged, sure = average_networks(table)
            return table, fit_parameters(sure.consensus(0.5), table, K2()), averaged, sure
        between = STRUCTURES[self.structure]
        search = None if between is None else AroundClass(name, between)
        learned = learn_structure(raw, BIC(), search, numbers=rule)
        if self.structure == "blanket":
            blanket = learned.dag.markov_blanket(name)
            kept = [column for column in raw.names if column in blanket]
            learned = learn_structure(raw.select([name, *kept]), BIC(), numbers=rule)
        if not learned.dag.markov_blanket(name) and len(target.states) > 1:
            warnings.warn(
                f"{type(self).__name__}: in the graph that explains {sample.n_rows} rows best by "
                "BIC nothing is joined to the class, so every row gets the same answer. "
                'structure="naive" and "tree" join all columns.',
                ConstantTargetWarning,
                stacklevel=5,
            )
        return learned.table, learned.network(K2()), *_NONE

    # Given

    def _check(self, network: BayesianNetwork, X: Any, y: Any) -> dict[str, Any]:
        columns, named = _columns(X)
        target = self._target_among(network, columns, named)
        place = place_of(network, target)
        names = _nodes_of(network, target, columns, named)
        rows = read_rows(network, dict(zip(names, columns.values(), strict=True)))
        axis = network.variables[place]
        labels = label_array(axis.states)
        order = np.argsort(labels, kind="stable")
        _check_labels(axis, y, len(rows))
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, object)
        self.schema_ = Schema(tuple(_column(network[name].variable) for name in names), named)
        self.classes_ = labels[order]
        self.column_states_ = None
        self._store(network, target, order)
        return {"rows": len(rows), "parameters": network.n_parameters}

    def _target_among(self, network: BayesianNetwork, columns: dict[str, Any], named: bool) -> str:
        if self.target is not None:
            place_of(network, self.target)
            return self.target
        left = [name for name in network.names if not named or name not in columns]
        if len(left) == 1:
            return left[0]
        raise InputError(
            f"Which node is predicted? {len(left)} nodes are no columns: {listed(left)}. Name one: "
            "target=..."
        )

    def _store(self, network: BayesianNetwork, target: str, order: Integers) -> None:
        self.network_, self.target_ = network, target
        self.averaged_, self.edge_probabilities_ = None, None
        self._order = order
        self.class_prior_ = network.query(target).probabilities[order]

    # Prediction

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes given the known cells, of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        codes = self._given_codes(X) if self.column_states_ is None else self._codes(X)
        if self.averaged_ is not None:
            joint = self.averaged_.joint(codes)
            return joint / joint.sum(axis=1, keepdims=True)
        place = self.network_.places[self.target_]
        return self.network_.code_posteriors(codes, (place,))[0][:, self._order]

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`; an impossible class has `-inf`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class of each row; of equal ones the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _given_codes(self, X: Any) -> Integers:
        columns, named = _columns(X)
        if named:
            names = _nodes_of(self.network_, self.target_, columns, named)
        else:
            names = list(self.schema_.names)
            if len(columns) != len(names):
                raise InputError(
                    f"X has {len(columns)} features, but BayesianNetworkClassifier is expecting "
                    f"{len(names)} features as input: {listed(names)}."
                )
        given = dict(zip(names, columns.values(), strict=True))
        return read_rows(self.network_, given, strict=False)

    def _codes(self, X: Any) -> Integers:
        sample = check_features(self, X, allow_missing=True)
        codes = state_codes(self.column_states_ or (), sample)
        # The class is the first node, and nothing is known of it.
        return np.column_stack([np.full(len(codes), -1), codes])

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        network, order, states = self.network_, self._order, self.column_states_
        if not isinstance(network, BayesianNetwork) or self.target_ not in network:
            raise ModelFileError("The model's target is no node of its network.")
        labels = label_array(network[self.target_].variable.states)
        if not np.array_equal(np.sort(order), np.arange(len(labels))):
            raise ModelFileError("The model's classes are in no order.")
        if not np.array_equal(labels[order], self.classes_):
            raise ModelFileError("The model's classes are not the states of its target.")
        if self.class_prior_.shape != self.classes_.shape:
            raise ModelFileError("The model's class shares do not belong to its classes.")
        names = self.schema_.names
        if self.n_features_in_ != len(names):
            raise ModelFileError("The model's schema has another number of columns.")
        if states is None:
            if any(name not in network or name == self.target_ for name in names):
                raise ModelFileError("The model's columns are no nodes of its network.")
            return
        check_column_states(states, self.schema_)
        axes = tuple(item.axis for item in states if item is not None)
        if network.names[0] != self.target_ or network.variables[1:] != axes:
            raise ModelFileError("The model's columns are not the nodes of its network.")
        if self.averaged_ is not None:
            self.averaged_.check()
            if self.averaged_.variables != network.variables:
                raise ModelFileError("The model's average is one of other variables.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# --- Learned --------------------------------------------------------------------------------------

# No average and no edge probabilities.
_NONE = (None, None)


def _cuts_by_frequency(numbers: Any) -> bool:
    return numbers is None or (isinstance(numbers, str) and numbers == "frequency")


def table_with_class(target: StateAxis, sample: Sample) -> CodedTable:
    """The class and the columns that have any level or number, numbers as they are."""
    from novum.graphical.learning.coded_table import CodedTable, coded_sample, known_columns

    table = known_columns(coded_sample(sample), sample.schema)
    return CodedTable(
        (target, *table.variables),
        np.ascontiguousarray(np.concatenate([sample.target[None], table.codes]), np.int32),
        table.weights,
        (),
        (None, *table.numbers) if table.numbers else (),
    )


# --- Columns as nodes -----------------------------------------------------------------------------


def _columns(X: Any) -> tuple[dict[str, Any], bool]:
    """Columns by name, and whether the names are the user's."""
    from novum.distributions import named_columns

    if isinstance(X, dict) or is_frame(X):
        return named_columns(X, what="Rows are read"), True
    if isinstance(X, (list, tuple)) and X and all(isinstance(row, dict) for row in X):
        names = dict.fromkeys(name for row in X for name in row)
        cells = {name: [row.get(name) for row in X] for name in names}
        return named_columns(cells, what="Rows are read"), True
    table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise InputError(
            f"Rows are a data frame or an array with a column for each node, got shape "
            f"{table.shape}. Reshape your data to two dimensions."
        )
    return {str(place): table[:, place] for place in range(table.shape[1])}, False


def _nodes_of(
    network: BayesianNetwork, target: str, columns: dict[str, Any], named: bool
) -> list[str]:
    """The node of each column."""
    others = [name for name in network.names if name != target]
    if not named:
        if len(columns) != len(others):
            raise InputError(
                f"An array has a column for each node but the target: {len(others)} "
                f"({listed(others)}), got {len(columns)}. Give a frame with named columns to leave "
                "some out."
            )
        return others
    for name in columns:
        if name == target:
            raise InputError(
                f"Column {label_text(name)} is the target itself. Leave it out of X and pass it "
                "as y."
            )
        if name not in network:
            raise InputError(
                f"Column {label_text(name)} is no node of the network: {meant(name, others)} "
                "Select the columns that are nodes."
            )
    return list(columns)


def _column(axis: StateAxis) -> Column:
    kind = Kind.ORDINAL if axis.ordered else Kind.NOMINAL
    return Column(axis.name, kind, axis.states)


def _check_labels(axis: StateAxis, y: Any, n_rows: int) -> None:
    """The labels are states of the target, one for each row."""
    if y is None:
        raise InputError(
            "BayesianNetworkClassifier requires y to be passed, but the target y is None."
        )
    from novum.core.tables import check_classes

    labels, codes = check_classes(y, "BayesianNetworkClassifier")
    if len(codes) != n_rows:
        raise InputError(f"X has {n_rows} rows, but y has {len(codes)}. Give one label a row.")
    for label in labels.tolist():
        try:
            axis.position(label)
        except InputError:
            raise InputError(
                f"y has the label {label_text(label)}, which is no state of "
                f"{label_text(axis.name)}: {meant(label, axis.states)} Convert y to the states."
            ) from None
