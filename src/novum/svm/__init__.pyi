from novum.svm.classifier import SVC
from novum.svm.kernel_pegasos import KernelPegasos
from novum.svm.kernel_perceptron import KernelPerceptron
from novum.svm.kernel_ridge import KernelRidge
from novum.svm.kernel_ridge_cv import KernelRidgeCV
from novum.svm.kernel_ridge_validation import LeaveOneOut
from novum.svm.linear import LinearSVC
from novum.svm.linear_regressor import LinearSVR
from novum.svm.margins import MarginErrorBound
from novum.svm.multiple_kernel import KernelWeights, learn_weights
from novum.svm.nu_classifier import NuSVC, ReducedShareWarning
from novum.svm.nu_regressor import NuSVR
from novum.svm.one_class import OneClassSVM
from novum.svm.pegasos import Pegasos
from novum.svm.ranking import RankingSVM
from novum.svm.regressor import SVR
from novum.svm.sphere import SVDD
from novum.svm.vanishing import VanishingMarginWarning

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "KernelPegasos",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelWeights",
    "LeaveOneOut",
    "LinearSVC",
    "LinearSVR",
    "MarginErrorBound",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Pegasos",
    "RankingSVM",
    "ReducedShareWarning",
    "VanishingMarginWarning",
    "learn_weights",
]
