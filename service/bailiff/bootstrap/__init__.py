"""The composition root: the only place that names concrete classes, and owns the process.

A program is a function of a stop event; `run` gives it an event loop, signals and logs.
"""

from bailiff.bootstrap.cluster import ClusterChoice, ClusterUnusable
from bailiff.bootstrap.process import Program, StartError, run
from bailiff.bootstrap.serve import ServeSettings, serve
from bailiff.bootstrap.up import UpSettings, up
from bailiff.bootstrap.work import WorkerRunSettings, work

__all__ = [
    "ClusterChoice",
    "ClusterUnusable",
    "Program",
    "ServeSettings",
    "StartError",
    "UpSettings",
    "WorkerRunSettings",
    "run",
    "serve",
    "up",
    "work",
]
