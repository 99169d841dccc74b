"""What takes long is done in threads: the event loop is for all who ask."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from structlog.testing import capture_logs

from bailiff.grpc_api import GrpcSettings, reading, wire
from bailiff.turns import in_thread, is_long_protobuf
from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as kube
from tests.harness.faces.grpc_face import running


def tolerant(pods: int, tolerations: int) -> pb.DecideBatchRequest:
    """A question that is short, however much there is to do for its answer."""
    taints = [kube.Taint(key="a", effect="NoExecute", value=f"{n}") for n in range(50)]
    pod = kube.Pod(spec=kube.PodSpec(tolerations=[kube.Toleration(key="b")] * tolerations))
    node = kube.Node(spec=kube.NodeSpec(taints=taints))
    return pb.DecideBatchRequest(node=node, pods=[pod] * pods)


async def test_the_loop_does_not_even_parse_a_long_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, where = threading.get_ident(), set()
    from_string = wire.parse

    def parse(kind: Any, data: bytes) -> Any:
        where.add(threading.get_ident() == loop)
        return from_string(kind, data)

    monkeypatch.setattr(reading, "parse", parse)
    request = tolerant(700, 20)
    assert is_long_protobuf(request.ByteSize())
    async with running(GrpcSettings(port=0)) as face:
        assert len((await face.stub.DecideBatch(request)).decisions) == 700
        assert where == {False}
        await face.stub.Decide(pb.DecideRequest(pod=kube.Pod(), node=kube.Node()))
        assert where == {False, True}


@pytest.mark.parametrize(
    ("pods", "tolerations", "method", "threads"),
    [
        pytest.param(10, 10, "DecideBatch", 0, id="short"),
        pytest.param(100, 20, "DecideBatch", 1, id="much to do"),
        pytest.param(600, 0, "DecideBatch", 1, id="many pods"),
        pytest.param(10, 10, "DecideBatchInParts", 0, id="a short answer"),
        pytest.param(300, 0, "DecideBatchInParts", 2, id="a long answer"),
    ],
)
async def test_what_takes_long_is_done_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, pods: int, tolerations: int, method: str, threads: int
) -> None:
    used = []

    async def counted(*work: Any) -> Any:
        used.append(work)
        return await in_thread(*work)

    monkeypatch.setattr("bailiff.serving.threads.in_thread", counted)
    request = tolerant(pods, tolerations)
    async with running(GrpcSettings(port=0)) as face:
        if method == "DecideBatch":
            told = [await face.stub.DecideBatch(request)]
        else:
            told = [part async for part in face.stub.DecideBatchInParts(request)]
    assert sum(len(part.decisions) for part in told) == pods
    assert len(used) == threads


async def test_who_is_cancelled_twice_waits_for_its_thread_too() -> None:
    going, go_on = threading.Event(), threading.Event()

    def work() -> None:
        going.set()
        go_on.wait()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(going.wait)
    try:
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
    finally:
        go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("fault", "is_told"),
    [(RuntimeError("broken"), True), (ValueError("refused"), False), (None, False)],
)
async def test_what_fails_for_a_caller_that_has_gone_is_logged_unless_it_is_a_refusal(
    fault: Exception | None, is_told: bool
) -> None:
    going, go_on = threading.Event(), threading.Event()

    def work() -> None:
        going.set()
        go_on.wait()
        if fault is not None:
            raise fault

    with capture_logs() as logs:
        task = asyncio.create_task(in_thread(work))
        await asyncio.to_thread(going.wait)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    told = [entry["exc_info"] for entry in logs if entry["log_level"] == "error"]
    assert told == ([fault] if is_told else [])
