"""Detectors that vote: several networks with other start values and other rows set aside.

One training is one opinion. Errors of the members are put on a common scale by their own lines,

    u_m(x) = (error_m(x) - line_m) / |line_m - typical error_m|,

and the score of a row is minus the mean of u over the members. A row is novel for the majority, and
the spread of u, or the share of votes, says how far the members are of one mind.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, NoveltyMixin, Verdict, fitted, parameter
from novum.core.runtime import RandomSource, fit_context, fitting, run_tasks, seed, seed_sequence
from novum.core.tables import Schema, said_once
from novum.neural.detector import NeuralDetector
from novum.neural.table_coding import image_rows
from novum.numerics import Floats


class DetectorEnsemble(NoveltyMixin, MetaEstimatorMixin, Learner):
    """Several neural detectors, their votes and their disagreement.

    Parameters
    ----------
    detector : AutoencoderDetector, VariationalAutoencoder or None
        What is fitted several times; None is an `AutoencoderDetector`.
    n_estimators : int
    voting : {"mean", "majority"}
        Whether `predict` goes by the mean of the members' errors, each in units of its own line,
        or by what most of them say.
    n_jobs : int, optional
        Members that are fitted at once.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    members_ : list of detectors
        Each with a seed of its own, so that start values and the rows set aside differ.
    offset_ : float
        `decision_function = score_samples - offset_`.
    false_alarm_rate_ : float
        Mean over the members.
    n_features_in_, feature_names_in_, schema_, certificate_

    Examples
    --------
    >>> from novum.neural import AutoencoderDetector
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> model = DetectorEnsemble(AutoencoderDetector(1), 3, random_state=0).fit(np.c_[x, 2 * x])
    >>> model.predict([[1.0, 2.0], [1.0, -2.0]]).tolist()
    [1, -1]
    >>> model.votes([[1.0, -2.0]]).tolist()
    [1.0]
    """

    invariances: ClassVar[tuple[str, ...]] = ("column_scale", "common_scale")

    detector: Any = parameter(NeuralDetector, None, default=None, kw_only=False)
    n_estimators: int = parameter(default=5, at_least=1, kw_only=False)
    voting: str = parameter({"mean", "majority"}, default="mean")
    n_jobs: int | None = parameter(default=None)
    random_state: RandomSource = parameter(default=None)

    members_: list[Any] = fitted()
    scales_: Floats = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the members.

        Parameters
        ----------
        X : as for the detector
        y : ignored
        """
        del y
        from novum.neural.autoencoder import AutoencoderDetector

        with fitting(self) as watch:
            detector = AutoencoderDetector() if self.detector is None else self.detector
            if detector.checkpoint is not None:
                raise InputError(
                    "Members of an ensemble cannot share a checkpoint. Leave it out, or fit them "
                    "one by one."
                )
            root = seed_sequence(self.random_state)

            def member(number: int) -> Any:
                own = clone(detector).set_params(random_state=seed(root, number))
                return own.fit(X)

            with said_once():
                self.members_ = run_tasks(member, range(self.n_estimators), self.n_jobs)
            first = self.members_[0]
            self.schema_, self.n_features_in_ = first.schema_, first.n_features_in_
            if hasattr(first, "feature_names_in_"):
                self.feature_names_in_ = first.feature_names_in_
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            rows = image_rows(X)
            # Errors of all rows; their median is little moved by those that are novel.
            middle = np.array([np.median(-m.score_samples(rows)) for m in self.members_])
            lines = np.array([-m.offset_ for m in self.members_])
            scale = np.abs(lines - middle)
            self.scales_ = np.where(scale > 0, scale, 1.0)
            self.offset_ = 0.0 if self.voting == "mean" else -0.5
            self.false_alarm_rate_ = float(np.mean([m.false_alarm_rate_ for m in self.members_]))
            done = all(m.certificate_.converged for m in self.members_)
            self.certificate_ = Certificate(
                objective=f"mean over {self.n_estimators} members of {first._loss_name}",
                verdict=Verdict.LOCAL if done else Verdict.STOPPED_EARLY,
                value=float(np.mean([m.certificate_.value for m in self.members_])),
                details={"finals": [m.certificate_.value for m in self.members_]},
                seconds=watch.seconds,
            )
        return self

    def _errors(self, X: Any) -> Floats:
        """Errors beyond the lines, in units of each member's, (members, n_rows)."""
        check_is_fitted(self, "members_")
        rows = image_rows(X)
        with said_once():
            each = [-member.decision_function(rows) for member in self.members_]
        return np.stack(each) / self.scales_[:, np.newaxis]

    def score_samples(self, X: Any) -> Floats:
        """Minus the mean error of the members, or minus the share of votes; (n_rows,)."""
        errors = self._errors(X)
        return -errors.mean(axis=0) if self.voting == "mean" else -(errors > 0).mean(axis=0)

    def votes(self, X: Any) -> Floats:
        """Share of the members that call a row novel, (n_rows,)."""
        return np.asarray((self._errors(X) > 0).mean(axis=0))

    def disagreement(self, X: Any) -> Floats:
        """Standard deviation over the members of the error, in units of their lines; (n_rows,)."""
        return np.asarray(self._errors(X).std(axis=0))

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        if not self.members_ or np.shape(self.scales_) != (len(self.members_),):
            raise ModelFileError("The ensemble has other members than scales.")
        if not all(isinstance(member, NeuralDetector) for member in self.members_):
            raise ModelFileError("A member of the ensemble is no neural detector.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags
