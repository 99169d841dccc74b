"""What a runtime tells, as the core's values; and what it is asked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.protobuf.message import Message

from bailiff.agent.cri import runtime_pb2 as pb
from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.cri.errors import (
    CriError,
    CriMalformedError,
    CriStatusError,
    CriTimeoutError,
)
from bailiff.agent.readings.pods import Layer
from bailiff.agent.runtime import RuntimeFailedError
from bailiff.decisions.pressure.garbage import (
    ContainerState,
    RuntimeContainer,
    RuntimeImage,
    RuntimeSandbox,
)
from tests.unit.agent.cri.fake_runtime import Answer, Connection, FakeRuntime, serving

RUNTIME, IMAGES = "/runtime.v1.RuntimeService/", "/runtime.v1.ImageService/"
NOT_FOUND, UNIMPLEMENTED = "5", "12"
# A field of a number that is nobody's.
UNKNOWN = b"\xfa\x3e\x03new"


def says(message: Message, more: bytes = b"") -> Answer:
    async def answer(one: Connection) -> None:
        one.whole(message.SerializeToString() + more)

    return answer


def refuses(code: str) -> Answer:
    async def answer(one: Connection) -> None:
        one.head(("grpc-status", code), ("grpc-message", "no"), end=True)

    return answer


def client(runtime: FakeRuntime) -> CriRuntime:
    return CriRuntime(f"unix://{runtime.socket}")


def container(which: str, **more: Any) -> pb.Container:
    fields: dict[str, Any] = {
        "pod_sandbox_id": "sandbox",
        "metadata": pb.ContainerMetadata(name="main"),
        "image_ref": "sha256:ref",
        "state": pb.CONTAINER_RUNNING,
        "created_at": 1_700_000_000_123_456_789,
        "labels": {"io.kubernetes.pod.uid": "uid"},
    }
    return pb.Container(id=which, **fields | more)


async def test_who_it_is():
    told = pb.VersionResponse(runtime_name="containerd", runtime_version="1.6.20")
    async with serving(says(told, UNKNOWN)) as runtime:
        assert await client(runtime).version() == ("containerd", "1.6.20")
    assert runtime.paths == [f"{RUNTIME}Version"]


async def test_images():
    told = pb.ListImagesResponse(
        images=[
            pb.Image(id="a", repo_tags=["a:1"], repo_digests=["a@1"], size=2**40, pinned=True),
            pb.Image(id="b"),
        ]
    )
    async with serving(says(told)) as runtime:
        assert await client(runtime).images() == [
            RuntimeImage(id="a", tags=("a:1",), digests=("a@1",), size=2**40, pinned=True),
            RuntimeImage(id="b"),
        ]
    assert runtime.paths == [f"{IMAGES}ListImages"]


def place(path: str) -> pb.FilesystemUsage:
    return pb.FilesystemUsage(fs_id=pb.FilesystemIdentifier(mountpoint=path))


@pytest.mark.parametrize(
    ("told", "places"),
    [
        (pb.ImageFsInfoResponse(), ("", "")),
        (pb.ImageFsInfoResponse(image_filesystems=[place("/i")]), ("/i", "/i")),
        (
            pb.ImageFsInfoResponse(
                image_filesystems=[place("/i")], container_filesystems=[place("/c")]
            ),
            ("/i", "/c"),
        ),
    ],
    ids=["not told", "one", "two"],
)
async def test_where_images_are(told, places):
    async with serving(says(told)) as runtime:
        assert await client(runtime).file_systems() == places


async def test_containers_by_one_question():
    told = pb.ListContainersResponse(containers=[container("a")])
    async with serving(says(told)) as runtime:
        (found,) = await client(runtime).listed()
    assert (found.id, found.pod_uid, found.state) == ("a", "uid", ContainerState.RUNNING)
    assert runtime.paths == [f"{RUNTIME}ListContainers"]


async def test_containers_with_what_their_statuses_tell():
    told = pb.ListContainersResponse(
        containers=[container("a", image_id="sha256:id"), container("b", state=pb.CONTAINER_EXITED)]
    )
    mounts = [pb.Mount(), pb.Mount(image=pb.ImageSpec(image="sha256:mounted"))]
    first = pb.ContainerStatusResponse(
        status=pb.ContainerStatus(mounts=mounts, log_path="/var/log/a")
    )
    second = pb.ContainerStatusResponse()
    async with serving(says(told), says(first), says(second)) as runtime:
        found = await client(runtime).containers()
    common: dict[str, Any] = {"name": "main", "pod_uid": "uid", "sandbox_id": "sandbox"}
    common["created_at"] = 1_700_000_000_123_456_789
    a = RuntimeContainer(
        id="a",
        state=ContainerState.RUNNING,
        image_id="sha256:id",
        mounted=("sha256:mounted",),
        log_path="/var/log/a",
        **common,
    )
    b = RuntimeContainer(id="b", state=ContainerState.EXITED, image_id="sha256:ref", **common)
    assert found == [a, b]
    asked = [pb.ContainerStatusRequest.FromString(one).container_id for one in runtime.requests]
    assert asked[1:] == ["a", "b"]


async def test_one_that_goes_between_list_and_status_is_not_there():
    told = pb.ListContainersResponse(containers=[container("a"), container("b")])
    status = pb.ContainerStatusResponse()
    async with serving(says(told), refuses(NOT_FOUND), says(status)) as runtime:
        assert [one.id for one in await client(runtime).containers()] == ["b"]


async def test_one_whose_status_is_refused_is_not_left_out():
    """What is not known of it would count as garbage."""
    told = pb.ListContainersResponse(containers=[container("a")])
    async with serving(says(told), refuses("13")) as runtime:
        with pytest.raises(CriStatusError, match="ContainerStatus: code 13: 'no'"):
            await client(runtime).containers()


async def test_all_statuses_together_have_a_time(monkeypatch):
    """Each has ten seconds to answer, and there may be hundreds."""
    monkeypatch.setattr("bailiff.agent.cri.client._FOR_STATUSES", 0.05)
    told = pb.ListContainersResponse(containers=[container("a"), container("b")])

    async def late(one: Connection) -> None:
        await asyncio.sleep(0.1)

    async with serving(says(told), late) as runtime:
        with pytest.raises(CriTimeoutError, match=r"ContainerStatus: not all 2 within 0.05 s"):
            await client(runtime).containers()


async def test_a_state_of_a_later_release_may_be_one_that_runs():
    told = pb.ListContainersResponse(containers=[container("a", state=77)])
    async with serving(says(told), says(pb.ContainerStatusResponse())) as runtime:
        (one,) = await client(runtime).containers()
    assert one.state is ContainerState.UNKNOWN


async def test_sandboxes():
    told = pb.ListPodSandboxResponse(
        items=[
            pb.PodSandbox(
                id="a",
                metadata=pb.PodSandboxMetadata(uid="uid"),
                state=pb.SANDBOX_READY,
                created_at=7,
                annotations={"kubernetes.io/config.source": "file"},
            ),
            pb.PodSandbox(id="b", state=pb.SANDBOX_NOTREADY),
        ]
    )
    async with serving(says(told)) as runtime:
        assert await client(runtime).sandboxes() == [
            RuntimeSandbox(id="a", pod_uid="uid", ready=True, created_at=7, source="file"),
            RuntimeSandbox(id="b"),
        ]


async def test_layers_that_are_not_told_are_not_empty():
    def stats(which: str, **told) -> pb.ContainerStats:
        attributes = pb.ContainerAttributes(id=which)
        return pb.ContainerStats(attributes=attributes, writable_layer=pb.FilesystemUsage(**told))

    number = pb.UInt64Value
    told = pb.ListContainerStatsResponse(
        stats=[
            stats("a", used_bytes=number(value=5), inodes_used=number(value=6)),
            stats("b", used_bytes=number(value=0)),
            stats("c"),
        ]
    )
    async with serving(says(told)) as runtime:
        assert await client(runtime).layers() == {"a": Layer(5, 6), "b": Layer(0, 0)}


REMOVALS = {
    "StopContainer": lambda one: one.stop_container("x", 7),
    "RemoveContainer": lambda one: one.remove_container("x"),
    "StopPodSandbox": lambda one: one.stop_sandbox("x"),
    "RemovePodSandbox": lambda one: one.remove_sandbox("x"),
    "RemoveImage": lambda one: one.remove_image("x"),
}


@pytest.mark.parametrize("method", REMOVALS)
async def test_what_is_not_there_is_removed(method):
    async with serving(refuses(NOT_FOUND)) as runtime:
        await REMOVALS[method](client(runtime))
    assert runtime.paths[-1].endswith(f"/{method}")


@pytest.mark.parametrize("method", REMOVALS)
async def test_any_other_refusal_is_told(method):
    async with serving(refuses("2")) as runtime:
        with pytest.raises(CriStatusError, match="code 2: 'no'"):
            await REMOVALS[method](client(runtime))


async def test_what_is_asked_of_a_container_of_a_sandbox_and_of_an_image():
    async with serving(says(pb.StopContainerResponse())) as runtime:
        own = client(runtime)
        await own.stop_container("c", 30)
        await own.remove_sandbox("s")
        await own.remove_image("i")
    stop, stop_sandbox, remove_sandbox, remove = runtime.requests
    assert pb.StopContainerRequest.FromString(stop) == pb.StopContainerRequest(
        container_id="c", timeout=30
    )
    assert pb.StopPodSandboxRequest.FromString(stop_sandbox).pod_sandbox_id == "s"
    assert pb.RemovePodSandboxRequest.FromString(remove_sandbox).pod_sandbox_id == "s"
    assert pb.RemoveImageRequest.FromString(remove).image.image == "i"


async def test_a_stop_may_take_the_grace_period_besides():
    async def slow(one: Connection) -> None:
        await asyncio.sleep(0.3)
        one.whole(b"")

    async with serving(slow) as runtime:
        own = CriRuntime(runtime.socket, to_answer=0.1)
        await own.stop_container("c", 20)
        with pytest.raises(CriTimeoutError):
            await own.stop_container("c", 0)


async def test_a_sandbox_that_does_not_stop_is_not_removed():
    async with serving(refuses("2")) as runtime:
        with pytest.raises(CriStatusError):
            await client(runtime).remove_sandbox("s")
    assert len(runtime.paths) == 1


@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x05a", b"\x0a\x02\x0a\xff"])
async def test_what_is_another_message(body):
    async def answer(one: Connection) -> None:
        one.whole(body)

    async with serving(answer) as runtime:
        with pytest.raises(CriMalformedError, match="ListImages: the answer is another message"):
            await client(runtime).images()


async def test_a_runtime_that_knows_no_such_method():
    async with serving(refuses(UNIMPLEMENTED)) as runtime:
        with pytest.raises(CriStatusError) as caught:
            await client(runtime).layers()
    assert caught.value.code == 12


def test_all_that_goes_wrong_is_one_kind_to_the_agent():
    assert issubclass(CriError, RuntimeFailedError)
