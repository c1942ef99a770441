"""Perceptron: a hyperplane learned from its mistakes.

    yhat = sign(w'x + b),        a mistake moves it:  (w, b) <- (w, b) + rate t (x, 1)

for a row of side `t`. If the two classes can be separated, the rule ends after finitely many
mistakes, at most `(R / margin)^2` (Novikoff 1962), and the weights are the proof; the certificate
has both numbers. If not, it never settles, and the best weights seen are kept (the pocket). Three
rules share one training (`perceptron.training`); many classes are each against the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Learner, Stopwatch, parameter, positive_labels, warn_if_stopped
from novum.core.runtime import RandomSource, fit_context, fitting, run_tasks, seed, seed_sequence
from novum.core.tables import (
    Coding,
    LabelTarget,
    Sample,
    check_classes,
    check_features,
    check_sample,
    treatment_rows,
)
from novum.core.text import label_text, listed
from novum.linear.class_labels import class_factors, labels_among, places_among
from novum.linear.perceptron.proof import Margins, Proof, certify, margins_of, proof_of
from novum.linear.perceptron.training import Run, Start, Training, train, visits_of
from novum.numerics import Array, Floats


class _Rows(NamedTuple):
    """The design, the classes and the weights of a fit, class weights included."""

    X: Any
    labels: LabelTarget
    weight: Floats | None


class Perceptron(ClassifierMixin, Learner):
    """Linear classifier trained on its mistakes, with a proof where the classes are separable.

    Parameters
    ----------
    penalty : None
        A penalty would make it another learner; other values are refused.
    alpha, l1_ratio : float
        Of scikit-learn's penalties; without effect.
    fit_intercept : bool
    max_iter : int
        Passes over the rows; for `rule="batch"` steps.
    tol : float or None
        A pass gains if it lowers the error of the best weights by more than this share of all
        weight. `None` trains until the classes are separated or `max_iter` is reached.
    shuffle : bool
        A new random order in every pass, the same for any order of the table. Without it rows are
        visited as they stand.
    verbose : int
        Without effect.
    eta0 : float
        The rate; from zero it scales the weights and changes nothing else.
    n_jobs : int, optional
        Classes trained at once; results do not depend on it.
    random_state : int, generator or None
        Of the order of visits.
    early_stopping : bool
        Only `False`: the pocket is judged on all rows, and none are held out.
    validation_fraction : float
        Without effect.
    n_iter_no_change : int
        Passes in a row without a gain that end the training. scikit-learn has 5, which ends many
        trainings before rows are separated that can be.
    class_weight : dict, "balanced" or None
        Factors of the weights of classes.
    warm_start : bool
        Whether `fit` goes on from the weights of the last one.
    rule : {"stochastic", "averaged", "batch"}
        Visit by visit; the mean over all visits; or all mistakes of a pass at once.
    categorical_features : "auto", "all", None, mask, names or indices
        Columns to be coded by their levels.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (n_classes, n_coefs) and (n_classes,); 1 of two classes
    last_coef_, last_intercept_ : arrays of the same shapes
        After the last visit; where `partial_fit` and `warm_start` go on.
    mean_coef_, mean_intercept_ : arrays of the same shapes
        Means over all visits.
    n_iter_ : int
        Passes, the most of all classes.
    t_ : float
        Weight visited.
    certificate_ : Certificate
        Its details say whether the rows are separable, the mistakes and their bound, the longest
        row, the margin reached and the largest possible, all with the intercept's cell of 1.
    coef_names_ : tuple of str

    Notes
    -----
    A visit costs the width of a row, or its stored cells. Weights count repetitions: a row of
    weight 2.5 is visited twice and once more for half a step, as long as it is wrong. Rows on the
    boundary are mistakes. Units matter: columns should be of like size. Missing cells are refused.

    References
    ----------
    Rosenblatt (1958); Novikoff (1962); Gallant (1990), the pocket with ratchet; Freund and
    Schapire (1999), averaging.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> model = Perceptron().fit(X, [0, 0, 0, 1])
    >>> model.predict(X).tolist()
    [0, 0, 0, 1]
    >>> proof = model.certificate_.details
    >>> proof["separable"], proof["mistakes"] <= proof["mistake_bound"]
    ('yes', True)
    """

    penalty: str | None = parameter({"l1", "l2", "elasticnet"}, default=None)
    alpha: float = parameter(default=0.0001, at_least=0)
    l1_ratio: float | None = parameter(default=0.15, at_least=0, at_most=1)
    fit_intercept: bool = parameter(default=True)
    max_iter: int = parameter(default=1000, at_least=1)
    tol: float | None = parameter(default=1e-3, at_least=0)
    shuffle: bool = parameter(default=True)
    verbose: int = parameter("verbose", default=0)
    eta0: float = parameter(default=1.0, above=0)
    n_jobs: int | None = parameter(default=None)
    random_state: RandomSource = parameter(default=0)
    early_stopping: bool = parameter(default=False)
    validation_fraction: float = parameter(default=0.1, above=0, below=1)
    n_iter_no_change: int = parameter(default=20, at_least=1)
    class_weight: dict[Any, float] | str | None = parameter({"balanced"}, dict, default=None)
    warm_start: bool = parameter(default=False)
    rule: str = parameter({"stochastic", "averaged", "batch"}, default="stochastic")
    categorical_features: Any = parameter(default="auto")

    @property
    def invariances(self) -> tuple[str, ...]:
        """What a fit does not depend on."""
        canonical = self.shuffle or self.rule == "batch"
        return ("row_order", "duplication") if canonical else ()

    # Fitting

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Trains until the classes are separated, nothing is gained, or `max_iter` is reached.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
            Labels of at least two classes.
        coef_init, intercept_init : arrays, optional
            Weights to start from, in the shapes of `coef_` and `intercept_`.
        sample_weight : array-like of shape (n_rows,), optional
        """
        self._refuse_unknown()
        with fitting(self) as watch:
            earlier = self._state() if self.warm_start and hasattr(self, "coef_") else None
            sample = check_sample(self, X, y, sample_weight, target="classes", accept_sparse=True)
            self.schema_ = sample.schema
            rows = self._rows(sample)
            starts = self._starts(rows, coef_init, intercept_init, earlier)
            self.classes_ = rows.labels.classes
            training = self._training(self.max_iter)
            self._train(rows, training, starts, watch, seed_sequence(self.random_state))
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=4)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over further rows, from the weights of the last visit.

        There is no pocket: earlier rows are gone, so no weights can be called the best.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All labels that may come; needed in the first call.
        """
        self._refuse_unknown()
        if self.class_weight == "balanced":
            raise InputError(
                "class_weight='balanced' is not supported for partial_fit: it needs all rows at "
                "once. Pass a dict of weights, or sample_weight."
            )
        with fitting(self) as watch:
            first = not hasattr(self, "coef_")
            if not first:
                _check_columns(self, X)
            schema = None if first else self.schema_
            sample = check_sample(
                self, X, y, sample_weight, target="classes", schema=schema, accept_sparse=True
            )
            known = self._known_classes(classes)
            labels = labels_among(known, sample)
            self.schema_ = sample.schema if first else self.schema_
            self.classes_ = known
            rows = self._rows(sample, labels)
            starts = None if first else self._starts(rows, None, None, self._state())
            # Another order in every call: the weight visited so far is part of the key.
            root = seed(self.random_state, "visited", 0 if first else int(self.t_))
            self._train(rows, replace(self._training(1), pocket=False), starts, watch, root)
        return self

    def _train(
        self,
        rows: _Rows,
        training: Training,
        starts: list[Start] | None,
        watch: Stopwatch,
        root: Any,
    ) -> None:
        def member(number: int) -> tuple[Run, Proof]:
            label = chosen[number]
            visits = visits_of(
                rows.X,
                rows.labels.column(label),
                rows.weight,
                self.fit_intercept,
                self.shuffle or self.rule == "batch",
            )
            run = train(visits, training, root, None if starts is None else starts[number])
            return run, proof_of(visits, run, training, starts is None)

        chosen = positive_labels(rows.labels)
        trained = run_tasks(member, range(len(chosen)), self.n_jobs)
        runs = [run for run, _ in trained]
        self._runs_to_attributes(runs)
        self.certificate_ = certify(runs, [proof for _, proof in trained], training, watch.seconds)

    def _runs_to_attributes(self, runs: list[Run]) -> None:
        answers = np.array([run.weights for run in runs])
        last = np.array([run.last for run in runs])
        mean = np.array([run.mean for run in runs])
        self.coef_, self.intercept_ = answers[:, :-1].copy(), answers[:, -1].copy()
        self.last_coef_, self.last_intercept_ = last[:, :-1].copy(), last[:, -1].copy()
        self.mean_coef_, self.mean_intercept_ = mean[:, :-1].copy(), mean[:, -1].copy()
        self.n_iter_ = max(len(run.trace) for run in runs)
        self.t_ = float(runs[0].visited)

    # Steps of a fit

    def _refuse_unknown(self) -> None:
        if self.penalty is not None:
            raise InputError(
                f"Perceptron has no penalty, got penalty={self.penalty!r}. Use "
                "LogisticRegression, or StochasticGradientDescent on PerceptronLoss with alpha."
            )
        if self.early_stopping:
            raise InputError(
                "Perceptron holds no rows out: it keeps the weights that are best on all of them. "
                "Set early_stopping=False, and compare values of max_iter by cross-validation."
            )

    def _training(self, passes: int) -> Training:
        return Training(
            self.rule, float(self.eta0), passes, self.tol, self.n_iter_no_change, self.shuffle
        )

    def _rows(self, sample: Sample, labels: LabelTarget | None = None) -> _Rows:
        if labels is None:
            assert sample.classes is not None
            labels = LabelTarget("classes", sample.classes, codes=sample.target)
        if len(labels.classes) < 2:
            raise InputError(
                f"Perceptron needs rows of at least two classes, but there is one class only: all "
                f"{sample.n_rows} rows are of class {label_text(labels.classes[0])}. Add rows of "
                "another."
            )
        design = sample.numeric
        if not sample.is_sparse:
            design = np.ascontiguousarray(treatment_rows(sample, 0, sample.n_rows))
        return _Rows(design, labels, self._weight(sample, labels))

    def _weight(self, sample: Sample, labels: LabelTarget) -> Floats | None:
        if self.class_weight is None:
            return sample.weight
        counts = labels.counts(sample.weight)
        factors = class_factors(labels.classes, counts, self.class_weight, None)
        assert labels.codes is not None
        return sample.weights * factors[labels.codes]

    def _known_classes(self, classes: Any) -> Array:
        if classes is None:
            if not hasattr(self, "coef_"):
                raise InputError(
                    "classes must be passed on the first call to partial_fit: all labels that may "
                    "come."
                )
            return self.classes_
        known = check_classes(np.asarray(classes), type(self).__name__)[0]
        if hasattr(self, "coef_") and known.tolist() != self.classes_.tolist():
            raise InputError(
                f"`classes` lists {listed(known.tolist())}, which is not the same as on last call "
                f"to partial_fit, was: {listed(self.classes_.tolist())}. Pass the same classes, or "
                "leave them out."
            )
        return known

    def _state(self) -> tuple[Array, tuple[str, ...], list[Start]]:
        last = np.column_stack([self.last_coef_, self.last_intercept_])
        mean = np.column_stack([self.mean_coef_, self.mean_intercept_])
        starts = [Start(w, m, self.t_) for w, m in zip(last, mean, strict=True)]
        return self.classes_, self.coef_names_, starts

    def _starts(
        self,
        rows: _Rows,
        coef: Any,
        intercept: Any,
        earlier: tuple[Array, tuple[str, ...], list[Start]] | None,
    ) -> list[Start] | None:
        width, n_members = len(Coding(self.schema_).names), len(positive_labels(rows.labels))
        if coef is None and intercept is None:
            if earlier is None:
                return None
            classes, names, starts = earlier
            if classes.tolist() != rows.labels.classes.tolist() or names != self.coef_names_:
                raise InputError(
                    f"The earlier fit had the classes {listed(classes.tolist())} and {len(names)} "
                    f"coefficients, this one has {listed(rows.labels.classes.tolist())} and "
                    f"{width}. Give the same classes and columns, or set warm_start=False."
                )
            return starts
        weights = np.zeros((n_members, width + 1))
        for name, part, given in (("coef", slice(0, width), coef), ("intercept", width, intercept)):
            if given is not None:
                values = np.asarray(given, float)
                shape = weights[:, part].shape
                if values.size != int(np.prod(shape)):
                    raise InputError(
                        f"{name}_init has shape {values.shape}, but {shape} is needed."
                    )
                weights[:, part] = values.reshape(shape)
        return [Start(w, w, 0.0) for w in weights]

    # Prediction

    def decision_function(self, X: Any) -> Floats:
        """Scores `w'x + b`, of shape (n,) for two classes and (n, n_classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The class of the largest score; of two, the last one where the score is positive."""
        scores = self._scores(X)
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def margins(self, X: Any, y: Any) -> Margins:
        """Functional and geometric margins of rows whose classes are known.

        Examples
        --------
        >>> model = Perceptron().fit([[-1.0], [3.0]], ["no", "yes"])
        >>> found = model.margins([[-1.0], [3.0], [5.0]], ["no", "yes", "no"])
        >>> (found.geometric > 0).tolist()
        [True, True, False]
        """
        scores = self._scores(X)
        classes, codes = check_classes(y, type(self).__name__)
        places = places_among(self.classes_, classes)
        if len(codes) != len(scores):
            raise InputError(f"X has {len(scores)} rows, but y has {len(codes)}.")
        return margins_of(scores, self.coef_, places[codes])

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """Names of the coefficients; a level is `column=level`, against the first level."""
        check_is_fitted(self)
        return Coding(self.schema_).names

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        sample = check_features(self, X, accept_sparse=True, tell_unseen=False)
        return Coding(self.schema_).scores(sample, self.coef_.T) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        chosen = self.categorical_features
        tags.input_tags.string = chosen is not None
        tags.input_tags.categorical = isinstance(chosen, str) and chosen == "all"
        return tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        n_members = 1 if len(self.classes_) == 2 else len(self.classes_)
        shape = (n_members, len(self.coef_names_))
        for name in ("coef_", "last_coef_", "mean_coef_"):
            coef = np.asarray(getattr(self, name))
            intercept = np.asarray(getattr(self, name.replace("coef", "intercept")))
            if coef.shape != shape or intercept.shape != shape[:1]:
                raise ModelFileError(
                    f"The model has {name} of shape {coef.shape} and {intercept.shape} for "
                    f"{len(self.classes_)} classes and {shape[1]} columns."
                )
            if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
                raise ModelFileError("The model has coefficients that are not finite numbers.")


def _check_columns(model: Perceptron, X: Any) -> None:
    """Refuses other columns than those of the first call, in scikit-learn's words."""
    _check_feature_names(model, X, reset=False)
    if hasattr(X, "shape"):
        _check_n_features(model, X, reset=False)
