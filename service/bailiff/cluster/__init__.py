"""The Kubernetes client: connection, requests, list and watch, errors. Only it knows HTTP."""

from bailiff.cluster.client import Cluster
from bailiff.cluster.cluster_clock import ClusterClock, SkewAlarm
from bailiff.cluster.connecting import connect
from bailiff.cluster.discovery import DeviceApi, DeviceDiscovery, served
from bailiff.cluster.errors import (
    AdmissionDeniedError,
    AlreadyExistsError,
    BadRequestError,
    ClusterError,
    ConfigError,
    ConflictError,
    DisruptionBudgetError,
    DryRunUnsupportedError,
    ExpiredError,
    FencedError,
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
from bailiff.cluster.exchanges import Exchange, Observer
from bailiff.cluster.keeping import KEEP_LITTLE, Keep
from bailiff.cluster.kubeconfig import kubeconfig_namespace
from bailiff.cluster.leases import LEASES, Lease, LeaseRecord, LeaseStore
from bailiff.cluster.list_watch import ListWatch
from bailiff.cluster.listing import Listing
from bailiff.cluster.probing import may_follow
from bailiff.cluster.request import Request, Selection
from bailiff.cluster.resource import (
    CONFIG_MAPS,
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    PatchType,
    Resource,
)
from bailiff.cluster.service_account import service_account_namespace
from bailiff.cluster.settings import ClusterSettings
from bailiff.cluster.unreadable import Unreadable
from bailiff.cluster.watch_events import Changed, Deleted, HasMetadata, Replaced, WatchEvent
from bailiff.cluster.watch_health import Restart, RewoundError, WatchHealth

__all__ = [
    "CONFIG_MAPS",
    "EVENTS",
    "KEEP_LITTLE",
    "LEASES",
    "NAMESPACES",
    "NODES",
    "PODS",
    "AdmissionDeniedError",
    "AlreadyExistsError",
    "BadRequestError",
    "Changed",
    "Cluster",
    "ClusterClock",
    "ClusterError",
    "ClusterSettings",
    "ConfigError",
    "ConflictError",
    "Deleted",
    "DeviceApi",
    "DeviceDiscovery",
    "DisruptionBudgetError",
    "DryRunUnsupportedError",
    "Exchange",
    "ExpiredError",
    "FencedError",
    "ForbiddenError",
    "HasMetadata",
    "InvalidError",
    "Keep",
    "Lease",
    "LeaseRecord",
    "LeaseStore",
    "ListWatch",
    "Listing",
    "NotFoundError",
    "Observer",
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
    "SkewAlarm",
    "StatusError",
    "TooManyRequestsError",
    "UidMismatchError",
    "UnauthorizedError",
    "UnreachableError",
    "Unreadable",
    "WatchEvent",
    "WatchHealth",
    "connect",
    "kubeconfig_namespace",
    "may_follow",
    "served",
    "service_account_namespace",
]
