from novum.core.decisions.ordered import OrderedClassifier, median_levels
from novum.core.decisions.retargeting import DecisionMixin, RetargetedClassifier
from novum.core.decisions.working_point import POSTERIOR_TOLERANCE, WorkingPoint, label_array

__all__ = [
    "POSTERIOR_TOLERANCE",
    "DecisionMixin",
    "OrderedClassifier",
    "RetargetedClassifier",
    "WorkingPoint",
    "label_array",
    "median_levels",
]
