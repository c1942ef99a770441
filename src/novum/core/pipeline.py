"""A pipeline of Novum's estimators that keeps Novum's promises.

scikit-learn's `Pipeline` works with every estimator here. This one is the same and can besides be
saved to a model file, takes `sample_weight` in `fit` without routing, can be re-targeted to other
priors and costs, and shows the certificate of its last step.
"""

from __future__ import annotations

from typing import Any, Self

from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from novum.core.decisions import RetargetedClassifier
from novum.core.errors import ModelFileError
from novum.core.working_point import WorkingPoint


def _decides(pipeline: Pipeline) -> bool:
    return hasattr(pipeline.steps[-1][1], "predict_proba")


class Pipeline(SklearnPipeline):
    """Transformers, one after the other, and a learner at the end.

    Parameters
    ----------
    steps : list of (name, estimator)
    transform_input : list of str, optional
    verbose : bool
        As in scikit-learn's. There is no `memory`: a file must not say where pickles are read.

    Examples
    --------
    >>> from novum.data.scaling import StandardScaler
    >>> from novum.linear import LogisticRegression
    >>> model = Pipeline([("scale", StandardScaler()), ("learner", LogisticRegression())])
    >>> model.fit([[1.0], [2.0], [3.0], [4.0]], list("aabb")).predict([[1.5]]).tolist()
    ['a']
    >>> model.certificate_.verdict.value
    'proved'
    """

    memory = None

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        transform_input: list[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.steps = steps
        self.transform_input = transform_input
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fits all steps; weights go to every step that takes them."""
        if sample_weight is not None:
            for name, step in self.steps:
                if _takes_weight(step):
                    params[f"{name}__sample_weight"] = sample_weight
        super().fit(X, y, **params)
        return self

    @property
    def certificate_(self) -> Any:
        """The certificate of the last step."""
        return self.steps[-1][1].certificate_

    @property
    def schema_(self) -> Any:
        """How the first step reads tables."""
        return self.steps[0][1].schema_

    @property
    def class_prior_(self) -> Any:
        """Shares of the classes in training, of the last step."""
        return self.steps[-1][1].class_prior_

    @available_if(_decides)
    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """The fitted classifier at other priors and costs."""
        return RetargetedClassifier(self, point)

    def _check_state(self) -> None:
        if self.memory is not None:
            raise ModelFileError("A pipeline in a model file has no memory of its own.")


def _takes_weight(step: Any) -> bool:
    return hasattr(step, "fit") and has_fit_parameter(step, "sample_weight")
