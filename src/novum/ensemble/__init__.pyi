from novum.ensemble.adaboost import AdaBoostClassifier
from novum.ensemble.adaboost_regressor import AdaBoostRegressor
from novum.ensemble.adaboost_rounds import EarlyStopping
from novum.ensemble.bagging import BaggingClassifier, BaggingRegressor
from novum.ensemble.chains import ClassifierChain, RegressorChain
from novum.ensemble.gradient_boosting.class_losses import (
    LogisticLoss,
    OrdinalLoss,
    SoftmaxLoss,
)
from novum.ensemble.gradient_boosting.estimators import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from novum.ensemble.gradient_boosting.losses import (
    AbsoluteLoss,
    CustomLoss,
    GammaLoss,
    HuberLoss,
    PoissonLoss,
    QuantileLoss,
    SquaredLoss,
    TweedieLoss,
)
from novum.ensemble.multioutput import MultiOutputClassifier, MultiOutputRegressor
from novum.ensemble.one_vs_one import OneVsOneClassifier
from novum.ensemble.one_vs_rest import OneVsRestClassifier
from novum.ensemble.self_training import CoTraining, LabelRound, SelfTraining
from novum.ensemble.stacking import StackingClassifier, StackingRegressor
from novum.ensemble.target_models import LabelModels, TargetModels
from novum.ensemble.target_models import library_of as library_of
from novum.ensemble.voting import VotingClassifier, VotingRegressor

__all__ = [
    "AbsoluteLoss",
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ClassifierChain",
    "CoTraining",
    "CustomLoss",
    "EarlyStopping",
    "GammaLoss",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HuberLoss",
    "LabelModels",
    "LabelRound",
    "LogisticLoss",
    "MultiOutputClassifier",
    "MultiOutputRegressor",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OrdinalLoss",
    "PoissonLoss",
    "QuantileLoss",
    "RegressorChain",
    "SelfTraining",
    "SoftmaxLoss",
    "SquaredLoss",
    "StackingClassifier",
    "StackingRegressor",
    "TargetModels",
    "TweedieLoss",
    "VotingClassifier",
    "VotingRegressor",
]
