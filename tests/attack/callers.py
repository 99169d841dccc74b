"""`python -m tests.attack.callers PORTS SECONDS`: healthy callers, in a process of their own.

PORTS are JSON, as `{"rest": 8080, "grpc": 9090, "probes": 8082}`, and secured where the environment
tells how. Each kind asks at a fixed rate, whether the last question has been answered or not; an
answer's time counts from when it was due to be asked. Prints what came of it, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator

import aiohttp
import uvloop

from tests.attack.access import Access, given
from tests.attack.asking import FACTS, Ask, Rpc, Web, long_facts

# Seconds for an answer. The kubelet gives a probe of the chart 3 s.
_PATIENCE, _PROBE_PATIENCE = 5.0, 3.0
# Seconds between two callers of whom nothing is known yet.
NEWCOMERS_EVERY = 0.2


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


Kinds = Iterator[tuple[str, Kind]]
Session = aiohttp.ClientSession


def _kinds(ports: dict[str, int], access: Access | None, kept: Session, new: Session) -> Kinds:
    if "probes" in ports:
        web = Web(new, ports["probes"], None)
        for path in ("/healthz", "/readyz"):
            yield path, Kind(web.get(path), 0.25, _PROBE_PATIENCE)
    if "rest" in ports:
        anew = Web(new, ports["rest"], access)
        yield "rest kept", Kind(Web(kept, ports["rest"], access).decide(FACTS), 0.05, _PATIENCE)
        yield "rest new", Kind(anew.decide(FACTS), 0.1, _PATIENCE)
        yield "rest long", Kind(anew.decide(long_facts()), 0.25, _PATIENCE)
    if "grpc" in ports:
        rpc = Rpc(ports["grpc"], access)
        yield "grpc", Kind(rpc.kept(), 0.05, _PATIENCE)
        yield "grpc new", Kind(rpc.new, 0.1, _PATIENCE)
    if "status" in ports:
        web = Web(new, ports["status"], access)
        yield "queue", Kind(web.get("/v1/queue?limit=10"), 0.5, _PATIENCE)


def _of_the_secured(ports: dict[str, int], access: Access, kept: Session, new: Session) -> Kinds:
    """Those for whose sake the API server is asked."""
    if "rest" in ports:
        yield "rest live", Kind(Web(kept, ports["rest"], access).look_up(), 0.1, _PATIENCE)
        unknown = Web(new, ports["rest"], access).introduce([*access.fresh])
        yield "rest unknown", Kind(unknown, NEWCOMERS_EVERY, _PATIENCE)


async def _run(ports: dict[str, int], seconds: float) -> None:
    fresh, access = aiohttp.TCPConnector(force_close=True), given()
    async with Session() as kept, Session(connector=fresh) as new:
        kinds = dict(_kinds(ports, access, kept, new))
        if access:
            kinds |= _of_the_secured(ports, access, kept, new)
        until = time.monotonic() + seconds
        await asyncio.gather(*(kind.run(until) for kind in kinds.values()))
        print(json.dumps({name: kind.told() for name, kind in kinds.items()}), flush=True)


if __name__ == "__main__":
    uvloop.run(_run(json.loads(sys.argv[1]), float(sys.argv[2])))
