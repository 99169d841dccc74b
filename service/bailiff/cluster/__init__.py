"""The Kubernetes client: connection, requests, list and watch, errors. Only it knows HTTP."""

from bailiff.cluster.client import Cluster, Listing, Version, connect
from bailiff.cluster.errors import (
    AlreadyExistsError,
    BadRequestError,
    ClusterError,
    ConfigError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    StatusError,
    TooManyRequestsError,
    UidMismatchError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster.list_watch import ListWatch
from bailiff.cluster.reader import ClusterReader, LiveReader
from bailiff.cluster.request import Request, Selection
from bailiff.cluster.resource import EVENTS, NODES, PODS, PatchType, Resource
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.watch_events import Changed, Deleted, HasMetadata, Replaced, WatchEvent
from bailiff.cluster.watch_health import Restart, RewoundError, WatchHealth

__all__ = [
    "EVENTS",
    "NODES",
    "PODS",
    "AlreadyExistsError",
    "BadRequestError",
    "Changed",
    "Cluster",
    "ClusterError",
    "ClusterReader",
    "ClusterSettings",
    "ConfigError",
    "ConflictError",
    "Deleted",
    "ExpiredError",
    "ForbiddenError",
    "HasMetadata",
    "InvalidError",
    "ListWatch",
    "Listing",
    "LiveReader",
    "NotFoundError",
    "PatchType",
    "Replaced",
    "Request",
    "RequestTimeoutError",
    "Resource",
    "ResponseError",
    "Restart",
    "RewoundError",
    "Selection",
    "ServerError",
    "StatusError",
    "TooManyRequestsError",
    "UidMismatchError",
    "UnauthorizedError",
    "UnreachableError",
    "Version",
    "WatchEvent",
    "WatchHealth",
    "connect",
]
