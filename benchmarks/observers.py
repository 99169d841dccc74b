"""What strangers who look at a worker cost its evictions.

`python -m benchmarks.observers [PENDING] [CONNECTIONS]`: a worker on paper that holds a Lease of a
demo cluster, with so many evictions pending and fifty more that fall due each second; for some
seconds so many connections ask for `/v1/queue?limit=1000` as fast as they are answered. Worker,
cluster and askers are processes of their own. Measured in the process of the worker, without askers
and with them: at most how late its loop is, how late evictions are, how old a renewal of its Lease.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import structlog
import uvloop
from prometheus_client import CollectorRegistry

from bailiff.bootstrap.observing import StatusPort
from bailiff.bootstrap.process import freeze_start_up
from bailiff.clock import SystemClock
from bailiff.cluster import LeaseStore, Replaced, connect
from bailiff.kinds import (
    Node,
    NodeMeta,
    NodeSpec,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    Taint,
    Toleration,
)
from bailiff.serving import Pulse
from bailiff.worker import (
    Comparison,
    Desk,
    Elector,
    Observed,
    ShadowActions,
    Shard,
    Worker,
    WorkerSettings,
    create_status_app,
)

SECONDS = 8.0
NODES = 1000
DUE_EACH_SECOND = 50
TICK = 0.005
REQUEST = b"GET /v1/queue?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n"


def pod(number: int, seconds: int) -> Pod:
    tolerates = (Toleration(operator="Exists", effect="NoExecute", toleration_seconds=seconds),)
    return Pod(
        metadata=ObjectMeta(name=f"pod-{number}", namespace="team", uid=f"uid-{number}"),
        spec=PodSpec(node_name=f"node-{number % NODES}", tolerations=tolerates),
        status=PodStatus(phase="Running"),
    )


def node(number: int, taint: Taint) -> Node:
    return Node(metadata=NodeMeta(name=f"node-{number}"), spec=NodeSpec(taints=(taint,)))


class Measured:
    """The worst of a stretch of time."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.lag = self.late = self.renewal = 0.0
        worker.metrics.lateness.observe = self._evicted  # type: ignore[method-assign]

    def _evicted(self, late: float, *_: object) -> None:
        self.late = max(self.late, late)

    async def watch(self) -> None:
        clock = SystemClock()
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK)
            self.lag = max(self.lag, time.monotonic() - before - TICK)
            renewed = self._worker.election.renewed_at
            if renewed is not None:
                self.renewal = max(self.renewal, clock.elapsed() - renewed)

    def take(self) -> dict[str, float]:
        told = {"lag": self.lag, "late": self.late, "renewal": self.renewal}
        self.lag = self.late = self.renewal = 0.0
        return told


async def filled(worker: Worker, pending: int) -> None:
    """So many that go in ten hours, and those that go meanwhile."""
    taint = Taint(key="maintenance", effect="NoExecute", time_added=datetime.now(UTC))
    pods = [pod(number, 36_000) for number in range(pending)]
    # Due while this is measured, which begins when everything has been looked at.
    first = 5 + pending // 10_000
    soon = range(pending, pending + int(DUE_EACH_SECOND * 4 * SECONDS))
    pods += [pod(n, first + (n - pending) // DUE_EACH_SECOND) for n in soon]
    await worker.mirror.apply_pod(Replaced(tuple(pods), "1"))
    nodes = tuple(node(number, taint) for number in range(NODES))
    await worker.mirror.apply_node(Replaced(nodes, "1"))


async def subject(kubeconfig: Path, pending: int) -> None:
    """The worker; says its port, and for each line that it is told the worst since the last."""
    clock, registry = SystemClock(), CollectorRegistry()
    async with await connect(kubeconfig) as client:
        lease = LeaseStore(client, "kube-system", "observed")
        await lease.create()
        worker = Worker(
            ShadowActions(Comparison(clock)),
            clock,
            registry,
            WorkerSettings(on_paper=True),
            Elector({Shard(): lease}, clock, "observed"),
        )
        measured, seen = Measured(worker), Observed(worker, registry, worker.trust({}))
        desk, pulse = Desk(seen.take), Pulse(10.0, seen.verdicts)
        port = StatusPort(CollectorRegistry())
        app = create_status_app(pulse, desk.ask, clock, port.turn)
        status = port.server(app, "127.0.0.1", 0)
        freeze_start_up()
        works = (
            worker.evaluator.run(),
            worker.executor.run(),
            worker.election.run(worker.leadership),
            worker.liveness.run(),
            worker.recorder.run(),
            pulse.run(),
            desk.run(),
            measured.watch(),
        )
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in works]
            await filled(worker, pending)
            while worker.evaluator.backlog or not worker.election.may_act():  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            await told_on_standard_input(measured, await status.start())
            await status.stop(1.0)
            for task in tasks:
                task.cancel()


async def told_on_standard_input(measured: Measured, port: int) -> None:
    print(port, flush=True)
    lines: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), lambda: lines.put_nowait(sys.stdin.readline()))
    while await lines.get():
        print(json.dumps(measured.take()), flush=True)


async def askers(port: int, connections: int) -> None:
    """Ask until the time is over; says how many whole answers came, of which kind."""
    counts: dict[str, int] = {}
    until = time.monotonic() + SECONDS

    async def ask() -> None:
        while time.monotonic() < until:
            with suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    while time.monotonic() < until:
                        writer.write(REQUEST)
                        head = await reader.readuntil(b"\r\n\r\n")
                        length = head.lower().partition(b"content-length: ")[2]
                        await reader.readexactly(int(length.partition(b"\r\n")[0]))
                        status = head.split()[1].decode()
                        counts[status] = counts.get(status, 0) + 1
                finally:
                    writer.close()

    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            for _ in range(connections):
                group.create_task(ask())
    print(json.dumps(counts), flush=True)


async def cluster() -> None:
    """A demo cluster; says where its kubeconfig is."""
    from bailiff_demo.cluster import DemoCluster  # noqa: PLC0415 - of this process alone

    async with DemoCluster(lively=False) as demo:
        with tempfile.NamedTemporaryFile("w", suffix=".kubeconfig") as file:
            file.write(demo.kubeconfig())
            file.flush()
            print(file.name, flush=True)
            await asyncio.to_thread(sys.stdin.read)


class Part:
    """A part of the scene in a process of its own."""

    def __init__(self, stack: ExitStack, *what: object) -> None:
        command = [sys.executable, "-m", "benchmarks.observers", *map(str, what)]
        self._process = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        stack.callback(self._end)

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def says(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self) -> dict[str, float]:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        told: dict[str, float] = json.loads(self.says())
        return told


def scene(pending: int, connections: int) -> None:
    with ExitStack() as stack:
        url = Part(stack, "cluster").says()
        worker = Part(stack, "subject", url, pending)
        port = worker.says()
        worker.ask()
        time.sleep(SECONDS / 2)
        tell(f"{pending:,} pending, nobody asks", worker.ask())
        counts = Part(stack, "askers", port, connections).says()
        tell(f"{pending:,} pending, {connections:,} connections", worker.ask(), counts)


def tell(what: str, worst: dict[str, float], counts: str = "") -> None:
    lag, late, renewal = (worst[name] * 1000 for name in ("lag", "late", "renewal"))
    print(f"{what:38}{lag:9.1f}{late:10.1f}{renewal:10.0f}  {counts}", flush=True)


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    match sys.argv[1:]:
        case ["cluster"]:
            asyncio.run(cluster())
        case ["subject", url, pending]:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(subject(Path(url), int(pending)))
        case ["askers", port, connections]:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(askers(int(port), int(connections)))
        case chosen:
            print("milliseconds at most: loop late, eviction late, age of the Lease's renewal")
            sizes = (
                [tuple(map(int, chosen))]
                if chosen
                else [(pending, asking) for pending in (10_000, 100_000) for asking in (60, 1000)]
            )
            for pending, asking in sizes:
                scene(pending, asking)


if __name__ == "__main__":
    main()
