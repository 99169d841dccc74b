"""`python -m tests.attack.callers PORTS SECONDS`: healthy callers, in a process of their own.

PORTS are JSON, as `{"rest": 8080, "grpc": 9090, "probes": 8082}`. Each kind asks at a fixed rate,
whether the last question has been answered or not; an answer's time counts from when it was due to
be asked. Prints what came of it, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import aiohttp
import grpc
import uvloop

from bailiff.v1 import eviction_decision_service_pb2 as pb
from bailiff.v1 import kubernetes_pb2 as core
from bailiff.v1.eviction_decision_service_pb2_grpc import EvictionDecisionServiceStub

# Seconds for an answer. The kubelet gives a probe of the chart 3 s.
_PATIENCE, _PROBE_PATIENCE = 5.0, 3.0
_FACTS = {
    "pod": {"metadata": {"name": "web-1"}, "spec": {"nodeName": "n"}},
    "node": {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
    },
}
Ask = Callable[[], Awaitable[None]]


class Kind:
    """One kind of question, asked again and again.

    Args:
        ask: asks once; raises where there is no good answer.
        every: seconds from one to the next.
        patience: seconds for an answer.
    """

    def __init__(self, ask: Ask, every: float, patience: float) -> None:
        self._ask, self._every, self._patience = ask, every, patience
        self.seconds: list[float] = []
        self.failed: Counter[str] = Counter()

    async def run(self, until: float) -> None:
        """Ask until then, on the monotonic clock, and wait for what is left."""
        due = time.monotonic()
        async with asyncio.TaskGroup() as group:
            while due < until:
                group.create_task(self._once(due))
                due += self._every
                await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _once(self, due: float) -> None:
        try:
            async with asyncio.timeout(self._patience):
                await self._ask()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted and told
            self.failed[f"{type(error).__name__}: {error}"[:120]] += 1
        else:
            self.seconds.append(time.monotonic() - due)

    def told(self) -> dict[str, object]:
        """For the report."""
        return {"seconds": self.seconds, "failed": self.failed}


class _NotGoodError(Exception):
    """An answer that is none of 200."""


def _fetching(session: aiohttp.ClientSession, method: str, url: str, body: object = None) -> Ask:
    async def ask() -> None:
        async with session.request(method, url, json=body) as answer:
            text = await answer.text()
            if answer.status != 200:
                raise _NotGoodError(f"{answer.status} {text[:80]}")

    return ask


def _calling(port: int) -> Ask:
    stub = EvictionDecisionServiceStub(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
    node = core.Node(
        metadata=core.ObjectMeta(name="n"),
        spec=core.NodeSpec(taints=[core.Taint(key="k", effect="NoExecute")]),
    )
    asked = pb.DecideRequest(pod=core.Pod(metadata=core.ObjectMeta(name="web-1")), node=node)

    async def ask() -> None:
        await stub.Decide(asked)

    return ask


def _kinds(
    ports: dict[str, int], kept: aiohttp.ClientSession, new: aiohttp.ClientSession
) -> Iterator[tuple[str, Kind]]:
    def at(port: str, path: str) -> str:
        return f"http://127.0.0.1:{ports[port]}{path}"

    if "probes" in ports:
        for path in ("/healthz", "/readyz"):
            yield path, Kind(_fetching(new, "GET", at("probes", path)), 0.25, _PROBE_PATIENCE)
    if "rest" in ports:
        url = at("rest", "/v1/decisions")
        yield "rest kept", Kind(_fetching(kept, "POST", url, _FACTS), 0.05, _PATIENCE)
        yield "rest new", Kind(_fetching(new, "POST", url, _FACTS), 0.1, _PATIENCE)
    if "grpc" in ports:
        yield "grpc", Kind(_calling(ports["grpc"]), 0.05, _PATIENCE)
    if "status" in ports:
        url = at("status", "/v1/queue?limit=10")
        yield "queue", Kind(_fetching(new, "GET", url), 0.5, _PATIENCE)


async def _run(ports: dict[str, int], seconds: float) -> None:
    fresh = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession() as kept, aiohttp.ClientSession(connector=fresh) as new:
        kinds = dict(_kinds(ports, kept, new))
        until = time.monotonic() + seconds
        await asyncio.gather(*(kind.run(until) for kind in kinds.values()))
        print(json.dumps({name: kind.told() for name, kind in kinds.items()}), flush=True)


if __name__ == "__main__":
    uvloop.run(_run(json.loads(sys.argv[1]), float(sys.argv[2])))
