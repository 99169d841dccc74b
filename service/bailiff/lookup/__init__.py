"""Live objects of a cluster for an answer about them: what REST and the command line share.

Between the faces and the client: it knows which objects are read, how far a failure fails the
answer, and how long that may take. How an error is worded is for each face to say.
"""

from bailiff.lookup.errors import (
    BusyError,
    FailedError,
    ForbiddenError,
    LookUpError,
    MissingError,
    NotServedError,
    TooManyError,
    UnavailableError,
)
from bailiff.lookup.gang_budgets import GangBudgets
from bailiff.lookup.kept import Age, Kept
from bailiff.lookup.kubelets import KubeletAnswers
from bailiff.lookup.live import LookUps, Source, drive, in_time
from bailiff.lookup.nodes import AllNodes, NodePools
from bailiff.lookup.pod_groups import PodGroups
from bailiff.lookup.source import ClusterSource

__all__ = [
    "Age",
    "AllNodes",
    "BusyError",
    "ClusterSource",
    "FailedError",
    "ForbiddenError",
    "GangBudgets",
    "Kept",
    "KubeletAnswers",
    "LookUpError",
    "LookUps",
    "MissingError",
    "NodePools",
    "NotServedError",
    "PodGroups",
    "Source",
    "TooManyError",
    "UnavailableError",
    "drive",
    "in_time",
]
