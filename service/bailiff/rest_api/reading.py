"""Reading from the cluster for one answer, and what becomes of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.cluster.errors import (
    ClusterError,
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster.reader import Devices
from bailiff.decisions.device_objects import (
    device_eviction_off,
    devices_not_read,
    devices_not_served,
)
from bailiff.decisions.device_taints.pods import has_claims
from bailiff.rest_api.problems import ProblemCode, Refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from bailiff.cluster.reader import ClusterReader
    from bailiff.decisions import Finding
    from bailiff.kinds import Pod

T = TypeVar("T")

_UNAVAILABLE = (UnreachableError, RequestTimeoutError, ServerError, TooManyRequestsError)
_RETRY_SECONDS = 5
_NO_DEVICES = Devices()
_DEVICE_PERMISSION = (
    "get resourceclaims, list resourceclaims, list resourceslices, list devicetaintrules"
)


class DeviceReading:
    """The devices of pods, or what to say where they cannot be looked at.

    Args:
        enabled: the gate DRADeviceTaintEviction; without it no device is read.
    """

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled

    async def of(
        self, reader: ClusterReader, pods: Iterable[Pod]
    ) -> tuple[Devices, Finding | None]:
        """What was read, and what to say of the pods with claims where nothing could be.

        Nothing is asked of the cluster where no pod has claims. Where the account may not read
        devices, the answer goes on without: it still tells of the node's taints.

        Raises:
            Refusal: cluster_failed, cluster_unavailable.
        """
        users = [pod for pod in pods if has_claims(pod)]
        if not users:
            return _NO_DEVICES, None
        if not self._enabled:
            return _NO_DEVICES, device_eviction_off()
        try:
            found = await read(reader.devices_of(users), _DEVICE_PERMISSION, "the pod's devices")
        except Refusal as refusal:
            return _NO_DEVICES, _said_instead(refusal)
        return (found, None) if found is not None else (_NO_DEVICES, devices_not_served())


def _said_instead(refusal: Refusal) -> Finding:
    if refusal.code is ProblemCode.CLUSTER_FORBIDDEN:
        return devices_not_read(refusal.detail)
    if refusal.code is ProblemCode.NOT_FOUND:
        # Served a moment ago, as while the API server is upgraded.
        raise unavailable("the cluster has just ceased to serve devices in this version")
    raise refusal


async def read(reading: Awaitable[T], permission: str, what: str) -> T:
    """Await one request and turn its failure into a Refusal that says what to do.

    Raises:
        Refusal: not_found, cluster_forbidden, cluster_failed, cluster_unavailable.
    """
    try:
        return await reading
    except NotFoundError as error:
        raise Refusal(ProblemCode.NOT_FOUND, f"{what} does not exist") from error
    except (ForbiddenError, UnauthorizedError) as error:
        detail = f"Bailiff's account may not read {what}: grant it the permission to {permission}"
        raise Refusal(ProblemCode.CLUSTER_FORBIDDEN, detail) from error
    except _UNAVAILABLE as error:
        raise unavailable(f"{what} could not be read: {error.message}") from error
    except ClusterError as error:
        detail = f"{what} could not be read: {error.message}"
        raise Refusal(ProblemCode.CLUSTER_FAILED, detail) from error


def unavailable(detail: str) -> Refusal:
    """The cluster cannot be asked now; trying again may help."""
    retry = {"Retry-After": str(_RETRY_SECONDS)}
    return Refusal(ProblemCode.CLUSTER_UNAVAILABLE, detail, headers=retry)
