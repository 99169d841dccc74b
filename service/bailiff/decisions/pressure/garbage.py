"""What a container runtime tells of a node, as far as it says what there is to free.

Source: runtime.v1 of k8s.io/cri-api. What is garbage say garbage_images.py and
garbage_containers.py. What a runtime leaves out is empty here, and 0.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import IntEnum

from msgspec import Struct

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class ContainerState(IntEnum):
    """By the numbers of runtime.v1; UNKNOWN: it may run."""

    CREATED = 0
    RUNNING = 1
    EXITED = 2
    UNKNOWN = 3


class RuntimeImage(Struct, frozen=True, kw_only=True, gc=False):
    """One of ListImages.

    Attributes:
        id: by which a container says which image it has, and by which it is removed.
        tags: its names, as `docker.io/library/busybox:1`.
        digests: its names by what is in it, as `docker.io/library/busybox@sha256:...`.
        size: bytes, with layers that other images have, too.
        pinned: the runtime says that it must stay, as that of pause containers.
    """

    id: str
    tags: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    size: int = 0
    pinned: bool = False


class RuntimeContainer(Struct, frozen=True, kw_only=True, gc=False):
    """One of ListContainers, and from its ContainerStatus what the list does not tell.

    Attributes:
        id: by which it is removed.
        name: of the container in its pod (`metadata.name`).
        pod_uid: of its pod (label `io.kubernetes.pod.uid`).
        sandbox_id: that it is in.
        state: what it does.
        created_at: nanoseconds since 1970.
        image_id: `image_id`; where the runtime tells none (CRI before 1.30), `image_ref`.
        mounted: the `mounts[].image.image` of its ContainerStatus, for images that are mounted as
            volumes (KEP-4639).
        log_path: of its ContainerStatus. No runtime removes that file with the container; the
            kubelet does, and the rotated ones whose names begin with it (pkg/kubelet/logs).
    """

    id: str
    name: str = ""
    pod_uid: str = ""
    sandbox_id: str = ""
    state: ContainerState = ContainerState.UNKNOWN
    created_at: int = 0
    image_id: str = ""
    mounted: tuple[str, ...] = ()
    log_path: str = ""


class RuntimeSandbox(Struct, frozen=True, kw_only=True, gc=False):
    """One of ListPodSandbox.

    Attributes:
        id: by which it is stopped and removed.
        pod_uid: of its pod (`metadata.uid`).
        ready: its state is SANDBOX_READY.
        created_at: nanoseconds since 1970.
        source: where the kubelet has its pod from (annotation `kubernetes.io/config.source`); all
            but `api` are static pods. The kubelet overwrites what others say there.
    """

    id: str
    pod_uid: str = ""
    ready: bool = False
    created_at: int = 0
    source: str = ""


def nanoseconds(now: datetime) -> int:
    """Since 1970, as a runtime counts; to the microsecond, which is all that `now` has."""
    return (now - _START) // _MICROSECOND * 1000
