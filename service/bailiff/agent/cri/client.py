"""The runtime of the node by CRI; see bailiff.agent.runtime for the port."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import DecodeError, Message

from bailiff.agent.cri import runtime_pb2 as pb
from bailiff.agent.cri.calls import Bounds, call
from bailiff.agent.cri.errors import CriMalformedError, CriStatusError, CriTimeoutError
from bailiff.agent.readings.pods import Layer
from bailiff.decisions.pressure.garbage import (
    ContainerState,
    RuntimeContainer,
    RuntimeImage,
    RuntimeSandbox,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.agent.cri.runtime_pb2 import Container, ContainerStatus, FilesystemUsage

M = TypeVar("M", bound=Message)

_RUNTIME, _IMAGES = "/runtime.v1.RuntimeService/", "/runtime.v1.ImageService/"
_POD_UID = "io.kubernetes.pod.uid"
_SOURCE = "kubernetes.io/config.source"
_NOT_FOUND = 5
# Seconds. A removal deletes files, of an image perhaps a hundred thousand.
_TO_ANSWER = 10.0
_TO_REMOVE = 60.0
# Of all containers together, each of which has the time to answer as well.
_FOR_STATUSES = 30.0


class CriRuntime:
    """A runtime behind a unix socket."""

    def __init__(self, socket: str, to_answer: float = _TO_ANSWER) -> None:
        """Nothing is asked yet.

        Args:
            socket: path of it, with or without `unix://`.
            to_answer: seconds for questions.
        """
        self._socket = socket.removeprefix("unix://")
        self._to_answer = Bounds(to_answer)
        self._to_remove = Bounds(_TO_REMOVE)

    async def version(self) -> tuple[str, str]:
        """Name and version of the runtime."""
        answer = await self._ask(_RUNTIME, "Version", pb.VersionRequest(), pb.VersionResponse)
        return answer.runtime_name, answer.runtime_version

    async def file_systems(self) -> tuple[str, str]:
        """Folders on the file systems of images and of writable layers; empty: it does not say."""
        answer = await self._ask(
            _IMAGES, "ImageFsInfo", pb.ImageFsInfoRequest(), pb.ImageFsInfoResponse
        )
        images = _mount_point(answer.image_filesystems)
        return images, _mount_point(answer.container_filesystems) or images

    async def images(self) -> Sequence[RuntimeImage]:
        """See Runtime."""
        answer = await self._ask(
            _IMAGES, "ListImages", pb.ListImagesRequest(), pb.ListImagesResponse
        )
        return [
            RuntimeImage(
                id=one.id,
                tags=tuple(one.repo_tags),
                digests=tuple(one.repo_digests),
                size=one.size,
                pinned=one.pinned,
            )
            for one in answer.images
        ]

    async def listed(self) -> Sequence[RuntimeContainer]:
        """See Runtime."""
        answer = await self._list()
        return [_container(one, pb.ContainerStatus()) for one in answer.containers]

    async def containers(self) -> Sequence[RuntimeContainer]:
        """See Runtime."""
        answer = await self._list()
        try:
            async with asyncio.timeout(_FOR_STATUSES):
                # One after the other: each takes a millisecond or two, and the runtime has others
                # to serve.
                whole = [await self._whole(one) for one in answer.containers]
        except TimeoutError as error:
            why = f"ContainerStatus: not all {len(answer.containers)} within {_FOR_STATUSES:g} s"
            raise CriTimeoutError(why) from error
        return [one for one in whole if one is not None]

    async def sandboxes(self) -> Sequence[RuntimeSandbox]:
        """See Runtime."""
        answer = await self._ask(
            _RUNTIME, "ListPodSandbox", pb.ListPodSandboxRequest(), pb.ListPodSandboxResponse
        )
        return [
            RuntimeSandbox(
                id=one.id,
                pod_uid=one.metadata.uid,
                ready=one.state == pb.SANDBOX_READY,
                created_at=one.created_at,
                source=one.annotations.get(_SOURCE, ""),
            )
            for one in answer.items
        ]

    async def layers(self) -> Mapping[str, Layer]:
        """See Runtime."""
        answer = await self._ask(
            *(_RUNTIME, "ListContainerStats"),
            *(pb.ListContainerStatsRequest(), pb.ListContainerStatsResponse),
        )
        return {
            one.attributes.id: Layer(
                one.writable_layer.used_bytes.value, one.writable_layer.inodes_used.value
            )
            for one in answer.stats
            if one.writable_layer.HasField("used_bytes")
        }

    async def stop_container(self, container: str, grace_period_seconds: int) -> None:
        """See Runtime."""
        request = pb.StopContainerRequest(container_id=container, timeout=grace_period_seconds)
        bounds = Bounds(grace_period_seconds + self._to_answer.seconds)
        await self._do(_RUNTIME, "StopContainer", request, bounds)

    async def remove_container(self, container: str) -> None:
        """See Runtime."""
        request = pb.RemoveContainerRequest(container_id=container)
        await self._do(_RUNTIME, "RemoveContainer", request, self._to_remove)

    async def stop_sandbox(self, sandbox: str) -> None:
        """Stop a sandbox and what runs in it; one that is not there is no error."""
        stop = pb.StopPodSandboxRequest(pod_sandbox_id=sandbox)
        await self._do(_RUNTIME, "StopPodSandbox", stop, self._to_remove)

    async def remove_sandbox(self, sandbox: str) -> None:
        """See Runtime."""
        await self.stop_sandbox(sandbox)
        remove = pb.RemovePodSandboxRequest(pod_sandbox_id=sandbox)
        await self._do(_RUNTIME, "RemovePodSandbox", remove, self._to_remove)

    async def remove_image(self, image: str) -> None:
        """See Runtime."""
        request = pb.RemoveImageRequest(image=pb.ImageSpec(image=image))
        await self._do(_IMAGES, "RemoveImage", request, self._to_remove)

    async def _list(self) -> pb.ListContainersResponse:
        return await self._ask(
            _RUNTIME, "ListContainers", pb.ListContainersRequest(), pb.ListContainersResponse
        )

    async def _whole(self, one: Container) -> RuntimeContainer | None:
        """With what its status tells besides; None: it is gone meanwhile."""
        request = pb.ContainerStatusRequest(container_id=one.id)
        try:
            answer = await self._ask(
                _RUNTIME, "ContainerStatus", request, pb.ContainerStatusResponse
            )
        except CriStatusError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        return _container(one, answer.status)

    async def _ask(self, service: str, method: str, request: Message, kind: type[M]) -> M:
        data = request.SerializeToString()
        answer = await call(self._socket, service + method, data, self._to_answer)
        try:
            return kind.FromString(answer)
        except DecodeError as error:
            raise CriMalformedError(f"{method}: the answer is another message") from error

    async def _do(self, service: str, method: str, request: Message, bounds: Bounds) -> None:
        try:
            await call(self._socket, service + method, request.SerializeToString(), bounds)
        except CriStatusError as error:
            if error.code != _NOT_FOUND:
                raise


def _container(one: Container, status: ContainerStatus) -> RuntimeContainer:
    return RuntimeContainer(
        id=one.id,
        name=one.metadata.name,
        pod_uid=one.labels.get(_POD_UID, ""),
        sandbox_id=one.pod_sandbox_id,
        state=_state(one.state),
        created_at=one.created_at,
        image_id=one.image_id or one.image_ref,
        mounted=tuple(each.image.image for each in status.mounts if each.image.image),
        log_path=status.log_path,
    )


def _state(number: int) -> ContainerState:
    """One that a later release has added may run."""
    known = number in ContainerState.__members__.values()
    return ContainerState(number) if known else ContainerState.UNKNOWN


def _mount_point(found: Sequence[FilesystemUsage]) -> str:
    return found[0].fs_id.mountpoint if found else ""
