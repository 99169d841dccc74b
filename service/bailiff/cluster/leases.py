"""One Lease: make it, read it, write it over the version that was read.

coordination.k8s.io/v1, the object that leader election is done with (KEP-589). What is not about
the election (labels, annotations, owners) is handed back as it was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from bailiff.cluster.errors import AlreadyExistsError, NotFoundError, ResponseError
from bailiff.cluster.resource import Resource
from bailiff.kinds import DecodeError, decode_yaml_value
from bailiff.kinds.meta import Time, Value

if TYPE_CHECKING:
    from bailiff.cluster.client import Cluster

LEASES: Resource[dict[str, Any]] = Resource("coordination.k8s.io", "v1", "leases", dict)

# Of a spec. Whoever waits goes by the time that passes on its own machine.
_TIMES = frozenset({"acquireTime", "renewTime"})

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]


class LeaseRecord(Value, frozen=True):
    """Who leads, and how long that may be believed (k8s.io/api/coordination/v1 LeaseSpec).

    Attributes:
        holder_identity: who holds the Lease; empty for nobody.
        lease_duration_seconds: how long others wait after they saw the last change; None if the
            holder did not say.
        acquire_time: when the holder took it, by its own wall clock.
        renew_time: when it last renewed it, by its own wall clock.
        lease_transitions: how often the holder changed.
    """

    holder_identity: str = ""
    lease_duration_seconds: Int32 | None = None
    acquire_time: Time | None = None
    renew_time: Time | None = None
    lease_transitions: Int32 = 0

    def body(self) -> dict[str, Any]:
        """As the API takes it."""
        return {
            "holderIdentity": self.holder_identity,
            "leaseDurationSeconds": self.lease_duration_seconds,
            "acquireTime": _micro_time(self.acquire_time),
            "renewTime": _micro_time(self.renew_time),
            "leaseTransitions": self.lease_transitions,
        }


@dataclass(frozen=True, slots=True)
class Lease:
    """A Lease as it was read.

    Attributes:
        record: what it says.
        object: all of it.
        is_whole: all that it says could be read. The API server keeps what our types refuse, such
            as a renewTime in the year 0; such a field is as one that is not there.
    """

    record: LeaseRecord
    object: dict[str, Any]
    is_whole: bool = True


class LeaseStore:
    """One Lease of a cluster, over connections of its own. Every method raises ClusterError.

    Attributes:
        namespace: where it lives.
        name: its own.
    """

    def __init__(self, cluster: Cluster, namespace: str, name: str) -> None:
        self._cluster = cluster.for_leases()
        self.namespace = namespace
        self.name = name

    async def read(self) -> Lease | None:
        """The Lease as it is now; None if there is none."""
        try:
            return _lease(await self._cluster.get(LEASES, self.name, self.namespace))
        except NotFoundError:
            return None

    async def create(self) -> bool:
        """Make it, held by nobody; False if there is one, which stays as it is."""
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self.name, "namespace": self.namespace},
        }
        try:
            await self._cluster.create(LEASES, body, self.namespace)
        except AlreadyExistsError:
            return False
        return True

    async def write(self, lease: Lease, record: LeaseRecord) -> Lease:
        """Replace what it says; ConflictError if it is no longer as it was read."""
        spec = lease.object.get("spec") or {}
        body = lease.object | {"spec": spec | record.body()}
        return _lease(await self._cluster.replace(LEASES, self.name, self.namespace, body))


def _lease(found: dict[str, Any]) -> Lease:
    spec = found.get("spec") or {}
    try:
        return Lease(decode_yaml_value(spec, LeaseRecord), found)
    except DecodeError:
        return _lease_in_part(found, spec)


def _lease_in_part(found: dict[str, Any], spec: dict[str, Any]) -> Lease:
    """Without the times that cannot be read: they decide nothing, and must keep nobody out."""
    readable = {name: value for name, value in spec.items() if name not in _TIMES}
    try:
        return Lease(decode_yaml_value(readable, LeaseRecord), found, is_whole=False)
    except DecodeError as error:
        raise ResponseError(f"Lease: {error}") from error


def _micro_time(instant: datetime | None) -> str | None:
    """MicroTime; Go takes it with six digits only (apimachinery pkg/apis/meta/v1/micro_time.go)."""
    if instant is None:
        return None
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
