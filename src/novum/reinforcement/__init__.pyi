from novum.reinforcement.grid_world import GridWorld
from novum.reinforcement.pictures import PlanPicture
from novum.reinforcement.planning.average_reward import AveragePlan, average_reward
from novum.reinforcement.planning.linear_program import RewardRange, policy_ranges
from novum.reinforcement.planning.plan import Plan
from novum.reinforcement.planning.solve import solve
from novum.reinforcement.policy import Policy
from novum.reinforcement.policy_worth import (
    occupation,
    policy_values,
    stationary_distribution,
)
from novum.reinforcement.process import MarkovDecisionProcess, ProcessWarning

__all__ = [
    "AveragePlan",
    "GridWorld",
    "MarkovDecisionProcess",
    "Plan",
    "PlanPicture",
    "Policy",
    "ProcessWarning",
    "RewardRange",
    "average_reward",
    "occupation",
    "policy_ranges",
    "policy_values",
    "solve",
    "stationary_distribution",
]
