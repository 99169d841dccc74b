"""JudgeNodesStream: nodes are registered once, and pods are judged for by them."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # it ships no types

from bailiff.grpc_api import GrpcSettings
from bailiff.serving import ByteBudget
from bailiff.v1 import device_taints_pb2, kubernetes_pb2, resource_pb2
from bailiff.v1 import scheduling_service_pb2 as pb
from bailiff.v1.scheduling_service_pb2_grpc import SchedulingServiceStub
from tests.harness.faces.grpc_face import NOW, Face, running, until_taken

Request = pb.JudgeNodesStreamRequest
METHOD = "/bailiff.v1.SchedulingService/JudgeNodesStream"
PLAIN = kubernetes_pb2.Pod(metadata=kubernetes_pb2.ObjectMeta(name="web", namespace="shop"))


def node(name: str, *taints: tuple[str, str]) -> kubernetes_pb2.Node:
    told = [kubernetes_pb2.Taint(key=key, effect=effect) for key, effect in taints]
    return kubernetes_pb2.Node(
        metadata=kubernetes_pb2.ObjectMeta(name=name), spec=kubernetes_pb2.NodeSpec(taints=told)
    )


def nodes(*some: kubernetes_pb2.Node, **more: Any) -> Request:
    return Request(request_id="nodes", nodes=pb.NodeSet(nodes=some, **more))


def pods(*some: kubernetes_pb2.Pod, **more: Any) -> Request:
    return Request(request_id="pods", pods=pb.PodsToJudge(pods=some or (PLAIN,), **more))


def changes(**told: Any) -> Request:
    return Request(request_id="changes", changes=pb.NodeChanges(**told))


def open_stream(face: Face, requests: Any = None) -> Any:
    """A stream, bytes for bytes."""
    return face.channel.stream_stream(METHOD)(requests)


async def told(face: Face, *requests: Request | bytes) -> list[pb.JudgeNodesStreamResponse]:
    sent = [one if isinstance(one, bytes) else one.SerializeToString() for one in requests]
    call = open_stream(face, iter(sent))
    return [pb.JudgeNodesStreamResponse.FromString(one) async for one in call]


def feasible(response: pb.JudgeNodesStreamResponse) -> list[list[str]]:
    """The nodes that would take each pod."""
    return [
        sorted(name for one in answer.verdicts if one.feasible for name in one.nodes)
        for answer in response.judged.answers
    ]


def refused(response: pb.JudgeNodesStreamResponse) -> tuple[str, str]:
    """The stable code of an error, and the field at fault."""
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in response.error.details:
        detail.Unpack(info)
        detail.Unpack(bad)
    return info.reason, bad.field_violations[0].field if bad.field_violations else ""


async def test_nodes_are_registered_once_and_pods_judged_alone(face: Face) -> None:
    first, second, third = await told(
        face, nodes(node("n1"), node("n2", ("a", "NoSchedule"))), pods(), pods(PLAIN, PLAIN)
    )
    assert (first.request_id, first.registered.nodes) == ("nodes", 2)
    assert (second.request_id, feasible(second)) == ("pods", [["n1"]])
    assert feasible(third) == [["n1"], ["n1"]]
    (answer,) = second.judged.answers
    alone = await SchedulingServiceStub(face.channel).JudgeNodes(
        pb.JudgeNodesRequest(pod=PLAIN, nodes=[node("n1"), node("n2", ("a", "NoSchedule"))])
    )
    assert answer == alone


async def test_changes_are_taken_in_and_a_new_set_replaces_all(face: Face) -> None:
    answers = await told(
        face,
        nodes(node("n1"), node("n2")),
        changes(put=[node("n1", ("a", "NoSchedule")), node("n3")], remove=["n2", "unknown"]),
        pods(),
        changes(put=[node("n2")], remove=["n2"]),
        pods(),
        nodes(node("n9")),
        pods(),
    )
    assert [one.registered.nodes for one in answers[:2]] == [2, 2]
    assert feasible(answers[2]) == [["n3"]]
    assert feasible(answers[4]) == [["n2", "n3"]]
    assert feasible(answers[6]) == [["n9"]]


async def test_only_some_nodes_count_where_they_are_named(face: Face) -> None:
    _, some, unknown = await told(
        face, nodes(node("n1"), node("n2"), node("n3")), pods(nodes=["n3", "n1"]), pods(nodes=["x"])
    )
    assert feasible(some) == [["n1", "n3"]]
    assert refused(unknown) == ("INVALID_FIELD", "pods.nodes[0]")


async def test_maintenance_counts_for_nodes_that_are_put_later(face: Face) -> None:
    later = Timestamp()
    later.FromDatetime(NOW.replace(hour=4))
    work = pb.Maintenance(nodes=["n2"], starts_at=later)
    _, _, answer = await told(
        face, nodes(node("n1"), maintenance=[work]), changes(put=[node("n2")]), pods()
    )
    ends = {one.nodes[0]: one.residency.until for one in answer.judged.answers[0].verdicts}
    assert (ends["n2"], ends["n1"]) == (later, Timestamp())


def with_claim(seconds: int) -> tuple[kubernetes_pb2.Pod, device_taints_pb2.DeviceTaintFacts]:
    """A pod with a device, and that the device was tainted so many seconds after now."""
    pod = kubernetes_pb2.Pod(
        metadata=kubernetes_pb2.ObjectMeta(name="p", namespace="shop", uid="p-1"),
        spec=kubernetes_pb2.PodSpec(
            resource_claims=[kubernetes_pb2.PodResourceClaim(name="c", resource_claim_name="c")]
        ),
    )
    added = Timestamp(seconds=int(NOW.timestamp()) + seconds)
    result = resource_pb2.DeviceRequestAllocationResult(driver="d", pool="p", device="g")
    claim = resource_pb2.ResourceClaim(
        metadata=kubernetes_pb2.ObjectMeta(name="c", namespace="shop"),
        status=resource_pb2.ResourceClaimStatus(
            allocation=resource_pb2.AllocationResult(
                devices=resource_pb2.DeviceAllocationResult(results=[result])
            ),
            reserved_for=[
                resource_pb2.ResourceClaimConsumerReference(resource="pods", name="p", uid="p-1")
            ],
        ),
    )
    taint = resource_pb2.DeviceTaint(key="t", effect="NoExecute", time_added=added)
    published = resource_pb2.ResourceSlice(
        metadata=kubernetes_pb2.ObjectMeta(name="s"),
        spec=resource_pb2.ResourceSliceSpec(
            driver="d",
            pool=resource_pb2.ResourcePool(name="p", generation=1),
            devices=[resource_pb2.Device(name="g", taints=[taint])],
        ),
    )
    return pod, device_taints_pb2.DeviceTaintFacts(
        resource_claims=[claim], resource_slices=[published]
    )


async def test_devices_are_as_they_were_told_last(face: Face) -> None:
    (pod, soon), (_, later) = with_claim(60), with_claim(600)
    answers = await told(
        face,
        nodes(node("n1")),
        pods(pod),
        nodes(node("n1"), device_taints=soon),
        pods(pod),
        changes(put=[node("n2")]),
        pods(pod),
        changes(device_taints=later),
        pods(pod),
        changes(device_taints=device_taints_pb2.DeviceTaintFacts()),
        pods(pod),
    )
    told_of = [one.judged.answers[0].verdicts[0].residency for one in answers[1::2]]
    start = int(NOW.timestamp())
    assert [one.until.seconds - start if not one.for_ever else None for one in told_of] == [
        None,
        60,
        60,
        600,
        None,
    ]


@pytest.mark.parametrize(
    ("bad", "request_id", "why"),
    [
        pytest.param(b"\xff", "", ("MALFORMED_BODY", ""), id="no message"),
        pytest.param(Request(request_id="r"), "r", ("INVALID_FIELD", ""), id="nothing asked"),
        pytest.param(
            nodes(node("n1"), node("")),
            "nodes",
            ("INVALID_FIELD", "nodes.nodes[1].metadata.name"),
            id="a node without a name",
        ),
        pytest.param(
            changes(put=[node("")], remove=["n1"]),
            "changes",
            ("INVALID_FIELD", "changes.put[0].metadata.name"),
            id="a change without a name",
        ),
        pytest.param(
            changes(put=[node(f"more-{i}") for i in range(20_000)]),
            "changes",
            ("INVALID_FIELD", "changes.put"),
            id="too many nodes",
        ),
        pytest.param(
            pods(*[PLAIN] * 1001), "pods", ("INVALID_FIELD", "pods.pods"), id="too many pods"
        ),
        pytest.param(
            nodes(maintenance=[pb.Maintenance(nodes=["n1"])]),
            "nodes",
            ("INVALID_FIELD", "nodes.maintenance[0].starts_at"),
            id="maintenance at no time",
        ),
    ],
)
async def test_what_cannot_be_done_is_told_and_changes_nothing(
    face: Face, bad: Request | bytes, request_id: str, why: tuple[str, str]
) -> None:
    _, error, after = await told(face, nodes(node("n1"), node("n2")), bad, pods())
    assert (error.request_id, refused(error)) == (request_id, why)
    assert feasible(after) == [["n1", "n2"]]


@pytest.mark.parametrize("asked", [pods(), changes(put=[node("n1")])], ids=["pods", "changes"])
async def test_before_nodes_are_registered_it_is_told_so(face: Face, asked: Request) -> None:
    error, registered = await told(face, asked, nodes())
    assert refused(error)[0] == "INVALID_FIELD"
    assert "no nodes have been registered in this stream" in error.error.message
    assert registered.registered.nodes == 0


async def test_what_one_stream_registers_no_other_sees(face: Face) -> None:
    one = open_stream(face)
    await one.write(nodes(node("n1")).SerializeToString())
    await one.read()
    (error,) = await told(face, pods())
    assert refused(error)[0] == "INVALID_FIELD"
    await one.done_writing()


async def test_requests_are_counted_one_by_one(face: Face) -> None:
    await told(face, nodes(node("n1")), pods(), pods(nodes=["x"]))
    asked = "bailiff_grpc_requests_total"
    assert face.sample(asked, method="JudgeNodesStream", code="OK") == 2
    assert face.sample(asked, method="JudgeNodesStream", code="INVALID_ARGUMENT") == 1
    assert face.sample("bailiff_grpc_streams_total", method="JudgeNodesStream", code="OK") == 1


async def test_what_is_registered_is_in_the_budget_until_the_stream_ends(face: Face) -> None:
    call = open_stream(face)
    before = face.budget.taken

    async def held_after(request: Request) -> int:
        await call.write(request.SerializeToString())
        await call.read()
        return face.budget.taken - before

    few = await held_after(nodes(node("n1")))
    many = await held_after(changes(put=[node(f"n{i}", (f"k{i}", "NoExecute")) for i in range(99)]))
    less = await held_after(changes(remove=[f"n{i}" for i in range(99)]))
    assert 0 < few < many
    assert less < many
    await call.done_writing()
    await until_taken(face.budget, before)


async def test_a_stream_for_whose_nodes_there_is_no_room_ends() -> None:
    many = nodes(*[node(f"n{i}", (f"k{i}", "NoExecute")) for i in range(400)])
    async with running(budget=ByteBudget(6 * 1024 * 1024)) as face:
        call = open_stream(face)
        for one in (nodes(node("n1")), many):
            await call.write(one.SerializeToString())
        assert await call.read() is not grpc.aio.EOF
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        await until_taken(face.budget, 0)
        assert feasible((await told(face, nodes(node("n1")), pods()))[1]) == [["n1"]]


async def test_many_nodes_are_read_in_a_thread_and_answered_alike() -> None:
    some = [node(f"node-{i:05}", (f"k{i % 7}", "NoSchedule")) for i in range(3000)]
    message = nodes(*some)
    assert message.ByteSize() > 64 * 1024
    async with running(GrpcSettings(port=0, max_message_bytes=1000)) as face:
        registered, judged = await told(face, message, pods(*[PLAIN] * 20))
    assert registered.registered.nodes == 3000
    assert len(judged.judged.answers) == 20
    names = [name for one in judged.judged.answers[7].verdicts for name in one.nodes]
    assert sorted(names) == sorted(one.metadata.name for one in some)


async def test_an_answer_that_is_too_long_for_a_message_is_refused_and_the_stream_goes_on() -> None:
    some = nodes(*[node(f"{i:0200}") for i in range(50)])
    async with running(GrpcSettings(port=0, max_answer_bytes=15_000)) as face:
        _, long, short = await told(face, some, pods(PLAIN, PLAIN), pods())
    assert refused(long)[0] == "ANSWER_TOO_LARGE"
    assert len(short.judged.answers) == 1


async def test_what_stands_around_an_answer_counts_for_its_length() -> None:
    some = nodes(*[node(f"{i:0200}") for i in range(50)])
    async with running(GrpcSettings(port=0)) as face:
        _, whole = await told(face, some, pods(PLAIN))
    named = Request(request_id="n" * 100, pods=pods(PLAIN).pods)
    room = len(whole.SerializeToString()) + 20
    async with running(GrpcSettings(port=0, max_answer_bytes=room)) as face:
        _, short, long = await told(face, some, pods(PLAIN), named)
    assert short.judged.answers
    assert (long.request_id, refused(long)[0]) == ("n" * 100, "ANSWER_TOO_LARGE")


async def test_a_client_that_does_not_read_is_not_read_from(face: Face) -> None:
    call = open_stream(face)
    await call.write(nodes(*[node(f"{i:0200}") for i in range(2000)]).SerializeToString())
    asked = pods(*[PLAIN] * 5).SerializeToString()
    # The answers fill the windows of the connection, and then nothing moves any more.
    for _ in range(2000):
        try:
            async with asyncio.timeout(1):
                await call.write(asked)
        except TimeoutError:
            break
    else:
        pytest.fail("the server read everything though nothing was read from it")
    call.cancel()
