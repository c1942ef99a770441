from novum.core.decisions.retargeting import DecisionMixin, RetargetedClassifier
from novum.core.decisions.working_point import POSTERIOR_TOLERANCE, WorkingPoint, label_array

__all__ = [
    "POSTERIOR_TOLERANCE",
    "DecisionMixin",
    "RetargetedClassifier",
    "WorkingPoint",
    "label_array",
]
