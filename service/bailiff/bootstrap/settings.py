"""What the command line says of each process; its help tells what the fields mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiff.bootstrap.cluster import ClusterChoice
from bailiff.decisions import Options


@dataclass(frozen=True)
class ServeSettings:
    """The decision API."""

    cluster: ClusterChoice = field(default_factory=ClusterChoice)
    host: str = "127.0.0.1"
    rest_port: int = 8080
    grpc_port: int = 9090
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class WorkSettings:
    """A worker."""

    cluster: ClusterChoice
    host: str = "127.0.0.1"
    status_port: int = 8081
    concurrency: int = 20
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class UpSettings:
    """The demo: both, and an embedded cluster."""

    host: str = "127.0.0.1"
    rest_port: int = 8080
    grpc_port: int = 9090
    status_port: int = 8081
    cluster_port: int = 6480
