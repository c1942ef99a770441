"""A pipeline of Novum's estimators that keeps Novum's promises.

scikit-learn's `Pipeline` works with every estimator here. This one is the same and can besides be
saved to a model file, takes `sample_weight` in `fit` without routing, can be re-targeted to other
priors and costs, and shows the certificate of its last step.

A `memory` belongs to the machine where a pipeline is fitted, not to the model: files neither hold
it nor can set it, since it says where pickles are read.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.pipeline import Pipeline as SklearnPipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from novum.core.decisions import RetargetedClassifier, WorkingPoint


def _decides(pipeline: Pipeline) -> bool:
    try:
        return hasattr(pipeline.steps[-1][1], "predict_proba")
    except (IndexError, TypeError):
        # What is wrong with the steps is said by `fit`.
        return False


class Pipeline(SklearnPipeline):
    """Transformers, one after the other, and a learner at the end.

    Parameters
    ----------
    steps : list of (name, estimator)
    transform_input : list of str, optional
    memory : str or object with joblib's `cache`, optional
        A folder where fitted transformers are kept, which are then cloned before they are fitted;
        the same transformer on the same rows is fitted once. Not part of a model file.
    verbose : bool
        As in scikit-learn's.

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

    _unsaved_parameters: ClassVar[tuple[str, ...]] = ("memory",)

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        self.steps = steps
        self.transform_input = transform_input
        self.memory = memory
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
        return self._of_step(-1, "certificate_")

    @property
    def schema_(self) -> Any:
        """How the first step reads tables."""
        return self._of_step(0, "schema_")

    @property
    def class_prior_(self) -> Any:
        """Shares of the classes in training, of the last step."""
        return self._of_step(-1, "class_prior_")

    def _of_step(self, place: int, name: str) -> Any:
        if not self.steps:
            raise AttributeError(f"The pipeline is empty and has no {name!r}.")
        return getattr(self.steps[place][1], name)

    @available_if(_decides)
    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """The fitted classifier at other priors and costs."""
        return RetargetedClassifier(self, point)


def _takes_weight(step: Any) -> bool:
    return hasattr(step, "fit") and has_fit_parameter(step, "sample_weight")
