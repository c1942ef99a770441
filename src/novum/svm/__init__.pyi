from novum.svm.classifier import SVC, NuSVC, ReducedShareWarning
from novum.svm.combination.multiple_kernel import KernelWeights, learn_weights
from novum.svm.linear.classifier import LinearSVC
from novum.svm.linear.regressor import LinearSVR
from novum.svm.margins import MarginErrorBound
from novum.svm.novelty import SVDD, OneClassSVM
from novum.svm.online.kernel_pegasos import KernelPegasos
from novum.svm.online.kernel_perceptron import KernelPerceptron
from novum.svm.online.pegasos import Pegasos
from novum.svm.ranking import RankingSVM
from novum.svm.regression import SVR, NuSVR
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.ridge.kernel_ridge_cv import KernelRidgeCV
from novum.svm.ridge.solution import LeaveOneOut
from novum.svm.solver.vanishing import VanishingMarginWarning

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
