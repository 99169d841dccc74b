"""A server of scheduling verdicts that says what it was told, and a client's stream to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from bailiff.client import ClientSettings
from bailiff.client.messages import (
    JudgeNodesResponse,
    JudgeNodesStreamRequest,
    JudgeNodesStreamResponse,
    Node,
    Pod,
)
from bailiff.grpc_api.errors import RefusedError
from tests.harness import scripted_grpc
from tests.harness.scripts import QUICK
from tests.harness.ways import Ports, client


def named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


class Judge:
    """A server that says which nodes it knows, and does on some requests what it is told."""

    def __init__(self) -> None:
        self.seen: list[JudgeNodesStreamRequest] = []
        self.streams = 0
        self.on: dict[int, Callable[[Any], Any]] = {}

    def kinds(self) -> list[str | None]:
        return [request.WhichOneof("ask") for request in self.seen]

    async def asked(self, times: int) -> None:
        """Wait until that many requests have come in all."""
        async with asyncio.timeout(20):
            while len(self.seen) < times:
                await asyncio.sleep(0.005)

    async def __call__(self, requests: Any, context: Any) -> AsyncIterator[bytes]:
        self.streams += 1
        known: dict[str, Node] = {}
        async for data in requests:
            request = JudgeNodesStreamRequest.FromString(data)
            self.seen.append(request)
            answer = self._answer(request, known)
            step = self.on.get(len(self.seen))
            if step is not None:
                told = await step(context)
                if told is None:
                    return
                answer = told if isinstance(told, JudgeNodesStreamResponse) else answer
                answer.request_id = answer.request_id or request.request_id
            yield answer.SerializeToString()

    def _answer(
        self, request: JudgeNodesStreamRequest, known: dict[str, Node]
    ) -> JudgeNodesStreamResponse:
        answer = JudgeNodesStreamResponse(request_id=request.request_id)
        if request.HasField("pods"):
            for _ in request.pods.pods:
                one = JudgeNodesResponse()
                one.verdicts.add(nodes=sorted(known), feasible=True)
                answer.judged.answers.append(one)
            return answer
        if request.HasField("nodes"):
            known.clear()
        for node in (*request.nodes.nodes, *request.changes.put):
            known[node.metadata.name] = node
        for name in request.changes.remove:
            known.pop(name, None)
        answer.registered.nodes = len(known)
        return answer


async def end(_: Any) -> None:
    """The stream is over, as after its connection's age."""


async def go_on(_: Any) -> bool:
    return True


async def hang(_: Any) -> None:
    await asyncio.sleep(60)


async def abort(context: Any) -> None:
    await scripted_grpc.refuse(context, grpc.StatusCode.UNAVAILABLE, "IDLE", "rested")


def refusing(error: RefusedError) -> Callable[[Any], Any]:
    async def refuse(_: Any) -> JudgeNodesStreamResponse:
        return JudgeNodesStreamResponse(error=error.status())

    return refuse


class Stream:
    """A client's stream, awaited whichever it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    async def do(self, method: str, *args: Any, **more: Any) -> Any:
        call = getattr(self.stream, method)
        if asyncio.iscoroutinefunction(call):
            return await call(*args, **more)
        return await asyncio.to_thread(call, *args, **more)

    async def known(self) -> list[str]:
        """What the server judges a pod for."""
        (answer,) = await self.do("judge", [Pod()])
        return list(answer.verdicts[0].nodes)


@contextlib.asynccontextmanager
async def opened(way: str, judge: Judge, settings: ClientSettings = QUICK) -> AsyncIterator[Stream]:
    async with (
        scripted_grpc.serving(judge) as port,
        client(way, Ports(port, port), settings) as asking,
    ):
        stream = Stream(asking.client.judge_nodes_stream())
        try:
            yield stream
        finally:
            await stream.do("close")
