from novum.reinforcement.grid_world import GridWorld
from novum.reinforcement.learning.batch import (
    DifferenceSums,
    FittedQ,
    LeastSquaresPolicyIteration,
    Steps,
    difference_sums,
    least_squares_values,
    linear_differences,
)
from novum.reinforcement.learning.features import (
    FourierFeatures,
    KernelFeatures,
    RadialFeatures,
    StateIndicators,
    TileCoding,
)
from novum.reinforcement.learning.linear_agents import (
    DivergenceWarning,
    LinearQLearning,
    LinearSarsa,
)
from novum.reinforcement.learning.model_learning import (
    AdaptiveDynamicProgramming,
    CertaintyEquivalence,
    Optimism,
    PrioritizedSweeping,
    ThompsonSampling,
)
from novum.reinforcement.learning.off_policy import OffPolicyEstimate, evaluate_off_policy
from novum.reinforcement.learning.schedules import (
    Boltzmann,
    ConstantRate,
    EpsilonGreedy,
    Greedy,
    LinearDecay,
    Optimistic,
    PolynomialDecay,
    ScheduleWarning,
)
from novum.reinforcement.learning.tabular import (
    DoubleQLearning,
    ExpectedSarsa,
    QLearning,
    Sarsa,
)
from novum.reinforcement.learning.traces import (
    Traces,
    Utilities,
    direct_utility,
    simulate,
    temporal_differences,
)
from novum.reinforcement.pictures import PlanPicture
from novum.reinforcement.planning.average_reward import AveragePlan, average_reward
from novum.reinforcement.planning.linear_program import RewardRange, policy_ranges
from novum.reinforcement.planning.plan import Plan
from novum.reinforcement.planning.plan import loss_sentence as loss_sentence
from novum.reinforcement.planning.solve import solve
from novum.reinforcement.policy import Policy
from novum.reinforcement.policy_worth import (
    occupation,
    policy_values,
    stationary_distribution,
)
from novum.reinforcement.process import MarkovDecisionProcess, ProcessWarning

__all__ = [
    "AdaptiveDynamicProgramming",
    "AveragePlan",
    "Boltzmann",
    "CertaintyEquivalence",
    "ConstantRate",
    "DifferenceSums",
    "DivergenceWarning",
    "DoubleQLearning",
    "EpsilonGreedy",
    "ExpectedSarsa",
    "FittedQ",
    "FourierFeatures",
    "Greedy",
    "GridWorld",
    "KernelFeatures",
    "LeastSquaresPolicyIteration",
    "LinearDecay",
    "LinearQLearning",
    "LinearSarsa",
    "MarkovDecisionProcess",
    "OffPolicyEstimate",
    "Optimism",
    "Optimistic",
    "Plan",
    "PlanPicture",
    "Policy",
    "PolynomialDecay",
    "PrioritizedSweeping",
    "ProcessWarning",
    "QLearning",
    "RadialFeatures",
    "RewardRange",
    "Sarsa",
    "ScheduleWarning",
    "StateIndicators",
    "Steps",
    "ThompsonSampling",
    "TileCoding",
    "Traces",
    "Utilities",
    "average_reward",
    "difference_sums",
    "direct_utility",
    "evaluate_off_policy",
    "least_squares_values",
    "linear_differences",
    "occupation",
    "policy_ranges",
    "policy_values",
    "simulate",
    "solve",
    "stationary_distribution",
    "temporal_differences",
]
