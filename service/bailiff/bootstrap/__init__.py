"""The composition root: the only place that names concrete classes, and owns the process.

A program is a function of a stop event; `process.run` gives it an event loop, signals and logs.
Each program stands in a module of its own (`serve`, `work`, `pausing`), which its command imports
when it runs: so that none loads, and waits for, what only another one needs.
"""

from bailiff.bootstrap.access import ACCESS_VARIABLES
from bailiff.bootstrap.choices import (
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
