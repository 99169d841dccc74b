"""What callers hand over that cannot be, one table for all clients: docs/api/client-errors.md."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.client import (
    AsyncGrpcClient,
    AsyncRestClient,
    ClientSettings,
    GrpcClient,
    InvalidQuestionError,
    RestClient,
    Terms,
    Tls,
)
from bailiff.client.messages import (
    DecideBatchRequest,
    KubeletConfiguration,
    Node,
    PlanPressureRoundRequest,
    PressureFacts,
)
from tests.harness.judge import Stream
from tests.harness.scripts import GRPC, QUICK, REST
from tests.harness.ways import WAYS, Ports, client

# Nobody listens there, and nobody is to be asked.
NOWHERE = Ports(1, 1)
HALF = "\ud800"
SECONDS = "$.pod.spec.tolerations[0].tolerationSeconds"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("question", "path"),
    [
        (None, "$"),
        ([], "$"),
        ([("pod", {})], "$"),
        ("pod", "$"),
        (1, "$"),
        (b"{}", "$"),
        (DecideBatchRequest(), "$"),
        ({"pod": {"metadata": {"name": HALF}}}, "$.pod.metadata.name"),
        ({"pod": {"metadata": {"labels": {HALF: "x"}}}}, "$.pod.metadata.labels"),
        ({"systems": ["node-taints", HALF]}, "$.systems[1]"),
        ({"pod": {"spec": {"tolerations": [{"tolerationSeconds": float("nan")}]}}}, SECONDS),
        ({"pod": {"spec": {"tolerations": [{"tolerationSeconds": {1}}]}}}, SECONDS),
        ({"pod": {"metadata": {"name": Ellipsis}}}, "$.pod.metadata.name"),
        # In UTC it would be in the year before the first.
        ({"now": datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))}, "$.now"),
    ],
    ids=lambda value: ascii(value)[:60],
)
async def test_a_question_that_nobody_could_read(way: str, question: Any, path: str) -> None:
    async with client(way, NOWHERE) as asking:
        with pytest.raises(InvalidQuestionError) as raised:
            await asking.ask("decide", question)
    (field,) = raised.value.fields
    assert (raised.value.code, field.path) == ("invalid_field", path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ("5", TypeError, "timeout is a number of seconds, not str"),
        (True, TypeError, "timeout is a number of seconds, not bool"),
        (10**400, ValueError, "timeout is at most 86400 s"),
        (float("inf"), ValueError, "timeout is at most 86400 s"),
        (86_401, ValueError, "timeout is at most 86400 s"),
        (float("nan"), ValueError, "timeout is at most 86400 s"),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda asking, given: asking.ask("decide", {}, timeout=given),
        lambda asking, given: asking.parts("decide_batch_in_parts", {"pods": []}, timeout=given),
    ],
    ids=["decide", "parts"],
)
async def test_a_timeout_that_is_none(
    way: str, use: Callable[..., Any], given: Any, error: type[Exception], told: str
) -> None:
    async with client(way, NOWHERE) as asking:
        with pytest.raises(error, match=told):
            await use(asking, given)


@pytest.mark.parametrize("make", [RestClient, AsyncRestClient])
@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:8080", "ftp://x", "http://", "http://a:b@x", "http://x/?q=1"),
        *("http://x:99999", "http://x:port", "http://[::1", "http://x y", f"http://{HALF}"),
        "http://x\n",
    ],
    ids=ascii,
)
def test_no_address_of_a_rest_api(make: Callable[[str], Any], url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        make(url)


@pytest.mark.parametrize("make", [GrpcClient, AsyncGrpcClient])
@pytest.mark.parametrize(
    "target",
    [
        *("", "http://127.0.0.1:9090", "grpc://x:1", "127.0.0.1", "dns:///bailiff", "::1:9090"),
        *("x:99999", "x:0", "x:port", "[::1:9090", "a b:1", "me@x:1", f"{HALF}:1", "a/b:1"),
        *("unix:/run/bailiff:1", "x:1?q", "x:1\n"),
    ],
    ids=ascii,
)
def test_no_address_of_a_grpc_api(make: Callable[[str], Any], target: str) -> None:
    with pytest.raises(ValueError, match="address"):
        make(target)


ADDRESSES: dict[Callable[..., Any], str] = {
    RestClient: "https://127.0.0.1:1",
    AsyncRestClient: "https://127.0.0.1:1",
    GrpcClient: "127.0.0.1:1",
    AsyncGrpcClient: "127.0.0.1:1",
}


@pytest.mark.parametrize(("make", "address"), ADDRESSES.items())
@pytest.mark.parametrize("wrong", [None, b"127.0.0.1:9090", 9090])
def test_an_address_is_a_text(make: Callable[..., Any], address: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match="address is a text"):
        make(wrong)
    assert make(address)


@pytest.mark.parametrize(("make", "address"), ADDRESSES.items())
@pytest.mark.parametrize("setting", ["ca_file", "certificate_file", "key_file"])
def test_a_file_that_is_not_there(
    make: Callable[..., Any], address: str, setting: str, tmp_path: Path
) -> None:
    own = tmp_path / "own.crt"
    own.write_text("")
    files: dict[str, Any] = {"certificate_file": own} if setting == "key_file" else {}
    settings = ClientSettings(tls=Tls(**{**files, setting: tmp_path / "none.pem"}))
    with pytest.raises(ValueError, match=rf"{setting} .*none.pem: No such file"):
        make(address, settings)


@pytest.mark.parametrize(("make", "address"), ADDRESSES.items())
@pytest.mark.parametrize("setting", ["ca_file", "certificate_file"])
def test_a_file_that_is_no_certificate(
    make: Callable[..., Any], address: str, setting: str, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no PEM")
    files: dict[str, Any] = {setting: wrong}
    with pytest.raises(ValueError, match=rf"{setting} .*wrong.pem"):
        make(address, ClientSettings(tls=Tls(**files)))


STREAMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a name": (lambda stream: stream.do("change", (), "n3"), "$.remove"),
    "names that are none": (lambda stream: stream.do("change", (), ["a", 3]), "$.remove[1]"),
    "half a name": (lambda stream: stream.do("change", (), [HALF]), "$.remove[0]"),
    "no names": (lambda stream: stream.do("change", (), None), "$.remove"),
    "one node": (lambda stream: stream.do("register", {"metadata": {"name": "a"}}), "$.nodes"),
    "a message of a node": (lambda stream: stream.do("register", Node()), "$.nodes"),
    "no nodes": (lambda stream: stream.do("register", None), "$.nodes"),
    "nodes that are none": (lambda stream: stream.do("register", [5]), "$"),
    "one window": (lambda stream: stream.do("register", [], maintenance={}), "$.maintenance"),
    "one pod": (lambda stream: stream.do("judge", {"metadata": {}}), "$.pods"),
    "a text of pods": (lambda stream: stream.do("judge", "web"), "$.pods"),
    "a node of Terms": (lambda stream: stream.do("judge", [{}], Terms(nodes="n1")), "$.nodes"),  # type: ignore[arg-type]
    "no instant": (lambda stream: stream.do("judge", [{}], Terms(now="x")), "$.now"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("way", GRPC)
@pytest.mark.parametrize(("use", "path"), STREAMS.values(), ids=STREAMS)
async def test_one_where_several_are_wanted(
    way: str, use: Callable[[Stream], Any], path: str
) -> None:
    async with client(way, NOWHERE, QUICK) as asking:
        stream = Stream(asking.client.judge_nodes_stream())
        with pytest.raises(InvalidQuestionError) as raised:
            await use(stream)
    assert (raised.value.code, raised.value.fields[0].path) == ("invalid_field", path)


@pytest.mark.parametrize("way", GRPC)
async def test_terms_are_no_mapping(way: str) -> None:
    async with client(way, NOWHERE, QUICK) as asking:
        stream = Stream(asking.client.judge_nodes_stream())
        with pytest.raises(TypeError, match="terms are Terms, not dict"):
            await stream.do("judge", [{}], {"nodes": ["a"]})


@pytest.mark.parametrize("way", REST)
@pytest.mark.parametrize("name", ["", ".", "..", "a\nb", HALF, None, b"web"], ids=ascii)
async def test_no_name_of_an_object(way: str, name: Any) -> None:
    async with client(way, NOWHERE) as asking:
        for asked in (
            ("decide_node", name),
            ("decide_pod", "demo", name),
            ("decide_pod", name, ""),
        ):
            with pytest.raises(InvalidQuestionError, match="no name of an object"):
                await asking.ask(*asked)


@pytest.mark.parametrize("way", REST)
@pytest.mark.parametrize(
    "question",
    [
        PlanPressureRoundRequest(
            pressure=PressureFacts(configuration=KubeletConfiguration(raw=b"no JSON"))
        ),
        PlanPressureRoundRequest(now=Timestamp(seconds=2**62)),
    ],
    ids=["raw", "time"],
)
async def test_a_message_that_json_cannot_have(way: str, question: Any) -> None:
    async with client(way, NOWHERE) as asking:
        with pytest.raises(InvalidQuestionError):
            await asking.ask("plan_pressure_round", question)
