"""The stream of scheduling verdicts: what is told again to a server that goes away or hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from bailiff.client import (
    ClientSettings,
    DeadlineError,
    InvalidQuestionError,
    OverloadedError,
    Retries,
    ServerError,
    Terms,
    UnavailableError,
)
from bailiff.client.messages import (
    JudgeNodesStreamResponse,
    Node,
    ObjectMeta,
    Pod,
)
from bailiff.grpc_api.errors import AnswerTooLargeError, FieldError
from bailiff.grpc_api.errors import OverloadedError as OverloadedHereError
from tests.harness.judge import Judge, Stream, abort, end, hang, named, opened, refusing
from tests.harness.scripts import GRPC
from tests.harness.ways import Ports, client

CALL = "grpc.aio._call.StreamStreamCall"


def raising(told: str, undo: Callable[[], None]) -> Callable[..., Any]:
    """Fails once, as a call of grpcio with `await` does."""

    async def fail(*_: Any) -> None:
        undo()
        raise grpc.aio.AioRpcError(
            grpc.StatusCode.INTERNAL, grpc.aio.Metadata(), grpc.aio.Metadata(), told
        )

    return fail


@pytest.mark.parametrize("way", GRPC)
async def test_nodes_once_then_changes_then_pods(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a"), Node(metadata=ObjectMeta(name="b"))])
        assert await stream.known() == ["a", "b"]
        await stream.do("change", [named("c")], ["a"])
        assert await stream.known() == ["b", "c"]
        assert stream.stream.names == {"b", "c"}
        await stream.do("register", [named("d")])
        assert await stream.known() == ["d"]
    assert judge.streams == 1


@pytest.mark.parametrize("way", GRPC)
@pytest.mark.parametrize("gone", [end, abort], ids=["ended", "aborted"])
async def test_a_stream_that_ends_is_opened_anew_and_told_all(way: str, gone: Any) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        await stream.do("change", [named("b")])
        judge.on[len(judge.seen) + 1] = gone
        assert await stream.known() == ["a", "b"]
    assert judge.streams == 2
    assert {node.metadata.name for node in judge.seen[-2].nodes.nodes} == {"a", "b"}


async def test_a_stream_that_ends_as_a_request_goes_out_is_opened_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """grpcio knows before the event loop does, and tells it by an error of its own."""
    judge = Judge()
    async with opened("async grpc", judge) as stream:
        await stream.do("register", [named("a")])
        with monkeypatch.context() as patched:
            patched.setattr(f"{CALL}.write", raising("Internal error from Core", patched.undo))
            assert await stream.known() == ["a"]
    assert judge.streams == 2


async def test_a_stream_that_broke_off_while_nobody_asked_is_opened_anew() -> None:
    judge = Judge()
    async with opened("async grpc", judge) as stream:
        await stream.do("register", [named("a")])
        # With a status of grpcio's own: a server's comes when it likes.
        stream.stream._dialogue._call._call._cython_call.set_internal_error("reset")
        assert await stream.known() == ["a"]
    assert judge.streams == 2


async def test_a_stream_that_is_refused_as_a_whole_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened("async grpc", Judge()) as stream:
        with monkeypatch.context() as patched:
            patched.setattr(f"{CALL}.wait_for_connection", raising("a fault", patched.undo))
            with pytest.raises(ServerError, match="internal: a fault"):
                await stream.do("register", [named("a")])


@pytest.mark.parametrize("way", GRPC)
async def test_a_change_while_the_server_goes_away_is_made_once(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = end
        await stream.do("change", [named("b")], ["a"])
        assert await stream.known() == ["b"]


@pytest.mark.parametrize("way", GRPC)
async def test_a_server_that_hangs_is_left_when_time_is_up(way: str) -> None:
    judge = Judge()
    settings = ClientSettings(timeout=5.0, attempt_timeout=0.1)
    async with opened(way, judge, settings) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = hang
        assert await stream.known() == ["a"]
        judge.on = dict.fromkeys(range(100), hang)
        with pytest.raises(DeadlineError):
            await stream.do("judge", [Pod()], timeout=0.2)
        judge.on = {}
        assert await stream.known() == ["a"]


@pytest.mark.parametrize("way", GRPC)
async def test_nodes_that_are_refused_leave_those_that_were(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = refusing(FieldError("no", "changes.put[0].spec"))
        with pytest.raises(InvalidQuestionError) as raised:
            await stream.do("change", [named("b")])
        assert raised.value.fields[0].path == "$.changes.put[0].spec"
        assert await stream.known() == ["a"]
        assert stream.stream.names == {"a"}


@pytest.mark.parametrize("way", GRPC)
async def test_a_question_that_is_refused_leaves_the_stream_open(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.grpc_api.errors.RETRY_SECONDS", 0)
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = refusing(FieldError("no", "pods.pods[0]"))
        with pytest.raises(InvalidQuestionError):
            await stream.do("judge", [Pod()])
        judge.on[len(judge.seen) + 1] = refusing(OverloadedHereError("no"))
        assert await stream.known() == ["a"]
    assert judge.streams == 1


@pytest.mark.parametrize("way", GRPC)
async def test_a_server_that_has_no_room_for_long(way: str) -> None:
    judge = Judge()
    judge.on = {number: refusing(OverloadedHereError("no")) for number in range(100)}
    async with opened(way, judge) as stream:
        with pytest.raises(OverloadedError):
            await stream.do("register", [named("a")], timeout=0.5)
        assert stream.stream.names == frozenset()


@pytest.mark.parametrize("way", GRPC)
async def test_an_answer_to_another_question_is_none(way: str) -> None:
    async def mixed(_: Any) -> JudgeNodesStreamResponse:
        return JudgeNodesStreamResponse(request_id="another")

    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = mixed
        with pytest.raises(ServerError, match="another"):
            await stream.do("judge", [Pod()])
        assert await stream.known() == ["a"]
    assert judge.streams == 2


@pytest.mark.parametrize("way", GRPC)
async def test_answers_that_are_too_long_together_come_in_halves(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = refusing(AnswerTooLargeError("no"))
        assert len(await stream.do("judge", [Pod()] * 5)) == 5
    assert [len(one.pods.pods) for one in judge.seen[-3:]] == [5, 2, 3]


@pytest.mark.parametrize("way", GRPC)
async def test_pods_that_have_long_answers_go_in_fewer_at_a_time(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.client.registering._ANSWER_BYTES", 100)
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a" * 22)])
        assert len(await stream.do("judge", [Pod()] * 7)) == 7
    assert [len(one.pods.pods) for one in judge.seen[-3:]] == [3, 3, 1]


@pytest.mark.parametrize("way", GRPC)
async def test_all_pods_have_one_deadline(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(_: Any) -> bool:
        await asyncio.sleep(0.05)
        return True

    monkeypatch.setattr("bailiff.client.registering.MOST_PODS", 1)
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")])
        judge.on = dict.fromkeys(range(100), slow)
        with pytest.raises(DeadlineError):
            await stream.do("judge", [Pod()] * 20, timeout=0.15)
    assert len(judge.seen) < 10


@pytest.mark.parametrize("way", GRPC)
async def test_many_pods_and_long_nodes_go_in_pieces(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.client.registering._BYTES", 50)
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named(f"node-{i}") for i in range(20)])
        assert len(await stream.known()) == 20
        answers = await stream.do("judge", [named(f"pod-{i}") for i in range(250)])
        await stream.do("change", [named(f"more-{i}") for i in range(20)], ["node-0"])
        assert len(await stream.known()) == 39
    assert len(answers) == 250
    assert judge.kinds().count("changes") > 2


@pytest.mark.parametrize("way", GRPC)
async def test_what_no_rule_reads_of_a_node_is_not_sent(way: str) -> None:
    """As of the bytes of Kubernetes' own type: here field 99, an integer."""
    judge, whole = Judge(), Node.FromString(Node(metadata=ObjectMeta(name="a")).SerializeToString())
    whole.MergeFromString(b"\x98\x06\x01")
    async with opened(way, judge) as stream:
        await stream.do("register", [whole])
    (sent,) = judge.seen[-1].nodes.nodes
    assert sent.ByteSize() < whole.ByteSize()


@pytest.mark.parametrize("way", GRPC)
async def test_terms_go_with_the_pods(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await stream.do("register", [named("a")], maintenance=[{"nodes": ["a"]}])
        await stream.do("judge", [Pod()], Terms(nodes=("a",)))
    assert judge.seen[-1].pods.nodes == ["a"]
    assert judge.seen[-2].nodes.maintenance[0].nodes == ["a"]


@pytest.mark.parametrize("way", GRPC)
async def test_callers_share_a_stream(way: str) -> None:
    judge = Judge()
    async with opened(way, judge) as stream:
        await asyncio.gather(*(stream.do("change", [named(f"n{i}")]) for i in range(10)))
        answers = await asyncio.gather(*(stream.known() for _ in range(10)))
    assert answers == [sorted(f"n{i}" for i in range(10))] * 10
    assert judge.streams == 1


async def test_who_gives_up_does_not_leave_an_answer_to_others() -> None:
    judge = Judge()
    async with opened("async grpc", judge) as stream:
        await stream.do("register", [named("a")])
        judge.on[len(judge.seen) + 1] = hang
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await stream.known()
        assert await stream.known() == ["a"]
    assert judge.streams == 2


@pytest.mark.parametrize("way", GRPC)
async def test_nobody_is_there(way: str) -> None:
    settings = ClientSettings(retries=Retries(attempts=2, first_pause=0.01))
    async with client(way, Ports(1, 1), settings) as asking:
        stream = Stream(asking.client.judge_nodes_stream())
        with pytest.raises(UnavailableError):
            await stream.do("register", [named("a")])
        await stream.do("close")
