"""The composition root: the only place that names concrete classes, and owns the process.

A program is a function of a stop event; `run` gives it an event loop, signals and logs.
"""

from bailiff.bootstrap.cluster import ClusterChoice, ClusterUnusable
from bailiff.bootstrap.pausing import use_switch
from bailiff.bootstrap.process import Program, StartError, run
from bailiff.bootstrap.serve import serve
from bailiff.bootstrap.settings import CLOCK_SKEW_LIMIT, LeaseChoice, ServeSettings, WorkSettings
from bailiff.bootstrap.work import work

__all__ = [
    "CLOCK_SKEW_LIMIT",
    "ClusterChoice",
    "ClusterUnusable",
    "LeaseChoice",
    "Program",
    "ServeSettings",
    "StartError",
    "WorkSettings",
    "run",
    "serve",
    "use_switch",
    "work",
]
