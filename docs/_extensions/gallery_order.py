"""The groups of the gallery in the order of their use, and examples in that of their numbers."""

from __future__ import annotations

GROUPS = [
    "gallery/from_table_to_decision",
    "gallery/predict_a_class",
    "gallery/predict_a_number",
    "gallery/judge_and_decide",
    "gallery/find_groups",
    "gallery/reduce_and_detect",
    "gallery/kernels_and_margins",
    "gallery/probability_and_estimation",
    "gallery/bayesian_networks",
    "gallery/act_over_time",
    "course",
]


class WrittenOrder:
    """Examples in the order of their file names."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return "WrittenOrder"

    def __call__(self, name: str) -> str:
        return name
