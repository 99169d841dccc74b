from .access import ACCESS_VARIABLES
from .choices import (
    CLOCK_SKEW_LIMIT,
    ClusterChoice,
    ClusterUnusable,
    Program,
    StartError,
)

__all__ = [
    "ACCESS_VARIABLES",
    "CLOCK_SKEW_LIMIT",
    "ClusterChoice",
    "ClusterUnusable",
    "Program",
    "StartError",
]
